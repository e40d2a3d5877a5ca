//! When looks are taken and how much of alpha each may use up.
//!
//! The spending function is that of Lan and DeMets (Biometrika 70, 1983) which gives boundaries
//! of the form of O'Brien and Fleming (1979), `2 (1 - Phi(z_{1 - a/2} / sqrt(t)))`, where `t` is
//! the share of the planned blocks that is done and `a` the error of one side, alpha/2. Each side
//! spends its own, as in the authors' program and tables, so that these can be checked against it.
//!
//! **A run that ends before its last planned look**, because its budget of time is used up, takes
//! a final look there and spends on it whatever is left of alpha. That is allowed because the end
//! does not depend on the ratios: given when it came, the sum of what was spent is still alpha.

use crate::normal;

/// The error rate of a whole experiment.
pub(crate) const ALPHA: f64 = 0.05;

/// The looks of one comparison: the blocks it had at each, in order and growing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Schedule {
    /// Blocks at each look; the last one is the present look.
    pub blocks: Vec<u32>,
    /// The last planned look.
    pub max_blocks: u32,
    /// Whether the present look is the last one whatever the ratios say.
    pub is_final: bool,
}

impl Schedule {
    /// How much of `alpha` is used up when look `k` (from 0) has been taken.
    pub fn spent(&self, k: usize, alpha: f64) -> f64 {
        let t = self.fraction(k);
        if t >= 1.0 {
            return alpha;
        }
        let a_side = alpha / 2.0;
        2.0 * 2.0 * normal::above(normal::upper(a_side / 2.0) / t.sqrt())
    }

    /// The share of the planned blocks that is done at look `k`, as far as spending goes.
    pub fn fraction(&self, k: usize) -> f64 {
        if self.is_final && k + 1 == self.blocks.len() {
            return 1.0;
        }
        (f64::from(self.blocks[k]) / f64::from(self.max_blocks.max(1))).min(1.0)
    }

    /// The first `looks` looks alone. None of them was final if others followed.
    pub fn head(&self, looks: usize) -> Schedule {
        Schedule {
            blocks: self.blocks[..looks].to_vec(),
            max_blocks: self.max_blocks,
            is_final: self.is_final && looks == self.blocks.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_spent_early_and_all_at_the_end() {
        let planned = Schedule {
            blocks: vec![5, 10, 20, 40],
            max_blocks: 40,
            is_final: false,
        };
        // 4 (1 - Phi(2.241402728 / sqrt(0.5)))
        assert!((planned.spent(2, 0.05) - 0.00305064551598).abs() < 1e-11);
        assert!(planned.spent(0, 0.05) < 1e-8);
        assert_eq!(planned.spent(3, 0.05), 0.05);
    }

    #[test]
    fn a_final_look_spends_what_is_left_however_early() {
        let ended = Schedule {
            blocks: vec![5, 6],
            max_blocks: 40,
            is_final: true,
        };
        assert!(ended.spent(0, 0.05) < 1e-7);
        assert_eq!(ended.spent(1, 0.05), 0.05);
        assert!(!ended.head(1).is_final);
    }
}
