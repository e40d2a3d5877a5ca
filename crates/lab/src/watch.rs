//! Watches the machine while a phase runs: a thread that is kept off the clients' processors
//! reads a few cheap files a few times a second; most figures need the first reading and the last
//! alone. What the summary gives reason to warn of is here too.

use crate::environment::swapped_pages;
use crate::kernel::{self, Stat, Throttle};
use crate::placement::{Cpus, machine};
use roundtrip_model::machine::{MachineState, ProcessorTime};
use roundtrip_model::{Warning, WarningKind};
use roundtrip_process::{CpuSet, cpu_time_ns, cpus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the run queue and the frequency are read: some tens of microseconds each time.
const EVERY: Duration = Duration::from_millis(250);

/// Who is watched.
#[derive(Clone, Debug)]
pub struct Who {
    /// Where they were put.
    pub cpus: Cpus,
    /// The client processes.
    pub clients: Vec<u32>,
    /// The server processes; `None` where one of them is not ours, so not known.
    pub servers: Option<Vec<u32>>,
}

/// A watch that goes on until it is stopped.
pub struct Watch {
    who: Who,
    first: Reading,
    stop: Sender<()>,
    thread: Option<JoinHandle<Glances>>,
}

impl Watch {
    /// Takes the first reading and starts the thread.
    pub fn start(who: Who) -> Watch {
        let (stop, stopped) = channel();
        let off = everywhere_but(&who.cpus.clients);
        let first_client = who.cpus.clients.0.first().map(|cpu| *cpu as u32);
        let thread = thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || {
                // Where the clients are everywhere, there is nowhere else to be.
                let _ = off.map(|cpus| cpus::pin_this_thread(&cpus));
                Glances::until(&stopped, first_client)
            });
        let first = Reading::take(&who);
        Watch {
            who,
            first,
            stop,
            thread: thread.ok(),
        }
    }

    /// Takes the last reading and sums up.
    pub fn stop(self) -> MachineState {
        let last = Reading::take(&self.who);
        drop(self.stop);
        let glances = self
            .thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default();
        state(&self.who, &self.first, &last, &glances)
    }
}

/// Every processor that the clients are not on; `None` where there is none.
fn everywhere_but(clients: &CpuSet) -> Option<CpuSet> {
    let others = machine().0.iter().filter(|cpu| !clients.0.contains(cpu));
    let others: Vec<usize> = others.copied().collect();
    (!others.is_empty()).then_some(CpuSet(others))
}

/// What is read on the way.
#[derive(Clone, Debug, Default)]
struct Glances {
    count: u32,
    runnable_max: Option<u32>,
    frequency_khz: Option<(u64, u64)>,
}

impl Glances {
    fn until(stopped: &Receiver<()>, cpu: Option<u32>) -> Glances {
        let mut glances = Glances::default();
        while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
            glances.count += 1;
            let runnable = Stat::read().and_then(|stat| stat.runnable);
            glances.runnable_max = glances.runnable_max.max(runnable);
            if let Some(khz) = cpu.and_then(kernel::frequency_khz) {
                let (low, high) = glances.frequency_khz.unwrap_or((khz, khz));
                glances.frequency_khz = Some((low.min(khz), high.max(khz)));
            }
        }
        glances
    }
}

/// Counters at one moment.
struct Reading {
    at: Instant,
    stat: Option<Stat>,
    clients_cpu_ns: Option<u64>,
    servers_cpu_ns: Option<u64>,
    host_cpu_ns: Option<u64>,
    clients_queued_ns: Option<u64>,
    servers_queued_ns: Option<u64>,
    throttle: Option<Throttle>,
    swapped_pages: Option<u64>,
    memory_stalled_ns: Option<u64>,
}

impl Reading {
    fn take(who: &Who) -> Reading {
        let of_all =
            |pids: &[u32], read: fn(u32) -> Option<u64>| pids.iter().map(|p| read(*p)).sum();
        let of_servers = |read| of_all(who.servers.as_deref()?, read);
        Reading {
            clients_queued_ns: of_all(&who.clients, kernel::queued_ns),
            servers_queued_ns: of_servers(kernel::queued_ns),
            throttle: kernel::throttle(),
            swapped_pages: swapped_pages(),
            memory_stalled_ns: kernel::memory_stalled_ns(),
            // Last, close to one another: they are held against each other.
            clients_cpu_ns: of_all(&who.clients, cpu_time_ns),
            servers_cpu_ns: of_servers(cpu_time_ns),
            host_cpu_ns: cpu_time_ns(std::process::id()),
            stat: Stat::read(),
            at: Instant::now(),
        }
    }
}

fn grew(then: Option<u64>, now: Option<u64>) -> Option<u64> {
    now?.checked_sub(then?)
}

