//! The loop over blocks: trials in order, each kept when it ends, looks where they are planned,
//! an end when every comparison has an outcome or the time is used up. It runs on a trait, so
//! that tests give it trials with exact numbers.

use crate::plan::{self, TrialPlan};
use roundtrip_model::analysis::Analysis;
use roundtrip_model::record::{EndReason, RunRecord, RunState, TrialRecord, Validity};
use roundtrip_model::{Experiment, Kind, Problem, Result, Warning, WarningKind};
use roundtrip_stats::next_look;
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs one trial for real, or pretends to.
pub trait TrialRunner {
    /// Runs it. A problem of kind `Interrupted` means that the person stopped it; any other ends
    /// the run.
    fn run(&mut self, trial: &TrialPlan) -> Result<TrialRecord>;
}

/// Keeps what a run gives.
pub trait Keeper {
    /// Keeps a trial, whole, now.
    fn keep(&mut self, run: &RunRecord, trial: &TrialRecord) -> Result<()>;
    /// Keeps how the run stands.
    fn update(&mut self, run: &RunRecord) -> Result<()>;
}

/// Hears how a run goes on.
pub trait Observer {
    /// A trial starts; `remaining` is the longest that the run may still take.
    fn trial_starts(&mut self, trial: &TrialPlan, trials_a_block: u32, remaining: Duration);
    /// A trial ended.
    fn trial_ended(&mut self, trial: &TrialRecord);
    /// A look was taken after so many complete blocks.
    fn looked(&mut self, blocks: u32, analysis: &Analysis);
}

/// An observer that says nothing.
pub struct Silent;

impl Observer for Silent {
    fn trial_starts(&mut self, _: &TrialPlan, _: u32, _: Duration) {}
    fn trial_ended(&mut self, _: &TrialRecord) {}
    fn looked(&mut self, _: u32, _: &Analysis) {}
}

/// Time since the blocks of this run (or of its resumption) started.
pub type Elapsed<'a> = &'a dyn Fn() -> Duration;

/// What the loop works with.
pub struct Engine<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Runs trials.
    pub runner: &'a mut dyn TrialRunner,
    /// Keeps them.
    pub keeper: &'a mut dyn Keeper,
    /// Hears of them.
    pub observer: &'a mut dyn Observer,
    /// Set when the person wants it to stop.
    pub stop: &'a AtomicBool,
    /// The clock.
    pub elapsed: Elapsed<'a>,
}

/// After this many blocks without a valid trial of a contestant there is no point in going on.
const HOPELESS_BLOCKS: usize = 2;

