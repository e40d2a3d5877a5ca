//! One trial for real: fresh servers, data in place, each phase in fresh client processes between
//! two readings of the server's counters, everything stopped again.

use crate::bench::Bench;
use crate::engine::unless_stopped;
use crate::pace::{self, Kept};
use crate::phase::{self, Clients};
use crate::placement::Cpus;
use crate::plan::TrialPlan;
use crate::reconcile::{Account, Expected, in_its_words, objection};
use crate::steps::{self, Step};
use crate::{beside, terms, watch};
use roundtrip_model::contract::{Target, outcome};
use roundtrip_model::record::{PhaseRecord, TrialRecord, Validity, Witness};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::Beside;
use roundtrip_model::{Kind, Op, Path, Problem, Result, Warning, WarningKind};
use roundtrip_stores::Store;
use std::time::Instant;

/// The servers of a trial: the path's store, and the cache in front of it.
pub struct Servers {
    /// The store.
    pub store: Store,
    /// The cache.
    pub cache: Option<Store>,
}

impl Servers {
    /// Each with its name in witnesses.
    pub fn each(&mut self) -> impl Iterator<Item = &mut Store> {
        std::iter::once(&mut self.store).chain(self.cache.as_mut())
    }

    /// CPU of all of them so far; unknown as soon as one is.
    pub fn cpu_ns(&self) -> Option<u64> {
        let cache = self.cache.as_ref().map_or(Some(0), Store::cpu_ns)?;
        Some(self.store.cpu_ns()? + cache)
    }

    /// Their processes; `None` where one of them is not ours.
    pub fn pids(&self) -> Option<Vec<u32>> {
        let all = || std::iter::once(&self.store).chain(self.cache.as_ref());
        let is_ours = all().all(|store| !store.is_attached());
        is_ours.then(|| all().flat_map(Store::pids).collect())
    }

    fn stop(self) -> Result<()> {
        let stopped = self.store.stop();
        self.cache.map_or(Ok(()), Store::stop).and(stopped)
    }
}

/// Runs a trial. Counts that do not agree void it; a store or worker that fails is a problem, and
/// the trial is not kept.
pub fn run(bench: &mut Bench<'_>, plan: &TrialPlan) -> Result<TrialRecord> {
    let started = Instant::now();
    let mut trial = TrialRecord {
        block: plan.block,
        position: plan.position,
        variant: plan.contestant.clone(),
        placement: plan.placement,
        started_unix_ms: crate::clock::unix_ms(),
        took_ns: 0,
        validity: Validity::Valid,
        phases: Vec::new(),
        warnings: Vec::new(),
        fault: None,
    };
    let path = bench.path(&plan.contestant)?.clone();
    let cpus = Cpus::of(plan.placement);
    let mut servers = Servers {
        store: bench.start(&path.store, &path, &cpus)?,
        cache: path
            .cache
            .as_deref()
            .map(|name| bench.start(name, &path, &cpus))
            .transpose()?,
    };
    let done = run_steps(bench, plan, &path, &cpus, &mut servers, &mut trial);
    let done = done.map_err(|problem| blame(problem, &mut servers));
    let cleaned = bench.clean_up(&mut servers, plan);
    let stopped = servers.stop();
    trial.took_ns = started.elapsed().as_nanos() as u64;
    done.and(cleaned).and(stopped)?;
    Ok(trial)
}

/// A client fails when its server dies: the server's death is the cause worth telling.
fn blame(problem: Problem, servers: &mut Servers) -> Problem {
    if problem.kind == Kind::Interrupted {
        return problem;
    }
    servers.each().find_map(Store::is_alive).unwrap_or(problem)
}

fn run_steps(
    bench: &mut Bench<'_>,
    plan: &TrialPlan,
    path: &Path,
    cpus: &Cpus,
    servers: &mut Servers,
    trial: &mut TrialRecord,
) -> Result<()> {
    let steps = steps::steps(
        bench.experiment,
        &plan.contestant,
        path,
        bench.seed,
        bench.prefix(path),
    );
    for step in steps {
        unless_stopped(bench.stop)?;
        let mut clients = Clients {
            bench,
            path,
            cpus,
            servers,
        };
        match step {
            Step::Prepare {
                target,
                stream,
                ttl_s,
                by,
            } => {
                let other = by.map(|by| beside::client_of(&by, path));
                clients.path = other.as_ref().unwrap_or(path);
                prepare(&mut clients, target, &stream, ttl_s)?;
            }
            Step::Check { stream } => {
                let outcomes = phase::check(&mut clients, &stream)?;
                let right = outcomes.get(outcome::HIT).copied().unwrap_or(0);
                if right != stream.count {
                    let reason = format!(
                        "only {right} of {} keys hold the number that was to come of them: \
                         {outcomes:?}",
                        stream.count
                    );
                    make_void(trial, reason);
                }
            }
            Step::Measure {
                phase,
                warmup,
                stream,
                new_keys,
            } => {
                let mut record = phase::measure(&mut clients, &phase, &warmup, &stream)?;
                if let Some(witness) = record.witness.get(phase::STORE) {
                    record.terms = terms::of(witness, &bench.witness_names(&path.store, path));
                }
                let expected = Expected {
                    ops: stream.ops(),
                    new_keys,
                    transactions: transactions(path, &record),
                };
                judge(&record, &expected, path, trial, bench);
                judge_beside(&record, trial);
                judge_pace(&record, trial)?;
                note_evictions(&record, trial);
                note_gaps(&record, trial);
                let machine = record.machine.iter();
                let warnings =
                    machine.flat_map(|m| watch::warnings(m, &trial.variant, &record.name));
                trial.warnings.extend(warnings);
                trial.phases.push(record);
            }
        }
    }
    Ok(())
}

