//! Seeded random numbers: the same seed gives the same numbers on every machine. For resampling
//! and simulation, not for secrets.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Seeded by figures, so that the same figures are always resampled alike.
    pub fn from_figures(figures: &[f64]) -> Random {
        let mut random = Random(figures.len() as u64);
        for figure in figures {
            random.0 ^= figure.to_bits();
            random.0 = random.bits();
        }
        random
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Between 0 and 1, never either.
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }

    /// From 0 to `n - 1`, each as likely as any other to one part in 2^32 / n.
    pub fn below(&mut self, n: usize) -> usize {
        (((self.bits() >> 32) * n as u64) >> 32) as usize
    }

    /// A normal with mean 0 and deviation 1 (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.unit()).cos()
    }

    /// Student's t with 3 degrees of freedom, scaled to deviation 1: heavy tails.
    pub fn student3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / squares.sqrt()
    }

    /// A random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn the_reference_sequence() {
        // The first numbers of SplitMix64 from seed 1234567, as published with its C source.
        let mut random = Random::new(1_234_567);
        let first = [random.bits(), random.bits(), random.bits()];
        assert_eq!(
            first,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn deviates_have_the_moments_they_claim() {
        let mut random = Random::new(1);
        let n = 200_000;
        let of = |draws: Vec<f64>| {
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let beyond_2 = draws.iter().filter(|x| x.abs() > 2.0).count() as f64 / f64::from(n);
            let beyond_4 = draws.iter().filter(|x| x.abs() > 4.0).count() as f64 / f64::from(n);
            (mean, beyond_2, beyond_4)
        };
        let (mean, beyond_2, beyond_4) = of((0..n).map(|_| random.normal()).collect());
        assert!(mean.abs() < 0.01 && (beyond_2 - 0.0455).abs() < 0.002 && beyond_4 < 2e-4);
        // t with 3 degrees of freedom beyond 2 sqrt(3) and 4 sqrt(3): 4.05% and 0.616%.
        let (mean, beyond_2, beyond_4) = of((0..n).map(|_| random.student3()).collect());
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((beyond_2 - 0.0405).abs() < 0.002, "{beyond_2}");
        assert!((beyond_4 - 0.00616).abs() < 0.0008, "{beyond_4}");
    }
}
