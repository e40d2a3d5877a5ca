//! The smallest difference that a run of so many blocks finds nine times in ten, from the noise of
//! its ratios alone: what a machine can show, before anything is compared on it.
//!
//! A variant is found when its t passes the boundary of the last look **and** its ratio is farther
//! from 1 than the control's interval reaches (`verdict`). Both are ratios to the same baseline
//! trials, so their means are correlated by a half. The chance of that is integrated over the
//! control's mean and the two deviations; the deviations are taken as independent (their squares
//! are correlated by a quarter). `tests/power.rs` holds the result against whole simulated
//! experiments.

use crate::normal;
use crate::sequential::{ALPHA, Schedule, Tables};
use crate::student::quantile;
use roundtrip_model::experiment::LOOKS;

/// How often a difference is to be found.
pub const POWER: f64 = 0.9;
/// How the means of two ratios to one baseline are correlated.
const CORRELATION: f64 = 0.5;
/// Points of integration over the control's mean, and over a deviation.
const MEANS: usize = 41;
const DEVIATIONS: usize = 32;

/// The relative difference that is found with a chance of [`POWER`] by a run that ends after
/// `blocks`, with looks before that as they are planned, when the log ratios within a block
/// deviate by `sd`. `None` for fewer than two blocks.
pub fn smallest_difference(sd: f64, blocks: u32) -> Option<f64> {
    let shift = shift(blocks)?;
    let difference = (shift * sd / f64::from(blocks).sqrt()).exp_m1();
    difference.is_finite().then_some(difference)
}

/// The deviation of the log ratios of pairs, such as a baseline's and its control's.
pub fn deviation(logs: &[f64]) -> Option<f64> {
    crate::student::Sample::of(logs).map(|sample| sample.sd)
}

/// The true mean, in standard errors, that is found with a chance of [`POWER`].
fn shift(blocks: u32) -> Option<f64> {
    if blocks < 2 {
        return None;
    }
    let found = Found::new(blocks);
    let (mut low, mut high) = (0.0, 1.0);
    while found.chance(high) < POWER {
        high *= 2.0;
    }
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if found.chance(middle) < POWER {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

/// What a run of so many blocks asks of a winner.
struct Found {
    /// The t of the last look's boundary.
    of_variant: f64,
    /// The t of the control's interval; 0 without a control.
    of_control: f64,
    /// Deviations as shares of the true one, each with its chance.
    deviations: Vec<(f64, f64)>,
}

impl Found {
    fn new(blocks: u32) -> Found {
        let freedom = f64::from(blocks) - 1.0;
        let schedule = Schedule {
            blocks: LOOKS
                .into_iter()
                .filter(|look| *look < blocks)
                .chain([blocks])
                .collect(),
            max_blocks: blocks,
            is_final: true,
        };
        let bounds = Tables::default().boundaries(&schedule, ALPHA);
        let last = bounds.last().copied().unwrap_or(normal::Z_MAX);
        Found {
            of_variant: quantile(2.0 * normal::above(last), freedom),
            of_control: quantile(ALPHA, freedom),
            deviations: deviations(freedom),
        }
    }

    /// The chance to be found when the true mean is `shift` standard errors from 0.
    fn chance(&self, shift: f64) -> f64 {
        let rest = (1.0 - CORRELATION * CORRELATION).sqrt();
        let mut sum = 0.0;
        for (control, weight) in means() {
            for (its, chance) in &self.deviations {
                let reach = match self.of_control {
                    0.0 => f64::NEG_INFINITY,
                    t => control.abs() + t * its,
                };
                for (own, also) in &self.deviations {
                    let needed = reach.max(self.of_variant * own);
                    let off = needed - shift - CORRELATION * control;
                    sum += weight * chance * also * normal::above(off / rest);
                }
            }
        }
        sum
    }
}

/// Points over a standard normal with their chances.
fn means() -> impl Iterator<Item = (f64, f64)> {
    let step = 10.0 / (MEANS - 1) as f64;
    (0..MEANS).map(move |i| {
        let z = -5.0 + step * i as f64;
        (z, step * normal::density(z))
    })
}

/// Points over the deviation of a sample as a share of the true one, with their chances:
/// `s^(f-1) exp(-f s^2 / 2)`, made to sum to 1.
fn deviations(freedom: f64) -> Vec<(f64, f64)> {
    let reach = 6.0 / (2.0 * freedom).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let step = (high - low) / DEVIATIONS as f64;
    // Relative to the density at 1, which keeps large powers from overflowing.
    let density = |s: f64| ((freedom - 1.0) * s.ln() - 0.5 * freedom * (s * s - 1.0)).exp();
    let points = (0..DEVIATIONS).map(|i| low + step * (i as f64 + 0.5));
    let points: Vec<(f64, f64)> = points.map(|s| (s, density(s))).collect();
    let all: f64 = points.iter().map(|(_, weight)| weight).sum();
    points.into_iter().map(|(s, w)| (s, w / all)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_t_test_has_its_published_power() {
        // One sample, two-sided 5%: 10 values and an effect of one deviation are found in 80.3%,
        // 20 values and 0.5 deviations in 56.5% (Cohen 1988; G*Power).
        for (n, effect, power) in [(10_u32, 1.0, 0.803), (20, 0.5, 0.565)] {
            let freedom = f64::from(n) - 1.0;
            let alone = Found {
                of_variant: quantile(ALPHA, freedom),
                of_control: 0.0,
                deviations: deviations(freedom),
            };
            let chance = alone.chance(effect * f64::from(n).sqrt());
            assert!((chance - power).abs() < 0.002, "{n}: {chance}");
        }
    }

    #[test]
    fn more_blocks_and_less_noise_show_less() {
        let of = |sd, n| smallest_difference(sd, n).unwrap();
        for pair in [2, 3, 5, 6, 10, 11, 20, 40].windows(2) {
            assert!(of(0.03, pair[1]) < of(0.03, pair[0]), "{pair:?}");
        }
        // The logarithm of what is found is in proportion to the noise.
        let (one, two) = (of(0.01, 10).ln_1p(), of(0.02, 10).ln_1p());
        assert!((two / one - 2.0).abs() < 1e-9);
        assert_eq!(of(0.0, 5), 0.0);
        assert_eq!(
            (smallest_difference(0.03, 1), smallest_difference(0.03, 0)),
            (None, None)
        );
    }

    #[test]
    fn the_deviation_is_that_of_the_pairs() {
        assert_eq!(deviation(&[1.0, 2.0, 3.0]), Some(1.0));
        assert_eq!(deviation(&[1.0]), None);
    }
}
