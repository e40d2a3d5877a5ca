//! One trial: a fresh store, a client that writes and keeps a journal, a fault in the middle of it,
//! and then the question which writes are there.

use super::found::{self, Held};
use super::journal::{self, Far, Journal};
use super::plan::FaultPlan;
use super::relay::Relay;
use crate::bench::{Bench, client_path};
use crate::engine::unless_stopped;
use crate::placement::Cpus;
use roundtrip_model::contract::{Endpoint, Open, PhaseCommand, Purpose, Target, outcome};
use roundtrip_model::experiment::faults::{FaultVariant, Faults};
use roundtrip_model::fault::{FaultKind, FaultRecord, Found, Travel};
use roundtrip_model::record::{TrialRecord, Validity};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Generate, Pace};
use roundtrip_model::{Kind, Op, Path, Placement, Problem, Result};
use roundtrip_process::Settings;
use roundtrip_stores::Store;
use roundtrip_workers::Worker;
use std::collections::BTreeMap;
use std::ops::Range;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The client that asks what is there: one that is as exact as the instrument is.
const READER: &str = "native";
/// Nothing more comes when nothing came for so long: replies on their way, writes in a queue.
const QUIET: Duration = Duration::from_millis(100);
/// And so long is waited for that at most.
const QUIET_WITHIN: Duration = Duration::from_secs(10);
/// No delay is longer than this, whatever a batch takes.
const LONGEST_DELAY: Duration = Duration::from_secs(2);

/// What a trial works on.
struct Trial<'a, 'b> {
    bench: &'a mut Bench<'b>,
    faults: &'a Faults,
    variant: &'a FaultVariant,
    plan: &'a FaultPlan,
    cpus: Cpus,
    store: Store,
}

/// What was known when the fault had struck.
struct Struck {
    far: Far,
    delay: Duration,
}

/// Where every write was done before the fault struck, because the host had no processor in time, the
/// trial is made again: that it was late has nothing to do with what would have been lost.
const TRIES: u32 = 5;

/// Runs a trial.
pub fn run(bench: &mut Bench<'_>, faults: &Faults, plan: &FaultPlan) -> Result<TrialRecord> {
    let mut trial = attempt(bench, faults, plan)?;
    for _ in 1..TRIES {
        if !trial.fault.as_ref().is_some_and(FaultRecord::came_too_late) {
            break;
        }
        trial = attempt(bench, faults, plan)?;
    }
    Ok(trial)
}

fn attempt(bench: &mut Bench<'_>, faults: &Faults, plan: &FaultPlan) -> Result<TrialRecord> {
    let (started, started_unix_ms) = (Instant::now(), crate::clock::unix_ms());
    let no_variant = || Problem::new(Kind::Internal, format!("no variant `{}`", plan.variant));
    let variant = faults.variant(&plan.variant).ok_or_else(no_variant)?;
    let cpus = Cpus::of(Placement::Free);
    let store = bench.start(&variant.path.store, &variant.path, &cpus)?;
    let mut trial = Trial {
        bench,
        faults,
        variant,
        plan,
        cpus,
        store,
    };
    let fault = trial.fault();
    let stopped = trial.store.stop();
    let fault = fault.map_err(|problem| at(problem, variant, plan.kind))?;
    stopped?;
    Ok(TrialRecord {
        block: plan.block,
        position: plan.position,
        variant: plan.variant.clone(),
        placement: Placement::Free,
        started_unix_ms,
        took_ns: started.elapsed().as_nanos() as u64,
        validity: fault.objection().map_or(Validity::Valid, Validity::Void),
        phases: Vec::new(),
        warnings: Vec::new(),
        fault: Some(fault),
    })
}

fn at(problem: Problem, variant: &FaultVariant, kind: FaultKind) -> Problem {
    match problem.kind {
        Kind::Interrupted => problem,
        _ => problem.at(format!("`{}`, fault `{kind}`", variant.name)),
    }
}

impl Trial<'_, '_> {
    fn fault(&mut self) -> Result<FaultRecord> {
        let (travel, depth) = self.variant.travel()?;
        let struck = self.strike(depth)?;
        if self.plan.kind == FaultKind::Server {
            self.store.start_again()?;
        } else {
            self.until_quiet()?;
        }
        let batch = (travel == Travel::Transaction).then_some(u64::from(depth));
        let found = self.look(struck.far, batch)?;
        Ok(FaultRecord {
            kind: self.plan.kind,
            travel,
            depth,
            keeps: self.store.manifest().keeps(&self.variant.path.options),
            count: self.faults.count,
            after_ops: self.plan.after_ops,
            delay_ns: struck.delay.as_nanos() as u64,
            sent: struck.far.sent,
            acknowledged: struck.far.acknowledged,
            found,
        })
    }

