//! Student's t on log ratios (Student 1908): the reference of METHOD.md, "Verdict".
//!
//! A block gives one log ratio; blocks are independent, and drift that a block shares cancels in
//! it. What is known of a comparison at a look is then a [`Sample`]: how many, mean, deviation.

use crate::normal;
use statrs::function::beta::beta_reg;

/// Log ratios of a number of blocks, summed up. At least two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// How many blocks.
    pub n: u32,
    /// Mean of the log ratios.
    pub mean: f64,
    /// Standard deviation of the log ratios.
    pub sd: f64,
}

impl Sample {
    /// Sums up; `None` for fewer than two, which say nothing of their own noise.
    pub fn of(logs: &[f64]) -> Option<Sample> {
        if logs.len() < 2 {
            return None;
        }
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let squares: f64 = logs.iter().map(|x| (x - mean).powi(2)).sum();
        Some(Sample {
            n: logs.len() as u32,
            mean,
            sd: (squares / (n - 1.0)).sqrt(),
        })
    }

    /// Standard error of the mean.
    pub fn se(&self) -> f64 {
        self.sd / f64::from(self.n).sqrt()
    }

    /// Degrees of freedom.
    pub fn freedom(&self) -> f64 {
        f64::from(self.n) - 1.0
    }

    /// t of the hypothesis that the true log ratio is `mu`. Without any noise it is 0 or infinite.
    pub fn t(&self, mu: f64) -> f64 {
        let off = self.mean - mu;
        if off == 0.0 { 0.0 } else { off / self.se() }
    }

    /// Two-sided p of that hypothesis, as if this were the only look.
    pub fn p(&self, mu: f64) -> f64 {
        two_sided_p(self.t(mu), self.freedom())
    }

    /// The normal deviate that is as unlikely as the t of that hypothesis: how a t enters
    /// boundaries that are made for a normal (the significance-level approach of Jennison and
    /// Turnbull, "Group Sequential Methods", 2000, section 4.4).
    pub fn z(&self, mu: f64) -> f64 {
        let t = self.t(mu);
        normal::upper(two_sided_p(t, self.freedom()) / 2.0).copysign(t)
    }

    /// The two-sided t interval that leaves out `level`.
    pub fn interval(&self, level: f64) -> (f64, f64) {
        let half = quantile(level, self.freedom()) * self.se();
        // No noise and an infinite quantile make no number; no noise wins.
        let half = if half.is_nan() { 0.0 } else { half };
        (self.mean - half, self.mean + half)
    }
}

/// The chance of a t as far from 0 as this, on either side.
pub(crate) fn two_sided_p(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    // t / sqrt(freedom + t^2) stays a number for every finite t.
    let share = freedom / (freedom + t * t);
    if share.is_nan() {
        return 1.0;
    }
    beta_reg(freedom / 2.0, 0.5, share).clamp(0.0, 1.0)
}

/// The t that is passed on either side with a chance of `level`; infinite for level 0.
///
/// By bisection over the logarithm: the library's own inverse loses digits in the far tails that
/// the first of several looks needs (3e-8 with 4 degrees of freedom).
pub(crate) fn quantile(level: f64, freedom: f64) -> f64 {
    if level <= 0.0 {
        return f64::INFINITY;
    }
    if level >= 1.0 {
        return 0.0;
    }
    let (mut low, mut high) = (-30.0_f64, 200.0_f64);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if two_sided_p(middle.exp(), freedom) > level {
            low = middle;
        } else {
            high = middle;
        }
        if high - low < 1e-14 {
            break;
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (level, freedom, t) in [
            (0.05, 1.0, 12.706_204_736),
            (0.05, 4.0, 2.776_445_105),
            (0.01, 9.0, 3.249_835_542),
            (0.05, 19.0, 2.093_024_054),
            (0.001, 39.0, 3.558_120_081),
            (0.05, 1e6, 1.959_966),
        ] {
            assert!(
                (quantile(level, freedom) - t).abs() < 1e-5,
                "{level} {freedom}"
            );
        }
    }

    #[test]
    fn far_tails_keep_their_digits() {
        // With 2 degrees of freedom the tail is closed: p = 1 - t / sqrt(2 + t^2).
        for t in [10.0_f64, 1e3, 1e5] {
            let p = two_sided_p(t, 2.0);
            // The same without the cancellation.
            let closed = 2.0 / (2.0 + t * t + t * (2.0 + t * t).sqrt());
            assert!((p / closed - 1.0).abs() < 1e-6, "{t}: {p} {closed}");
            assert!((quantile(p, 2.0) / t - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_sample_by_hand() {
        // Mean 2, deviation 1, standard error 1/sqrt(3), t = 2 sqrt(3) with 2 degrees of freedom.
        let s = Sample::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((s.n, s.mean, s.sd), (3, 2.0, 1.0));
        assert!((s.t(0.0) - 12_f64.sqrt()).abs() < 1e-12);
        // p = 1 - t / sqrt(2 + t^2) = 1 - sqrt(12/14)
        assert!((s.p(0.0) - (1.0 - (12_f64 / 14.0).sqrt())).abs() < 1e-12);
        let (low, high) = s.interval(0.05);
        let half = 4.302_652_73 / 3_f64.sqrt();
        assert!((low - (2.0 - half)).abs() < 1e-6 && (high - (2.0 + half)).abs() < 1e-6);
        assert_eq!(Sample::of(&[1.0]), None);
    }

    #[test]
    fn trials_without_noise_are_certain_and_make_no_nan() {
        let s = Sample::of(&[0.5; 4]).unwrap();
        assert_eq!((s.p(0.0), s.p(0.5)), (0.0, 1.0));
        assert_eq!(s.interval(0.0), (0.5, 0.5));
        assert_eq!(s.z(0.0), normal::Z_MAX);
    }
}
