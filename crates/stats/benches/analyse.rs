//! How long `analyse` takes: 40 blocks of 8 variants with latencies, in two phases, with four looks
//! taken. `report` calls it once and must take under a second.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use roundtrip_model::Histogram;
use roundtrip_model::record::TrialRecord;
use roundtrip_stats::analyse;
use roundtrip_stats::simulate::{Noise, Scenario};
use std::hint::black_box;

fn trials(scenario: &Scenario) -> Vec<TrialRecord> {
    let mut trials = scenario.trials(1, 40);
    for trial in &mut trials {
        let mut latency = Histogram::new();
        (0..10_000).for_each(|i| latency.record(15_000 + (i * i) % 200_000));
        let mut get = trial.phases[0].clone();
        get.latency = Some(latency);
        let mut set = get.clone();
        set.name = "set".to_owned();
        set.wall_ns += 1 + u64::from(trial.block % 7) * 10_000_000;
        trial.phases = vec![get, set];
    }
    trials
}

fn bench(c: &mut Criterion) {
    let scenario = Scenario {
        true_ratios: vec![1.0, 1.01, 1.02, 1.03, 1.05, 1.1, 1.2],
        ..Scenario::bar(1.0, Noise::HeavyTailed)
    };
    let trials = trials(&scenario);
    let mut experiment = scenario.experiment();
    let mut set = experiment.workload.phases[0].clone();
    set.name = "set".to_owned();
    experiment.workload.phases.push(set);
    c.bench_function("14 comparisons, 40 blocks", |b| {
        b.iter(|| {
            analyse(
                black_box(&experiment),
                black_box(&trials),
                &[5, 10, 20, 40],
                true,
            )
        })
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = bench
}
criterion_main!(benches);
