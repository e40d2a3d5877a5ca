//! Clients against the floor, on the ordinary bench: what they reach, and how much two trials of
//! the same client differ, from which follows the smallest difference that a run can show.

use crate::bench::Bench;
use crate::engine::TrialRunner;
use crate::loop_cost;
use crate::plan::{self, TrialPlan};
use roundtrip_model::calibration::{Detectable, FloorCost, LoopCost, Smallest};
use roundtrip_model::experiment::LOOKS;
use roundtrip_model::record::{PhaseRecord, TrialRecord, Validity};
use roundtrip_model::{Experiment, Kind, Metric, Op, Placement, Result, Warning, WarningKind};
use roundtrip_stats::power::{deviation, smallest_difference};
use roundtrip_workers::Host;
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Ops of a trial: as many as `roundtrip compare` does unless told.
pub const COUNT: u64 = 20_000;
/// The client whose noise is the machine's: it does the least.
const NATIVE: &str = "native";
/// Pairs of trials without which nothing is said of noise.
const LEAST_PAIRS: usize = 3;
/// Trials in a block of the smallest comparison: two variants and the control.
const TRIALS_A_BLOCK: f64 = 3.0;

/// What the trials gave.
pub struct Found {
    /// Clients against the floor.
    pub floors: Vec<FloorCost>,
    /// What can be told apart.
    pub smallest: Vec<Smallest>,
    /// What could mislead in them, each kind once a placement.
    pub warnings: Vec<Warning>,
}

/// The native client on the floor, and the other clients that reach it.
pub fn experiment(clients: &[String]) -> Result<Experiment> {
    let mut text = format!(
        "name = \"calibrate\"\nbaseline = \"{NATIVE}\"\nplacement = [\"split\", \"shared\"]\n\
         [values]\nbytes = 100\n\
         [[phase]]\nop = \"get\"\ncount = {COUNT}\nwarmup = {}\n",
        COUNT / 20
    );
    for client in std::iter::once(NATIVE).chain(clients.iter().map(String::as_str)) {
        text += &format!(
            "[[variant]]\nname = \"{client}\"\nclient = \"{client}\"\nstore = \"floor\"\n"
        );
    }
    Experiment::parse(&text, "calibrate")
}

/// What each language's loop costs with a client that does nothing. A language that is not
/// installed is left out.
pub fn loops(bench: &mut Bench<'_>) -> Result<Vec<LoopCost>> {
    let languages: Vec<String> = bench
        .host
        .languages()
        .map(|(name, _)| name.to_owned())
        .collect();
    let mut loops = Vec::new();
    for language in languages {
        let Ok(described) = bench.host.describe(&language) else {
            continue;
        };
        if let Some(ns_per_op) = loop_cost::of(bench, &language)? {
            loops.push(LoopCost {
                language,
                runtime: described.runtime,
                ns_per_op,
            });
        }
    }
    Ok(loops)
}

/// Installed clients other than the native one that reach the floor.
pub fn others(host: &Host) -> Vec<String> {
    let mut names = Vec::new();
    for (language, _) in host.languages().filter(|(name, _)| *name != NATIVE) {
        let Ok(described) = host.describe(language) else {
            continue;
        };
        let usable = described.clients.iter().filter(|client| {
            client.available
                && client.stores.iter().any(|store| store == "floor")
                && client.ops.contains(&Op::Get)
        });
        names.extend(usable.map(|client| format!("{language}/{}", client.name)));
    }
    names
}

/// Runs trials until the time is used up: one of every other client in each placement, the rest
/// of the time pairs of the native one.
pub fn measure(
    bench: &mut Bench<'_>,
    within: Duration,
    step: &mut dyn FnMut(&str) -> Result<()>,
) -> Result<Found> {
    let until = Instant::now() + within;
    let experiment = bench.experiment;
    let control = Experiment::control_of(&experiment.baseline);
    let is_native = |name: &str| name == NATIVE || name == control;
    let (mut trials, mut warnings) = (Vec::new(), Vec::new());
    for block in 0..LOOKS[LOOKS.len() - 1] {
        if block as usize >= LEAST_PAIRS && Instant::now() >= until {
            break;
        }
        let planned = plan::block(experiment, bench.seed, block);
        // The others take part in the first round alone.
        for trial in planned
            .iter()
            .filter(|t| block == 0 || is_native(&t.contestant))
        {
            let (round, client) = (block + 1, &trial.contestant);
            step(&format!(
                "round {round}: {client} against the floor ({})",
                trial.placement
            ))?;
            match bench.run(trial) {
                Ok(done) => trials.push(done),
                Err(problem) if is_native(client) || problem.kind == Kind::Interrupted => {
                    return Err(problem);
                }
                Err(problem) => warnings.push(not_measured(trial, &problem.what)),
            }
        }
    }
    for trial in &trials {
        if let Validity::Void(reason) = &trial.validity {
            let subject = format!("{} ({})", trial.variant, trial.placement);
            warnings.push(Warning::new(WarningKind::NoFloorBar, subject, reason));
        }
    }
    warnings.extend(once_each(&trials));
    let placements = &experiment.placements;
    let smallest = placements
        .iter()
        .filter_map(|placement| smallest(&trials, *placement, experiment));
    Ok(Found {
        smallest: smallest.collect(),
        floors: floors(&trials, placements, experiment),
        warnings,
    })
}

