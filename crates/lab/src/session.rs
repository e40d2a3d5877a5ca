//! A run from its start, or from where it was stopped, to its end.

use crate::bench::{Addresses, Bench, BenchOptions};
use crate::engine::{Engine, Keeper, Observer};
use crate::placement::Cpus;
use crate::{
    beside_floor, carrying, clock, environment, foreign, lock, loop_cost, placement, verify,
};
use roundtrip_archive::Archive;
use roundtrip_model::record::{Environment, RunRecord, RunState, TrialRecord};
use roundtrip_model::{Experiment, Kind, Placement, Problem, Result, Warning, WarningKind};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How a person wants an experiment run.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Roundtrip's own executable.
    pub self_exe: PathBuf,
    /// The seed; drawn when not given.
    pub seed: Option<u64>,
    /// Stores that are there already.
    pub addresses: Addresses,
    /// Whether such a store may be on another machine.
    pub allow_remote: bool,
    /// The longest that a phase may take.
    pub deadline: Option<Duration>,
    /// The command that makes the run again, without the seed.
    pub command: String,
}

/// A run with its trials.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub run: RunRecord,
    /// Its trials.
    pub trials: Vec<TrialRecord>,
}

/// What a session needs from outside.
pub struct Surroundings<'a> {
    /// Where the run is kept.
    pub archive: &'a mut Archive,
    /// Who hears of it.
    pub observer: &'a mut dyn Observer,
    /// Set when the person wants it to stop.
    pub stop: &'a AtomicBool,
    /// Told the run's id as soon as there is one.
    pub began: &'a mut dyn FnMut(&RunRecord),
}

/// Runs an experiment from its start.
pub fn start(
    experiment: &Experiment,
    wishes: &Wishes,
    around: Surroundings<'_>,
) -> Result<Outcome> {
    foreign::check(experiment, wishes)?;
    placement::machine();
    let seed = wishes.seed.map_or_else(crate::random, Ok)? & 0x7fff_ffff_ffff_ffff;
    let mut bench = bench(experiment, seed, wishes, around.stop)?;
    let mut environment = environment::read();
    let exe = &wishes.self_exe;
    let mut warnings = verify::verify(
        experiment,
        &bench.host,
        exe,
        &wishes.addresses,
        &mut environment,
    )?;
    try_stores(&mut bench, &mut environment)?;
    loop_cost::measure(&mut bench, &mut environment)?;
    let floor_bars = beside_floor::measure(experiment, seed, exe, around.stop, &mut warnings)
        .map_err(before_the_run)?;
    warnings.extend(environment::warnings(&environment));
    warnings.extend(verify::warnings(&environment));
    warnings.extend(unequal_terms(experiment));
    warnings.extend(carrying::unequal(experiment)?);
    warnings.extend(placement::warning(&experiment.placements));
    warnings.extend(foreign::warnings(experiment, wishes)?);
    let run = RunRecord {
        warnings,
        floor_bars,
        ..begun(experiment, &experiment.name, seed, wishes, environment)?
    };
    around.archive.begin(&run)?;
    carry_on(
        &mut bench,
        Outcome {
            run,
            trials: Vec::new(),
        },
        around,
    )
}

/// The record of a run that begins now, under a name.
pub(crate) fn begun(
    experiment: &Experiment,
    name: &str,
    seed: u64,
    wishes: &Wishes,
    environment: Environment,
) -> Result<RunRecord> {
    let now = clock::unix_ms();
    Ok(RunRecord {
        id: roundtrip_archive::new_run_id(now, crate::random()?),
        experiment: name.to_owned(),
        experiment_text: experiment.text.clone(),
        command: format!("{} --seed {seed}", wishes.command),
        seed,
        started_unix_ms: now,
        ended_unix_ms: None,
        state: RunState::Running,
        end_reason: None,
        looks: Vec::new(),
        environment,
        warnings: Vec::new(),
        floor_bars: Vec::new(),
    })
}

/// Goes on with a run that was stopped or failed, with the same plan and seed.
pub fn resume(outcome: Outcome, wishes: &Wishes, around: Surroundings<'_>) -> Result<Outcome> {
    placement::machine();
    if outcome.run.state == RunState::Finished {
        let what = format!("run {} is finished", outcome.run.id);
        return Err(Problem::new(Kind::Usage, what).next(format!(
            "see it with `roundtrip report {}`; for more blocks run it again with a larger --budget",
            outcome.run.id
        )));
    }
    let place = format!("the experiment of run {}", outcome.run.id);
    let experiment = Experiment::parse(&outcome.run.experiment_text, &place)?;
    let mut bench = bench(&experiment, outcome.run.seed, wishes, around.stop)?;
    let mut now = environment::read();
    verify::verify(
        &experiment,
        &bench.host,
        &wishes.self_exe,
        &wishes.addresses,
        &mut now,
    )?;
    try_stores(&mut bench, &mut now)?;
    same_versions(&outcome.run, &now.versions)?;
    carry_on(&mut bench, outcome, around)
}

