//! What a thread that never sleeps loses: to interrupts, to other programs, to the hypervisor.

use super::timer::now_ns;
use roundtrip_model::calibration::Gaps;
use roundtrip_process::{CpuSet, cpus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Spins on all processors at once. Processors on which no thread can be kept are left out.
pub fn gaps(cpus: &[usize], within: Duration, stop: &AtomicBool) -> Vec<Gaps> {
    thread::scope(|scope| {
        let threads: Vec<_> = cpus
            .iter()
            .map(|cpu| scope.spawn(move || on(*cpu, within, stop)))
            .collect();
        let joined = threads.into_iter().filter_map(|thread| thread.join().ok());
        joined.flatten().collect()
    })
}

fn on(cpu: usize, within: Duration, stop: &AtomicBool) -> Option<Gaps> {
    cpus::pin_this_thread(&CpuSet(vec![cpu])).ok()?;
    let mut gaps = Gaps {
        cpu: cpu as u32,
        watched_ns: 0,
        over_10us: 0,
        over_100us: 0,
        over_1ms: 0,
        longest_ns: 0,
        lost_ns: 0,
    };
    let start = now_ns();
    let mut before = start;
    while before - start < within.as_nanos() as u64 && !stop.load(Ordering::Relaxed) {
        let now = now_ns();
        note(&mut gaps, now.saturating_sub(before));
        before = now.max(before);
    }
    gaps.watched_ns = before - start;
    Some(gaps)
}

fn note(gaps: &mut Gaps, ns: u64) {
    if ns < 10_000 {
        return;
    }
    gaps.over_10us += 1;
    gaps.over_100us += u64::from(ns >= 100_000);
    gaps.over_1ms += u64::from(ns >= 1_000_000);
    gaps.longest_ns = gaps.longest_ns.max(ns);
    gaps.lost_ns += ns;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_by_size() {
        let stop = AtomicBool::new(true);
        let mut gaps = gaps(
            &[roundtrip_process::cpus::available().0[0]],
            Duration::from_secs(60),
            &stop,
        );
        // It was stopped at once.
        assert_eq!((gaps.len(), gaps[0].watched_ns), (1, 0));
        for ns in [9_999, 10_000, 100_000, 5_000_000] {
            note(&mut gaps[0], ns);
        }
        let Gaps {
            over_10us,
            over_100us,
            over_1ms,
            longest_ns,
            lost_ns,
            ..
        } = gaps[0];
        assert_eq!((over_10us, over_100us, over_1ms), (3, 2, 1));
        assert_eq!((longest_ns, lost_ns), (5_000_000, 5_110_000));
    }
}
