//! Which trials a run has, in which order: a pure function of the experiment and the seed.

use roundtrip_model::stream::below;
use roundtrip_model::{Experiment, Placement};

/// One trial to come.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TrialPlan {
    /// Which block, from 0.
    pub block: u32,
    /// Its place in the order of the block, from 0.
    pub position: u32,
    /// The variant, or the control.
    pub contestant: String,
    /// Where server and client run.
    pub placement: Placement,
}

/// The trials of a block: every contestant in every placement that takes part in it, shuffled
/// from the seed.
pub fn block(experiment: &Experiment, seed: u64, block: u32) -> Vec<TrialPlan> {
    let mut pairs: Vec<(String, Placement)> = experiment
        .placements_of(block)
        .iter()
        .flat_map(|placement| {
            experiment
                .contestants()
                .into_iter()
                .map(|name| (name.into_owned(), *placement))
        })
        .collect();
    // Fisher and Yates, with a counter that no other use of the seed shares.
    for i in (1..pairs.len()).rev() {
        let counter = (1 << 63) | (u64::from(block) << 16) | i as u64;
        pairs.swap(i, below(seed, counter, i as u64 + 1) as usize);
    }
    pairs
        .into_iter()
        .enumerate()
        .map(|(position, (contestant, placement))| TrialPlan {
            block,
            position: position as u32,
            contestant,
            placement,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn experiment() -> Experiment {
        let text = "name = \"m\"\nplacement = [\"shared\", \"split\"]\n\
                    [[phase]]\nop = \"get\"\ncount = 1\n\
                    [matrix]\nclient = [\"a\", \"b\", \"c\"]\nstore = [\"s\"]\n";
        Experiment::parse(text, "m.toml").unwrap()
    }

    #[test]
    fn a_block_holds_every_contestant_in_every_placement_once() {
        let trials = block(&experiment(), 7, 0);
        let distinct: HashSet<_> = trials
            .iter()
            .map(|t| (&t.contestant, t.placement))
            .collect();
        assert_eq!((trials.len(), distinct.len()), (8, 8));
        assert!(trials.iter().any(|t| t.contestant == "a@s (control)"));
    }

    #[test]
    fn the_order_is_the_seeds_and_differs_between_blocks() {
        let e = experiment();
        assert_eq!(block(&e, 7, 3), block(&e, 7, 3));
        let orders: HashSet<Vec<(String, Placement)>> = (0..20)
            .map(|b| {
                block(&e, 7, b)
                    .into_iter()
                    .map(|t| (t.contestant, t.placement))
                    .collect()
            })
            .collect();
        assert!(orders.len() > 15, "{}", orders.len());
    }

    #[test]
    fn every_contestant_comes_first_about_equally_often() {
        let e = experiment();
        let firsts = (0..8000)
            .filter(|b| {
                let first = &block(&e, 1, *b)[0];
                first.contestant == "c@s" && first.placement == Placement::Shared
            })
            .count();
        // 1,000 expected; five standard deviations are 148.
        assert!(firsts.abs_diff(1000) < 148, "{firsts}");
    }
}