pub(crate) fn bench<'a>(
    experiment: &'a Experiment,
    seed: u64,
    wishes: &'a Wishes,
    stop: &'a AtomicBool,
) -> Result<Bench<'a>> {
    Bench::new(
        experiment,
        seed,
        &BenchOptions {
            self_exe: wishes.self_exe.clone(),
            addresses: &wishes.addresses,
            allow_remote: wishes.allow_remote,
            deadline: wishes.deadline,
            stop,
        },
    )
}

fn carry_on(bench: &mut Bench<'_>, outcome: Outcome, around: Surroundings<'_>) -> Result<Outcome> {
    let Outcome {
        mut run,
        mut trials,
    } = outcome;
    let _lock = lock::RunLock::take(around.archive.path(), &run.id)?;
    (around.began)(&run);
    placement::pin_host();
    let started = Instant::now();
    let mut engine = Engine {
        experiment: bench.experiment,
        runner: bench,
        keeper: &mut ArchiveKeeper(around.archive),
        observer: around.observer,
        stop: around.stop,
        elapsed: &|| started.elapsed(),
    };
    engine
        .run(&mut run, &mut trials)
        .map_err(|problem| with_way_on(problem, &run))?;
    Ok(Outcome { run, trials })
}

/// Starts every store once, as each path asks for it: one that cannot start is found before the
/// first trial, and the settings that it runs with are kept.
fn try_stores(bench: &mut Bench<'_>, environment: &mut Environment) -> Result<()> {
    let mut tried = BTreeSet::new();
    for variant in &bench.experiment.variants {
        let path = &variant.path;
        for name in std::iter::once(&path.store).chain(&path.cache) {
            if !tried.insert((name, &path.options)) {
                continue;
            }
            let store = bench.start(name, path, &Cpus::of(Placement::Free))?;
            environment
                .versions
                .insert(name.clone(), store.version().to_owned());
            for (setting, value) in store.settings() {
                let (key, value) = match path.options.get(setting) {
                    Some(asked) => (format!("{name} {setting} of {}", variant.name), asked),
                    None => (format!("{name} {setting}"), value),
                };
                environment.settings.insert(key, value.clone());
            }
            store.stop()?;
        }
    }
    Ok(())
}

/// Paths that write with another durability than their store has by itself.
fn unequal_terms(experiment: &Experiment) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for variant in &experiment.variants {
        let Ok(manifest) = roundtrip_stores::find(&variant.path.store) else {
            continue;
        };
        for (setting, usual) in &manifest.settings.fixed {
            let asked = variant.path.options.get(setting);
            if let Some(asked) = asked.filter(|asked| !asked.eq_ignore_ascii_case(usual)) {
                let detail = format!("it runs with {setting}={asked}, others with {usual}");
                warnings.push(Warning::new(
                    WarningKind::UnequalTerms,
                    &variant.name,
                    detail,
                ));
            }
        }
    }
    warnings
}

/// Says how to go on, where the problem does not say better.
pub(crate) fn with_way_on(problem: Problem, run: &RunRecord) -> Problem {
    let way = format!("roundtrip resume {}", run.id);
    match &problem.next_step {
        Some(step) if step.contains("resume") => problem,
        Some(step) => {
            let step = format!("{step}; then `{way}`");
            problem.next(step)
        }
        None => problem.next(format!("go on with `{way}`")),
    }
}

/// Trials of other versions must not stand in one run with those that are there.
pub(crate) fn same_versions(
    run: &RunRecord,
    now: &std::collections::BTreeMap<String, String>,
) -> Result<()> {
    let then = &run.environment.versions;
    match then
        .iter()
        .find(|(part, version)| now.get(*part) != Some(*version))
    {
        None => Ok(()),
        Some((part, version)) => {
            let present = now.get(part).map_or("not there", String::as_str);
            let what = format!(
                "`{part}` was {version} when run {} started, and is {present}",
                run.id
            );
            Err(Problem::new(Kind::Usage, what)
                .next("start a new run; see both with `roundtrip diff`"))
        }
    }
}

pub(crate) struct ArchiveKeeper<'a>(pub &'a mut Archive);

impl Keeper for ArchiveKeeper<'_> {
    fn keep(&mut self, run: &RunRecord, trial: &TrialRecord) -> Result<()> {
        self.0.add_trial(&run.id, trial)
    }

    fn update(&mut self, run: &RunRecord) -> Result<()> {
        let mut run = run.clone();
        if run.state != RunState::Running {
            run.ended_unix_ms = Some(clock::unix_ms());
        }
        self.0.update(&run)
    }
}

/// Nothing is kept of what was stopped before its run was begun.
fn before_the_run(mut problem: Problem) -> Problem {
    if problem.kind == Kind::Interrupted {
        problem.what = "stopped before the first trial; nothing is kept".to_owned();
    }
    problem
}
