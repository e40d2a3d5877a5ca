//! The bars of METHOD.md, "Verdict", by simulation: 1,000 experiments each, from fixed seeds, so
//! the counts are exact. Trial noise of 3% within a block, drift of 20% over the run, and the same
//! with a heavy-tailed noise.
//!
//! The counts are pinned as well as held against the bars: a change of the method shows here.

use roundtrip_stats::simulate::{Noise, Scenario, Simulator, Tally};

const EXPERIMENTS: u32 = 1000;

fn tally(scenario: &Scenario) -> Tally {
    Simulator::default().tally(scenario, 1, EXPERIMENTS)
}

/// What is simulated is what METHOD.md holds the method to, in a run as an experiment file has it
/// that says nothing of its looks.
#[test]
fn the_bars_are_those_of_the_method() {
    for noise in [Noise::Normal, Noise::HeavyTailed] {
        let bar = Scenario::bar(1.05, noise);
        assert_eq!((bar.trial_sd, bar.drift, bar.delta), (0.03, 0.20, 0.05));
        assert_eq!((bar.max_blocks, bar.budget_blocks), (40, None));
        assert_eq!(bar.true_ratios, [1.05]);
    }
    assert_eq!(EXPERIMENTS, 1000);
}

fn no_winner_between_identical_variants(scenario: &Scenario) -> Tally {
    let tally = tally(scenario);
    assert!(
        tally.any_winner <= EXPERIMENTS / 20,
        "{} of {EXPERIMENTS} experiments on identical variants name a winner: {tally:?}",
        tally.any_winner
    );
    tally
}

fn slower_is_found(scenario: &Scenario) -> Tally {
    let tally = tally(scenario);
    assert!(
        tally.slower >= EXPERIMENTS * 9 / 10 && tally.faster == 0,
        "{} of {EXPERIMENTS} experiments find the slower variant: {tally:?}",
        tally.slower
    );
    covered(&tally);
    let most = u64::from(EXPERIMENTS) * u64::from(scenario.max_blocks);
    assert!(tally.blocks <= most, "beyond the default budget: {tally:?}");
    tally
}

fn covered(tally: &Tally) {
    let intervals = tally.faster + tally.slower + tally.equivalent + tally.undecided;
    assert!(
        (intervals * 93 / 100..=intervals * 97 / 100).contains(&tally.covered),
        "{} of {intervals} intervals hold the true ratio: {tally:?}",
        tally.covered
    );
}

/// Counts in the order of the fields of a tally, to be read in one line.
fn counts(tally: &Tally) -> [u64; 7] {
    [
        tally.any_winner.into(),
        tally.faster.into(),
        tally.slower.into(),
        tally.equivalent.into(),
        tally.undecided.into(),
        tally.covered.into(),
        tally.blocks,
    ]
}

#[test]
fn identical_variants_with_normal_noise() {
    let tally = no_winner_between_identical_variants(&Scenario::bar(1.0, Noise::Normal));
    assert_eq!(counts(&tally), [0, 0, 0, 1000, 0, 985, 21680]);
}

#[test]
fn identical_variants_with_heavy_tails() {
    let tally = no_winner_between_identical_variants(&Scenario::bar(1.0, Noise::HeavyTailed));
    assert_eq!(counts(&tally), [0, 0, 0, 999, 1, 989, 21750]);
}

/// A run that its budget ends early spends the rest of its error rate there.
#[test]
fn identical_variants_when_the_budget_ends_after_six_blocks() {
    for (noise, expected) in [
        (Noise::Normal, [6, 4, 2, 311, 683, 958, 6000]),
        (Noise::HeavyTailed, [2, 1, 1, 512, 486, 960, 6000]),
    ] {
        let scenario = Scenario {
            budget_blocks: Some(6),
            ..Scenario::bar(1.0, noise)
        };
        let tally = no_winner_between_identical_variants(&scenario);
        assert_eq!(counts(&tally), expected, "{noise:?}");
    }
}

/// With a delta of 5% identical variants soon end as equivalent. Without that way out, a run goes
/// through all of its looks: each interval errs as often as it says.
#[test]
fn identical_variants_that_cannot_end_as_equivalent() {
    for (noise, expected) in [
        (Noise::Normal, [9, 5, 4, 0, 991, 954, 40000]),
        (Noise::HeavyTailed, [5, 2, 3, 0, 995, 947, 40000]),
    ] {
        let scenario = Scenario {
            delta: 0.001,
            ..Scenario::bar(1.0, noise)
        };
        let tally = no_winner_between_identical_variants(&scenario);
        covered(&tally);
        assert_eq!(counts(&tally), expected, "{noise:?}");
    }
}

/// Seven comparisons: Holm's correction keeps the error rate of the whole.
#[test]
fn seven_identical_variants_name_no_winner_between_them() {
    let scenario = Scenario {
        true_ratios: vec![1.0; 7],
        budget_blocks: Some(6),
        ..Scenario::bar(1.0, Noise::Normal)
    };
    let tally = no_winner_between_identical_variants(&scenario);
    assert_eq!(counts(&tally), [4, 1, 3, 2367, 4629, 6700, 6000]);
}

#[test]
fn a_variant_slower_by_5_percent_with_normal_noise() {
    let tally = slower_is_found(&Scenario::bar(1.05, Noise::Normal));
    assert_eq!(counts(&tally), [969, 0, 969, 31, 0, 958, 24140]);
}

#[test]
fn a_variant_slower_by_5_percent_with_heavy_tails() {
    let tally = slower_is_found(&Scenario::bar(1.05, Noise::HeavyTailed));
    assert_eq!(counts(&tally), [962, 0, 962, 35, 3, 943, 23290]);
}

/// A run goes on for one comparison after another has its outcome: the intervals of both hold.
#[test]
fn intervals_hold_when_comparisons_end_at_different_looks() {
    for (noise, expected) in [
        (Noise::Normal, [1000, 0, 1966, 34, 0, 1891, 24320]),
        (Noise::HeavyTailed, [1000, 0, 1962, 32, 6, 1911, 23880]),
    ] {
        let scenario = Scenario {
            true_ratios: vec![1.15, 1.05],
            ..Scenario::bar(1.0, noise)
        };
        let tally = tally(&scenario);
        covered(&tally);
        assert_eq!(counts(&tally), expected, "{noise:?}");
    }
}

/// The rates that the documentation of `simulate` states, over 20,000 experiments: a minute of
/// work, so only when asked for, with `cargo test -p roundtrip-stats -- --ignored`.
#[test]
#[ignore = "takes a minute"]
fn rates_over_20_000_experiments() {
    let percent = |count: u32| f64::from(count) / 200.0;
    for (noise, found, covered) in [
        (Noise::Normal, 96.6, 94.6),
        (Noise::HeavyTailed, 96.4, 95.2),
    ] {
        let tally = Simulator::default().tally(&Scenario::bar(1.05, noise), 1, 20_000);
        assert!((percent(tally.slower) - found).abs() < 0.06, "{tally:?}");
        assert!((percent(tally.covered) - covered).abs() < 0.06, "{tally:?}");
        let same = Simulator::default().tally(&Scenario::bar(1.0, noise), 1, 20_000);
        assert!(percent(same.any_winner) < 0.05, "{same:?}");
    }
}
