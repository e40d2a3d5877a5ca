//! How long value `index` is: a pure function of `(seed, index)`.

use super::random::{below, mix, unit};
use crate::workload::{Sizes, Values};

/// Sets the length of a value apart from its bytes.
const SIZE_SEED: u64 = 0x1D8E_4E27_C47D_124F;
/// Sets the second number of a length apart from the first.
const SECOND_SEED: u64 = 0xEB44_ACCA_B455_D165;

/// What is computed once for all values.
#[derive(Clone, Debug)]
pub(super) enum Lengths {
    Constant(usize),
    Uniform {
        shortest: u64,
        how_many: u64,
    },
    Lognormal {
        log_median: f64,
        sigma: f64,
        longest: f64,
    },
    /// Each length with the first number above its share of all 64-bit numbers.
    Histogram(Vec<(u64, usize)>),
}

impl Lengths {
    pub(super) fn new(values: &Values) -> Lengths {
        match &values.size {
            Sizes::Constant => Lengths::Constant(values.bytes as usize),
            Sizes::Uniform {
                min_bytes,
                max_bytes,
            } => Lengths::Uniform {
                shortest: u64::from(*min_bytes),
                how_many: u64::from(max_bytes.saturating_sub(*min_bytes)) + 1,
            },
            Sizes::Lognormal {
                median_bytes,
                sigma,
                max_bytes,
            } => Lengths::Lognormal {
                log_median: f64::from(*median_bytes).ln(),
                sigma: *sigma,
                longest: f64::from(*max_bytes),
            },
            Sizes::Histogram(lengths) => {
                let total: f64 = lengths.iter().map(|(_, weight)| weight).sum();
                let mut sum = 0.0;
                let end = |(bytes, weight): &(u32, f64)| {
                    sum += weight;
                    ((sum / total * 2f64.powi(64)) as u64, *bytes as usize)
                };
                Lengths::Histogram(lengths.iter().map(end).collect())
            }
        }
    }

    #[inline]
    pub(super) fn of(&self, seed: u64, index: u64) -> usize {
        match self {
            Lengths::Constant(bytes) => *bytes,
            varied => varied.drawn(seed ^ SIZE_SEED, index),
        }
    }

    fn drawn(&self, seed: u64, index: u64) -> usize {
        match self {
            Lengths::Constant(bytes) => *bytes,
            Lengths::Uniform { shortest, how_many } => {
                (shortest + below(seed, index, *how_many)) as usize
            }
            Lengths::Lognormal {
                log_median,
                sigma,
                longest,
            } => {
                let log = log_median + sigma * normal(seed, index);
                log.exp().round().clamp(1.0, *longest) as usize
            }
            Lengths::Histogram(ends) => {
                let drawn = mix(seed, index);
                let at = ends.partition_point(|(end, _)| *end <= drawn);
                ends.get(at).or(ends.last()).map_or(0, |(_, bytes)| *bytes)
            }
        }
    }
}

/// A number of the standard normal law: Box and Muller, 1958.
fn normal(seed: u64, index: u64) -> f64 {
    // 1 - u is never 0.
    let radius = (-2.0 * (1.0 - unit(mix(seed, index))).ln()).sqrt();
    let turn = unit(mix(seed ^ SECOND_SEED, index)) * std::f64::consts::TAU;
    radius * turn.cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ValueRecipe;

    const DRAWN: u64 = 100_000;

    fn lengths(size: Sizes) -> Vec<usize> {
        let values = Values {
            size,
            ..Values::of(ValueRecipe::Bytes, 100_000)
        };
        let lengths = Lengths::new(&values);
        (0..DRAWN).map(|index| lengths.of(3, index)).collect()
    }

    fn share(lengths: &[usize], fits: impl Fn(usize) -> bool) -> f64 {
        lengths.iter().filter(|bytes| fits(**bytes)).count() as f64 / lengths.len() as f64
    }

    #[test]
    fn uniform_lengths_have_both_ends_and_the_mean() {
        let drawn = lengths(Sizes::Uniform {
            min_bytes: 10,
            max_bytes: 1000,
        });
        assert_eq!(drawn.iter().min(), Some(&10));
        assert_eq!(drawn.iter().max(), Some(&1000));
        let mean = drawn.iter().sum::<usize>() as f64 / DRAWN as f64;
        // One standard error is 0.9.
        assert!((mean - 505.0).abs() < 4.5, "{mean}");
    }

    #[test]
    fn lognormal_lengths_have_the_median_the_spread_and_the_cut() {
        let drawn = lengths(Sizes::Lognormal {
            median_bytes: 1000,
            sigma: 0.5,
            max_bytes: 2718,
        });
        // The normal law: a half below 0, 84.13% below 1, 97.72% below 2 standard deviations.
        let below = |bytes: f64| share(&drawn, |drawn| (drawn as f64) < bytes);
        assert!((below(1000.0) - 0.5).abs() < 0.01);
        assert!((below(1000.0 * 0.5f64.exp()) - 0.8413).abs() < 0.01);
        assert!((share(&drawn, |drawn| drawn == 2718) - 0.0228).abs() < 0.005);
        assert_eq!(drawn.iter().max(), Some(&2718));
    }

    #[test]
    fn lengths_of_a_histogram_have_their_weights() {
        let drawn = lengths(Sizes::Histogram(vec![(100, 9.0), (1000, 0.5), (7, 0.5)]));
        for (bytes, expected) in [(100, 0.9), (1000, 0.05), (7, 0.05)] {
            assert!((share(&drawn, |drawn| drawn == bytes) - expected).abs() < 0.005);
        }
    }
}