    /// Lets the client write, strikes, and reads the journal once its numbers stand.
    fn strike(&mut self, depth: u32) -> Result<Struck> {
        let journal = Journal::make(self.bench.file("journal"))?;
        let relay = Relays::of(self.plan.kind, &self.store)?;
        let mut worker = self.worker(&relay)?;
        worker.ready(self.command(&journal, depth)?)?;
        let started = Instant::now();
        worker.go()?;
        let at_point = self.until_point(&journal, &mut worker, started)?;
        let delay = delay_of(
            started.elapsed(),
            at_point.sent,
            depth,
            self.plan.batch_share,
        );
        sleep(delay);
        let far = match self.plan.kind {
            FaultKind::Client => {
                // Dropped, it is killed and has been awaited.
                drop(worker);
                journal.read()?
            }
            FaultKind::Server => {
                self.signal_servers();
                let sent = journal.read()?.sent;
                self.store.kill()?;
                settled(&journal, sent, worker)?
            }
            FaultKind::Connection => {
                relay.cut();
                let sent = journal.read()?.sent;
                settled(&journal, sent, worker)?
            }
        };
        Ok(Struck { far, delay })
    }

    /// Kills the servers without waiting for their end, so that the journal can be read in the same
    /// moment: what is sent later was sent to nobody.
    fn signal_servers(&self) {
        let kill = rustix::process::Signal::KILL;
        for pid in self.store.pids() {
            if let Some(pid) = rustix::process::Pid::from_raw(pid as i32) {
                // One that died by itself is found out by the kill that awaits it.
                let _ = rustix::process::kill_process(pid, kill);
            }
        }
    }

    fn worker(&mut self, relay: &Relays) -> Result<Worker> {
        let path = &self.variant.path;
        let mut worker = self.spawn(path)?;
        worker.open(Open {
            endpoint: relay.endpoint.clone(),
            doors: relay.doors.clone(),
            options: client_path(path).options,
            ..self.open(path)
        })?;
        Ok(worker)
    }

    fn spawn(&self, path: &Path) -> Result<Worker> {
        let settings = Settings {
            cpus: Some(self.cpus.clients.clone()),
            run_as: None,
        };
        self.bench.host.spawn(path.language(), &settings)
    }

    /// One connection to the store itself.
    fn open(&self, path: &Path) -> Open {
        Open {
            nodes: self.store.nodes(),
            doors: self.store.doors(),
            login: self.store.login(),
            ..Open::to(path.library(), &path.store, self.store.endpoint())
        }
    }

    fn command(&mut self, journal: &Journal, depth: u32) -> Result<PhaseCommand> {
        let faults = self.faults;
        let stream = faults.stream(faults.op, self.bench.seed, 0, faults.count);
        let (file, plan) = self.bench.work(&self.variant.path, &stream)?;
        Ok(PhaseCommand {
            purpose: Purpose::Measure,
            journal: Some(journal.path().to_owned()),
            stream: file,
            plan,
            depth,
            ..plain(&stream)
        })
    }

    /// Waits until more writes were sent than the drawn number.
    fn until_point(&self, journal: &Journal, worker: &mut Worker, started: Instant) -> Result<Far> {
        let deadline = self.bench.deadline(self.faults.count);
        loop {
            unless_stopped(self.bench.stop)?;
            let far = journal.read()?;
            if far.sent > self.plan.after_ops {
                return Ok(far);
            }
            if worker.has_ended() || started.elapsed() > deadline {
                // Its own words are the problem, where it has any.
                worker.done(Duration::from_secs(1), self.bench.stop)?;
                let what = format!("the client ended after {} writes", far.sent);
                return Err(Problem::new(Kind::Failed, what)
                    .next("it keeps no journal, or the store refuses what it writes"));
            }
            sleep(journal::EVERY);
        }
    }

    /// Waits until the store does nothing any more: what was in its queue is done.
    fn until_quiet(&mut self) -> Result<()> {
        let started = Instant::now();
        let mut before = self.writes()?;
        loop {
            sleep(QUIET);
            let now = self.writes()?;
            if now == before {
                return Ok(());
            }
            if started.elapsed() > QUIET_WITHIN {
                let what = "the store goes on writing after its only client is gone";
                return Err(
                    Problem::new(Kind::Failed, what).next("look whether another program uses it")
                );
            }
            before = now;
        }
    }

    /// The counters that writes move.
    fn writes(&mut self) -> Result<Vec<Option<u64>>> {
        use roundtrip_stores::Quantity;
        let counters = self.store.counters()?;
        let manifest = self.store.manifest();
        let of = |quantity| manifest.counter(quantity).and_then(|n| counters.get(n));
        let moved = [Quantity::Set, Quantity::Items];
        Ok(moved.map(|quantity| of(quantity).copied()).to_vec())
    }

    /// Asks the store for every key, by a client that was not there when the fault struck.
    fn look(&mut self, far: Far, batch: Option<u64>) -> Result<Found> {
        let path = Path {
            client: READER.to_owned(),
            store: self.variant.path.store.clone(),
            cache: None,
            options: BTreeMap::new(),
        };
        let mut reader = self.spawn(&path)?;
        reader.open(self.open(&path))?;
        let (faults, seed, stop) = (self.faults, self.bench.seed, self.bench.stop);
        let deadline = self.bench.deadline(faults.count);
        let mut ask = |range: Range<u64>| {
            if range.is_empty() {
                return Ok(Held::default());
            }
            let stream = faults.stream(Op::Get, seed, range.start, range.end - range.start);
            reader.ready(PhaseCommand {
                plan: Some(Box::new(stream.clone())),
                ..plain(&stream)
            })?;
            reader.go()?;
            let done = reader.done(deadline, stop)?;
            reader.written()?;
            held(&done.outcomes, stream.count)
        };
        let (sent, acknowledged) = (far.sent, far.acknowledged);
        let found = found::count(faults.count, sent, acknowledged, batch, &mut ask)?;
        reader.close()?;
        Ok(found)
    }
}

