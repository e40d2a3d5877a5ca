//! The same clients against the floor, before the blocks: what of a round trip is the server's.
//! `docs/decisions/0010-the-floor-is-measured-once-a-run.md` says why it is done here.

use crate::bench::{Addresses, Bench, BenchOptions, client_path};
use crate::engine::{TrialRunner, unless_stopped};
use crate::plan::TrialPlan;
use roundtrip_model::experiment::Variant;
use roundtrip_model::record::{FloorBar, TrialRecord, Validity};
use roundtrip_model::workload::Phase;
use roundtrip_model::{Experiment, Kind, Metric, Op, Path, Result, Warning, WarningKind};
use std::path::Path as FilePath;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// The store that does nothing.
const FLOOR: &str = "floor";
/// Ops of a phase: enough for CPU clocks, fewer than most experiments ask for.
const MOST_OPS: u64 = 10_000;
/// Rounds of trials; after the first one only as long as it takes a small part of the budget.
const ROUNDS: u32 = 3;
const BUDGET_SHARE: f64 = 0.05;

/// Measures every client of the experiment that reaches the floor. What cannot be measured is a
/// warning, and no bar.
pub fn measure(
    experiment: &Experiment,
    seed: u64,
    self_exe: &FilePath,
    stop: &AtomicBool,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<FloorBar>> {
    let Some((floor, same)) = on_the_floor(experiment) else {
        return Ok(Vec::new());
    };
    let started = Instant::now();
    let addresses = Addresses::new();
    let mut bench = Bench::new(
        &floor,
        seed,
        &BenchOptions {
            self_exe: self_exe.to_owned(),
            addresses: &addresses,
            allow_remote: false,
            deadline: None,
            stop,
        },
    )?;
    let mut trials: Vec<TrialRecord> = Vec::new();
    for round in 0..ROUNDS {
        if round > 0 && started.elapsed().as_secs_f64() > experiment.budget_s * BUDGET_SHARE {
            break;
        }
        for placement in &floor.placements {
            for variant in &floor.variants {
                unless_stopped(stop)?;
                let planned = TrialPlan {
                    block: round,
                    position: 0,
                    contestant: variant.name.clone(),
                    placement: *placement,
                };
                let why = match bench.run(&planned) {
                    Err(problem) if problem.kind == Kind::Interrupted => return Err(problem),
                    Err(problem) => Some(problem.what),
                    Ok(trial) => match trial.validity.clone() {
                        Validity::Valid => {
                            trials.push(trial);
                            None
                        }
                        Validity::Void(reason) => Some(reason),
                    },
                };
                warnings.extend(why.map(|why| {
                    let subject = format!("{} ({placement})", variant.name);
                    Warning::new(WarningKind::NoFloorBar, subject, why)
                }));
            }
        }
    }
    Ok(bars(&floor, &trials, &same))
}

/// The experiment with the floor in the place of its stores: sequential phases alone, each client
/// once, the native one besides. Beside it, which variants each of its variants stands for.
fn on_the_floor(experiment: &Experiment) -> Option<(Experiment, Vec<Vec<String>>)> {
    let mut variants: Vec<Variant> = Vec::new();
    let mut same: Vec<Vec<String>> = Vec::new();
    for variant in &experiment.variants {
        let Some(path) = path_on_the_floor(&variant.path) else {
            continue;
        };
        match variants.iter().position(|known| known.path == path) {
            Some(known) => same[known].push(variant.name.clone()),
            None => {
                variants.push(Variant {
                    path,
                    against: None,
                    ..variant.clone()
                });
                same.push(vec![variant.name.clone()]);
            }
        }
    }
    let first = variants.first()?;
    let native = Path::parse("native", Some(FLOOR)).ok()?;
    match variants.iter().position(|known| known.path == native) {
        Some(known) => same[known].push(FloorBar::LEAST.to_owned()),
        None => {
            variants.push(Variant {
                name: FloorBar::LEAST.to_owned(),
                path: native,
                against: None,
                place: first.place.clone(),
            });
            same.push(vec![FloorBar::LEAST.to_owned()]);
        }
    }
    let mut floor = experiment.clone();
    floor
        .workload
        .phases
        .retain_mut(|phase| shrunk(phase, &same));
    let is_sequential = floor.workload.concurrency == 1 && !floor.workload.phases.is_empty();
    if let Some(count) = &mut floor.workload.keys.count {
        *count = (*count).min(MOST_OPS);
    }
    floor.baseline.clone_from(&variants[0].name);
    floor.variants = variants;
    is_sequential.then_some((floor, same))
}

/// A path with the floor as its store; `None` where it does not go there by itself or is the
/// floor already.
fn path_on_the_floor(path: &Path) -> Option<Path> {
    let protocol = |name: &str| roundtrip_stores::find(name).ok().map(|m| m.protocol);
    let goes = path.cache.is_none()
        && path.store != FLOOR
        && path.depth().is_ok_and(|depth| depth == 1)
        && protocol(&path.store) == protocol(FLOOR);
    goes.then(|| Path {
        store: FLOOR.to_owned(),
        ..client_path(path)
    })
}

/// Makes a phase small enough, for all that stand for one that does it; false where it is left
/// out.
fn shrunk(phase: &mut Phase, same: &[Vec<String>]) -> bool {
    phase.count = phase.count.min(MOST_OPS);
    phase.warmup = phase.warmup.min(MOST_OPS / 10);
    if !phase.only.is_empty() {
        let only = phase.only.clone();
        let concerned = same
            .iter()
            .filter(|names| names.iter().any(|n| only.contains(n)));
        phase.only = concerned.map(|names| names[0].clone()).collect();
        if phase.only.is_empty() {
            return false;
        }
        // A variant that is the native client on the floor anyway stands for the least.
        let least = same
            .iter()
            .find(|names| names.iter().any(|n| n == FloorBar::LEAST));
        phase.only.extend(least.map(|names| names[0].clone()));
    }
    phase.pace.is_closed() && phase.op != Op::ReadAside
}

/// Medians over the trials of each variant, for every variant that it stands for.
fn bars(floor: &Experiment, trials: &[TrialRecord], same: &[Vec<String>]) -> Vec<FloorBar> {
    let mut bars = Vec::new();
    for (variant, names) in floor.variants.iter().zip(same) {
        for placement in &floor.placements {
            for phase in &floor.workload.phases {
                let records: Vec<_> = trials
                    .iter()
                    .filter(|t| t.variant == variant.name && t.placement == *placement)
                    .filter_map(|t| t.phase(&phase.name))
                    .collect();
                let median = |metric: Metric| {
                    let mut all: Vec<f64> = records.iter().filter_map(|r| metric.of(r)).collect();
                    all.sort_by(f64::total_cmp);
                    all.get(all.len() / 2).copied()
                };
                let parts = [
                    Metric::ClientUserNsPerOp,
                    Metric::ClientSysNsPerOp,
                    Metric::ServerCpuNsPerOp,
                    Metric::WaitingNsPerOp,
                ];
                let [Some(user), Some(sys), Some(server), Some(waiting)] = parts.map(median) else {
                    continue;
                };
                bars.extend(names.iter().map(|name| FloorBar {
                    phase: phase.name.clone(),
                    variant: name.clone(),
                    placement: *placement,
                    trials: records.len() as u32,
                    client_user_ns_per_op: user,
                    client_sys_ns_per_op: sys,
                    server_cpu_ns_per_op: server,
                    waiting_ns_per_op: waiting,
                }));
            }
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(phases: &str, variants: &[&str]) -> Option<(Experiment, Vec<Vec<String>>)> {
        let mut text = format!("name = \"m\"\n{phases}\n");
        for variant in variants {
            text += &format!("[[variant]]\n{variant}\n");
        }
        on_the_floor(&Experiment::parse(&text, "m.toml").unwrap())
    }

    const GET: &str = "[[phase]]\nop=\"get\"\ncount=50000\nwarmup=5000";

    #[test]
    fn each_client_goes_once_and_the_native_one_besides() {
        let php = "client=\"php/memcached\"\nstore=\"memcached\"";
        let variants = [
            format!("name=\"a\"\n{php}"),
            format!("name=\"b\"\n{php}"),
            format!("name=\"c\"\n{php}\noptions={{ serializer = \"json\" }}"),
            "name=\"d\"\nclient=\"native\"\nstore=\"memcached\"\noptions={ depth = 8 }".to_owned(),
            "name=\"e\"\nclient=\"native\"\nstore=\"sqlite\"".to_owned(),
        ];
        let variants: Vec<&str> = variants.iter().map(String::as_str).collect();
        let (floor, same) = of(GET, &variants).unwrap();
        assert_eq!(same, [vec!["a", "b"], vec!["c"], vec!["native@floor"]]);
        assert!(floor.variants.iter().all(|v| v.path.store == "floor"));
        assert_eq!(floor.workload.phases[0].count, MOST_OPS);
    }

    #[test]
    fn what_is_on_the_floor_already_or_not_sequential_has_no_bar() {
        assert_eq!(of(GET, &["client=\"native\"\nstore=\"floor\""]), None);
        assert_eq!(of(GET, &["client=\"native\"\nstore=\"sqlite\""]), None);
        let many = format!("concurrency = 4\n{GET}");
        assert_eq!(of(&many, &["client=\"native\"\nstore=\"memcached\""]), None);
    }

    #[test]
    fn a_phase_of_some_variants_stays_one_of_their_clients() {
        let phases = format!("{GET}\nonly=[\"b\"]");
        let a = "name=\"a\"\nclient=\"php/memcache\"\nstore=\"memcached\"";
        let b = "name=\"b\"\nclient=\"php/memcached\"\nstore=\"memcached\"";
        let (floor, _) = of(&phases, &[a, b]).unwrap();
        assert_eq!(floor.workload.phases[0].only, ["b", FloorBar::LEAST]);
    }
}
