//! What a crash loses: trials in each of which a client does numbered writes, one fault strikes at
//! a random point of them, and the store is asked afterwards which of them are there.

mod found;
mod journal;
pub mod plan;
mod relay;
mod trial;

use crate::bench::Bench;
use crate::engine::{Keeper, unless_stopped};
use crate::session::{self, ArchiveKeeper, Outcome, Wishes};
use crate::{environment, lock, verify};
use plan::FaultPlan;
use roundtrip_archive::Archive;
use roundtrip_model::experiment::faults::Faults;
use roundtrip_model::fault::FaultKind;
use roundtrip_model::record::{Environment, RunRecord, RunState, TrialRecord, Validity};
use roundtrip_model::{Experiment, Kind, Problem, Result};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use toml::{Table, Value};

/// Keys of an experiment that its faults have a use for.
const OF_FAULTS: [&str; 5] = ["name", "title", "question", "source", "faults"];

/// What a session of faults needs from outside.
pub struct Surroundings<'a> {
    /// Where the run is kept.
    pub archive: &'a mut Archive,
    /// Told what is done and how long all of it may still take, where that is known.
    pub say: &'a mut dyn FnMut(&str, Option<Duration>),
    /// Set when the person wants it to stop.
    pub stop: &'a AtomicBool,
    /// Told the run's id as soon as there is one.
    pub began: &'a mut dyn FnMut(&RunRecord),
}

/// The faults of an experiment alone, with the number of trials that the person wants. The text
/// that is kept with the run is the one that was run.
pub fn only(experiment: &Experiment, trials: Option<u32>) -> Result<Experiment> {
    if experiment.faults.is_none() {
        let what = format!("`{}` says nothing of faults", experiment.name);
        return Err(Problem::new(Kind::Usage, what)
            .next("add a [faults] table: docs/reference/experiment.md has its keys"));
    }
    let internal = |e: String| {
        Problem::new(
            Kind::Internal,
            format!("an experiment cannot be changed: {e}"),
        )
    };
    let mut table: Table = experiment
        .text
        .parse()
        .map_err(|e: toml::de::Error| internal(e.to_string()))?;
    table.retain(|key, _| OF_FAULTS.contains(&key));
    let faults = table.get_mut("faults").and_then(Value::as_table_mut);
    if let Some((faults, trials)) = faults.zip(trials) {
        faults.insert("trials".to_owned(), Value::Integer(trials.into()));
    }
    let text = toml::to_string(&table).map_err(|e| internal(e.to_string()))?;
    let mut only = Experiment::parse(&text, &format!("the faults of {}", experiment.name))?;
    // The places are those of the text that the person knows.
    let variants = only
        .faults
        .iter_mut()
        .flat_map(|faults| &mut faults.variants);
    let known = experiment.faults.iter().flat_map(|faults| &faults.variants);
    for (variant, known) in variants.zip(known) {
        variant.place.clone_from(&known.place);
    }
    Ok(only)
}

/// Runs the faults of an experiment from their start.
pub fn start(
    experiment: &Experiment,
    wishes: &Wishes,
    around: Surroundings<'_>,
) -> Result<Outcome> {
    let seed = wishes.seed.map_or_else(crate::random, Ok)? & 0x7fff_ffff_ffff_ffff;
    let bench = session::bench(experiment, seed, wishes, around.stop)?;
    let mut environment = environment::read();
    look(faults_of(experiment)?, &bench, wishes, &mut environment)?;
    // In the list of runs it must not look like one that compares.
    let name = format!("{} (faults)", experiment.name);
    let run = session::begun(experiment, &name, seed, wishes, environment)?;
    around.archive.begin(&run)?;
    let trials = Vec::new();
    carry_on(bench, Outcome { run, trials }, around)
}

