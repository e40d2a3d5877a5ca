//! A bijection of the numbers below `n` that leaves no neighbours together: so the hot keys are
//! not those that were written first.

use super::random::mix;

const ROUNDS: usize = 3;

/// Which number each number below `n` becomes; drawn from a seed.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    n: u64,
    mask: u64,
    shift: u32,
    /// An odd factor and a summand a round.
    rounds: [(u64, u64); ROUNDS],
}

impl Scatter {
    pub(super) fn new(seed: u64, n: u64) -> Scatter {
        let n = n.max(1);
        let bits = (64 - (n - 1).leading_zeros()).max(1);
        let round = |r: u64| {
            (
                mix(seed, u64::MAX - 2 * r) | 1,
                mix(seed, u64::MAX - 2 * r - 1),
            )
        };
        Scatter {
            n,
            mask: u64::MAX >> (64 - bits),
            shift: bits.div_ceil(2),
            rounds: [round(1), round(2), round(3)],
        }
    }

    /// Each step can be undone within as many bits as `n` needs, so it is a bijection there; one
    /// that walks on from a number that is too large until it is below `n` is one below `n`. Less
    /// than half of the numbers are too large.
    #[inline]
    pub(super) fn of(&self, number: u64) -> u64 {
        let mut x = number;
        loop {
            for (factor, summand) in self.rounds {
                x = x.wrapping_mul(factor).wrapping_add(summand) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_are_scattered_over_the_whole() {
        let n = 100_000_000;
        let scatter = Scatter::new(7, n);
        let places: Vec<u64> = (0..1000).map(|k| scatter.of(k)).collect();
        let near = places.windows(2).filter(|w| w[0].abs_diff(w[1]) < 1000);
        assert!(near.count() <= 1);
        // The mean of 1,000 uniform numbers: five standard errors are 4.6% of n.
        let mean = places.iter().sum::<u64>() as f64 / 1000.0 / n as f64;
        assert!((mean - 0.5).abs() < 0.046, "{mean}");
    }

    proptest! {
        #[test]
        fn it_is_a_bijection(seed: u64, n in 1u64..5000) {
            let scatter = Scatter::new(seed, n);
            let mut reached = vec![false; n as usize];
            for number in 0..n {
                let place = scatter.of(number) as usize;
                prop_assert!(!reached[place]);
                reached[place] = true;
            }
        }

        #[test]
        fn large_ones_stay_below_n(seed: u64, n in 1u64.., share in 0.0f64..1.0) {
            let number = ((n - 1) as f64 * share) as u64;
            prop_assert!(Scatter::new(seed, n).of(number.min(n - 1)) < n);
        }
    }
}