/// Another client than the native one that does not work does not end a calibration.
fn not_measured(trial: &TrialPlan, why: &str) -> Warning {
    let subject = format!("{} ({})", trial.contestant, trial.placement);
    Warning::new(WarningKind::NoFloorBar, subject, why)
}

fn once_each(trials: &[TrialRecord]) -> Vec<Warning> {
    let mut told = HashSet::new();
    let mut warnings = Vec::new();
    for trial in trials {
        for warning in &trial.warnings {
            if told.insert((warning.kind, trial.placement)) {
                let subject = format!("{} ({})", warning.subject, trial.placement);
                warnings.push(Warning::new(warning.kind, subject, warning.detail.clone()));
            }
        }
    }
    warnings
}

/// The phase of a trial that counts.
fn counting(trial: &TrialRecord) -> Option<&PhaseRecord> {
    trial.phases.first().filter(|_| trial.is_valid())
}

fn floors(
    trials: &[TrialRecord],
    placements: &[Placement],
    experiment: &Experiment,
) -> Vec<FloorCost> {
    let clients: Vec<&str> = experiment
        .variants
        .iter()
        .map(|v| v.name.as_str())
        .collect();
    let mut floors = Vec::new();
    for placement in placements {
        for client in &clients {
            let here = |t: &&TrialRecord| t.placement == *placement && t.variant == *client;
            let phases: Vec<&PhaseRecord> =
                trials.iter().filter(here).filter_map(counting).collect();
            let median =
                |metric: Metric| median(phases.iter().filter_map(|p| metric.of(p)).collect());
            if phases.is_empty() {
                continue;
            }
            floors.push(FloorCost {
                client: (*client).to_owned(),
                placement: *placement,
                trials: phases.len() as u32,
                ops_per_s: median(Metric::OpsPerS),
                p50_ns: median(Metric::P50Ns),
                p99_ns: median(Metric::P99Ns),
                client_user_ns_per_op: median(Metric::ClientUserNsPerOp),
                client_sys_ns_per_op: median(Metric::ClientSysNsPerOp),
                server_cpu_ns_per_op: median(Metric::ServerCpuNsPerOp),
                waiting_ns_per_op: median(Metric::WaitingNsPerOp),
            });
        }
    }
    floors
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    let n = all.len();
    match n {
        0 => None,
        n if n % 2 == 1 => Some(all[n / 2]),
        n => Some((all[n / 2 - 1] + all[n / 2]) / 2.0),
    }
}

/// What can be told apart in a placement; `None` with too few pairs.
fn smallest(
    trials: &[TrialRecord],
    placement: Placement,
    experiment: &Experiment,
) -> Option<Smallest> {
    let control = Experiment::control_of(&experiment.baseline);
    let mut pairs: BTreeMap<u32, [Option<f64>; 2]> = BTreeMap::new();
    let mut took = Vec::new();
    let native = |t: &&TrialRecord| {
        t.placement == placement && (t.variant == NATIVE || t.variant == control)
    };
    for trial in trials.iter().filter(native) {
        took.push(trial.took_ns as f64 / 1e9);
        let speed = counting(trial).and_then(|phase| Metric::OpsPerS.of(phase));
        pairs.entry(trial.block).or_default()[usize::from(trial.variant == control)] = speed;
    }
    let ratio = |pair: &[Option<f64>; 2]| Some((pair[1]? / pair[0]?).ln());
    let logs: Vec<f64> = pairs.values().filter_map(ratio).collect();
    if logs.len() < LEAST_PAIRS {
        return None;
    }
    let noise = deviation(&logs)?;
    let block_s = median(took)? * TRIALS_A_BLOCK;
    let after = |blocks: u32| {
        Some(Detectable {
            blocks,
            takes_s: block_s * f64::from(blocks),
            difference: smallest_difference(noise, blocks)?,
        })
    };
    let most = LOOKS[LOOKS.len() - 1];
    let in_a_minute = (60.0 / block_s).floor().min(f64::from(most)) as u32;
    Some(Smallest {
        placement,
        pairs: logs.len() as u32,
        noise,
        block_s,
        after: LOOKS.into_iter().filter_map(after).collect(),
        in_a_minute: after(in_a_minute),
    })
}

#[cfg(test)]
mod tests;
