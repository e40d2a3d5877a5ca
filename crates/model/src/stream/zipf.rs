//! Ranks by Zipf's law, exactly, in no memory, for any exponent and any number of them: rejection
//! and inversion of Hörmann and Derflinger (ACM TOMACS 6(3), 1996). The random numbers are those
//! of `(seed, i, attempt)`, so that a rank is a pure function of `(seed, i)`.

use super::random::{mix, unit};

/// Sets the numbers of each attempt apart.
const ATTEMPT_SEED: u64 = 0x8EBC_6AF0_9C88_C6E3;

/// Zipf's law over the ranks 1 to `n`: rank k has a probability in proportion to k^-exponent.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    n: f64,
    exponent: f64,
    /// The integral of the hat up to 1.5, less 1; and up to n + 0.5.
    from: f64,
    to: f64,
    /// A number so near below its rank needs no further test.
    near: f64,
}

impl Zipf {
    pub(super) fn new(n: u64, exponent: f64) -> Zipf {
        let mut zipf = Zipf {
            n: n as f64,
            exponent,
            from: 0.0,
            to: 0.0,
            near: 0.0,
        };
        zipf.from = zipf.integral(1.5) - 1.0;
        zipf.to = zipf.integral(zipf.n + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.weight(2.0));
        zipf
    }

    /// The rank of operation `i`, from 1.
    #[inline]
    pub(super) fn rank(&self, seed: u64, i: u64) -> u64 {
        let mut attempt = 0_u64;
        loop {
            let seed = seed ^ attempt.wrapping_mul(ATTEMPT_SEED);
            let u = self.to + unit(mix(seed, i)) * (self.from - self.to);
            let x = self.inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.n);
            if rank - x <= self.near || u >= self.integral(rank + 0.5) - self.weight(rank) {
                return rank as u64;
            }
            attempt += 1;
        }
    }

    fn weight(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// The integral of x^-exponent, from 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.exponent) * log;
        // (e^t - 1) / t, by its series where the quotient loses its digits.
        let quotient = match t.abs() > 1e-8 {
            true => t.exp_m1() / t,
            false => 1.0 + t * 0.5 * (1.0 + t / 3.0),
        };
        quotient * log
    }

    /// Where the integral has a value.
    fn inverse(&self, integral: f64) -> f64 {
        // Below -1 it comes only by rounding, at the far end of a steep law.
        let t = (integral * (1.0 - self.exponent)).max(-1.0);
        let quotient = match t.abs() > 1e-8 {
            true => t.ln_1p() / t,
            false => 1.0 - t * (0.5 - t / 3.0),
        };
        (quotient * integral).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of k^-exponent for k up to n: term by term, then by Euler and Maclaurin.
    fn harmonic(n: u64, exponent: f64) -> f64 {
        let weight = |k: f64| k.powf(-exponent);
        let head = n.min(100_000);
        let sum: f64 = (1..=head).map(|k| weight(k as f64)).sum();
        if n == head {
            return sum;
        }
        let (a, b) = (head as f64, n as f64);
        let integral = match exponent == 1.0 {
            true => (b / a).ln(),
            false => (b.powf(1.0 - exponent) - a.powf(1.0 - exponent)) / (1.0 - exponent),
        };
        let slope = |k: f64| -exponent * k.powf(-exponent - 1.0);
        sum + integral + (weight(b) - weight(a)) / 2.0 + (slope(b) - slope(a)) / 12.0
    }

    #[test]
    fn small_laws_pass_a_chi_square_test() {
        const DRAWN: u64 = 200_000;
        for (number, exponent) in [0.1, 0.5, 0.99, 1.0, 1.2, 2.0, 3.0].into_iter().enumerate() {
            let n = 10;
            let zipf = Zipf::new(n, exponent);
            let mut counts = [0_u64; 10];
            for i in 0..DRAWN {
                counts[zipf.rank(number as u64, i) as usize - 1] += 1;
            }
            let total = harmonic(n, exponent);
            let distance: f64 = counts
                .iter()
                .enumerate()
                .map(|(k, count)| {
                    let expected = DRAWN as f64 * ((k + 1) as f64).powf(-exponent) / total;
                    (*count as f64 - expected).powi(2) / expected
                })
                .sum();
            // 9 degrees of freedom: one law in a thousand is further off than 27.88.
            assert!(distance < 27.88, "{exponent}: {distance}");
        }
    }

    #[test]
    fn of_100_million_ranks_every_decade_has_its_share() {
        const DRAWN: u64 = 400_000;
        let n = 100_000_000;
        for exponent in [0.5, 0.99, 1.0, 1.3] {
            let zipf = Zipf::new(n, exponent);
            let ranks: Vec<u64> = (0..DRAWN).map(|i| zipf.rank(11, i)).collect();
            assert!(ranks.iter().all(|rank| (1..=n).contains(rank)));
            for decade in 0..8 {
                let top = 10_u64.pow(decade);
                let share = harmonic(top, exponent) / harmonic(n, exponent);
                let found = ranks.iter().filter(|rank| **rank <= top).count() as f64;
                let expected = DRAWN as f64 * share;
                let deviation = (expected * (1.0 - share)).sqrt();
                assert!(
                    (found - expected).abs() < 4.5 * deviation.max(1.0),
                    "{exponent}, first {top}: {found} of {expected}"
                );
            }
        }
    }

    #[test]
    fn the_mean_logarithm_of_100_million_ranks_is_right() {
        const DRAWN: u64 = 400_000;
        let (n, exponent) = (100_000_000_u64, 0.99);
        let zipf = Zipf::new(n, exponent);
        let logs = (0..DRAWN).map(|i| (zipf.rank(3, i) as f64).ln());
        let found = logs.sum::<f64>() / DRAWN as f64;
        // The derivative of ln(sum of k^-s) by s is minus the mean logarithm.
        let step = 1e-5;
        let slope = harmonic(n, exponent + step).ln() - harmonic(n, exponent - step).ln();
        let expected = -slope / (2.0 * step);
        // Logarithms spread by about 5.5; five standard errors are 0.043.
        assert!((found - expected).abs() < 0.043, "{found}, not {expected}");
    }

    #[test]
    fn one_rank_and_steep_laws_give_the_first_rank() {
        for i in 0..1000 {
            assert_eq!(Zipf::new(1, 0.99).rank(5, i), 1);
            assert_eq!(Zipf::new(100_000_000, 60.0).rank(5, i), 1);
        }
    }
}
