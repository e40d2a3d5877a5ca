//! One phase: client processes that open, warm up, and run the loop between two readings of the
//! servers' counters and CPU time.

use crate::bench::{Bench, client_path};
use crate::pace;
use crate::placement::Cpus;
use crate::steps::parts;
use crate::trial::Servers;
use crate::watch::{Watch, Who};
use roundtrip_model::contract::{
    Carried, Done, Gap, GapTotals, Lateness, Open, PhaseCommand, Purpose, Redirects, Target,
};
use roundtrip_model::machine::MachineState;
use roundtrip_model::record::{CounterSample, Counters, PhaseRecord, ProcessUsage, Witness};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Generate, Pace, Phase};
use roundtrip_model::{Histogram, Kind, Op, Path, Problem, Result};
use roundtrip_process::Settings;
use roundtrip_workers::{Latencies, Worker};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The witness of the path's store.
pub const STORE: &str = "store";
/// The witness of the cache in front of it.
pub const CACHE: &str = "cache";
/// How often a store's counters are read while a phase runs.
const SAMPLE_EVERY: Duration = Duration::from_millis(500);
/// So many times without a connection are kept of a phase.
const MOST_GAPS: usize = 10_000;
/// Into how many parts the time of a phase is cut, to see whether its rate was steady.
const SLICES: usize = 30;

/// Who runs a phase, and against what.
pub struct Clients<'a, 'b> {
    /// The bench.
    pub bench: &'a mut Bench<'b>,
    /// The path.
    pub path: &'a Path,
    /// Where they run.
    pub cpus: &'a Cpus,
    /// What they drive.
    pub servers: &'a mut Servers,
}

/// A client process, with its warm-up and the times when it was not the one that worked.
struct Client {
    worker: Worker,
    spawned: Instant,
    ready_at: Instant,
    not_its_own: Duration,
    warmup: Option<Done>,
    /// How many operations are its part, and where it writes their latencies.
    count: u64,
    latencies: String,
}

impl Clients<'_, '_> {
    fn open(&mut self, connections: u32) -> Result<Worker> {
        let settings = Settings {
            cpus: Some(self.cpus.clients.clone()),
            run_as: None,
        };
        let mut worker = self.bench.host.spawn(self.path.language(), &settings)?;
        let cache = self
            .path
            .cache
            .clone()
            .zip(self.servers.cache.as_ref().map(|s| s.endpoint()));
        worker.open(Open {
            client: self.path.library().to_owned(),
            store: self.path.store.clone(),
            endpoint: self.servers.store.endpoint(),
            nodes: self.servers.store.nodes(),
            doors: self.servers.store.doors(),
            login: self.servers.store.login(),
            cache,
            connections,
            options: client_path(self.path).options,
        })?;
        Ok(worker)
    }

    fn command(
        &mut self,
        op: Op,
        purpose: Purpose,
        stream: &Stream,
        ttl_s: u32,
    ) -> Result<PhaseCommand> {
        let (file, plan) = self.bench.work(self.path, stream)?;
        Ok(PhaseCommand {
            name: op.name().to_owned(),
            op,
            purpose,
            target: Target::Store,
            count: stream.len(),
            keys_per_op: stream.keys_per_op,
            add: stream.add,
            journal: None,
            stream: file,
            plan,
            latencies: None,
            ttl_s: self.bench.ttl_s(self.path, ttl_s),
            depth: self.path.depth()?,
            pace: Pace::Closed,
            generate: Generate::Prepared,
        })
    }
}

/// Brings keys into place with one client process; says what became of them.
pub fn prepare(
    clients: &mut Clients<'_, '_>,
    target: Target,
    stream: &Stream,
    ttl_s: u32,
) -> Result<Done> {
    let command = clients.command(Op::Set, Purpose::Prepare, stream, ttl_s)?;
    let mut worker = clients.open(1)?;
    let done = once(
        clients.bench,
        &mut worker,
        PhaseCommand { target, ..command },
    )?;
    worker.close()?;
    Ok(done)
}

