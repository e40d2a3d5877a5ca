use super::*;
use serde_json::json;

/// A trial of the native client that did `per_s` ops a second.
fn trial(block: u32, variant: &str, per_s: f64) -> TrialRecord {
    serde_json::from_value(json!({
        "block": block, "position": 0, "variant": variant, "placement": "split",
        "started_unix_ms": 0, "took_ns": 500_000_000, "validity": {"state": "valid"},
        "warnings": [], "phases": [{
            "name": "get", "op": "get", "ops": 1000, "depth": 1, "concurrency": 1,
            "wall_ns": (1e12 / per_s) as u64, "user_ns": 1, "sys_ns": 1, "server_cpu_ns": null,
            "process": null, "client_max_rss_bytes": null, "outcomes": {}, "slices_ns": [],
            "steady": null, "witness": {}, "samples": []
        }]
    }))
    .unwrap()
}

fn trials(ratios: &[f64]) -> Vec<TrialRecord> {
    let blocks = ratios.iter().enumerate();
    blocks
        .flat_map(|(block, ratio)| {
            // The machine drifts between blocks, which must not count as noise.
            let base = 1000.0 * (1.0 + block as f64);
            let control = format!("{NATIVE} (control)");
            [
                trial(block as u32, NATIVE, base),
                trial(block as u32, &control, base * ratio),
            ]
        })
        .collect()
}

#[test]
fn noise_is_that_of_ratios_within_blocks() {
    let experiment = experiment(&[]).unwrap();
    let all = trials(&[1.0_f64, 2.0, 4.0].map(|x| x / 2.0));
    let found = smallest(&all, Placement::Split, &experiment).unwrap();
    // Logarithms -ln 2, 0, ln 2: their deviation is ln 2.
    assert!((found.noise - 2_f64.ln()).abs() < 1e-6, "{found:?}");
    assert_eq!((found.pairs, found.block_s), (3, 1.5));
    let blocks: Vec<u32> = found.after.iter().map(|after| after.blocks).collect();
    assert_eq!(blocks, LOOKS);
    let minute = found.in_a_minute.unwrap();
    assert_eq!((minute.blocks, minute.takes_s), (40, 60.0));
    assert_eq!(minute.difference, found.after[3].difference);
    assert_eq!(smallest(&all, Placement::Shared, &experiment), None);
}

#[test]
fn a_pair_of_which_one_is_void_does_not_count() {
    let experiment = experiment(&[]).unwrap();
    let mut all = trials(&[1.0, 1.1, 0.9]);
    all[3].validity = roundtrip_model::record::Validity::Void("it is".to_owned());
    assert_eq!(smallest(&all, Placement::Split, &experiment), None);
    let floors = floors(&all, &[Placement::Split], &experiment);
    assert_eq!((floors.len(), floors[0].trials), (1, 3));
    assert_eq!(floors[0].server_cpu_ns_per_op, None);
}
