//! What this machine's measurements are worth, in about a minute: its clock, its sleeps, what
//! waking costs, what a thread loses, what clients reach against the floor, and the smallest
//! difference that a run can show. The clients run on the ordinary bench.

mod floor;
mod spin;
mod timer;
mod wake;

use crate::bench::{Addresses, Bench, BenchOptions};
use crate::engine::unless_stopped;
use crate::{clock, environment, placement};
use roundtrip_model::calibration::{Calibration, VERSION};
use roundtrip_model::{Placement, Result, Warning, WarningKind};
use roundtrip_process::PrivateDir;
use roundtrip_workers::Host;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How it is to go.
pub struct Wishes<'a> {
    /// Roundtrip's own executable.
    pub self_exe: PathBuf,
    /// About how long it may take.
    pub budget: Duration,
    /// Set when the person wants it to stop.
    pub stop: &'a AtomicBool,
    /// Told what is being done, and how long the whole may still take.
    pub say: &'a mut dyn FnMut(&str, Duration),
}

/// The part of the budget for what Roundtrip does by itself; the rest is the clients'.
const OWN_SHARE: f64 = 0.2;
/// More of it shows nothing more, and Ctrl-C waits for a part of it.
const OWN_MOST: Duration = Duration::from_secs(12);
/// A call of the clock that costs more than this is felt in latencies of a few microseconds.
const SLOW_CALL_NS: f64 = 200.0;
/// Clock steps that are longer than this hide short latencies.
const COARSE_STEP_NS: u64 = 1000;
/// A processor that loses more of its time than this is not quiet.
const LOST_SHARE: f64 = 0.01;

/// Finds it all out.
pub fn run(wishes: Wishes<'_>) -> Result<Calibration> {
    let Wishes {
        self_exe,
        budget,
        stop,
        say,
    } = wishes;
    let started = Instant::now();
    let started_unix_ms = clock::unix_ms();
    let all = placement::machine();
    let mut environment = environment::read();
    let mut step = |what: &str| {
        say(what, budget.saturating_sub(started.elapsed()));
        unless_stopped(stop)
    };
    let own = budget.mul_f64(OWN_SHARE).min(OWN_MOST);
    step("the clock")?;
    let clock = timer::clock(own.mul_f64(0.1));
    step("short sleeps")?;
    let sleeps = timer::sleeps(own.mul_f64(0.15));
    step("waking another thread up")?;
    let wakes = wake::wakes(&all.0, own.mul_f64(0.4))?;
    step("a thread that never sleeps, on each processor")?;
    let gaps = spin::gaps(&all.0, own.mul_f64(0.3), stop);
    placement::pin_host();
    step("what is installed")?;
    let dir = PrivateDir::new()?;
    let host = Host::new(self_exe.clone(), &dir)?;
    let experiment = floor::experiment(&floor::others(&host))?;
    let addresses = Addresses::new();
    let mut bench = Bench::new(
        &experiment,
        crate::random()? >> 1,
        &BenchOptions {
            self_exe,
            addresses: &addresses,
            allow_remote: false,
            deadline: None,
            stop,
        },
    )?;
    step("what each language's loop costs")?;
    let loops = floor::loops(&mut bench)?;
    environment.loop_ns_per_op = loops
        .iter()
        .map(|cost| (cost.language.clone(), cost.ns_per_op))
        .collect();
    let left = budget.saturating_sub(started.elapsed());
    let found = floor::measure(&mut bench, left, &mut step)?;
    let mut calibration = Calibration {
        calibration_version: VERSION,
        started_unix_ms,
        took_ms: started.elapsed().as_millis() as u64,
        environment,
        clock,
        sleeps,
        wakes,
        gaps,
        loops,
        floors: found.floors,
        smallest: found.smallest,
        warnings: Vec::new(),
    };
    calibration.warnings = warnings(&calibration, found.warnings);
    Ok(calibration)
}

/// What is bad: of the machine, of what was measured by itself, and of the trials.
fn warnings(found: &Calibration, of_trials: Vec<Warning>) -> Vec<Warning> {
    let mut warnings = environment::warnings(&found.environment);
    warnings.extend(placement::warning(&[Placement::Split]));
    let clock = &found.clock;
    if clock.backwards > 0 {
        let detail = format!("the clock went backwards {} times", clock.backwards);
        warnings.push(Warning::new(WarningKind::SlowClock, "", detail));
    }
    if clock.call_ns > SLOW_CALL_NS || clock.step_ns.is_none_or(|step| step > COARSE_STEP_NS) {
        let step = clock
            .step_ns
            .map_or("unknown".to_owned(), |ns| format!("{ns} ns"));
        let detail = format!("a call costs {:.0} ns, a step is {step}", clock.call_ns);
        warnings.push(Warning::new(WarningKind::SlowClock, "", detail));
    }
    for gaps in found
        .gaps
        .iter()
        .filter(|gaps| gaps.lost_share() > LOST_SHARE)
    {
        let detail = format!(
            "a thread that never sleeps lost {:.1}% of its time, {:.1} ms at the longest",
            gaps.lost_share() * 100.0,
            gaps.longest_ns as f64 / 1e6
        );
        let subject = format!("processor {}", gaps.cpu);
        warnings.push(Warning::new(WarningKind::OtherLoad, subject, detail));
    }
    warnings.extend(of_trials);
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtrip_model::calibration::{Clock, Gaps};

    #[test]
    fn what_is_bad_is_told_and_what_is_good_is_not() {
        let mut found = Calibration {
            clock: Clock {
                call_ns: 25.0,
                step_ns: Some(20),
                ..Clock::default()
            },
            gaps: vec![Gaps {
                cpu: 1,
                watched_ns: 1_000_000_000,
                over_10us: 4,
                over_100us: 0,
                over_1ms: 0,
                longest_ns: 90_000,
                lost_ns: 200_000,
            }],
            ..Calibration::default()
        };
        found.environment.build = "release".to_owned();
        let of_machine = placement::warning(&[Placement::Split]).is_some() as usize;
        assert_eq!(warnings(&found, Vec::new()).len(), of_machine);
        found.clock.call_ns = 900.0;
        found.clock.backwards = 1;
        found.gaps[0].lost_ns = 50_000_000;
        let all = warnings(&found, Vec::new());
        let of = |kind| all.iter().filter(|w| w.kind == kind).count();
        assert_eq!(of(WarningKind::SlowClock), 2);
        assert_eq!(of(WarningKind::OtherLoad), 1);
    }
}