/// Reads keys with one client process; says what became of them.
pub fn check(clients: &mut Clients<'_, '_>, stream: &Stream) -> Result<BTreeMap<String, u64>> {
    let command = clients.command(Op::Get, Purpose::Warmup, stream, 0)?;
    let mut worker = clients.open(1)?;
    let done = once(clients.bench, &mut worker, command)?;
    worker.close()?;
    Ok(done.outcomes)
}

/// Gets ready, runs the loop, waits for its end.
fn once(bench: &Bench<'_>, worker: &mut Worker, command: PhaseCommand) -> Result<Done> {
    let deadline = bench.deadline(command.count);
    worker.ready(command)?;
    worker.go()?;
    let done = worker.done(deadline, bench.stop)?;
    worker.written()?;
    Ok(done)
}

/// Runs a phase and says all that is known of it.
pub fn measure(
    clients: &mut Clients<'_, '_>,
    phase: &Phase,
    warmup: &Stream,
    stream: &Stream,
) -> Result<PhaseRecord> {
    let carrying = clients.bench.carrying(clients.path)?;
    let mut running = Vec::new();
    let warmups = parts(warmup, carrying.processes);
    for (number, part) in parts(stream, carrying.processes).iter().enumerate() {
        // Each warms up on all of it, but a key can be inserted only once.
        let warmup = match warmup.inserts() {
            0 => warmup,
            _ => &warmups[number],
        };
        running.push(start(clients, phase, warmup, part, number)?);
    }
    let depth = clients.path.depth()?;
    let deadline = clients.bench.deadline(phase.count) + pace::lasts(&phase.pace, phase.count)?;
    let measured = loops(clients, running, deadline)?;
    let connections = carrying.processes * carrying.connections;
    Ok(record(phase, stream, (depth, connections), measured))
}

/// Starts one client: opened, warm, and ready for its part of the phase.
fn start(
    clients: &mut Clients<'_, '_>,
    phase: &Phase,
    warmup: &Stream,
    part: &Stream,
    number: usize,
) -> Result<Client> {
    let ttl_s = phase.ttl_s.unwrap_or(0);
    // Files are written before the process starts: its wall time is its own.
    let warm = (!warmup.is_empty())
        .then(|| clients.command(phase.op, Purpose::Warmup, warmup, ttl_s))
        .transpose()?;
    let mut command = clients.command(phase.op, Purpose::Measure, part, ttl_s)?;
    let latencies = clients.bench.file(&format!("latencies-{number}"));
    command.name = phase.name.clone();
    command.latencies = Some(latencies.clone());
    command.pace = phase.pace.clone();
    command.generate = clients.bench.experiment.workload.generate;
    let spawned = Instant::now();
    let mut worker = clients.open(clients.bench.carrying(clients.path)?.connections)?;
    let warm_started = Instant::now();
    let warmup = warm
        .map(|warm| once(clients.bench, &mut worker, warm))
        .transpose()?;
    let not_its_own = warm_started.elapsed();
    worker.ready(command)?;
    Ok(Client {
        worker,
        spawned,
        ready_at: Instant::now(),
        not_its_own,
        warmup,
        count: part.len(),
        latencies,
    })
}

/// What the loops and the servers gave.
struct Measured {
    done: Vec<Done>,
    ended: Vec<Ended>,
    server_cpu_ns: Option<u64>,
    witness: BTreeMap<String, Witness>,
    samples: Vec<CounterSample>,
    machine: MachineState,
}

