//! The tables of figures. A figure that is not known is a dash.

use super::figures::{Figures, Group, Scene, is_control};
use super::pace;
use super::{Cell, Column, Table, Tone};
use crate::number::{UNKNOWN, count, interval, known, nanos, p_value, ratio, speed, three};
use crate::text::clean;
use roundtrip_model::analysis::{Comparison, TermsRow, Verdict};
use roundtrip_model::{Metric, Term};
use std::collections::BTreeSet;

pub(super) fn columns(first: &str, others: &[&str]) -> Vec<Column> {
    let column = |head: &str, right| Column {
        head: clean(head),
        right,
    };
    let mut columns = vec![column(first, false)];
    columns.extend(others.iter().map(|head| column(head, true)));
    columns
}

pub(super) fn cell(text: impl AsRef<str>, tone: Tone) -> Cell {
    let text = clean(text.as_ref());
    let tone = if text == UNKNOWN { Tone::Dim } else { tone };
    Cell { text, tone }
}

pub(super) fn plain(text: impl AsRef<str>) -> Cell {
    cell(text, Tone::Plain)
}

pub(super) fn name_cell(name: &str) -> Cell {
    let tone = if is_control(name) {
        Tone::Dim
    } else {
        Tone::Plain
    };
    cell(name, tone)
}

/// The word for an outcome.
pub fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent => "equivalent",
        Verdict::Undecided => "undecided",
    }
}

fn verdict_cell(verdict: Verdict) -> Cell {
    let tone = match verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Equivalent | Verdict::Undecided => Tone::Plain,
    };
    cell(verdict_word(verdict), tone)
}

/// Ratio, interval, p and verdict.
fn outcome_cells(comparison: &Comparison) -> [Cell; 4] {
    let times = comparison.speed();
    [
        plain(ratio(times.ratio)),
        plain(interval(&times)),
        plain(p_value(comparison.p)),
        verdict_cell(comparison.verdict),
    ]
}

/// Operations a second, and the outcome against the baseline: a table a baseline.
pub fn against_baselines(figures: &Figures<'_>, scene: Scene<'_>) -> Vec<Table> {
    let groups = figures.groups(scene);
    groups
        .iter()
        .map(|group| against_baseline(figures, scene, group))
        .collect()
}

fn against_baseline(figures: &Figures<'_>, scene: Scene<'_>, group: &Group<'_>) -> Table {
    let metric = figures.leading();
    let baseline = group.baseline;
    let control = figures
        .control(scene, metric, baseline)
        .map(|c| speed(metric, &c));
    let mut rows = Vec::new();
    for name in &group.members {
        let mut row = vec![name_cell(name)];
        row.push(plain(known(
            Metric::OpsPerS,
            figures.median(scene, name, Metric::OpsPerS),
        )));
        if metric != Metric::OpsPerS {
            row.push(plain(known(metric, figures.median(scene, name, metric))));
        }
        // A baseline may itself be compared with another: that stands in the other's table.
        let comparison = figures
            .comparison(scene, name, metric)
            .filter(|c| c.baseline == baseline);
        row.extend(match (comparison, control) {
            (_, Some(control)) if is_control(name) => [
                cell(ratio(control.ratio), Tone::Dim),
                cell(interval(&control), Tone::Dim),
                plain(UNKNOWN),
                cell("noise floor", Tone::Dim),
            ],
            (Some(comparison), _) if !is_control(name) => outcome_cells(comparison),
            _ => {
                let word = if name == baseline {
                    "baseline"
                } else {
                    UNKNOWN
                };
                [
                    plain(UNKNOWN),
                    plain(UNKNOWN),
                    plain(UNKNOWN),
                    cell(word, Tone::Dim),
                ]
            }
        });
        rows.push(row);
    }
    let mut heads = vec!["ops/s"];
    let by = metric.in_words();
    if metric != Metric::OpsPerS {
        heads.push(by);
    }
    heads.extend(["speed", "95% interval", "p", "verdict"]);
    Table {
        caption: format!("Speed, as a multiple of {}", clean(baseline)),
        columns: columns("variant", &heads),
        rows,
    }
}

