//! Warnings that come from the figures. METHOD.md, "Honesty". One line a subject: a phase in a
//! placement, with the variants that it concerns, or a variant.

use crate::figures::{Cell, Column, Figures};
use crate::steady::median;
use roundtrip_model::analysis::Comparison;
use roundtrip_model::contract::outcome;
use roundtrip_model::experiment::{CONTROL_SUFFIX, Experiment};
use roundtrip_model::names::Op;
use roundtrip_model::record::{PhaseRecord, TrialRecord, Validity};
use roundtrip_model::{Placement, Warning, WarningKind};
use std::collections::BTreeMap;

/// Waiting is over this share of the time.
const WAITING_SHARE: f64 = 0.5;
/// A client this busy could not have gone faster.
const SATURATED_SHARE: f64 = 0.95;
/// Hits may be off by this share of the reads.
const HIT_RATIO_SLACK: f64 = 0.005;

/// What the figures give reason to warn of.
pub(crate) fn warnings(
    figures: &Figures<'_>,
    trials: &[TrialRecord],
    comparisons: &[Comparison],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let kinds: [(WarningKind, Find); 5] = [
        (WarningKind::NoSteadyState, not_steady),
        (WarningKind::WaitingDominates, waiting),
        (WarningKind::PartsDoNotSum, parts_do_not_sum),
        (WarningKind::ClientSaturated, saturated),
        (WarningKind::HitRatioOff, hit_ratio_off),
    ];
    for (kind, find) in kinds {
        by_subject(figures, find, |subject, detail| {
            warnings.push(Warning::new(kind, subject, detail));
        });
    }
    unequal_terms(figures, &mut warnings);
    void_trials(trials, &mut warnings);
    for comparison in comparisons.iter().filter(|c| !c.disagreements.is_empty()) {
        let subject = format!(
            "{}, {} ({}), {}",
            comparison.variant,
            comparison.phase,
            comparison.placement,
            comparison.metric.in_words()
        );
        let detail = comparison.disagreements.join("; ");
        warnings.push(Warning::new(WarningKind::MethodsDisagree, subject, detail));
    }
    warnings
}

/// A contestant's phase in a placement.
struct Place<'f, 'a> {
    phase: usize,
    placement: Placement,
    column: &'f Column<'a>,
}

