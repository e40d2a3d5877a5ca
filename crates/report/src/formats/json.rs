//! For programs: everything that is known of a run, after a published schema.
//!
//! The field names are those of the model's types; the schema is `docs/reference/result.schema.json`.

use super::Format;
use crate::view::{Case, collected};
use crate::{Document, RenderOptions};
use roundtrip_model::analysis::{Comparison, FaultRow, PublishedRow, Summary, TermsRow};
use roundtrip_model::curve::Curve;
use roundtrip_model::experiment::{Experiment, Variant};
use roundtrip_model::fault::FaultRecord;
use roundtrip_model::projection::PublishedProjection;
use roundtrip_model::record::{PhaseRecord, RunRecord, TrialRecord, Validity};
use roundtrip_model::warning::Warning;
use roundtrip_model::workload::Workload;
use roundtrip_model::{Histogram, Metric, Placement};
use serde::Serialize;
use std::collections::BTreeMap;

/// The published schema of this format.
pub const SCHEMA: &str = include_str!("../../../../docs/reference/result.schema.json");

/// Goes up when a field changes its meaning or goes away.
const SCHEMA_VERSION: u32 = 1;
const QUANTILES: [(&str, f64); 7] = [
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

/// The format.
pub struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn extension(&self) -> &'static str {
        "json"
    }

    fn render(&self, document: &Document, _: &RenderOptions) -> Vec<u8> {
        // Every map has text for keys, so this cannot fail.
        let mut bytes = serde_json::to_vec_pretty(&Result::new(document)).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

#[derive(Serialize)]
struct Result<'a> {
    schema_version: u32,
    run: &'a RunRecord,
    experiment: ExperimentJson<'a>,
    blocks: u32,
    void_trials: u32,
    trials: Vec<TrialJson<'a>>,
    summaries: &'a [Summary],
    comparisons: &'a [Comparison],
    published: &'a [PublishedRow],
    terms: &'a [TermsRow],
    curves: &'a [Curve],
    warnings: Vec<WarningJson>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    faults: &'a [FaultRow],
}

#[derive(Serialize)]
struct ExperimentJson<'a> {
    name: &'a str,
    title: &'a str,
    question: &'a str,
    source: Option<&'a str>,
    delta: f64,
    placements: &'a [Placement],
    baseline: &'a str,
    control: String,
    /// Of each variant that others are compared with.
    controls: BTreeMap<&'a str, String>,
    metrics: &'a [Metric],
    budget_s: f64,
    max_blocks: u32,
    variants: Vec<VariantJson<'a>>,
    workload: &'a Workload,
    #[serde(skip_serializing_if = "Option::is_none")]
    projection: Option<&'a PublishedProjection>,
}

#[derive(Serialize)]
struct VariantJson<'a> {
    name: &'a str,
    baseline: Option<&'a str>,
    path: String,
    client: &'a str,
    store: &'a str,
    cache: Option<&'a str>,
    options: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct TrialJson<'a> {
    block: u32,
    position: u32,
    variant: &'a str,
    placement: Placement,
    started_unix_ms: u64,
    took_ns: u64,
    validity: &'a Validity,
    phases: Vec<PhaseJson<'a>>,
    warnings: &'a [Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultJson<'a>>,
}

#[derive(Serialize)]
struct FaultJson<'a> {
    #[serde(flatten)]
    record: &'a FaultRecord,
    applied: u64,
    acknowledged_lost: u64,
}

#[derive(Serialize)]
struct PhaseJson<'a> {
    #[serde(flatten)]
    record: &'a PhaseRecord,
    metrics: BTreeMap<Metric, Option<f64>>,
    latency: Option<LatencyJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<LatencyJson>,
}

#[derive(Serialize)]
struct LatencyJson {
    count: u64,
    min_ns: Option<u64>,
    max_ns: Option<u64>,
    quantiles: BTreeMap<&'static str, Option<u64>>,
}