/// Goes on with a run of faults that was stopped or failed, with the same plan and seed.
pub fn resume(
    experiment: &Experiment,
    outcome: Outcome,
    wishes: &Wishes,
    around: Surroundings<'_>,
) -> Result<Outcome> {
    if outcome.run.state == RunState::Finished {
        let what = format!("run {} is finished", outcome.run.id);
        return Err(Problem::new(Kind::Usage, what).next(format!(
            "see it with `roundtrip report {}`; for more trials run it again with --trials",
            outcome.run.id
        )));
    }
    let bench = session::bench(experiment, outcome.run.seed, wishes, around.stop)?;
    let mut now = environment::read();
    look(faults_of(experiment)?, &bench, wishes, &mut now)?;
    session::same_versions(&outcome.run, &now.versions)?;
    carry_on(bench, outcome, around)
}

fn faults_of(experiment: &Experiment) -> Result<&Faults> {
    let none = || Problem::new(Kind::Internal, "a run of faults without any");
    experiment.faults.as_ref().ok_or_else(none)
}

/// Whether every variant can be had here, and keeps a journal.
fn look(
    faults: &Faults,
    bench: &Bench<'_>,
    wishes: &Wishes,
    environment: &mut Environment,
) -> Result<()> {
    for variant in &faults.variants {
        let at = |problem: Problem| problem.at(variant.place.clone());
        let (path, exe) = (&variant.path, &wishes.self_exe);
        let addresses = &wishes.addresses;
        let ops = BTreeSet::from([variant.op]);
        verify::verify_path(path, &ops, &bench.host, exe, addresses, environment).map_err(at)?;
        let client = bench.host.client(&path.client)?;
        if !client.journals {
            let what = format!("`{}` keeps no journal of what it sends", path.client);
            return Err(at(Problem::new(Kind::Usage, what).next(
                "take a client that does, such as php/predis or php/phpredis",
            )));
        }
        let (_, depth) = variant.travel()?;
        if depth > client.depth {
            let what = format!("`{}` sends at most {} ops ahead", path.client, client.depth);
            return Err(at(
                Problem::new(Kind::Usage, what).next("ask for a smaller depth")
            ));
        }
        let is_server = roundtrip_stores::find(&path.store)?.is_embedded();
        if is_server && variant.kinds.iter().any(|kind| *kind != FaultKind::Client) {
            let what = format!(
                "`{}` has no server that could be killed or cut off",
                path.store
            );
            return Err(at(
                Problem::new(Kind::Usage, what).next("write kinds = [\"client\"]")
            ));
        }
        let settings = path.options.iter();
        let named = |(name, value): (&String, &String)| {
            (format!("{}: {name}", variant.name), value.clone())
        };
        environment.settings.extend(settings.map(named));
    }
    Ok(())
}

fn carry_on(
    mut bench: Bench<'_>,
    outcome: Outcome,
    mut around: Surroundings<'_>,
) -> Result<Outcome> {
    let Outcome {
        mut run,
        mut trials,
    } = outcome;
    let _lock = lock::RunLock::take(around.archive.path(), &run.id)?;
    (around.began)(&run);
    run.state = RunState::Running;
    ArchiveKeeper(around.archive).update(&run)?;
    let outcome = blocks(&mut bench, &run, &mut trials, &mut around);
    run.state = match &outcome {
        Ok(()) => RunState::Finished,
        Err(problem) if problem.kind == Kind::Interrupted => RunState::Interrupted,
        Err(_) => RunState::Failed,
    };
    let kept = ArchiveKeeper(around.archive).update(&run);
    outcome.map_err(|problem| session::with_way_on(problem, &run))?;
    kept?;
    Ok(Outcome { run, trials })
}

/// Runs the trials that are still to come.
fn blocks(
    bench: &mut Bench<'_>,
    run: &RunRecord,
    trials: &mut Vec<TrialRecord>,
    around: &mut Surroundings<'_>,
) -> Result<()> {
    let faults = faults_of(bench.experiment)?;
    let done: HashSet<(u32, u32)> = trials.iter().map(|t| (t.block, t.position)).collect();
    let (started, brought) = (Instant::now(), trials.len());
    for number in 0..faults.trials {
        for plan in plan::block(faults, run.seed, number)? {
            if done.contains(&(plan.block, plan.position)) {
                continue;
            }
            unless_stopped(bench.stop)?;
            let made = (trials.len() - brought) as u64;
            let all = faults.all_trials();
            let left = time_left(started.elapsed(), made, all - trials.len() as u64);
            (around.say)(&in_words(&plan, trials.len() as u64 + 1, all), left);
            let trial = trial::run(bench, faults, &plan)?;
            around.archive.add_trial(&run.id, &trial)?;
            trials.push(trial);
            hopeless(&trials[brought..], &plan)?;
        }
    }
    Ok(())
}

