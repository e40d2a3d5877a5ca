//! When ops start. A pace gives the intended moments one after another and never skips one: an op
//! that cannot start at its moment starts later, and its response time is counted from the moment.

use crate::worker::WorkerError;
use roundtrip_model::stream::mix;
use roundtrip_model::workload::Pace as Asked;
use std::sync::Arc;

/// What tells the Poisson process of a seed from whatever else is made from it.
const POISSON: u64 = 0x5EED_0F9A_CE00_0001;

/// The pace of a loop.
pub(crate) trait Pace {
    /// Whether ops have intended moments.
    const OPEN: bool;

    /// The intended moment of the next op, in nanoseconds since the start.
    fn due_ns(&self) -> u64;

    /// Goes on to the op after it.
    fn advance(&mut self);
}

/// Each op starts as soon as there is a place for it.
#[derive(Debug)]
pub(crate) struct Closed;

impl Pace for Closed {
    const OPEN: bool = false;

    #[inline]
    fn due_ns(&self) -> u64 {
        0
    }

    #[inline]
    fn advance(&mut self) {}
}

/// Each op has its moment. Of `of` threads each takes every `of`-th moment of the same sequence,
/// so that all of them together keep the pace that one would.
#[derive(Clone, Debug)]
pub(crate) struct Timed {
    moments: Moments,
    of: u64,
    due_ns: u64,
}

#[derive(Clone, Debug)]
enum Moments {
    Fixed {
        per_s: f64,
        at: u64,
    },
    Poisson {
        mean_ns: f64,
        seed: u64,
        at: u64,
        sum_ns: f64,
    },
    Schedule {
        moments_ns: Arc<[u64]>,
        at: u64,
    },
}

/// A pace as the host asked for it, read and checked.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    Closed,
    Open(Timed),
}

impl Plan {
    /// Reads what was asked for `count` ops.
    pub(crate) fn read(asked: &Asked, seed: u64, count: u64) -> Result<Plan, WorkerError> {
        let moments = match asked {
            Asked::Closed => return Ok(Plan::Closed),
            Asked::Fixed { per_s } => Moments::Fixed {
                per_s: rate(*per_s)?,
                at: 0,
            },
            Asked::Poisson { per_s } => Moments::Poisson {
                mean_ns: 1e9 / rate(*per_s)?,
                seed: seed ^ POISSON,
                at: 0,
                sum_ns: 0.0,
            },
            Asked::Schedule { file } => Moments::Schedule {
                moments_ns: read_schedule(file, count)?,
                at: 0,
            },
        };
        Ok(Plan::Open(Timed {
            moments,
            of: 1,
            due_ns: 0,
        }))
    }
}

impl Timed {
    /// The moments of part `part` of `of`.
    pub(crate) fn part(&self, part: u64, of: u64) -> Timed {
        let mut timed = self.clone();
        (0..=part).for_each(|_| timed.due_ns = timed.moments.next_ns());
        timed.of = of;
        timed
    }
}

impl Pace for Timed {
    const OPEN: bool = true;

    #[inline]
    fn due_ns(&self) -> u64 {
        self.due_ns
    }

    #[inline]
    fn advance(&mut self) {
        for _ in 0..self.of {
            self.due_ns = self.moments.next_ns();
        }
    }
}

