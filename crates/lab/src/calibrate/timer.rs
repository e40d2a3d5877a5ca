//! The clock, and sleeps shorter than a millisecond.

use crate::kernel;
use roundtrip_model::calibration::{Clock, Sleep};
use rustix::event::poll;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Calls of the clock in a batch: long enough that the two readings around it do not count.
const BATCH: u32 = 2000;
/// What a sleep is asked to last.
const ASKED: Duration = Duration::from_micros(100);

/// Nanoseconds of the monotonic clock, which is the one that workers time their ops with.
pub(super) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Cost, resolution and direction of the clock, found within some time.
pub fn clock(within: Duration) -> Clock {
    let until = Instant::now() + within;
    let (mut batches, mut step_ns, mut readings, mut backwards) = (Vec::new(), None, 0, 0);
    while batches.is_empty() || Instant::now() < until {
        let start = now_ns();
        for _ in 0..BATCH {
            black_box(now_ns());
        }
        let took = now_ns().saturating_sub(start);
        batches.push(took as f64 / f64::from(BATCH + 1));
        let mut before = now_ns();
        for _ in 0..BATCH {
            let now = now_ns();
            readings += 1;
            match now.checked_sub(before) {
                None => backwards += 1,
                Some(0) => {}
                Some(step) => step_ns = Some(step_ns.map_or(step, |least: u64| least.min(step))),
            }
            before = now;
        }
    }
    batches.sort_by(f64::total_cmp);
    Clock {
        source: kernel::clocksource(),
        call_ns: batches[batches.len() / 2],
        quickest_call_ns: batches[0],
        step_ns,
        readings,
        backwards,
    }
}

/// How much longer short sleeps last than asked, in each way that a client may sleep.
pub fn sleeps(within: Duration) -> Vec<Sleep> {
    let ways: [(&str, fn()); 2] = [
        ("nanosleep", || std::thread::sleep(ASKED)),
        ("poll", || {
            let timeout = Timespec {
                tv_sec: 0,
                tv_nsec: ASKED.as_nanos() as i64,
            };
            // An interrupted one is over early, and counts as no overshoot.
            let _ = poll(&mut [], Some(&timeout));
        }),
    ];
    ways.map(|(way, sleep)| {
        let until = Instant::now() + within / 2;
        let mut over = Vec::new();
        while over.is_empty() || Instant::now() < until {
            let start = Instant::now();
            sleep();
            over.push(start.elapsed().saturating_sub(ASKED).as_nanos() as u64);
        }
        let (over_p50_ns, over_p99_ns) = ends(&mut over);
        Sleep {
            way: way.to_owned(),
            asked_ns: ASKED.as_nanos() as u64,
            over_p50_ns,
            over_p99_ns,
        }
    })
    .into()
}

/// Median and 99th percentile; zeros of nothing.
pub(super) fn ends(all: &mut [u64]) -> (u64, u64) {
    all.sort_unstable();
    let at = |q: f64| {
        let rank = (all.len() as f64 * q).ceil() as usize;
        all.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    };
    (at(0.5), at(0.99))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_this_machine_goes_forward() {
        let clock = clock(Duration::from_millis(5));
        assert_eq!(clock.backwards, 0);
        assert!(clock.quickest_call_ns > 0.0 && clock.quickest_call_ns <= clock.call_ns);
        assert!(clock.step_ns.is_some_and(|ns| ns > 0) && clock.readings >= 2000);
    }

    #[test]
    fn both_ways_of_sleeping_are_tried() {
        let sleeps = sleeps(Duration::from_millis(10));
        assert_eq!(sleeps.len(), 2);
        assert!(
            sleeps
                .iter()
                .all(|sleep| sleep.over_p50_ns <= sleep.over_p99_ns)
        );
    }

    #[test]
    fn quantiles_are_ranks() {
        let mut all: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(ends(&mut all), (50, 99));
        assert_eq!(ends(&mut [7]), (7, 7));
        assert_eq!(ends(&mut []), (0, 0));
    }
}
