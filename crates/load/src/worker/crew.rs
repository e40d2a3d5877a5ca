//! The threads of a phase: each of several is pinned, they start at one agreed moment, and what they give is
//! put together.

use super::WorkerError;
use crate::clock;
use crate::engine::{Record, SPIN_NS};
use crate::outcome::Tally;
use crate::usage::Usage;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use std::num::NonZeroU64;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Several threads start so long after the last of them is ready: longer than it takes to wake
/// them.
const LEAD_NS: u64 = 500_000;

/// What one thread's loop gave.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) record: Record,
    pub(super) usage: Usage,
    pub(super) cache: Tally,
    /// Which of its connections are lost.
    pub(super) down: Vec<bool>,
}

/// The moment at which all start.
#[derive(Debug)]
pub(super) struct Start {
    barrier: Barrier,
    at_ns: AtomicU64,
    lead_ns: u64,
}

impl Start {
    fn of(threads: usize) -> Start {
        Start {
            barrier: Barrier::new(threads),
            at_ns: AtomicU64::new(0),
            lead_ns: if threads > 1 { LEAD_NS } else { 0 },
        }
    }

    /// Waits for all, and then for the moment, which it gives. Every thread must come here,
    /// whatever has gone wrong before, or the others would wait for ever.
    pub(super) fn agree(&self) -> u64 {
        if self.barrier.wait().is_leader() {
            let at_ns = clock::now_ns() + self.lead_ns;
            self.at_ns.store(at_ns, Ordering::Relaxed);
        }
        // The barrier orders the store before the loads.
        self.barrier.wait();
        let at_ns = self.at_ns.load(Ordering::Relaxed);
        let left_ns = at_ns.saturating_sub(clock::now_ns());
        if left_ns > SPIN_NS {
            std::thread::sleep(Duration::from_nanos(left_ns - SPIN_NS));
        }
        while clock::now_ns() < at_ns {
            std::hint::spin_loop();
        }
        at_ns
    }
}

/// Has each member of a crew do its part on a thread of its own.
pub(super) fn run<M: Send>(
    members: Vec<M>,
    work: impl Fn(usize, M, &Start) -> Result<Part, WorkerError> + Sync,
) -> Result<Vec<Part>, WorkerError> {
    // A single thread stays where the host put the process, which may be anywhere.
    let cpus = match members.len() {
        0 | 1 => Vec::new(),
        _ => allowed_cpus(),
    };
    let (work, start) = (&work, &Start::of(members.len()));
    std::thread::scope(|scope| {
        let threads: Vec<_> = members
            .into_iter()
            .enumerate()
            .map(|(number, member)| {
                let cpu = cpus.get(number % cpus.len().max(1)).copied();
                scope.spawn(move || {
                    settle(cpu);
                    work(number, member, start)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err(WorkerError::internal("a thread of the loop panicked")))
            })
            .collect()
    })
}

fn allowed_cpus() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return Vec::new();
    };
    (0..CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect()
}

/// Keeps this thread on a processor, and has its sleeps end when they are to. Where the system
/// refuses either, it still runs, only less exactly.
fn settle(cpu: Option<usize>) {
    if let Some(cpu) = cpu {
        let mut set = CpuSet::new();
        set.set(cpu);
        let _ = sched_setaffinity(None, &set);
    }
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}
