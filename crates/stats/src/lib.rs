//! The statistics of METHOD.md, pure: from an experiment and its trials to what is concluded from
//! them. No IO, no clock, no randomness but what is seeded by the figures themselves, so the same
//! trials always give the same analysis, in whatever order they come.
//!
//! From trials to outcomes, one module a step: `figures` orders the trials, `summary` sums them up,
//! `ratio` takes ratios within blocks, `student` and `sequential` weigh them at the looks that were
//! taken, `holm` corrects for the number of comparisons, `verdict` says the outcome, `crosscheck`
//! doubts it, `published`, `terms`,
//! `curves` and `warnings` put beside it what a reader must know; `project` says what a difference
//! means for a daily load. [`simulate`] runs
//! all of that on made-up trials whose true ratio is known.
//!
//! It does not decide when a run ends (`lab` does, by [`next_look`] and [`all_decided`]), and it
//! words no sentences about verdicts (`report` does).

mod crosscheck;
mod curves;
mod faults;
mod figures;
mod holm;
mod knee;
mod normal;
pub mod power;
pub mod project;
mod published;
mod random;
mod ratio;
mod sequential;
pub mod simulate;
mod steady;
mod student;
mod summary;
mod terms;
mod verdict;
mod warnings;

pub use steady::steady_state;

use figures::Figures;
use ratio::Looks;
use roundtrip_model::analysis::{Analysis, Verdict};
use roundtrip_model::experiment::Experiment;
use roundtrip_model::record::TrialRecord;
use sequential::Tables;
use verdict::CrossChecks;

/// Everything that is concluded from the trials of a run.
///
/// `looks` are the numbers of blocks after which looks were taken, in order, the present one last. While there is none, figures and plain t intervals are shown and every verdict is
/// undecided. Blocks that came after the last look wait for the next one, unless `is_final`: the
/// run ended for a reason that does not depend on the ratios (its budget of time, or the last
/// planned look), so the present look sees all blocks and spends what is left of the error rate.
/// Nothing is left after that: a run that ended so must not go on to further looks.
pub fn analyse(
    experiment: &Experiment,
    trials: &[TrialRecord],
    looks: &[u32],
    is_final: bool,
) -> Analysis {
    if let Some(faults) = experiment
        .faults
        .as_ref()
        .filter(|_| experiment.is_of_faults())
    {
        return Analysis {
            void_trials: trials.iter().filter(|t| !t.is_valid()).count() as u32,
            faults: faults::rows(faults, trials),
            ..Analysis::default()
        };
    }
    let mut tables = Tables::default();
    analyse_with(
        &mut tables,
        CrossChecks::On,
        experiment,
        trials,
        looks,
        is_final,
    )
}

/// The one procedure; a simulation keeps its tables from run to run.
fn analyse_with(
    tables: &mut Tables,
    checks: CrossChecks,
    experiment: &Experiment,
    trials: &[TrialRecord],
    looks: &[u32],
    is_final: bool,
) -> Analysis {
    let figures = Figures::new(experiment, trials);
    let looks = Looks::new(looks, figures.run, is_final);
    let comparisons = verdict::comparisons(&figures, &looks, tables, checks);
    let terms = terms::rows(&figures);
    let mut warnings = warnings::warnings(&figures, trials, &comparisons);
    warnings.extend(terms::warnings(&figures, &terms));
    Analysis {
        blocks: figures.complete.len() as u32,
        void_trials: trials.iter().filter(|t| !t.is_valid()).count() as u32,
        summaries: summary::summaries(&figures),
        published: published::rows(&figures, &looks, tables, &comparisons),
        warnings,
        terms,
        curves: curves::curves(&figures),
        comparisons,
        faults: Vec::new(),
    }
}

/// Whether every comparison has an outcome, so that a run can end. An experiment that compares
/// nothing has all of its outcomes; a run without a complete block has none.
pub fn all_decided(analysis: &Analysis) -> bool {
    let decided = |verdict| verdict != Verdict::Undecided;
    analysis.blocks > 0 && analysis.comparisons.iter().all(|c| decided(c.verdict))
}

/// The next planned look of a run with this many complete blocks; `None` after the last.
pub fn next_look(experiment: &Experiment, blocks_done: u32) -> Option<u32> {
    experiment
        .looks()
        .into_iter()
        .find(|look| *look > blocks_done)
}
