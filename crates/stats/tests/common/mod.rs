//! Hand-made runs: an experiment as a person writes it, and trials with exact figures.
// Each test uses its own part; a helper of tests may panic as a test does.
#![allow(dead_code, clippy::unwrap_used)]

use roundtrip_model::experiment::Experiment;
use roundtrip_model::record::{PhaseRecord, TrialRecord, Validity};
use roundtrip_model::{Op, Placement};
use std::collections::BTreeMap;

/// Two variants, `get`, compared by operations a second, with a control.
pub const TWO: &str = r#"
name = "two"
[[phase]]
op = "get"
count = 1000
[[variant]]
name = "old"
client = "php/memcache"
store = "memcached"
[[variant]]
name = "new"
client = "php/memcached"
store = "memcached"
"#;

pub fn experiment(text: &str) -> Experiment {
    Experiment::parse(text, "test.toml").unwrap()
}

/// A phase of 1,000 ops in `wall_ns`, and nothing else known of it.
pub fn phase(op: Op, wall_ns: u64) -> PhaseRecord {
    PhaseRecord {
        name: op.name().to_owned(),
        op,
        ops: 1000,
        keys_per_op: 1,
        beside: None,
        depth: 1,
        concurrency: 1,
        carried: None,
        pace: roundtrip_model::workload::Pace::Closed,
        lateness: None,
        gaps: Vec::new(),
        gap_totals: None,
        redirects: Default::default(),
        wall_ns,
        user_ns: None,
        sys_ns: None,
        server_cpu_ns: None,
        process: None,
        client_max_rss_bytes: None,
        complaint: None,
        outcomes: BTreeMap::new(),
        cache_outcomes: BTreeMap::new(),
        latency: None,
        response: None,
        machine: None,
        slices_ns: Vec::new(),
        steady: None,
        terms: Default::default(),
        witness: BTreeMap::new(),
        samples: Vec::new(),
    }
}

pub fn trial(block: u32, variant: &str, phases: Vec<PhaseRecord>) -> TrialRecord {
    TrialRecord {
        block,
        position: 0,
        variant: variant.to_owned(),
        placement: Placement::Split,
        started_unix_ms: 0,
        took_ns: 1,
        validity: Validity::Valid,
        phases,
        warnings: Vec::new(),
        fault: None,
    }
}

/// A valid trial of `get` that took `wall_ns`.
pub fn get(block: u32, variant: &str, wall_ns: u64) -> TrialRecord {
    trial(block, variant, vec![phase(Op::Get, wall_ns)])
}

pub fn void(mut trial: TrialRecord, reason: &str) -> TrialRecord {
    trial.validity = Validity::Void(reason.to_owned());
    trial
}

/// Blocks of `old`, its control and `new`, in milliseconds.
pub fn blocks(times_ms: &[(u64, u64, u64)]) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for (block, (old, control, new)) in times_ms.iter().enumerate() {
        let block = block as u32;
        trials.push(get(block, "old", old * 1_000_000));
        trials.push(get(block, "old (control)", control * 1_000_000));
        trials.push(get(block, "new", new * 1_000_000));
    }
    trials
}

pub fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
        "found {found}, expected {expected}"
    );
}
