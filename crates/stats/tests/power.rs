//! The smallest difference that a run is said to find, held against 2,000 whole experiments of
//! that difference each, from fixed seeds.

#![allow(clippy::unwrap_used)]

use roundtrip_stats::power::{POWER, smallest_difference};
use roundtrip_stats::simulate::{Noise, Scenario, Simulator};

const EXPERIMENTS: u32 = 2000;

#[test]
fn what_is_said_to_be_found_nine_times_in_ten_is() {
    for blocks in [5, 10, 20, 40] {
        let trial_sd = 0.02;
        // A log ratio is the difference of two trials.
        let difference = smallest_difference(trial_sd * 2_f64.sqrt(), blocks).unwrap();
        let scenario = Scenario {
            max_blocks: blocks,
            trial_sd,
            // No run ends because the variants are alike.
            delta: 1e-6,
            drift: 0.0,
            ..Scenario::bar(1.0 + difference, Noise::Normal)
        };
        let tally = Simulator::default().tally(&scenario, 1, EXPERIMENTS);
        let found = f64::from(tally.slower) / f64::from(EXPERIMENTS);
        // The standard error of the count is 0.7 points; the rest is the approximation.
        assert!(
            (found - POWER).abs() < 0.025,
            "{blocks} blocks, {difference}: found {found}"
        );
    }
}
