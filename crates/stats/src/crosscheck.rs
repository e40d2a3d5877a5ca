//! Other ways to the same interval, as a check of Student's t: a bias-corrected and accelerated
//! bootstrap (Efron, JASA 82, 1987) and a sign-flip permutation test (Fisher 1935; Pitman 1937).
//! From ten blocks on: with fewer the first is too narrow and the second cannot reach any level.
//!
//! Both answer at the nominal level of the present look, and only where they can: a level that
//! their number of resamples cannot resolve has no answer, which is no disagreement.

use crate::normal;
use crate::random::Random;
use crate::student::Sample;

/// The fewest blocks that are resampled.
const MIN_BLOCKS: usize = 10;
/// Resamples of either method.
const RESAMPLES: usize = 4000;
/// Resamples that must lie beyond an end of an interval for the end to mean anything.
const MIN_BEYOND: f64 = 5.0;
/// Up to this many blocks every one of the 2^n signs is tried.
const MAX_EXACT: usize = 12;

/// Sentences about the methods that do not agree with t on whether a ratio of 1 is left out.
pub(crate) fn disagreements(log_ratios: &[f64], level: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let Some(sample) = Sample::of(log_ratios) else {
        return lines;
    };
    if log_ratios.len() < MIN_BLOCKS || sample.sd == 0.0 {
        return lines;
    }
    let p = sample.p(0.0);
    let excluded = p <= level;
    let t_says = if excluded { "leaves out 1" } else { "holds 1" };
    if let Some((low, high)) = bootstrap(log_ratios, sample, level)
        && (low > 0.0 || high < 0.0) != excluded
    {
        let (low, high) = (low.exp(), high.exp());
        let says = if excluded { "holds 1" } else { "leaves out 1" };
        lines.push(format!(
            "the bootstrap (BCa) interval, {low:.3} to {high:.3}, {says}; that of Student's t {t_says}"
        ));
    }
    if let Some(flipped) = sign_flip(log_ratios, level)
        && (flipped <= level) != excluded
    {
        lines.push(format!(
            "sign-flip permutation gives p = {flipped:.4}, Student's t p = {p:.4}, at a level of {level:.4}"
        ));
    }
    lines
}

/// The BCa interval of the mean.
fn bootstrap(log_ratios: &[f64], sample: Sample, level: f64) -> Option<(f64, f64)> {
    if level / 2.0 * (RESAMPLES as f64) < MIN_BEYOND {
        return None;
    }
    let n = log_ratios.len();
    let mut random = Random::from_figures(log_ratios);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..n).map(|_| log_ratios[random.below(n)]).sum::<f64>() / n as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    let below = means.partition_point(|m| *m < sample.mean) as f64;
    let bias = -normal::upper(below / RESAMPLES as f64);
    // The jackknife's acceleration; for a mean it is the skewness over 6 sqrt(n).
    let power = |k| {
        log_ratios
            .iter()
            .map(|x| (x - sample.mean).powi(k))
            .sum::<f64>()
    };
    let acceleration = power(3) / (6.0 * power(2).powf(1.5));
    let end = |z: f64| {
        let moved = bias + (bias + z) / (1.0 - acceleration * (bias + z));
        let rank = normal::above(-moved) * RESAMPLES as f64;
        means[(rank as usize).min(RESAMPLES - 1)]
    };
    let z = normal::upper(level / 2.0);
    Some((end(-z), end(z)))
}

/// Two-sided p of the mean when each log ratio might as well have had the other sign.
fn sign_flip(log_ratios: &[f64], level: f64) -> Option<f64> {
    let n = log_ratios.len();
    let sum: f64 = log_ratios.iter().sum();
    // A sum of the same numbers in another grouping may differ in its last digits.
    let as_far = |flipped: f64| flipped.abs() >= sum.abs() * (1.0 - 1e-12);
    if n <= MAX_EXACT {
        let all = 1usize << n;
        let flip = |signs: usize| -> f64 {
            let signed = |(i, x): (usize, &f64)| if signs >> i & 1 == 1 { -x } else { *x };
            log_ratios.iter().enumerate().map(signed).sum()
        };
        let reachable = 2.0 / all as f64 <= level;
        return reachable
            .then(|| (0..all).filter(|s| as_far(flip(*s))).count() as f64 / all as f64);
    }
    if level * (RESAMPLES as f64) < 2.0 * MIN_BEYOND {
        return None;
    }
    let mut random = Random::from_figures(log_ratios);
    let far = (0..RESAMPLES).filter(|_| {
        let mut bits = 0;
        let mut flipped = 0.0;
        for (i, x) in log_ratios.iter().enumerate() {
            if i % 64 == 0 {
                bits = random.bits();
            }
            flipped += if bits >> (i % 64) & 1 == 1 { -x } else { *x };
        }
        as_far(flipped)
    });
    Some((far.count() + 1) as f64 / (RESAMPLES + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_flip_by_hand() {
        // Ten equal values: only all signs alike are as far, 2 of 1024.
        assert_eq!(sign_flip(&[1.0; 10], 0.05), Some(2.0 / 1024.0));
        assert_eq!(
            sign_flip(&[1.0; 10], 1e-3),
            None,
            "no p below 2/1024 can be had"
        );
        // Balanced values: everything is as far as a sum of 0.
        let balanced: Vec<f64> = (0..20)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        assert_eq!(sign_flip(&balanced, 0.05), Some(1.0));
    }

    #[test]
    fn the_bootstrap_of_symmetric_figures_is_near_t() {
        let logs: Vec<f64> = (0..40)
            .map(|i| 0.05 + 0.002 * (f64::from(i) - 19.5))
            .collect();
        let sample = Sample::of(&logs).unwrap();
        let (low, high) = bootstrap(&logs, sample, 0.05).unwrap();
        let (t_low, t_high) = sample.interval(0.05);
        assert!((low - t_low).abs() < 0.1 * sample.sd && (high - t_high).abs() < 0.1 * sample.sd);
    }

    #[test]
    fn methods_agree_on_clean_figures_and_say_nothing_below_ten_blocks() {
        let clear: Vec<f64> = (0..20).map(|i| 0.5 + 0.01 * f64::from(i % 5)).collect();
        assert_eq!(disagreements(&clear, 0.05), Vec::<String>::new());
        assert_eq!(disagreements(&clear[..9], 0.05), Vec::<String>::new());
    }

    #[test]
    fn one_wild_block_makes_them_disagree() {
        // Nineteen blocks say 2% slower, one says five times slower: t drowns in the noise of it.
        let mut logs = vec![0.02; 19];
        for (i, x) in logs.iter_mut().enumerate() {
            *x += 0.001 * (i as f64 % 3.0);
        }
        logs.push(1.6);
        let lines = disagreements(&logs, 0.05);
        assert!(
            lines.iter().any(|line| line.contains("sign-flip")),
            "{lines:?}"
        );
        assert!(
            lines.iter().any(|line| line.contains("bootstrap")),
            "{lines:?}"
        );
        assert_eq!(
            lines,
            disagreements(&logs, 0.05),
            "the same figures, the same answer"
        );
    }
}