/// Looks for one thing in one column; says what it found.
type Find = fn(&Figures<'_>, &Place<'_, '_>) -> Option<String>;

/// Puts what was found of each contestant into one line a phase and placement.
fn by_subject(figures: &Figures<'_>, find: Find, mut warn: impl FnMut(String, String)) {
    let mut found: BTreeMap<(usize, Placement), Vec<(&str, String)>> = BTreeMap::new();
    for (phase, placement, contestant, column) in figures.columns() {
        let place = Place {
            phase,
            placement,
            column,
        };
        if let Some(detail) = find(figures, &place) {
            let lines = found.entry((phase, placement)).or_default();
            lines.push((contestant, detail));
        }
    }
    for ((phase, placement), lines) in found {
        let subject = format!("{} ({placement})", figures.phase_name(phase));
        warn(subject, one_line(&lines));
    }
}

/// More contestants than these are counted, and few of them named.
const FEW: usize = 3;

/// Each contestant with what was found of it; of many the first, the names of a few, and how many
/// others. A control is no variant of its own, unless nothing was found of its variant.
fn one_line(lines: &[(&str, String)]) -> String {
    if lines.len() <= FEW {
        let all: Vec<String> = lines.iter().map(|(who, d)| format!("{who}: {d}")).collect();
        return all.join("; ");
    }
    let is_found = |name: &str| lines.iter().any(|(who, _)| *who == name);
    let own = |who: &str| !who.strip_suffix(CONTROL_SUFFIX).is_some_and(is_found);
    let mut apart = lines.iter().filter(|(who, _)| own(who));
    let Some((first, detail)) = apart.next() else {
        return String::new();
    };
    let others: Vec<String> = apart.map(|(who, _)| format!("`{who}`")).collect();
    let named = others.len().min(FEW);
    let rest = match others.len() - named {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let others_named = match named {
        0 => String::new(),
        _ => format!("; likewise {}{rest}", others[..named].join(", ")),
    };
    format!("`{first}`: {detail}{others_named}")
}

fn not_steady(_: &Figures<'_>, place: &Place<'_, '_>) -> Option<String> {
    let trending = place
        .column
        .values()
        .filter(|c| c.record.steady == Some(false))
        .count();
    let all = place.column.len();
    (trending > 0).then(|| format!("the rate still trended in {trending} of {all} trials"))
}

fn waiting(_: &Figures<'_>, place: &Place<'_, '_>) -> Option<String> {
    let share = median_of(place.column, |cell| {
        share(cell.record.waiting_ns()?, cell.record.wall_ns)
    })?;
    (share > WAITING_SHARE).then(|| format!("{:.0}% of the time is waiting", share * 100.0))
}

/// Parts that are in doubt in more than half of the trials; the first doubt is told.
fn parts_do_not_sum(_: &Figures<'_>, place: &Place<'_, '_>) -> Option<String> {
    let doubts: Vec<String> = place
        .column
        .values()
        .filter_map(|cell| roundtrip_model::parts::doubt(cell.record))
        .collect();
    let all = place.column.len();
    (doubts.len() * 2 > all).then(|| format!("{} (in {} of {all} trials)", doubts[0], doubts.len()))
}

/// Only where the server has cores of its own: on shared ones the client cannot have them all, and
/// without a server all the work is the client's.
fn saturated(_: &Figures<'_>, place: &Place<'_, '_>) -> Option<String> {
    if place.placement != Placement::Split {
        return None;
    }
    let busy = median_of(place.column, |cell| {
        let phase = cell.record;
        phase.server_cpu_ns.filter(|ns| *ns > 0)?;
        // At a rate the client looks for the next moment without sleeping.
        phase.pace.is_closed().then_some(())?;
        let threads = match &phase.carried {
            Some(carried) => carried.threads,
            None => phase.concurrency,
        };
        let had = phase.wall_ns.checked_mul(threads.max(1).into())?;
        share(phase.user_ns?.checked_add(phase.sys_ns?)?, had)
    })?;
    (busy >= SATURATED_SHARE).then(|| {
        format!(
            "the client's CPU time is {:.0}% of the wall time",
            busy * 100.0
        )
    })
}

fn hit_ratio_off(figures: &Figures<'_>, place: &Place<'_, '_>) -> Option<String> {
    let phase = &figures.experiment.workload.phases[place.phase];
    let counts = |record: &PhaseRecord| -> (u64, u64) {
        let outcomes = match phase.op {
            Op::Get | Op::GetMany | Op::Mix => &record.outcomes,
            Op::ReadAside => &record.cache_outcomes,
            _ => return (0, 0),
        };
        let count = |name| outcomes.get(name).copied().unwrap_or(0);
        (count(outcome::HIT), count(outcome::MISS))
    };
    let (mut hits, mut reads) = (0.0, 0.0);
    for cell in place.column.values() {
        let (hit, miss) = counts(cell.record);
        hits += hit as f64;
        reads += hit as f64 + miss as f64;
    }
    if reads == 0.0 {
        return None;
    }
    let found = hits / reads;
    ((found - phase.hit_ratio).abs() > HIT_RATIO_SLACK).then(|| {
        format!(
            "{:.1}% of the reads found their key, {:.1}% were asked for",
            found * 100.0,
            phase.hit_ratio * 100.0
        )
    })
}

/// A contestant, and the work of a trial of it.
type Done = (String, u64);

/// Variants that did another number of ops than what they are compared with, or whose writes were
/// not all acknowledged alike: a line a baseline.
fn unequal_terms(figures: &Figures<'_>, warnings: &mut Vec<Warning>) {
    let mut done: BTreeMap<(usize, Placement, &str), Vec<Done>> = BTreeMap::new();
    for (phase, placement, contestant, column) in figures.columns() {
        let op = figures.experiment.workload.phases[phase].op;
        let Some(ops) = median_of(column, |cell| Some(work(op, cell.record) as f64)) else {
            continue;
        };
        for baseline in compared_by(figures.experiment, contestant) {
            let line = (contestant.to_owned(), ops.round() as u64);
            let lines = done.entry((phase, placement, baseline)).or_default();
            lines.push(line);
        }
    }
    for ((phase, placement, _), lines) in done {
        if lines.windows(2).all(|pair| pair[0].1 == pair[1].1) {
            continue;
        }
        let op = figures.experiment.workload.phases[phase].op;
        let noun = if writes(op) {
            "writes acknowledged"
        } else {
            "ops"
        };
        let counts: Vec<String> = lines.iter().map(|(who, n)| format!("{who} {n}")).collect();
        warnings.push(Warning::new(
            WarningKind::UnequalTerms,
            format!("{} ({placement})", figures.phase_name(phase)),
            format!("{noun} a trial: {}", counts.join(", ")),
        ));
    }
}

/// The baselines in whose comparisons a contestant's figures stand: the one it is compared with,
/// and its own name where others are compared with it.
fn compared_by<'e>(experiment: &'e Experiment, contestant: &str) -> Vec<&'e str> {
    let name = contestant
        .strip_suffix(CONTROL_SUFFIX)
        .unwrap_or(contestant);
    let is_control = name != contestant;
    let own = experiment.baseline_of(name).filter(|_| !is_control);
    let mut variants = experiment.variants.iter().map(|v| v.name.as_str());
    let itself = variants.find(|v| *v == name && experiment.is_baseline(v));
    own.into_iter().chain(itself).collect()
}

/// Whether an op changes data.
pub(crate) fn writes(op: Op) -> bool {
    matches!(
        op,
        Op::Set | Op::Delete | Op::Incr | Op::Insert | Op::ReadModifyWrite
    )
}

/// The work of a phase: writes that were acknowledged, or ops.
fn work(op: Op, record: &PhaseRecord) -> u64 {
    if writes(op) {
        record.outcome(outcome::STORED) + record.outcome(outcome::DONE)
    } else {
        record.ops
    }
}

fn void_trials(trials: &[TrialRecord], warnings: &mut Vec<Warning>) {
    let mut void: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for trial in trials {
        if let Validity::Void(reason) = &trial.validity {
            let reasons = void.entry(&trial.variant).or_default();
            reasons.push((trial.block, reason));
        }
    }
    for (variant, reasons) in void {
        let made = trials.iter().filter(|t| t.variant == variant).count();
        let first = reasons.iter().min().map_or("", |(_, reason)| reason);
        let detail = format!(
            "{} of {made} trials are void; the first: {first}",
            reasons.len()
        );
        warnings.push(Warning::new(WarningKind::VoidTrials, variant, detail));
    }
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn median_of(column: &Column<'_>, of: impl Fn(&Cell<'_>) -> Option<f64>) -> Option<f64> {
    let mut values: Vec<f64> = column.values().filter_map(of).collect();
    (!values.is_empty()).then(|| median(&mut values))
}