/// What the reader says of a range. Every key must have been asked for, and have had an answer.
fn held(outcomes: &BTreeMap<String, u64>, asked: u64) -> Result<Held> {
    let of = |name: &str| outcomes.get(name).copied().unwrap_or(0);
    let (right, missing, wrong) = (of(outcome::HIT), of(outcome::MISS), of(outcome::WRONG));
    match right + missing + wrong == asked {
        true => Ok(Held { right, wrong }),
        false => {
            let what = format!("of {asked} keys only some could be read back: {outcomes:?}");
            Err(Problem::new(Kind::Failed, what)
                .next("the store is not well after the fault: look at its log"))
        }
    }
}

fn plain(stream: &Stream) -> PhaseCommand {
    PhaseCommand {
        name: stream.op.name().to_owned(),
        op: stream.op,
        purpose: Purpose::Warmup,
        target: Target::Store,
        count: stream.count,
        keys_per_op: 1,
        add: 0,
        stream: String::new(),
        plan: None,
        latencies: None,
        journal: None,
        ttl_s: 0,
        depth: 1,
        pace: Pace::Closed,
        generate: Generate::Prepared,
    }
}

/// A share of the time that a batch takes, as the batches so far took it.
fn delay_of(elapsed: Duration, sent: u64, depth: u32, share: f64) -> Duration {
    let an_op = elapsed.as_secs_f64() / sent.max(1) as f64;
    let delay = Duration::from_secs_f64(an_op * f64::from(depth) * share);
    delay.min(LONGEST_DELAY)
}

/// Waits until no acknowledgement comes any more, and ends the client. `sent` is what was sent
/// when the fault struck: what the client tries afterwards reaches nobody.
fn settled(journal: &Journal, sent: u64, worker: Worker) -> Result<Far> {
    let started = Instant::now();
    let mut far = journal.read()?;
    let mut since = Instant::now();
    while since.elapsed() < QUIET && started.elapsed() < QUIET_WITHIN {
        sleep(Duration::from_millis(1));
        let now = journal.read()?;
        if now.acknowledged != far.acknowledged {
            (far, since) = (now, Instant::now());
        }
    }
    drop(worker);
    let acknowledged = journal.read()?.acknowledged;
    Ok(Far { sent, acknowledged })
}

/// The relays of a trial in which the connection is cut, and where its client finds the store.
struct Relays {
    relays: Vec<Relay>,
    endpoint: Endpoint,
    doors: BTreeMap<String, Endpoint>,
}

impl Relays {
    fn of(kind: FaultKind, store: &Store) -> Result<Relays> {
        let mut relays = Relays {
            relays: Vec::new(),
            endpoint: store.endpoint(),
            doors: store.doors(),
        };
        if kind != FaultKind::Connection {
            return Ok(relays);
        }
        if !store.nodes().is_empty() {
            let what = "a store of several servers sends its clients past the connection to cut";
            return Err(Problem::new(Kind::Usage, what)
                .next("leave `connection` out of the kinds of this variant"));
        }
        let endpoints = std::iter::once(&mut relays.endpoint).chain(relays.doors.values_mut());
        for endpoint in endpoints {
            let (relay, own) = Relay::to(endpoint)?;
            *endpoint = own;
            relays.relays.push(relay);
        }
        Ok(relays)
    }

    fn cut(&self) {
        self.relays.iter().for_each(Relay::cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_a_share_of_a_batch() {
        // 1,000 ops in 100 ms are 0.1 ms an op, 10 ms a batch of 100.
        let elapsed = Duration::from_millis(100);
        assert_eq!(delay_of(elapsed, 1000, 100, 0.5), Duration::from_millis(5));
        assert_eq!(delay_of(elapsed, 1000, 1, 0.0), Duration::ZERO);
        assert_eq!(delay_of(elapsed, 0, 1_000_000, 0.9), LONGEST_DELAY);
    }

    #[test]
    fn a_key_without_an_answer_is_no_key_that_is_not_there() {
        let outcomes = |list: &[(&str, u64)]| -> BTreeMap<String, u64> {
            list.iter()
                .map(|(name, n)| (name.to_string(), *n))
                .collect()
        };
        let all = outcomes(&[("hit", 7), ("miss", 2), ("wrong", 1)]);
        assert_eq!(held(&all, 10).unwrap(), Held { right: 7, wrong: 1 });
        let failed = outcomes(&[("hit", 7), ("error:io", 3)]);
        assert!(held(&failed, 10).is_err());
    }
}
