//! The normal distribution, by its tails: levels as small as 1e-300 keep their digits, which
//! `1 - cdf` would lose.

use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::{PI, SQRT_2};

/// The largest quantile that is told apart from infinity; the tail above it is under 1e-300.
pub(crate) const Z_MAX: f64 = 37.0;

/// The density at `z`.
pub(crate) fn density(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * PI).sqrt()
}

/// The chance of a value above `z`.
pub(crate) fn above(z: f64) -> f64 {
    0.5 * erfc(z / SQRT_2)
}

/// The `z` that has a chance of `tail` above it, kept within [`Z_MAX`] of 0.
pub(crate) fn upper(tail: f64) -> f64 {
    (SQRT_2 * erfc_inv(2.0 * tail)).clamp(-Z_MAX, Z_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (tail, z) in [
            (0.025, 1.959_963_984_540_054),
            (0.005, 2.575_829_303_548_901),
            (0.2, 0.841_621_233_572_914_3),
            (1e-12, 7.034_483_825_301_132),
        ] {
            assert!((upper(tail) - z).abs() < 1e-9, "{tail}: {}", upper(tail));
        }
    }

    #[test]
    fn a_tail_and_its_quantile_are_inverse_far_out() {
        for z in [-3.0, 0.0, 1.0, 5.0, 10.0, 30.0] {
            assert!((upper(above(z)) - z).abs() < 1e-7, "{z}");
        }
        assert_eq!(upper(0.0), Z_MAX);
        assert_eq!(upper(1.0), -Z_MAX);
    }
}
