//! What must hold for any trials.

mod common;

use common::{TWO, blocks, experiment, get};
use proptest::prelude::*;
use roundtrip_model::analysis::{Analysis, Verdict};
use roundtrip_model::record::TrialRecord;
use roundtrip_stats::analyse;

fn times(
    blocks: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<(u64, u64, u64)>> {
    let ms = 500u64..2000;
    prop::collection::vec((ms.clone(), ms.clone(), ms), blocks)
}

fn of(trials: &[TrialRecord], looks: &[u32], is_final: bool) -> Analysis {
    analyse(&experiment(TWO), trials, looks, is_final)
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_trials_does_not_matter(times in times(5..25), by in 1usize..50, is_final: bool) {
        let mut trials = blocks(&times);
        let before = of(&trials, &[5], is_final);
        let by = by % trials.len();
        trials.rotate_left(by);
        trials.reverse();
        prop_assert_eq!(of(&trials, &[5], is_final), before);
    }

    #[test]
    fn exchanging_variant_and_baseline_inverts_the_ratio(times in times(10..20), is_final: bool) {
        let exchanged = TWO.replace("name = \"two\"", "name = \"two\"\nbaseline = \"new\"");
        let trials: Vec<_> = blocks(&times)
            .into_iter()
            .filter(|t| t.variant != "old (control)")
            .collect();
        let one = &of(&trials, &[5, 10], is_final).comparisons[0];
        let other = &analyse(&experiment(&exchanged), &trials, &[5, 10], is_final).comparisons[0];
        prop_assert!(close(one.interval.ratio, 1.0 / other.interval.ratio));
        prop_assert!(close(one.interval.ci_low, 1.0 / other.interval.ci_high));
        prop_assert!(close(one.interval.ci_high, 1.0 / other.interval.ci_low));
        prop_assert!(close(one.p.unwrap(), other.p.unwrap()));
        let turned = match other.verdict {
            Verdict::Faster => Verdict::Slower,
            Verdict::Slower => Verdict::Faster,
            // 1 +- delta is not its own inverse.
            same => same,
        };
        prop_assert!(one.verdict == turned || one.verdict == Verdict::Equivalent || turned == Verdict::Equivalent);
    }

    #[test]
    fn a_machine_three_times_slower_gives_the_same_ratios(times in times(5..15)) {
        let slower: Vec<_> = times.iter().map(|(a, b, c)| (a * 3, b * 3, c * 3)).collect();
        let (one, other) = (of(&blocks(&times), &[5], true), of(&blocks(&slower), &[5], true));
        for (a, b) in one.comparisons.iter().zip(&other.comparisons) {
            prop_assert!(close(a.interval.ratio, b.interval.ratio));
            prop_assert!(close(a.interval.ci_low, b.interval.ci_low));
            prop_assert_eq!(a.verdict, b.verdict);
        }
    }

    #[test]
    fn drift_that_a_block_shares_changes_nothing(times in times(5..15), drift in prop::collection::vec(1u64..9, 15)) {
        let drifted: Vec<_> = times
            .iter()
            .zip(&drift)
            .map(|((a, b, c), d)| (a * d, b * d, c * d))
            .collect();
        let (one, other) = (of(&blocks(&times), &[5], true), of(&blocks(&drifted), &[5], true));
        prop_assert!(close(one.comparisons[0].interval.ratio, other.comparisons[0].interval.ratio));
        prop_assert!(close(one.comparisons[0].interval.ci_high, other.comparisons[0].interval.ci_high));
    }

    /// Void, missing and doubled trials, in any blocks, with any looks: no panic, and what is said
    /// is sound.
    #[test]
    fn any_trials_and_looks_give_sound_figures(
        trials in prop::collection::vec((0u32..8, 0usize..4, 0u64..3, any::<bool>()), 0..60),
        looks in prop::collection::vec(0u32..12, 0..5),
        is_final: bool,
    ) {
        let names = ["old", "old (control)", "new", "stranger"];
        let trials: Vec<_> = trials
            .into_iter()
            .map(|(block, who, ms, valid)| {
                let trial = get(block, names[who], ms * 1_000_000);
                if valid { trial } else { common::void(trial, "because") }
            })
            .collect();
        let analysis = of(&trials, &looks, is_final);
        for c in &analysis.comparisons {
            prop_assert!(c.interval.ratio.is_finite() && c.interval.ratio > 0.0);
            prop_assert!(c.interval.ci_low <= c.interval.ratio && c.interval.ratio <= c.interval.ci_high);
            prop_assert!(c.p.is_none_or(|p| (0.0..=1.0).contains(&p)));
            prop_assert!(c.blocks >= 2 || c.verdict == Verdict::Undecided);
        }
        for s in &analysis.summaries {
            prop_assert!(s.min <= s.median && s.median <= s.max && s.trials > 0);
        }
    }
}
