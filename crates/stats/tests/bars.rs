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
