//! On which terms ops were done. METHOD.md, point 8: fsyncs, log bytes and rows an op stand beside
//! the ratios, and unequal ones are warned of above the verdict.
//!
//! A variant's terms differ from its baseline's where a median over trials is off by more than 10%
//! **and** by more than a least that matters: 0.05 of an fsync or of a row an op, 32 bytes of log.
//! The first alone would name a row read once in a thousand ops, the second alone a log that is a
//! hundredth longer. Rows that a write reads to find its place are no reason: what makes it durable is
//! in the log, and what it did in the rows inserted and deleted.

use crate::figures::{Column, Figures};
use crate::steady::median;
use crate::warnings::writes;
use roundtrip_model::analysis::TermsRow;
use roundtrip_model::{Placement, Term, Warning, WarningKind};
use std::collections::BTreeMap;

/// Terms may differ by this share.
const SHARE: f64 = 0.10;

/// Terms may differ by this much an op.
fn least(term: Term) -> f64 {
    match term {
        Term::LogBytes => 32.0,
        Term::Fsyncs | Term::RowsInserted | Term::RowsRead | Term::RowsDeleted => 0.05,
    }
}

/// The terms of every contestant whose store counts them.
pub(crate) fn rows(figures: &Figures<'_>) -> Vec<TermsRow> {
    let columns = figures.columns();
    columns
        .filter_map(|(phase, placement, contestant, column)| {
            let per_op: BTreeMap<Term, f64> = Term::ALL
                .into_iter()
                .filter_map(|term| Some((term, of_column(column, term)?)))
                .collect();
            (!per_op.is_empty()).then(|| TermsRow {
                phase: figures.phase_name(phase).to_owned(),
                variant: contestant.to_owned(),
                placement,
                per_op,
                trials: column.len() as u32,
            })
        })
        .collect()
}

fn of_column(column: &Column<'_>, term: Term) -> Option<f64> {
    let of_trial = column.values().filter_map(|cell| {
        let count = cell.record.terms.get(&term)?;
        (cell.record.ops > 0).then(|| *count as f64 / cell.record.ops as f64)
    });
    let mut per_op: Vec<f64> = of_trial.collect();
    (!per_op.is_empty()).then(|| median(&mut per_op))
}

/// A warning for each variant and phase whose terms are not its baseline's, those of one baseline
/// after one another.
pub(crate) fn warnings(figures: &Figures<'_>, rows: &[TermsRow]) -> Vec<Warning> {
    let experiment = figures.experiment;
    let row = |phase: &str, placement: Placement, variant: &str| {
        let mut rows = rows.iter();
        rows.find(|r| r.phase == phase && r.placement == placement && r.variant == variant)
    };
    let mut found = Vec::new();
    for its in rows {
        let Some(baseline) = experiment.baseline_of(&its.variant) else {
            continue;
        };
        let Some(usual) = row(&its.phase, its.placement, baseline) else {
            continue;
        };
        let mut phases = experiment.workload.phases.iter();
        let op = phases.find(|p| p.name == its.phase).map(|p| p.op);
        let lines: Vec<String> = Term::ALL
            .into_iter()
            .filter(|term| *term != Term::RowsRead || !op.is_some_and(writes))
            .filter_map(|term| unequal(term, its, usual))
            .collect();
        if !lines.is_empty() {
            let subject = format!("{}, {} ({})", its.variant, its.phase, its.placement);
            let detail = format!("{} an op of `{baseline}`", lines.join(", "));
            let warning = Warning::new(WarningKind::UnequalTerms, subject, detail);
            found.push((baseline, warning));
        }
    }
    let place = |name: &str| experiment.variants.iter().position(|v| v.name == name);
    found.sort_by_key(|(baseline, _)| place(baseline));
    found.into_iter().map(|(_, warning)| warning).collect()
}

/// The two figures of a term in words, where they are not equal.
fn unequal(term: Term, its: &TermsRow, usual: &TermsRow) -> Option<String> {
    let (its, usual) = (*its.per_op.get(&term)?, *usual.per_op.get(&term)?);
    let off = (its - usual).abs();
    let is_unequal = off > SHARE * usual.abs() && off > least(term);
    let (words, its, usual) = (term.in_words(), in_words(its), in_words(usual));
    is_unequal.then(|| format!("{its} {words} against {usual}"))
}

/// A number of so many an op: two digits, which suffice where figures are a tenth apart, or all
/// before the point.
fn in_words(x: f64) -> String {
    if x == 0.0 {
        return "no".to_owned();
    }
    if x < 0.01 {
        return "hardly any".to_owned();
    }
    let decimals = (1.0 - x.log10().floor()).clamp(0.0, 3.0) as usize;
    let digits = format!("{x:.decimals$}");
    match digits.contains('.') {
        true => digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
        false => digits,
    }
}
