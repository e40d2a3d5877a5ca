//! Which trials there are, in which order, and when the fault of each strikes: a pure function of
//! the experiment and the seed.

use roundtrip_model::Result;
use roundtrip_model::experiment::faults::Faults;
use roundtrip_model::fault::FaultKind;
use roundtrip_model::stream::below;

/// Counters of the seed that no other use of it shares: for the order of a block, for the write
/// after which a fault strikes, and for how long after.
const ORDER: u64 = 1 << 62;
const POINT: u64 = 1 << 61;
const DELAY: u64 = 1 << 60;
/// In how many steps a delay is drawn.
const STEPS: u64 = 1 << 20;

/// One trial to come.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultPlan {
    /// Which block, from 0: one trial of every variant and kind.
    pub block: u32,
    /// Its place in the order of the block, from 0.
    pub position: u32,
    /// The variant.
    pub variant: String,
    /// What strikes.
    pub kind: FaultKind,
    /// It strikes when more writes than this were sent,
    pub after_ops: u64,
    /// and this share of the time of a batch later, from 0 up to 1.
    pub batch_share: f64,
}

/// The trials of a block in their order.
pub fn block(faults: &Faults, seed: u64, block: u32) -> Result<Vec<FaultPlan>> {
    let pairs = faults.pairs();
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let counter = |use_of: u64, i: usize| use_of | (u64::from(block) << 16) | i as u64;
    // Fisher and Yates.
    for i in (1..order.len()).rev() {
        order.swap(i, below(seed, counter(ORDER, i), i as u64 + 1) as usize);
    }
    order
        .into_iter()
        .enumerate()
        .map(|(position, pair)| {
            let (variant, kind) = pairs[pair];
            let (_, depth) = variant.travel()?;
            // Two batches before the end: the fault is to strike in the middle of something.
            let last = faults.count.saturating_sub(2 * u64::from(depth)).max(1);
            Ok(FaultPlan {
                block,
                position: position as u32,
                variant: variant.name.clone(),
                kind,
                after_ops: below(seed, counter(POINT, pair), last),
                batch_share: below(seed, counter(DELAY, pair), STEPS) as f64 / STEPS as f64,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtrip_model::Experiment;
    use std::collections::HashSet;

    fn faults() -> Faults {
        let text = "name = \"f\"\n[faults]\nop = \"set\"\ncount = 1000\n\
                    [[faults.variant]]\nname = \"a\"\nclient = \"c\"\nstore = \"s\"\n\
                    [[faults.variant]]\nname = \"b\"\nclient = \"c\"\nstore = \"s\"\n\
                    kinds = [\"server\"]\noptions = { depth = 100 }\n";
        Experiment::parse(text, "f.toml").unwrap().faults.unwrap()
    }

    #[test]
    fn a_block_holds_every_variant_with_each_of_its_kinds_once() {
        let trials = block(&faults(), 7, 3).unwrap();
        let distinct: HashSet<_> = trials.iter().map(|t| (&t.variant, t.kind)).collect();
        assert_eq!((trials.len(), distinct.len()), (4, 4));
        let positions: Vec<u32> = trials.iter().map(|t| t.position).collect();
        assert_eq!(positions, [0, 1, 2, 3]);
    }

    #[test]
    fn order_and_points_are_the_seeds_and_differ_between_blocks() {
        let faults = faults();
        assert_eq!(block(&faults, 7, 3).unwrap(), block(&faults, 7, 3).unwrap());
        let blocks: Vec<_> = (0..50).map(|b| block(&faults, 7, b).unwrap()).collect();
        let firsts: HashSet<_> = blocks
            .iter()
            .map(|b| (b[0].variant.clone(), b[0].kind))
            .collect();
        assert_eq!(firsts.len(), 4);
        let points: HashSet<u64> = blocks.iter().flatten().map(|t| t.after_ops).collect();
        assert!(points.len() > 150, "{}", points.len());
        assert_ne!(block(&faults, 8, 3).unwrap(), block(&faults, 7, 3).unwrap());
    }

    #[test]
    fn points_lie_evenly_over_the_writes_and_never_in_the_last_two_batches() {
        let faults = faults();
        let trials: Vec<_> = (0..4000)
            .flat_map(|b| block(&faults, 1, b).unwrap())
            .collect();
        for (variant, last) in [("a", 998), ("b", 800)] {
            let points: Vec<u64> = trials
                .iter()
                .filter(|t| t.variant == variant && t.kind == FaultKind::Server)
                .map(|t| t.after_ops)
                .collect();
            assert_eq!(points.len(), 4000);
            assert!(points.iter().all(|p| *p < last));
            for quarter in 0..4 {
                let of = quarter * last / 4..(quarter + 1) * last / 4;
                let inside = points.iter().filter(|p| of.contains(p)).count();
                // 1,000 expected; five standard deviations are 137.
                assert!(inside.abs_diff(1000) < 140, "{variant} {quarter}: {inside}");
            }
        }
        assert!(trials.iter().all(|t| (0.0..1.0).contains(&t.batch_share)));
    }
}