#[derive(Serialize)]
struct WarningJson {
    kind: String,
    subject: String,
    detail: String,
    remedy: String,
    more_like_it: usize,
}

impl<'a> Result<'a> {
    fn new(document: &'a Document) -> Self {
        let analysis = &document.analysis;
        Result {
            schema_version: SCHEMA_VERSION,
            run: &document.run,
            experiment: experiment(&document.experiment),
            blocks: analysis.blocks,
            void_trials: analysis.void_trials,
            trials: document.trials.iter().map(trial).collect(),
            summaries: &analysis.summaries,
            comparisons: &analysis.comparisons,
            published: &analysis.published,
            terms: &analysis.terms,
            curves: &analysis.curves,
            warnings: warnings(document),
            faults: &analysis.faults,
        }
    }
}

fn experiment(experiment: &Experiment) -> ExperimentJson<'_> {
    ExperimentJson {
        name: &experiment.name,
        title: &experiment.title,
        question: &experiment.question,
        source: experiment.source.as_deref(),
        delta: experiment.delta,
        placements: &experiment.placements,
        baseline: &experiment.baseline,
        control: Experiment::control_of(&experiment.baseline),
        controls: controls(experiment),
        metrics: &experiment.metrics,
        budget_s: experiment.budget_s,
        max_blocks: experiment.max_blocks,
        variants: experiment
            .variants
            .iter()
            .map(|v| variant(experiment, v))
            .collect(),
        workload: &experiment.workload,
        projection: experiment.projection.as_ref(),
    }
}

/// The name under which each baseline runs a second time in each block.
fn controls(experiment: &Experiment) -> BTreeMap<&str, String> {
    let names = experiment.variants.iter().map(|v| v.name.as_str());
    names
        .filter(|name| experiment.is_baseline(name))
        .map(|name| (name, Experiment::control_of(name)))
        .collect()
}

fn variant<'a>(experiment: &'a Experiment, variant: &'a Variant) -> VariantJson<'a> {
    VariantJson {
        name: &variant.name,
        baseline: experiment.baseline_of(&variant.name),
        path: variant.path.to_string(),
        client: &variant.path.client,
        store: &variant.path.store,
        cache: variant.path.cache.as_deref(),
        options: &variant.path.options,
    }
}

fn trial(trial: &TrialRecord) -> TrialJson<'_> {
    TrialJson {
        block: trial.block,
        position: trial.position,
        variant: &trial.variant,
        placement: trial.placement,
        started_unix_ms: trial.started_unix_ms,
        took_ns: trial.took_ns,
        validity: &trial.validity,
        phases: trial.phases.iter().map(phase).collect(),
        warnings: &trial.warnings,
        fault: trial.fault.as_ref().map(|record| FaultJson {
            record,
            applied: record.applied(),
            acknowledged_lost: record.lost(),
        }),
    }
}

fn phase(record: &PhaseRecord) -> PhaseJson<'_> {
    let finite = |metric: Metric| metric.of(record).filter(|x| x.is_finite());
    PhaseJson {
        record,
        metrics: Metric::ALL.into_iter().map(|m| (m, finite(m))).collect(),
        latency: record.latency.as_ref().map(latency),
        response: record.response.as_ref().map(latency),
    }
}

fn latency(histogram: &Histogram) -> LatencyJson {
    LatencyJson {
        count: histogram.count(),
        min_ns: histogram.min(),
        max_ns: histogram.max(),
        quantiles: QUANTILES
            .into_iter()
            .map(|(name, q)| (name, histogram.quantile(q)))
            .collect(),
    }
}

fn warnings(document: &Document) -> Vec<WarningJson> {
    let notices = collected(document).into_iter();
    notices
        .flat_map(|notice| {
            let of_case = move |case: Case| WarningJson {
                kind: notice.kind.clone(),
                subject: case.subject,
                detail: case.detail,
                remedy: notice.remedy.clone(),
                more_like_it: case.more,
            };
            notice.cases.into_iter().map(of_case)
        })
        .collect()
}