fn state(who: &Who, first: &Reading, last: &Reading, glances: &Glances) -> MachineState {
    let clients = grew(first.clients_cpu_ns, last.clients_cpu_ns);
    let servers = grew(first.servers_cpu_ns, last.servers_cpu_ns);
    let host = grew(first.host_cpu_ns, last.host_cpu_ns);
    let of = |set: &CpuSet| {
        let parts = [
            (clients, set == &who.cpus.clients),
            (servers, set == &who.cpus.servers),
            // Roundtrip itself is kept on the first processor that it was given.
            (host, set.0.first() == machine().0.first()),
        ];
        let ours = parts
            .iter()
            .filter(|(_, is_here)| *is_here)
            .map(|(ns, _)| *ns);
        processors(set, first, last, ours.sum())
    };
    let throttled = |of: fn(&Throttle) -> u64| {
        grew(
            first.throttle.as_ref().map(of),
            last.throttle.as_ref().map(of),
        )
    };
    let first_client = who.cpus.clients.0.first().map(|cpu| *cpu as u32);
    MachineState {
        readings: 2 + glances.count,
        elapsed_ns: last.at.duration_since(first.at).as_nanos() as u64,
        clients: of(&who.cpus.clients),
        servers: of(&who.cpus.servers),
        clients_cpu_ns: clients,
        clients_queued_ns: grew(first.clients_queued_ns, last.clients_queued_ns),
        servers_queued_ns: grew(first.servers_queued_ns, last.servers_queued_ns),
        runnable_max: glances.runnable_max,
        available_cpus: Some(machine().0.len() as u32),
        quota_cpus: last.throttle.and_then(|throttle| throttle.quota_cpus),
        throttled_ns: throttled(|t| t.ns),
        throttled_periods: throttled(|t| t.periods),
        governor: first_client.and_then(kernel::governor),
        frequency_khz: glances.frequency_khz,
        swapped_pages: grew(first.swapped_pages, last.swapped_pages),
        memory_stalled_ns: grew(first.memory_stalled_ns, last.memory_stalled_ns),
    }
}

fn processors(
    set: &CpuSet,
    first: &Reading,
    last: &Reading,
    ours_ns: Option<u64>,
) -> ProcessorTime {
    let cpus: Vec<u32> = set.0.iter().map(|cpu| *cpu as u32).collect();
    let stat = last.stat.as_ref().zip(first.stat.as_ref());
    let since = stat.and_then(|(now, then)| now.since(then, &cpus));
    ProcessorTime {
        cpus,
        idle_ns: since.map(|(idle, _)| idle),
        stolen_ns: since.map(|(_, stolen)| stolen),
        ours_ns,
    }
}

/// More than this share of the clients' or servers' processors used by others is worth a word.
/// Waking a processor up is in it too: some 4% of a loop that is woken for every reply.
const OTHER_SHARE: f64 = 0.10;
/// More than this share of a phase's time stolen is worth a word.
const STOLEN_SHARE: f64 = 0.02;
/// More than this share of a phase held up for want of memory is worth a word.
const STALLED_SHARE: f64 = 0.01;
/// Frequencies that differ by more than this are different.
const FREQUENCY_SHARE: f64 = 0.05;

/// What of a phase's machine could mislead.
pub fn warnings(state: &MachineState, variant: &str, phase: &str) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind, detail: String| warnings.push(Warning::new(kind, variant, detail));
    let elapsed = state.elapsed_ns;
    let percent = |share: f64| format!("{:.0}%", share * 100.0);
    let mut sets = vec![("clients'", &state.clients)];
    if state.servers.cpus != state.clients.cpus {
        sets.push(("servers'", &state.servers));
    }
    for (whose, set) in sets {
        if let Some(share) = set
            .other_share(elapsed)
            .filter(|share| *share > OTHER_SHARE)
        {
            let share = percent(share);
            let detail = format!("others used {share} of the {whose} processors during `{phase}`");
            warn(WarningKind::OtherLoad, detail);
        }
        if let Some(share) = set
            .stolen_share(elapsed)
            .filter(|share| *share > STOLEN_SHARE)
        {
            let share = percent(share);
            let detail = format!("{share} of the {whose} processors was stolen during `{phase}`");
            warn(WarningKind::StealTime, detail);
        }
    }
    if let Some(ns) = state.throttled_ns.filter(|ns| *ns > 0) {
        let ms = ns as f64 / 1e6;
        let detail = format!("its control group was held back for {ms:.1} ms during `{phase}`");
        warn(WarningKind::Throttled, detail);
    }
    if let Some((low, high)) = state
        .frequency_khz
        .filter(|(low, high)| *high as f64 > *low as f64 * (1.0 + FREQUENCY_SHARE))
    {
        let (low, high) = (low as f64 / 1e6, high as f64 / 1e6);
        let detail =
            format!("the clients' processor ran at {low:.2} to {high:.2} GHz in `{phase}`");
        warn(WarningKind::FrequencyChanged, detail);
    }
    if let Some(pages) = state.swapped_pages.filter(|pages| *pages > 0) {
        let detail = format!("the machine swapped {pages} pages during `{phase}`");
        warn(WarningKind::Swap, detail);
    }
    let stalled = state
        .memory_stalled_ns
        .map(|ns| ns as f64 / elapsed.max(1) as f64);
    if let Some(share) = stalled.filter(|share| *share > STALLED_SHARE) {
        let detail = format!(
            "{} of `{phase}` something waited for memory",
            percent(share)
        );
        warn(WarningKind::MemoryPressure, detail);
    }
    warnings
}

#[cfg(test)]
mod tests;