/// Runs the loops of all clients at once between two readings of the counters.
fn loops(
    clients: &mut Clients<'_, '_>,
    mut running: Vec<Client>,
    deadline: Duration,
) -> Result<Measured> {
    let before = counters(clients.servers)?;
    let sampler = clients.servers.store.sampler(SAMPLE_EVERY);
    let stop = clients.bench.stop;
    let watch = Watch::start(Who {
        cpus: clients.cpus.clone(),
        clients: running.iter().map(|client| client.worker.pid()).collect(),
        servers: clients.servers.pids(),
    });
    let cpu_before = clients.servers.cpu_ns();
    for client in &mut running {
        client.not_its_own += client.ready_at.elapsed();
        client.worker.go()?;
    }
    let done: Result<Vec<Done>> = running
        .iter_mut()
        .map(|client| client.worker.done(deadline, stop))
        .collect();
    let done = done?;
    let cpu_after = clients.servers.cpu_ns();
    let machine = watch.stop();
    // The clients end first: reading counters must not lengthen their processes' time.
    let ended: Result<Vec<Ended>> = running.into_iter().map(|c| end(clients.bench, c)).collect();
    let ended = ended?;
    let samples = sampler.stop();
    let witness = before
        .into_iter()
        .zip(counters(clients.servers)?)
        .map(|((role, before), (_, after))| (role.to_owned(), Witness { before, after }))
        .collect();
    let server_cpu_ns = cpu_before
        .zip(cpu_after)
        .and_then(|(b, a)| a.checked_sub(b));
    Ok(Measured {
        done,
        ended,
        server_cpu_ns,
        witness,
        samples,
        machine,
    })
}

fn counters(servers: &mut Servers) -> Result<Vec<(&'static str, Counters)>> {
    [STORE, CACHE]
        .into_iter()
        .zip(servers.each())
        .map(|(role, s)| Ok((role, s.counters()?)))
        .collect()
}

/// One client that ended.
struct Ended {
    usage: ProcessUsage,
    max_rss_bytes: u64,
    latencies: Latencies,
}

/// Ends one client; what its process used, less the warm-up and the host's own time.
fn end(bench: &Bench<'_>, mut client: Client) -> Result<Ended> {
    let (written, form) = client.worker.written()?;
    if written != client.count && written != 0 {
        let what = format!(
            "a worker wrote {written} latencies of {} operations",
            client.count
        );
        return Err(Problem::new(Kind::Failed, what)
            .next("every operation has a latency, or none has: see workers/CONTRACT.md"));
    }
    let exit = client.worker.close()?;
    let real = client.spawned.elapsed().saturating_sub(client.not_its_own);
    let (warm_user_ns, warm_sys_ns) = client.warmup.map_or((0, 0), |w| (w.user_ns, w.sys_ns));
    Ok(Ended {
        usage: ProcessUsage {
            real_ns: real.as_nanos() as u64,
            user_ns: exit.user_ns.saturating_sub(warm_user_ns),
            sys_ns: exit.sys_ns.saturating_sub(warm_sys_ns),
        },
        max_rss_bytes: exit.max_rss_bytes,
        // A program that keeps none is measured by its wall and CPU time alone.
        latencies: match written {
            0 => Latencies {
                histogram: Histogram::new(),
                response: None,
                slices_ns: Vec::new(),
            },
            _ => bench.read_latencies(&client.latencies, form, written, SLICES)?,
        },
    })
}

