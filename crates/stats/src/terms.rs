//! On which terms ops were done. METHOD.md, point 8: fsyncs, log bytes and rows an op stand beside
//! the ratios, and unequal ones are warned of above the verdict.
//!
//! A variant's terms differ from its baseline's where a median over trials is off by more than 10%
//! **and** by more than a least that matters: 0.05 of an fsync or of a row an op, 32 bytes of log.
//! The first alone would name a row read once in a thousand ops, the second alone a log that is a
//! hundredth longer.

use crate::figures::{Column, Figures};
use crate::steady::median;
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

/// A warning for each variant whose terms are not its baseline's.
pub(crate) fn warnings(figures: &Figures<'_>, rows: &[TermsRow]) -> Vec<Warning> {
    let row = |phase: &str, placement: Placement, variant: &str| {
        let mut rows = rows.iter();
        rows.find(|r| r.phase == phase && r.placement == placement && r.variant == variant)
    };
    let mut warnings = Vec::new();
    for its in rows {
        let Some(baseline) = figures.experiment.baseline_of(&its.variant) else {
            continue;
        };
        let Some(usual) = row(&its.phase, its.placement, baseline) else {
            continue;
        };
        let lines: Vec<String> = Term::ALL
            .into_iter()
            .filter_map(|term| unequal(term, its, usual))
            .collect();
        if !lines.is_empty() {
            warnings.push(Warning::new(
                WarningKind::UnequalTerms,
                format!("{}, {} ({})", its.variant, its.phase, its.placement),
                format!("an op took {} of `{baseline}`", lines.join(", ")),
            ));
        }
    }
    warnings
}

/// The two figures of a term in words, where they are not equal.
fn unequal(term: Term, its: &TermsRow, usual: &TermsRow) -> Option<String> {
    let (its, usual) = (*its.per_op.get(&term)?, *usual.per_op.get(&term)?);
    let off = (its - usual).abs();
    let is_unequal = off > SHARE * usual.abs() && off > least(term);
    is_unequal.then(|| format!("{its:.2} {} against {usual:.2}", term.in_words()))
}