/// What the store did for each op, where it counts that.
pub fn terms(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Table> {
    let here = |row: &&TermsRow| row.phase == scene.phase && row.placement == scene.placement;
    let all: Vec<&TermsRow> = figures
        .document
        .analysis
        .terms
        .iter()
        .filter(here)
        .collect();
    let counted = |term: &Term| all.iter().any(|row| row.per_op.contains_key(term));
    let terms: Vec<Term> = Term::ALL.into_iter().filter(counted).collect();
    let rows = all.iter().map(|row| {
        let figures = terms.iter().map(|term| match row.per_op.get(term) {
            Some(per_op) => plain(three(*per_op)),
            None => plain(UNKNOWN),
        });
        std::iter::once(name_cell(&row.variant))
            .chain(figures)
            .collect()
    });
    let heads: Vec<&str> = terms.iter().map(|term| term.in_words()).collect();
    (!terms.is_empty()).then(|| Table {
        caption: "On which terms: what the store did for each op".to_owned(),
        columns: columns("variant", &heads),
        rows: rows.collect(),
    })
}

/// The other compared figures, each in a table of its own.
pub fn other_figures(figures: &Figures<'_>, scene: Scene<'_>) -> Vec<Table> {
    let others = figures.document.experiment.metrics.iter().skip(1);
    others
        .filter_map(|metric| other_figure(figures, scene, *metric))
        .collect()
}

fn other_figure(figures: &Figures<'_>, scene: Scene<'_>, metric: Metric) -> Option<Table> {
    let rows: Vec<_> = figures
        .in_scene(scene)
        .into_iter()
        .filter(|(_, name)| !is_control(name))
        .filter_map(|(_, name)| {
            let comparison = figures.comparison(scene, &name, metric)?;
            let median = figures.median(scene, &name, metric);
            let mut row = vec![name_cell(&name), plain(known(metric, median))];
            row.extend(outcome_cells(comparison));
            Some(row)
        })
        .collect();
    let heads = ["median", "speed", "95% interval", "p", "verdict"];
    (!rows.is_empty()).then(|| Table {
        caption: format!("By {}", metric.in_words()),
        columns: columns("variant", &heads),
        rows,
    })
}

/// Median over the valid trials of a figure that is a sum of two.
fn median_client_cpu(figures: &Figures<'_>, scene: Scene<'_>, name: &str) -> Option<f64> {
    let valid = figures
        .trials(scene, name)
        .filter(|(trial, _)| trial.is_valid());
    let mut sums: Vec<f64> = valid
        .map(|(_, p)| Some(Metric::ClientUserNsPerOp.of(p)? + Metric::ClientSysNsPerOp.of(p)?))
        .collect::<Option<_>>()?;
    sums.sort_by(f64::total_cmp);
    let n = sums.len();
    match n {
        0 => None,
        n if n % 2 == 1 => Some(sums[n / 2]),
        n => Some((sums[n / 2 - 1] + sums[n / 2]) / 2.0),
    }
}

/// Latency and CPU of an operation.
pub fn an_operation(figures: &Figures<'_>, scene: Scene<'_>) -> Table {
    let latency = [Metric::MeanNs, Metric::P50Ns, Metric::P95Ns, Metric::P99Ns];
    let rows = figures.in_scene(scene).into_iter().map(|(_, name)| {
        let mut row = vec![name_cell(&name)];
        row.extend(latency.map(|m| plain(known(m, figures.median(scene, &name, m)))));
        let client = median_client_cpu(figures, scene, &name);
        row.push(plain(client.map_or(UNKNOWN.to_owned(), nanos)));
        let server = figures.median(scene, &name, Metric::ServerCpuNsPerOp);
        row.push(plain(known(Metric::ServerCpuNsPerOp, server)));
        row
    });
    let heads = ["mean", "p50", "p95", "p99", "client CPU", "server CPU"];
    Table {
        caption: format!(
            "An operation: latency and CPU ({})",
            pace::label(figures, scene)
        ),
        columns: columns("variant", &heads),
        rows: rows.collect(),
    }
}

/// Time of the loop and of the whole process.
pub fn times(figures: &Figures<'_>, scene: Scene<'_>) -> Table {
    let metrics = [
        Metric::LoopRealS,
        Metric::LoopUserS,
        Metric::LoopSysS,
        Metric::ProcessRealS,
        Metric::ProcessUserS,
        Metric::ProcessSysS,
    ];
    let rows = figures.in_scene(scene).into_iter().map(|(_, name)| {
        let mut row = vec![name_cell(&name)];
        row.extend(metrics.map(|m| plain(known(m, figures.median(scene, &name, m)))));
        row
    });
    let heads = ["loop real", "user", "sys", "process real", "user", "sys"];
    Table {
        caption: "Time of the loop, and of the whole client process".to_owned(),
        columns: columns("variant", &heads),
        rows: rows.collect(),
    }
}

/// What became of every operation, void trials included: a failure is never averaged away.
pub fn outcomes(figures: &Figures<'_>) -> Vec<Table> {
    let scenes = figures.scenes();
    scenes
        .iter()
        .map(|scene| outcomes_in(figures, *scene))
        .collect()
}

fn outcomes_in(figures: &Figures<'_>, scene: Scene<'_>) -> Table {
    let contestants = figures.in_scene(scene);
    let mut names = BTreeSet::new();
    let mut cache_names = BTreeSet::new();
    for (_, name) in &contestants {
        for (_, phase) in figures.trials(scene, name) {
            names.extend(phase.outcomes.keys().map(String::as_str));
            cache_names.extend(phase.cache_outcomes.keys().map(String::as_str));
        }
    }
    let rows = contestants.iter().map(|(_, name)| {
        let trials: Vec<_> = figures.trials(scene, name).collect();
        let void = trials.iter().filter(|(trial, _)| !trial.is_valid()).count() as u64;
        let sum = |n: &dyn Fn(usize) -> u64| (0..trials.len()).map(n).fold(0, u64::saturating_add);
        let mut row = vec![
            name_cell(name),
            plain(count(trials.len() as u64)),
            bad_if_any(void),
        ];
        row.push(plain(count(sum(&|i| trials[i].1.ops))));
        for outcome in &names {
            let n = sum(&|i| trials[i].1.outcome(outcome));
            let bad = outcome.starts_with("error:") || *outcome == "wrong";
            row.push(if bad { bad_if_any(n) } else { plain(count(n)) });
        }
        for outcome in &cache_names {
            let of = |i: usize| {
                trials[i]
                    .1
                    .cache_outcomes
                    .get(*outcome)
                    .copied()
                    .unwrap_or(0)
            };
            row.push(plain(count(sum(&of))));
        }
        row
    });
    let rows = rows.collect();
    let cache_heads: Vec<String> = cache_names.iter().map(|n| format!("cache {n}")).collect();
    let mut heads = vec!["trials", "void", "ops"];
    heads.extend(names.iter().copied());
    heads.extend(cache_heads.iter().map(String::as_str));
    Table {
        caption: clean(&scene.title()),
        columns: columns("variant", &heads),
        rows,
    }
}

fn bad_if_any(n: u64) -> Cell {
    cell(count(n), if n > 0 { Tone::Bad } else { Tone::Dim })
}