/// Makes the record of a phase out of what its clients gave.
fn record(
    phase: &Phase,
    stream: &Stream,
    (depth, connections): (u32, u32),
    measured: Measured,
) -> PhaseRecord {
    let Measured {
        done,
        ended,
        server_cpu_ns,
        witness,
        samples,
        machine,
    } = measured;
    let (mut latency, mut response) = (Histogram::new(), Histogram::new());
    let mut slices_ns = Vec::new();
    for client in &ended {
        latency.merge(&client.latencies.histogram);
        if let Some(paced) = &client.latencies.response {
            response.merge(paced);
        }
        add_slices(&mut slices_ns, &client.latencies.slices_ns);
    }
    let started = done.iter().map(|d| d.started_ns).min().unwrap_or(0);
    let finished = done.iter().map(|d| d.ended_ns).max().unwrap_or(0);
    PhaseRecord {
        name: phase.name.clone(),
        op: phase.op,
        ops: stream.count,
        keys_per_op: stream.keys_per_op,
        beside: None,
        depth,
        concurrency: connections,
        carried: carried(&done),
        pace: phase.pace.clone(),
        lateness: done.iter().filter_map(|d| d.lateness).reduce(later),
        gaps: gaps(&done),
        gap_totals: gap_totals(&done),
        redirects: done
            .iter()
            .fold(Redirects::default(), |sum, d| sum.and(d.redirects)),
        wall_ns: finished.saturating_sub(started),
        user_ns: Some(done.iter().map(|d| d.user_ns).fold(0, u64::saturating_add)),
        sys_ns: Some(done.iter().map(|d| d.sys_ns).fold(0, u64::saturating_add)),
        server_cpu_ns,
        process: ended.iter().map(|e| e.usage).reduce(|a, b| ProcessUsage {
            real_ns: a.real_ns.max(b.real_ns),
            user_ns: a.user_ns + b.user_ns,
            sys_ns: a.sys_ns + b.sys_ns,
        }),
        client_max_rss_bytes: ended.iter().map(|e| e.max_rss_bytes).max(),
        complaint: done.iter().find_map(|d| d.complaint.clone()),
        outcomes: sum(done.iter().map(|d| &d.outcomes)),
        cache_outcomes: sum(done.iter().map(|d| &d.cache_outcomes)),
        latency: (latency.count() > 0).then_some(latency),
        response: (response.count() > 0).then_some(response),
        machine: Some(machine),
        steady: roundtrip_stats::steady_state(&slices_ns),
        slices_ns,
        witness,
        // Filled in by `trial`, which knows the store's manifest.
        terms: BTreeMap::new(),
        samples,
    }
}

/// How all clients together carried the requests, where each of them tells.
fn carried(done: &[Done]) -> Option<Carried> {
    let told: Option<Vec<&Carried>> = done.iter().map(|d| d.carried.as_ref()).collect();
    told?.into_iter().cloned().reduce(|a, b| Carried {
        threads: a.threads + b.threads,
        connections: a.connections + b.connections,
        ..a
    })
}

/// The longest times without a connection, in the order in which they began.
fn gaps(done: &[Done]) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = done.iter().flat_map(|d| d.gaps.iter().copied()).collect();
    gaps.sort_by_key(|gap| Reverse(gap.lasted_ns));
    gaps.truncate(MOST_GAPS);
    gaps.sort_by_key(|gap| (gap.at_ns, gap.connection));
    gaps
}

/// All of them, those that are not listed too. A client that does not count them lists them.
fn gap_totals(done: &[Done]) -> Option<GapTotals> {
    let of = |d: &Done| {
        d.gap_totals.unwrap_or_else(|| GapTotals {
            count: d.gaps.len() as u64,
            lasted_ns: d.gaps.iter().map(|gap| gap.lasted_ns).sum(),
        })
    };
    let add = |a: GapTotals, b: GapTotals| GapTotals {
        count: a.count + b.count,
        lasted_ns: a.lasted_ns.saturating_add(b.lasted_ns),
    };
    let all = done.iter().map(of).reduce(add)?;
    (all.count > 0).then_some(all)
}

/// Of two clients that did like numbers of ops: the worse of each figure, which says no less than
/// the truth.
fn later(a: Lateness, b: Lateness) -> Lateness {
    Lateness {
        max_ns: a.max_ns.max(b.max_ns),
        p50_ns: a.p50_ns.zip(b.p50_ns).map(|(a, b)| a.max(b)),
        p99_ns: a.p99_ns.max(b.p99_ns),
        mean_ns: a.mean_ns.max(b.mean_ns),
        spun_ns: a.spun_ns.zip(b.spun_ns).map(|(a, b)| a.saturating_add(b)),
    }
}

fn add_slices(sum: &mut Vec<u64>, slices: &[u64]) {
    sum.resize(sum.len().max(slices.len()), 0);
    sum.iter_mut()
        .zip(slices)
        .for_each(|(sum, slice)| *sum = sum.saturating_add(*slice));
}

fn sum<'a>(maps: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    for (name, n) in maps.flatten() {
        // A worker may say any number; one that wraps around could pass for the right one.
        let counted: &mut u64 = sum.entry(name.clone()).or_default();
        *counted = counted.saturating_add(*n);
    }
    sum
}