impl Moments {
    #[inline]
    fn next_ns(&mut self) -> u64 {
        match self {
            Moments::Fixed { per_s, at } => {
                let moment_ns = *at as f64 * 1e9 / *per_s;
                *at += 1;
                moment_ns as u64
            }
            Moments::Poisson {
                mean_ns,
                seed,
                at,
                sum_ns,
            } => {
                // 53 random bits make a number above 0 and up to 1.
                let unit = ((mix(*seed, *at) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
                *at += 1;
                *sum_ns -= unit.ln() * *mean_ns;
                *sum_ns as u64
            }
            Moments::Schedule { moments_ns, at } => {
                // Behind the last there is nothing to start.
                let moment_ns = moments_ns
                    .get(*at as usize)
                    .copied()
                    .unwrap_or(u64::MAX >> 1);
                *at += 1;
                moment_ns
            }
        }
    }
}

fn rate(per_s: f64) -> Result<f64, WorkerError> {
    match per_s.is_finite() && per_s > 0.0 {
        true => Ok(per_s),
        false => Err(WorkerError::usage(format!(
            "a pace of {per_s} ops a second cannot be kept; write a number above 0"
        ))),
    }
}

/// Reads a moment for each of `count` ops.
fn read_schedule(file: &str, count: u64) -> Result<Arc<[u64]>, WorkerError> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| WorkerError::io(format!("the schedule {file} cannot be read: {e}")))?;
    let mut moments_ns = Vec::new();
    let mut last_ns = 0;
    for (number, line) in text.lines().enumerate().take(count as usize) {
        let moment_ns = line
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|moment_s| (0.0..1e9).contains(moment_s))
            .map(|moment_s| (moment_s * 1e9).round() as u64)
            .filter(|moment_ns| *moment_ns >= last_ns)
            .ok_or_else(|| {
                WorkerError::usage(format!(
                    "line {} of the schedule {file} is not a moment in seconds that is not before the one above it",
                    number + 1
                ))
            })?;
        last_ns = moment_ns;
        moments_ns.push(moment_ns);
    }
    if (moments_ns.len() as u64) < count {
        return Err(WorkerError::usage(format!(
            "the schedule {file} has {} moments for {count} ops",
            moments_ns.len()
        )));
    }
    Ok(moments_ns.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn timed(asked: &Asked) -> Timed {
        match Plan::read(asked, 7, 3).unwrap() {
            Plan::Open(timed) => timed,
            Plan::Closed => panic!("{asked:?}"),
        }
    }

    fn moments(mut timed: Timed, count: usize) -> Vec<u64> {
        (0..count)
            .map(|_| {
                let due_ns = timed.due_ns();
                timed.advance();
                due_ns
            })
            .collect()
    }

    #[test]
    fn a_fixed_rate_does_not_drift() {
        let per_s = 30_000.0;
        let all = moments(timed(&Asked::Fixed { per_s }).part(0, 1), 90_001);
        assert_eq!(all[..3], [0, 33_333, 66_666]);
        assert_eq!(all[90_000], 3_000_000_000);
    }

    #[test]
    fn a_poisson_process_has_its_rate_and_the_spread_of_one() {
        let per_s = 10_000.0;
        let all = moments(timed(&Asked::Poisson { per_s }).part(0, 1), 100_001);
        let gaps: Vec<f64> = all
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
        // Of exponential gaps the mean square is twice the square of the mean.
        assert!((mean / 100_000.0 - 1.0).abs() < 0.02, "{mean}");
        assert!(
            (square / (2.0 * mean * mean) - 1.0).abs() < 0.04,
            "{square}"
        );
        // A known answer: the first gap is made from the seed alone.
        let unit = ((mix(7 ^ POISSON, 0) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        assert_eq!(all[0], (-unit.ln() * 100_000.0) as u64);
    }

    #[test]
    fn a_schedule_is_kept_to_the_nanosecond_and_a_bad_one_is_refused_with_its_line() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        write!(file, "0\n0.000000001\n2.5\n").unwrap();
        let asked = Asked::Schedule {
            file: file.path().display().to_string(),
        };
        let all = moments(timed(&asked).part(0, 1), 3);
        assert_eq!(all, [0, 1, 2_500_000_000]);
        assert!(Plan::read(&asked, 7, 4).is_err());
        writeln!(file, "2.4").unwrap();
        let refused = Plan::read(&asked, 7, 4).unwrap_err();
        assert!(format!("{refused:?}").contains("line 4"), "{refused:?}");
        assert!(Plan::read(&Asked::Fixed { per_s: 0.0 }, 7, 1).is_err());
    }

    proptest! {
        #[test]
        fn parts_together_keep_the_pace_of_one(per_s in 1.0f64..1e7, of in 1u64..7, poisson: bool) {
            let asked = match poisson {
                true => Asked::Poisson { per_s },
                false => Asked::Fixed { per_s },
            };
            let whole = moments(timed(&asked).part(0, 1), 60 * of as usize);
            let parts: Vec<_> = (0..of).map(|k| moments(timed(&asked).part(k, of), 60)).collect();
            let woven: Vec<u64> =
                (0..whole.len()).map(|i| parts[i % of as usize][i / of as usize]).collect();
            prop_assert!(whole.is_sorted());
            prop_assert_eq!(woven, whole);
        }
    }
}