impl Engine<'_> {
    /// Runs the blocks that are still to come, after `trials` that are there. The run's state is
    /// kept up to date whatever happens.
    pub fn run(&mut self, run: &mut RunRecord, trials: &mut Vec<TrialRecord>) -> Result<()> {
        run.state = RunState::Running;
        run.end_reason = None;
        self.keeper.update(run)?;
        let outcome = self.blocks(run, trials);
        run.state = match &outcome {
            Ok(()) => RunState::Finished,
            Err(problem) if problem.kind == Kind::Interrupted => RunState::Interrupted,
            Err(_) => RunState::Failed,
        };
        match (outcome, self.keeper.update(run)) {
            (Err(problem), _) => Err(problem),
            (Ok(()), kept) => kept,
        }
    }

    fn blocks(&mut self, run: &mut RunRecord, trials: &mut Vec<TrialRecord>) -> Result<()> {
        let mut block = 0;
        // What a resumed run brings along says nothing of how it goes now.
        let brought = trials.len();
        // How long a block takes, by how many placements take part in it.
        let mut took = BTreeMap::new();
        loop {
            let block_started = (self.elapsed)();
            if self.block(run, trials, block)? {
                let placements = self.experiment.placements_of(block).len();
                took.insert(placements, (self.elapsed)().saturating_sub(block_started));
            }
            block += 1;
            if let Some(hopeless) = hopeless(self.experiment, &trials[brought..]) {
                return Err(hopeless);
            }
            let next = took
                .get(&self.experiment.placements_of(block).len())
                .copied();
            if let Some(reason) = self.end_after(run, trials, block, next)? {
                run.end_reason = Some(reason);
                return Ok(());
            }
        }
    }

    /// Runs what is missing of a block; says whether all of it was missing.
    fn block(
        &mut self,
        run: &RunRecord,
        trials: &mut Vec<TrialRecord>,
        block: u32,
    ) -> Result<bool> {
        let planned = plan::block(self.experiment, run.seed, block);
        let done: HashSet<u32> = trials
            .iter()
            .filter(|t| t.block == block)
            .map(|t| t.position)
            .collect();
        for trial in planned.iter().filter(|t| !done.contains(&t.position)) {
            unless_stopped(self.stop)?;
            self.observer
                .trial_starts(trial, planned.len() as u32, self.remaining());
            let record = self.runner.run(trial)?;
            self.keeper.keep(run, &record)?;
            self.observer.trial_ended(&record);
            trials.push(record);
        }
        Ok(done.is_empty())
    }

    fn remaining(&self) -> Duration {
        Duration::from_secs_f64(self.experiment.budget_s).saturating_sub((self.elapsed)())
    }

    /// Whether the run ends after `blocks` blocks, and why. Takes the look that is due. `next` is
    /// the time that the next block will take, where one like it was run whole just now.
    fn end_after(
        &mut self,
        run: &mut RunRecord,
        trials: &[TrialRecord],
        blocks: u32,
        next: Option<Duration>,
    ) -> Result<Option<EndReason>> {
        let is_due = next_look(self.experiment, blocks - 1) == Some(blocks);
        let is_last = next_look(self.experiment, blocks).is_none();
        // A block that would not fit is not started: half a block is worth nothing.
        let out_of_time = match next {
            Some(next) => self.remaining() < next,
            None => self.remaining().is_zero(),
        };
        let is_final = is_last || out_of_time;
        if !is_final && !is_due {
            return Ok(None);
        }
        // A resumed run passes looks that were taken already.
        if run.looks.last().is_none_or(|last| *last < blocks) {
            run.looks.push(blocks);
        }
        let analysis = roundtrip_stats::analyse(self.experiment, trials, &run.looks, is_final);
        self.observer.looked(blocks, &analysis);
        self.keeper.update(run)?;
        let is_decided =
            !analysis.comparisons.is_empty() && roundtrip_stats::all_decided(&analysis);
        if is_decided {
            return Ok(Some(EndReason::Decided));
        }
        if !is_last && out_of_time {
            let detail = format!("the budget of time was used up after {blocks} blocks");
            run.warnings
                .push(Warning::new(WarningKind::EndedEarly, "", detail));
            return Ok(Some(EndReason::Budget));
        }
        Ok(is_last.then_some(EndReason::LastLook))
    }
}

/// The problem of a contestant that has no valid trial after some blocks of this session.
fn hopeless(experiment: &Experiment, trials: &[TrialRecord]) -> Option<Problem> {
    experiment.contestants().iter().find_map(|name| {
        let mine: Vec<&TrialRecord> = trials.iter().filter(|t| t.variant == **name).collect();
        let blocks: HashSet<u32> = mine.iter().map(|trial| trial.block).collect();
        if blocks.len() < HOPELESS_BLOCKS {
            return None;
        }
        let reasons: Option<Vec<&str>> = mine
            .iter()
            .map(|trial| match &trial.validity {
                Validity::Void(reason) => Some(reason.as_str()),
                Validity::Valid => None,
            })
            .collect();
        let reason = *reasons?.first()?;
        Some(
            Problem::new(
                Kind::Void,
                format!("every trial of `{name}` is void: {reason}"),
            )
            .next("see `roundtrip show last`; mend the cause, then `roundtrip resume last`"),
        )
    })
}

/// A problem once the person wants to stop.
pub fn unless_stopped(stop: &AtomicBool) -> Result<()> {
    match stop.load(Ordering::Relaxed) {
        true => Err(Problem::interrupted()),
        false => Ok(()),
    }
}

/// Whether the last look of a run spends what is left of its error rate: it does when the run
/// came to an end that does not depend on the ratios.
pub fn last_look_is_final(run: &RunRecord) -> bool {
    matches!(
        run.end_reason,
        Some(EndReason::Budget | EndReason::LastLook)
    )
}

#[cfg(test)]
mod tests;
