//! Tidy rows for a spreadsheet or a data frame: one a trial and phase. Quoted as in RFC 4180; a
//! figure that is not known is an empty field.

use super::Format;
use crate::{Document, RenderOptions};
use roundtrip_model::analysis::PublishedRow;
use roundtrip_model::contract::outcome;
use roundtrip_model::fault::FaultRecord;
use roundtrip_model::record::{PhaseRecord, TrialRecord, Validity};
use roundtrip_model::{Metric, Term};

/// The format.
pub struct Csv;

const OUTCOMES: [&str; 6] = [
    outcome::HIT,
    outcome::MISS,
    outcome::WRONG,
    outcome::STORED,
    outcome::DONE,
    outcome::NOT_FOUND,
];

const BESIDE: [&str; 7] = [
    "baseline",
    "published_metric",
    "published",
    "published_rounds",
    "published_speed",
    "measured_speed",
    "direction_agrees",
];

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn extension(&self) -> &'static str {
        "csv"
    }

    fn render(&self, document: &Document, _: &RenderOptions) -> Vec<u8> {
        if document.experiment.is_of_faults() {
            return faults(document);
        }
        let mut out = line(heads());
        for trial in &document.trials {
            for phase in &trial.phases {
                out += &line(fields(document, trial, phase));
            }
        }
        out.into_bytes()
    }
}

/// A row a trial.
fn faults(document: &Document) -> Vec<u8> {
    let heads = [
        "run",
        "experiment",
        "block",
        "position",
        "variant",
        "fault",
        "valid",
        "void_reason",
        "after_ops",
        "delay_ns",
        "sent",
        "acknowledged",
        "applied",
        "applied_unacknowledged",
        "acknowledged_lost",
        "wrong",
        "beyond",
        "torn",
    ];
    let mut out = line(heads.map(str::to_owned).to_vec());
    for trial in &document.trials {
        if let Some(fault) = &trial.fault {
            out += &line(fault_fields(document, trial, fault));
        }
    }
    out.into_bytes()
}

fn fault_fields(document: &Document, trial: &TrialRecord, fault: &FaultRecord) -> Vec<String> {
    let mut fields = vec![
        document.run.id.clone(),
        document.run.experiment.clone(),
        trial.block.to_string(),
        trial.position.to_string(),
        trial.variant.clone(),
        fault.kind.to_string(),
        trial.is_valid().to_string(),
        void_reason(trial).to_owned(),
    ];
    let found = fault.found;
    let numbers = [
        fault.after_ops,
        fault.delay_ns,
        fault.sent,
        fault.acknowledged,
        fault.applied(),
        found.unacknowledged,
        fault.lost(),
        found.wrong,
        found.beyond,
        found.torn,
    ];
    fields.extend(numbers.map(|n| n.to_string()));
    fields
}

fn void_reason(trial: &TrialRecord) -> &str {
    match &trial.validity {
        Validity::Valid => "",
        Validity::Void(reason) => reason,
    }
}

fn heads() -> Vec<String> {
    let first = [
        "run",
        "experiment",
        "placement",
        "block",
        "position",
        "variant",
        "phase",
        "op",
        "started_unix_ms",
        "valid",
        "void_reason",
        "ops",
        "depth",
        "concurrency",
        "steady",
    ];
    let last = ["errors", "cache_hit", "cache_miss", "max_rss_bytes"];
    let metrics = Metric::ALL.iter().map(|metric| metric.name());
    let terms = Term::ALL.iter().map(|term| term.name());
    let all = first.into_iter().chain(metrics).chain(OUTCOMES).chain(last);
    let all = all.chain(["keys_per_op"]).chain(terms).chain(BESIDE);
    all.map(str::to_owned).collect()
}

fn fields(document: &Document, trial: &TrialRecord, phase: &PhaseRecord) -> Vec<String> {
    let mut fields = vec![
        document.run.id.clone(),
        document.run.experiment.clone(),
        trial.placement.to_string(),
        trial.block.to_string(),
        trial.position.to_string(),
        trial.variant.clone(),
        phase.name.clone(),
        phase.op.to_string(),
        trial.started_unix_ms.to_string(),
        trial.is_valid().to_string(),
        void_reason(trial).to_owned(),
        phase.ops.to_string(),
        phase.depth.to_string(),
        phase.concurrency.to_string(),
        known(phase.steady),
    ];
    let finite = |metric: &Metric| metric.of(phase).filter(|x| x.is_finite());
    fields.extend(Metric::ALL.iter().map(|metric| known(finite(metric))));
    fields.extend(OUTCOMES.map(|name| phase.outcome(name).to_string()));
    let errors = phase.errors().map(|(_, n)| n).fold(0, u64::saturating_add);
    fields.push(errors.to_string());
    // Only a path with a cache has these.
    fields.extend([outcome::HIT, outcome::MISS].map(|name| {
        match phase.cache_outcomes.is_empty() {
            true => String::new(),
            false => phase
                .cache_outcomes
                .get(name)
                .copied()
                .unwrap_or(0)
                .to_string(),
        }
    }));
    fields.push(known(phase.client_max_rss_bytes));
    fields.push(phase.keys_per_op.to_string());
    fields.extend(Term::ALL.map(|term| known(phase.terms.get(&term))));
    fields.extend(beside(document, trial, phase));
    fields
}

/// What stands beside a trial: its baseline, and what was published of its variant and phase, by
/// the metric that leads or the first that was.
fn beside(document: &Document, trial: &TrialRecord, phase: &PhaseRecord) -> [String; 7] {
    let experiment = &document.experiment;
    let here = |row: &&PublishedRow| {
        row.variant == trial.variant && row.phase == phase.name && row.placement == trial.placement
    };
    let rows = || document.analysis.published.iter().filter(here);
    let leads = |row: &&PublishedRow| Some(&row.metric) == experiment.metrics.first();
    let row = rows().find(leads).or_else(|| rows().next());
    let rounds = row.map(|row| match row.rounds.as_slice() {
        [] => row.published.to_string(),
        rounds => rounds
            .iter()
            .map(f64::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    });
    [
        known(experiment.baseline_of(&trial.variant)),
        known(row.map(|row| row.metric)),
        known(row.map(|row| row.published)),
        known(rounds),
        known(row.and_then(|row| row.published_speed)),
        known(row.and_then(|row| row.measured_speed)),
        known(row.and_then(|row| row.direction_agrees)),
    ]
}

fn known<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn line(fields: Vec<String>) -> String {
    let quoted: Vec<String> = fields.into_iter().map(quote).collect();
    quoted.join(",") + "\n"
}

fn quote(field: String) -> String {
    if field.contains([',', '"', '\n', '\r']) || field.starts_with(' ') || field.ends_with(' ') {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field
    }
}
