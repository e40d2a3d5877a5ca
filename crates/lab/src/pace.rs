//! Whether a paced phase was paced: the moments of a schedule before it, the lateness of the
//! generator after it.

use roundtrip_model::record::PhaseRecord;
use roundtrip_model::workload::Pace;
use roundtrip_model::{Kind, Problem, Result};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

/// Lateness that the timer of any machine has, and that no response time of interest is made of.
const LATE_ALWAYS_NS: f64 = 1e6;
/// Beyond it, lateness counts from this share of the mean interval between ops.
const LATE_SHARE: f64 = 0.1;
/// A rate is held from this share of it.
const HELD_SHARE: f64 = 0.99;
/// A shortfall is the generator's own from this share of it.
const OWN_SHARE: f64 = 0.5;
/// A generator whose threads worked for this share of the time had no time left.
const BUSY_SHARE: f64 = 0.9;
/// The longest line of a schedule.
const MAX_LINE_BYTES: usize = 64;

/// How long a paced phase lasts when everything goes as planned; nothing where ops wait for one
/// another. Reads a schedule, and so finds one that cannot be kept.
pub fn lasts(pace: &Pace, count: u64) -> Result<Duration> {
    let seconds = match pace {
        Pace::Closed => 0.0,
        Pace::Fixed { per_s } | Pace::Poisson { per_s } => count as f64 / per_s,
        Pace::Schedule { file } => schedule(file, count)?,
    };
    Duration::try_from_secs_f64(seconds).map_err(|e| {
        Problem::new(Kind::Usage, format!("a phase of {seconds} s: {e}"))
            .next("ask for fewer ops or a higher rate")
    })
}

/// The moment of the last of `count` ops, in seconds.
fn schedule(file: &str, count: u64) -> Result<f64> {
    const NEXT: &str = "write a moment in seconds since the start on each line, in order";
    let bad = |what: String| Problem::new(Kind::Usage, what).at(file).next(NEXT);
    let opened = File::open(file).map_err(|e| bad(format!("the schedule cannot be read: {e}")))?;
    let mut last = 0.0;
    let mut held = 0;
    // Longer lines than that hold no moment, and are cut off.
    let text = opened.take(count.saturating_mul(MAX_LINE_BYTES as u64 + 1));
    for line in BufReader::new(text).lines().take(count as usize) {
        let line = line.map_err(|e| bad(format!("the schedule cannot be read: {e}")))?;
        held += 1;
        let moment = line.trim().parse::<f64>().ok();
        match moment.filter(|m| m.is_finite() && *m >= last && line.len() <= MAX_LINE_BYTES) {
            Some(moment) => last = moment,
            None => {
                let what = format!("line {held} of the schedule is no moment after {last} s");
                return Err(bad(what));
            }
        }
    }
    if held < count {
        return Err(bad(format!(
            "the schedule has {held} moments for {count} ops"
        )));
    }
    Ok(last)
}

/// What became of the pace of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It was kept, or none was set.
    Yes,
    /// The server could not keep up: ops waited for a free place, which their response times tell.
    ServerBehind(String),
    /// The generator was the bottleneck: METHOD.md says that this voids the trial.
    Void(String),
}

/// Judges the pace of a phase that was to last so long.
pub fn kept(record: &PhaseRecord, planned: Duration) -> Kept {
    if record.pace.is_closed() {
        return Kept::Yes;
    }
    let name = &record.name;
    let Some(late) = record.lateness else {
        return Kept::Void(format!("phase `{name}` does not say how late its ops were"));
    };
    let planned_ns = planned.as_nanos() as f64;
    let interval_ns = planned_ns / (record.ops.max(1)) as f64;
    let allowed_ns = LATE_ALWAYS_NS.max(LATE_SHARE * interval_ns);
    if late.p99_ns as f64 > allowed_ns {
        return Kept::Void(format!(
            "the generator of phase `{name}` was the bottleneck: \
             one op in a hundred started {:.1} ms late or more, {:.1} ms are allowed",
            late.p99_ns as f64 / 1e6,
            allowed_ns / 1e6
        ));
    }
    let short_ns = record.wall_ns as f64 - planned_ns;
    // The last op starts at the last moment, and its reply comes a service time later.
    let last_ns = record.quantile(0.5).unwrap_or(0.0);
    if planned_ns + last_ns >= HELD_SHARE * record.wall_ns as f64 {
        return Kept::Yes;
    }
    let share = 100.0 * planned_ns / record.wall_ns as f64;
    // Behind its moments it waits for replies and for nothing else: who then never waits is what
    // the others wait for, though each op starts as soon as it has a place.
    if let Some(busy) = busy_share(record)
        && busy >= BUSY_SHARE
    {
        return Kept::Void(format!(
            "the generator of phase `{name}` was the bottleneck: it kept {share:.1}% of its rate, \
             and worked for {:.1}% of the time",
            100.0 * busy
        ));
    }
    match late.max_ns as f64 >= OWN_SHARE * short_ns {
        true => Kept::Void(format!(
            "the generator of phase `{name}` was the bottleneck: it kept {share:.1}% of its rate, \
             and was up to {:.1} ms late",
            late.max_ns as f64 / 1e6
        )),
        false => Kept::ServerBehind(format!(
            "`{name}` went on at {share:.1}% of the rate that was asked for: \
             every place in flight was taken"
        )),
    }
}

/// For which share of the time the threads of the generator worked, where that is known. Looking
/// for the next moment without sleeping is no work.
fn busy_share(record: &PhaseRecord) -> Option<f64> {
    let threads = match &record.carried {
        Some(carried) => carried.threads,
        None => record.concurrency,
    };
    let had_ns = record.wall_ns as f64 * f64::from(threads);
    let cpu_ns = record.user_ns?.saturating_add(record.sys_ns?);
    let spun_ns = record.lateness.and_then(|late| late.spun_ns).unwrap_or(0);
    (had_ns > 0.0).then_some(cpu_ns.saturating_sub(spun_ns) as f64 / had_ns)
}

#[cfg(test)]
mod tests;
