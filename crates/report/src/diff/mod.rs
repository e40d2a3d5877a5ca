//! Two runs side by side: first what is not the same around them, then the figures.
//!
//! Trials of two runs share no block, so nothing holds the drift of the machine apart from the
//! difference of the variants. There is no verdict here: only whether the ranges overlap.

mod text;

use crate::Document;
use crate::text::clean;
use crate::view::{Fact, facts_of, is_control};
use roundtrip_model::analysis::Summary;
use roundtrip_model::{Metric, Placement};
use serde::Serialize;

pub use text::diff;

/// What stands in front of every figure of a diff.
const NO_VERDICT: &str = "These are two runs: their trials share no block, so there is no verdict, \
only whether the ranges of the trials overlap.";

/// Two runs side by side.
#[derive(Debug, Serialize)]
struct Diff<'a> {
    schema_version: u32,
    a: Side<'a>,
    b: Side<'a>,
    note: &'static str,
    environment: Vec<Change>,
    only_in_a: Vec<String>,
    only_in_b: Vec<String>,
    figures: Vec<Row<'a>>,
}

/// One of the runs.
#[derive(Debug, Serialize)]
struct Side<'a> {
    run: &'a str,
    experiment: &'a str,
    started_unix_ms: u64,
}

/// Something around the runs that is not the same; `None` where a run does not have it.
#[derive(Debug, PartialEq, Serialize)]
struct Change {
    chapter: &'static str,
    name: String,
    a: Option<String>,
    b: Option<String>,
}

/// A figure in one of the runs.
#[derive(Debug, Serialize)]
struct Span {
    median: f64,
    min: f64,
    max: f64,
    trials: u32,
}

/// A figure in both.
#[derive(Debug, Serialize)]
struct Row<'a> {
    placement: Placement,
    phase: &'a str,
    variant: &'a str,
    metric: Metric,
    unit: &'a str,
    a: Span,
    b: Span,
    /// B over A.
    ratio: Option<f64>,
    ranges_overlap: bool,
}

/// The diff as JSON.
pub fn diff_json(a: &Document, b: &Document) -> Vec<u8> {
    // Every map has text for keys, so this cannot fail.
    let mut bytes = serde_json::to_vec_pretty(&Diff::new(a, b)).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

impl<'a> Diff<'a> {
    fn new(a: &'a Document, b: &'a Document) -> Self {
        let side = |document: &'a Document| Side {
            run: &document.run.id,
            experiment: &document.run.experiment,
            started_unix_ms: document.run.started_unix_ms,
        };
        Diff {
            schema_version: 1,
            a: side(a),
            b: side(b),
            note: NO_VERDICT,
            environment: changes(a, b),
            only_in_a: only(a, b),
            only_in_b: only(b, a),
            figures: rows(a, b),
        }
    }
}

/// Everything around the runs that is not the same.
fn changes(a: &Document, b: &Document) -> Vec<Change> {
    let (fa, fb) = (facts_of(a), facts_of(b));
    let mut changes = Vec::new();
    for (chapter, a, b) in [
        ("machine", fa.machine, fb.machine),
        ("version", fa.versions, fb.versions),
        ("setting", fa.settings, fb.settings),
        ("work", fa.work, fb.work),
        ("worker's loop", fa.loops, fb.loops),
    ] {
        changes.extend(changed(chapter, &a, &b));
    }
    let generate = |d: &Document| format!("{:?}", d.experiment.workload.generate);
    let placements = |d: &Document| {
        d.experiment
            .placements
            .iter()
            .map(|p| p.name())
            .collect::<Vec<_>>()
            .join(", ")
    };
    for (name, a, b) in [
        ("keys and values made", generate(a), generate(b)),
        ("placement", placements(a), placements(b)),
        (
            "experiment",
            clean(&a.run.experiment),
            clean(&b.run.experiment),
        ),
    ] {
        if a != b {
            changes.push(Change {
                chapter: "work",
                name: name.to_owned(),
                a: Some(a),
                b: Some(b),
            });
        }
    }
    changes
}

fn changed(chapter: &'static str, a: &[Fact], b: &[Fact]) -> Vec<Change> {
    let value = |facts: &[Fact], name: &str| {
        facts
            .iter()
            .find(|f| f.name == name)
            .map(|f| f.value.clone())
    };
    let new = b.iter().filter(|fact| value(a, &fact.name).is_none());
    a.iter()
        .chain(new)
        .map(|fact| Change {
            chapter,
            name: fact.name.clone(),
            a: value(a, &fact.name),
            b: value(b, &fact.name),
        })
        // The load is never the same; what it did is in the warnings.
        .filter(|change| change.a != change.b && change.name != "load before")
        .collect()
}

fn where_of(summary: &Summary) -> (Placement, &str, &str) {
    (summary.placement, &summary.phase, &summary.variant)
}

/// Variants in a phase and placement that only the first of two runs has.
fn only(a: &Document, b: &Document) -> Vec<String> {
    let mut only = Vec::new();
    for summary in &a.analysis.summaries {
        let (placement, phase, variant) = where_of(summary);
        let there = b
            .analysis
            .summaries
            .iter()
            .any(|s| where_of(s) == where_of(summary));
        let name = clean(&format!("{variant} ({phase}, {placement})"));
        if !there && !only.contains(&name) {
            only.push(name);
        }
    }
    only
}

fn rows<'a>(a: &'a Document, b: &'a Document) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    for first in &a.analysis.summaries {
        let same = |s: &&Summary| where_of(s) == where_of(first) && s.metric == first.metric;
        let Some(second) = b.analysis.summaries.iter().find(same) else {
            continue;
        };
        let finite = |s: &Summary| s.median.is_finite() && s.min.is_finite() && s.max.is_finite();
        if is_control(&first.variant) || !finite(first) || !finite(second) {
            continue;
        }
        rows.push(Row {
            placement: first.placement,
            phase: &first.phase,
            variant: &first.variant,
            metric: first.metric,
            unit: &first.unit,
            a: span(first),
            b: span(second),
            ratio: Some(second.median / first.median).filter(|r| r.is_finite()),
            ranges_overlap: first.min <= second.max && second.min <= first.max,
        });
    }
    rows
}

fn span(summary: &Summary) -> Span {
    Span {
        median: summary.median,
        min: summary.min,
        max: summary.max,
        trials: summary.trials,
    }
}
