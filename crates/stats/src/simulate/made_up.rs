//! The parts of a simulated experiment that no figure depends on.

use roundtrip_model::Path;
use roundtrip_model::experiment::Variant;
use roundtrip_model::names::{Op, Placement};
use roundtrip_model::record::{PhaseRecord, TrialRecord, Validity};
use roundtrip_model::workload::{
    Distribution, Generate, KeyRecipe, Keys, Phase, ValueRecipe, Values, Workload,
};
use std::collections::BTreeMap;

/// The baseline is the variant of place 0.
pub(super) fn name(i: usize) -> String {
    if i == 0 {
        "baseline".to_owned()
    } else {
        format!("variant {i}")
    }
}

pub(super) fn variant(name: String) -> Variant {
    Variant {
        name,
        path: Path {
            client: "native".to_owned(),
            store: "floor".to_owned(),
            cache: None,
            options: BTreeMap::new(),
        },
        against: None,
        place: String::new(),
    }
}

pub(super) fn workload() -> Workload {
    Workload {
        keys: Keys {
            recipe: KeyRecipe::Hex,
            bytes: 32,
            distribution: Distribution::Sequential,
            count: None,
        },
        values: Values::of(ValueRecipe::Bytes, 100),
        generate: Generate::Prepared,
        concurrency: 1,
        phases: vec![Phase {
            name: "get".to_owned(),
            op: Op::Get,
            mix: Vec::new(),
            scan_keys: 0,
            keys_per_op: 1,
            keys: None,
            add: 0,
            beside: None,
            count: 1000,
            warmup: 1,
            ttl_s: None,
            hit_ratio: 1.0,
            pace: roundtrip_model::workload::Pace::Closed,
            only: Vec::new(),
        }],
    }
}

/// A trial of one phase that took so long, and of which nothing else is known.
pub(super) fn trial(block: u32, position: usize, variant: &str, seconds: f64) -> TrialRecord {
    let wall_ns = (seconds * 1e9).round() as u64;
    TrialRecord {
        block,
        position: position as u32,
        variant: variant.to_owned(),
        placement: Placement::Split,
        started_unix_ms: 0,
        took_ns: wall_ns,
        validity: Validity::Valid,
        phases: vec![PhaseRecord {
            name: "get".to_owned(),
            op: Op::Get,
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
        }],
        warnings: Vec::new(),
        fault: None,
    }
}