fn in_words(plan: &FaultPlan, number: u64, all: u64) -> String {
    format!("trial {number} of {all}: {}, {}", plan.variant, plan.kind)
}

/// How long the rest takes when it goes on like this; `None` before anything has been done.
fn time_left(elapsed: Duration, made: u64, left: u64) -> Option<Duration> {
    (made > 0).then(|| elapsed.mul_f64(left as f64 / made as f64))
}

/// After so many trials of a variant and kind without a valid one there is no point in going on.
const HOPELESS_TRIALS: usize = 3;

fn hopeless(trials: &[TrialRecord], plan: &FaultPlan) -> Result<()> {
    let is_like = |t: &&TrialRecord| {
        t.variant == plan.variant && t.fault.as_ref().is_some_and(|f| f.kind == plan.kind)
    };
    let reasons: Option<Vec<&str>> = trials
        .iter()
        .filter(is_like)
        .map(|trial| match &trial.validity {
            Validity::Void(reason) => Some(reason.as_str()),
            Validity::Valid => None,
        })
        .collect();
    match reasons.as_deref() {
        Some([reason, rest @ ..]) if rest.len() + 1 >= HOPELESS_TRIALS => {
            let (variant, kind) = (&plan.variant, plan.kind);
            let what = format!("every trial of `{variant}` with fault `{kind}` is void: {reason}");
            Err(Problem::new(Kind::Void, what).next("see `roundtrip show last`"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_text_has_the_faults_alone_and_the_trials_asked_for() {
        let text = "name = \"m\"\ntitle = \"t\"\ndelta = \"5%\"\n[values]\nrecipe = \"zero\"\n\
                    [[phase]]\nop = \"get\"\ncount = 10\n\
                    [[variant]]\nclient = \"native\"\nstore = \"floor\"\n\
                    [faults]\nop = \"set\"\ncount = 100\n\
                    [[faults.variant]]\nclient = \"php/predis\"\nstore = \"redis\"\n";
        let whole = Experiment::parse(text, "m.toml").unwrap();
        let faults = only(&whole, Some(7)).unwrap();
        assert!(faults.is_of_faults() && faults.title == "t");
        assert_eq!(faults.faults.as_ref().unwrap().trials, 7);
        let again = Experiment::parse(&faults.text, "again").unwrap();
        assert_eq!(again.faults.unwrap().trials, 7);
        assert_eq!(only(&whole, None).unwrap().faults.unwrap().trials, 50);
        assert!(only(&whole, Some(0)).is_err());
    }

    #[test]
    fn the_faults_of_every_study_stand_alone() {
        let all = crate::catalog::names();
        let all = all
            .iter()
            .map(|name| crate::catalog::built_in(name).unwrap().unwrap());
        let with: Vec<Experiment> = all.filter(|e| e.faults.is_some()).collect();
        assert!(with.len() >= 2);
        for experiment in with {
            let alone = only(&experiment, None).unwrap();
            assert!(alone.is_of_faults() && !experiment.is_of_faults());
        }
    }

    #[test]
    fn an_experiment_without_faults_is_told_where_to_add_them() {
        let quickstart = crate::catalog::built_in("quickstart").unwrap().unwrap();
        let problem = only(&quickstart, None).unwrap_err();
        assert_eq!(problem.what, "`quickstart` says nothing of faults");
        assert!(problem.next_step.unwrap().contains("[faults]"));
    }

    #[test]
    fn time_left_is_what_the_trials_so_far_took() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(time_left(elapsed, 5, 20), Some(Duration::from_secs(40)));
        assert_eq!(time_left(elapsed, 0, 20), None);
    }
}
