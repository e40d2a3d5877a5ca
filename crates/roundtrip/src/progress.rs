//! What a person sees while a run goes on: one line on standard error that tells which trial runs
//! and how long it may still take. Nothing where standard error is no terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use roundtrip_lab::engine::Observer;
use roundtrip_lab::plan::TrialPlan;
use roundtrip_model::analysis::{Analysis, Verdict};
use roundtrip_model::record::{TrialRecord, Validity};
use std::time::Duration;

/// Draws the line.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line, or silence.
    pub fn new(quiet: bool) -> Progress {
        let bar = ProgressBar::new(1);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        // The template is a constant that is right; without it the default style would do.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(250));
        }
        Progress { bar }
    }

    /// Says what is being done before the first trial.
    pub fn say(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// Says what is being done, and how long the whole may still take.
    pub fn say_with(&self, what: &str, remaining: Duration) {
        let left = in_minutes(remaining);
        self.bar.set_message(format!("{what}, about {left} left"));
    }

    /// Takes the line away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn trial_starts(&mut self, trial: &TrialPlan, trials_a_block: u32, remaining: Duration) {
        self.bar.set_message(format!(
            "block {}, trial {} of {trials_a_block}: {} ({}), at most {} left",
            trial.block + 1,
            trial.position + 1,
            trial.contestant,
            trial.placement,
            in_minutes(remaining),
        ));
    }

    fn trial_ended(&mut self, trial: &TrialRecord) {
        if let Validity::Void(reason) = &trial.validity {
            let (block, variant) = (trial.block + 1, &trial.variant);
            self.bar
                .println(format!("void: block {block}, {variant}: {reason}"));
        }
    }

    fn looked(&mut self, blocks: u32, analysis: &Analysis) {
        let open = analysis
            .comparisons
            .iter()
            .filter(|c| c.verdict == Verdict::Undecided)
            .count();
        let all = analysis.comparisons.len();
        self.bar.println(format!(
            "after {blocks} blocks: {} of {all} comparisons decided",
            all - open
        ));
    }
}

fn in_minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        _ => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_told_in_minutes_and_seconds() {
        assert_eq!(in_minutes(Duration::from_secs(59)), "59 s");
        assert_eq!(in_minutes(Duration::from_secs(125)), "2 min 05 s");
    }
}
