//! What each language's own loop costs, measured with a client that does nothing. It is shown,
//! never subtracted.

use crate::bench::Bench;
use crate::placement::Cpus;
use crate::steps;
use roundtrip_model::contract::{Endpoint, Open, PhaseCommand, Purpose, Target};
use roundtrip_model::record::Environment;
use roundtrip_model::workload::{Generate, Pace};
use roundtrip_model::{Op, Placement, Result};
use roundtrip_process::Settings;
use std::collections::BTreeSet;

/// The client that does nothing, in every language.
const NOTHING: &str = "nothing";
const COUNT: u64 = 200_000;

/// Measures it for every language of the experiment.
pub fn measure(bench: &mut Bench<'_>, environment: &mut Environment) -> Result<()> {
    let languages: BTreeSet<&str> = bench
        .experiment
        .variants
        .iter()
        .map(|variant| variant.path.language())
        .collect();
    for language in languages {
        if let Some(ns) = of(bench, language)? {
            environment.loop_ns_per_op.insert(language.to_owned(), ns);
        }
    }
    Ok(())
}

/// Measures it for a language; `None` where it has no client that does nothing.
pub fn of(bench: &mut Bench<'_>, language: &str) -> Result<Option<f64>> {
    let clients = bench.host.describe(language)?.clients;
    match clients.iter().any(|client| client.name == NOTHING) {
        true => one(bench, language).map(Some),
        false => Ok(None),
    }
}

fn one(bench: &mut Bench<'_>, language: &str) -> Result<f64> {
    let work = &bench.experiment.workload;
    let stream = steps::loop_cost(work.keys, work.values.clone(), bench.seed, COUNT);
    let path = format!("{language}/{NOTHING}@floor").parse()?;
    let (stream, plan) = bench.work(&path, &stream)?;
    let cpus = Some(Cpus::of(Placement::Shared).clients);
    let mut worker = bench
        .host
        .spawn(language, &Settings { cpus, run_as: None })?;
    let nowhere = Endpoint::File {
        path: String::new(),
    };
    worker.open(Open::to(NOTHING, "floor", nowhere))?;
    worker.ready(PhaseCommand {
        name: "loop".to_owned(),
        op: Op::Get,
        purpose: Purpose::Measure,
        target: Target::Store,
        count: COUNT,
        keys_per_op: 1,
        add: 0,
        journal: None,
        stream,
        plan,
        latencies: None,
        ttl_s: 0,
        depth: 1,
        pace: Pace::Closed,
        generate: Generate::Prepared,
    })?;
    worker.go()?;
    let done = worker.done(bench.deadline(COUNT), bench.stop)?;
    worker.written()?;
    worker.close()?;
    Ok(done.ended_ns.saturating_sub(done.started_ns) as f64 / COUNT as f64)
}
