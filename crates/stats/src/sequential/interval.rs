//! Intervals adjusted for the looks.
//!
//! Which interval a comparison has at the present look:
//!
//! - **It is beyond its boundary here for the first time**, or **the run ends here**: the interval
//!   by stage-wise ordering (Tsiatis, Rosner and Mehta, Biometrics 40, 1984). A result counts as
//!   higher the earlier it passed the upper boundary, and at one look by its deviate. The ends are
//!   the true ratios under which a result as high (as low) has a chance of alpha/2. With one look
//!   that is the ordinary t interval.
//! - **Not beyond it, and the run goes on**: the repeated interval (Jennison and Turnbull, JRSS B
//!   51, 1989), the t interval at the look's own nominal level.
//! - **It was beyond it at an earlier look, and the run went on** for the sake of something else:
//!   stage-wise with the present figures, as if the looks from that one on had not been taken,
//!   because they did not end anything (the deletion method for data that comes in after the end,
//!   Hall and Ding 2001).
//!
//! So an interval leaves out 1 if and only if the comparison is beyond its boundary, or was before
//! and still differs.
//!
//! **Student's t under a drift.** Between equal paths the t boundary of a look and its normal
//! boundary `c` are passed equally often. Under a drift they are not: with 10 blocks and a nominal
//! level of 1.5e-5 the t boundary is at 8.4, not 4.3, and the noise of the deviation estimated from 10 blocks
//! blurs it. Johnson and Welch's normal approximation of the noncentral t (Biometrika 31, 1940)
//! divides the drift by `sqrt(1 + t^2 / (2 freedom))`; that is done to the boundaries here. Without
//! it the chance of an earlier end is overstated and the upper ends come out too near: where two
//! comparisons end at different looks, 82% of the intervals held the true ratio instead of 95%.

use super::boundary::Tables;
use super::root::root;
use super::spending::{ALPHA, Schedule};
use super::walk::Walk;
use crate::normal;
use crate::student::{Sample, quantile};

/// What the looks so far say of one comparison. Logarithms of ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Evidence {
    /// The figures at the present look.
    pub sample: Sample,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// The sequential p-value: the smallest alpha at which this or an earlier look would have
    /// been beyond its boundary. Before Holm's correction.
    pub p: f64,
    /// The nominal level of the present look, two-sided.
    pub level: f64,
}

/// Weighs the figures of every look, the last one being present. `None` when the present one has
/// fewer than two blocks.
pub(crate) fn evidence(
    tables: &mut Tables,
    looks: &[Option<Sample>],
    max_blocks: u32,
    is_final: bool,
) -> Option<Evidence> {
    let sample = (*looks.last()?)?;
    let samples = distinct(looks);
    let schedule = Schedule {
        blocks: samples.iter().map(|s| s.n).collect(),
        max_blocks,
        is_final,
    };
    let bounds = tables.boundaries(&schedule, ALPHA);
    let last = samples.len() - 1;
    let crossed = samples
        .iter()
        .zip(bounds.iter())
        .position(|(s, c)| s.z(0.0).abs() >= *c);
    let level = 2.0 * normal::above(bounds[last]);
    let (low, high) = match crossed {
        None if schedule.fraction(last) < 1.0 => sample.interval(level),
        first => {
            let before = first.unwrap_or(last).min(last);
            stagewise(tables, &samples[..before], &bounds[..before], sample)
        }
    };
    let p = samples
        .iter()
        .enumerate()
        .map(|(k, s)| tables.p(&schedule.head(k + 1), s.z(0.0)))
        .fold(1.0, f64::min);
    Some(Evidence {
        sample,
        low,
        high,
        p,
        level,
    })
}

/// Looks with figures, each with more blocks than the one before; of equal ones the later.
fn distinct(looks: &[Option<Sample>]) -> Vec<Sample> {
    let mut kept: Vec<Sample> = Vec::with_capacity(looks.len());
    for sample in looks.iter().flatten() {
        while kept.last().is_some_and(|last| last.n >= sample.n) {
            kept.pop();
        }
        kept.push(*sample);
    }
    kept
}

/// A look that was passed without an end.
struct Passed {
    /// Blocks.
    n: f64,
    /// The boundary, as a normal deviate.
    bound: f64,
    /// How much of a drift (in deviations a block) the boundary of a t feels, in deviates.
    slope: f64,
}

impl Passed {
    fn new(sample: &Sample, bound: f64) -> Passed {
        let n = f64::from(sample.n);
        let t = quantile(2.0 * normal::above(bound), sample.freedom());
        Passed {
            n,
            bound,
            slope: (n / (1.0 + t * t / (2.0 * sample.freedom()))).sqrt(),
        }
    }
}

fn stagewise(tables: &mut Tables, before: &[Sample], bounds: &[f64], now: Sample) -> (f64, f64) {
    if before.is_empty() || now.sd == 0.0 {
        return now.interval(ALPHA);
    }
    let passed: Vec<Passed> = before
        .iter()
        .zip(bounds)
        .map(|(sample, bound)| Passed::new(sample, *bound))
        .collect();
    // As a deviate, the chance is nearly a straight line in the true ratio.
    let mut deviate = |mu: f64| -normal::upper(as_high(tables, &passed, &now, mu));
    let wanted = normal::upper(ALPHA / 2.0);
    let low = end(&now, |mu| deviate(mu) + wanted);
    let high = end(&now, |mu| deviate(mu) - wanted);
    // Where an earlier end was all but certain the ordering can leave out the ratio itself; a
    // reader expects it inside, and a wider interval is right at least as often.
    (low.min(now.mean), high.max(now.mean))
}

/// The chance of a result as high as the present one if the true log ratio were `mu`.
fn as_high(tables: &mut Tables, passed: &[Passed], now: &Sample, mu: f64) -> f64 {
    let drift = mu / now.sd;
    let n_now = f64::from(now.n);
    let mut walk = Walk::start();
    let mut chance = 0.0;
    for (k, look) in passed.iter().enumerate() {
        let root = look.n.sqrt();
        let high = (look.bound - drift * look.slope) * root;
        let low = (-look.bound - drift * look.slope) * root;
        chance += walk.above(look.n, high);
        let next = passed.get(k + 1).map_or(n_now, |look| look.n);
        walk.keep(&mut tables.points, look.n, low, high, next);
    }
    chance + walk.above(n_now, now.z(mu) * n_now.sqrt())
}

/// Where a growing function of the log ratio is 0, looked for outwards from the mean.
fn end(now: &Sample, mut f: impl FnMut(f64) -> f64) -> f64 {
    let mut reach = 2.5 * now.se();
    let at_mean = f(now.mean);
    let outwards = if at_mean > 0.0 { -1.0 } else { 1.0 };
    let mut inner = (now.mean, at_mean);
    for _ in 0..60 {
        let x = now.mean + outwards * reach;
        let outer = (x, f(x));
        if (outer.1 > 0.0) != (at_mean > 0.0) {
            let (low, high) = if outwards < 0.0 {
                (outer, inner)
            } else {
                (inner, outer)
            };
            return root(low, high, 1e-9, f);
        }
        inner = outer;
        reach *= 2.0;
    }
    outwards * f64::INFINITY
}

#[cfg(test)]
mod tests;