fn prepare(
    clients: &mut Clients<'_, '_>,
    target: Target,
    stream: &Stream,
    ttl_s: u32,
) -> Result<()> {
    let done = phase::prepare(clients, target, stream, ttl_s)?;
    let stored = done.outcomes.get(outcome::STORED).copied().unwrap_or(0);
    if stored == stream.count {
        return Ok(());
    }
    let said = done.complaint.as_deref().map(in_its_words);
    let said = said.unwrap_or_default();
    Err(Problem::new(
        Kind::Failed,
        format!("only {stored} of {} keys could be set{said}", stream.count),
    )
    .at(clients.path.to_string())
    .next("the store may be out of memory, or refuse keys or values of this size"))
}

/// Voids the trial where a phase's counts do not agree with the servers'.
fn judge(
    record: &PhaseRecord,
    expected: &Expected,
    path: &Path,
    trial: &mut TrialRecord,
    bench: &Bench<'_>,
) {
    let empty = Witness::default();
    let way = way_of(record, path);
    let names = |store: &str| bench.witness_names(store, &way);
    let (of_store, of_cache) = (names(&path.store), path.cache.as_deref().map(names));
    let alone = record.beside.as_ref().zip(company_of(record, bench));
    let alone = alone.map(|(done, company)| {
        let witness = record.witness.get(phase::STORE).cloned();
        let other = beside::client_of(company, path);
        let counters = bench.witness_names(&path.store, &other);
        beside::without(
            done,
            &counters,
            witness.unwrap_or_default(),
            of_store.clone(),
        )
    });
    let account = |store, role, names| Account {
        store,
        witness: record.witness.get(role).unwrap_or(&empty),
        names,
    };
    let mut store = account(path.store.as_str(), phase::STORE, &of_store);
    if let Some((witness, names)) = &alone {
        (store.witness, store.names) = (witness, names);
    }
    let cache = path.cache.as_deref().zip(of_cache.as_ref());
    let cache = cache.map(|(name, names)| account(name, phase::CACHE, names));
    if let Some(reason) = objection(record, expected, &store, cache.as_ref()) {
        make_void(trial, reason);
    }
}

/// The path by which the writes of a phase come in: those of `set_seen` go through the other door.
fn way_of(record: &PhaseRecord, path: &Path) -> Path {
    let mut way = path.clone();
    if record.op == Op::SetSeen {
        way.options
            .insert("protocol".to_owned(), "memcached".to_owned());
    }
    way
}

/// What was to go on beside a phase.
fn company_of<'a>(record: &PhaseRecord, bench: &Bench<'a>) -> Option<&'a Beside> {
    let mut phases = bench.experiment.workload.phases.iter();
    phases
        .find(|phase| phase.name == record.name)?
        .beside
        .as_ref()
}

/// The fewest transactions that the ops of a phase go in, on a path that is to use them.
fn transactions(path: &Path, record: &PhaseRecord) -> Option<u64> {
    let asked = path.options.get("transaction").is_some_and(|v| v == "true");
    asked.then(|| record.ops.div_ceil(u64::from(record.depth.max(1))))
}

/// Voids a trial. The first reason is the one that explains the others.
fn make_void(trial: &mut TrialRecord, reason: String) {
    if trial.is_valid() {
        trial.validity = Validity::Void(reason);
    }
}

/// Voids the trial where the generator was the bottleneck; says where the server was.
fn judge_pace(record: &PhaseRecord, trial: &mut TrialRecord) -> Result<()> {
    match pace::kept(record, pace::lasts(&record.pace, record.ops)?) {
        Kept::Yes => {}
        Kept::Void(reason) => make_void(trial, reason),
        Kept::ServerBehind(detail) => {
            let warning = Warning::new(WarningKind::RateNotHeld, &trial.variant, detail);
            trial.warnings.push(warning);
        }
    }
    Ok(())
}

/// Voids the trial where what went on beside a phase failed; says where it ended too soon.
fn judge_beside(record: &PhaseRecord, trial: &mut TrialRecord) {
    let Some(beside) = &record.beside else {
        return;
    };
    if let Some(reason) = beside::objection(beside, &record.name) {
        make_void(trial, reason);
    } else if !beside.outlasted {
        let detail = format!(
            "the {} `{}` of {} beside `{}` were done before it was",
            beside.ops, beside.op, beside.client, record.name
        );
        let warning = Warning::new(WarningKind::BesideEnded, &trial.variant, detail);
        trial.warnings.push(warning);
    }
}

/// An op that failed in a gap voids the trial anyway; one that only waited makes the figures
/// those of an outage, which must be told.
fn note_gaps(record: &PhaseRecord, trial: &mut TrialRecord) {
    let Some(longest) = record.gaps.iter().map(|gap| gap.lasted_ns).max() else {
        return;
    };
    let detail = format!(
        "{} times without a connection during `{}`, the longest {:.1} ms",
        record
            .gap_totals
            .map_or(record.gaps.len() as u64, |all| all.count),
        record.name,
        longest as f64 / 1e6
    );
    let warning = Warning::new(WarningKind::ConnectionLost, &trial.variant, detail);
    trial.warnings.push(warning);
}

fn note_evictions(record: &PhaseRecord, trial: &mut TrialRecord) {
    for witness in record.witness.values() {
        if let Some(evicted) = witness.grew("evictions").filter(|n| *n > 0) {
            let detail = format!("{evicted} items were evicted during `{}`", record.name);
            trial
                .warnings
                .push(Warning::new(WarningKind::Evictions, &trial.variant, detail));
        }
    }
}
