//! Experiments on made-up trials whose true ratio is known, by the same [`crate::analyse`] as real
//! ones: what proves the bars of METHOD.md.
//!
//! A trial takes `1 s x true ratio x drift x exp(noise)`. The noise of a trial has a deviation of
//! 3% (normal, or Student's t with 3 degrees of freedom for a heavy tail), so the log ratio of two
//! trials has one of 4.2%; the drift grows evenly by 20% from the first to the last planned trial
//! and is not removed by anything but the blocks and their shuffled order.
//!
//! Over 20,000 experiments a bar, so with a standard error of 0.15 percentage points: of variants
//! slower by 5%, 96.6% are found with normal noise and 96.4% with heavy tails, and 94.6% and 95.2%
//! of the intervals hold the true ratio; the rest are mostly called equivalent, because 5% is just
//! the difference that matters. Of identical variants 0.01% are given a winner (0.6% when they
//! cannot end as equivalent, 0.4% when a budget ends the run after 6 blocks): the control is what
//! makes it rarer than the 5% that the looks alone would allow.

mod made_up;

use self::made_up::{name, trial, variant, workload};
use crate::random::Random;
use crate::sequential::Tables;
use crate::verdict::CrossChecks;
use crate::{all_decided, analyse_with, next_look};
use roundtrip_model::Metric;
use roundtrip_model::analysis::{Analysis, Comparison, Verdict};
use roundtrip_model::experiment::Experiment;
use roundtrip_model::names::Placement;
use roundtrip_model::record::TrialRecord;
use std::collections::BTreeMap;

/// The noise of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Normal.
    Normal,
    /// Student's t with 3 degrees of freedom, scaled to the same deviation.
    HeavyTailed,
}

/// A kind of experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Time of each variant over that of the baseline: 1.05 is 5% slower.
    pub true_ratios: Vec<f64>,
    /// The noise of a trial.
    pub noise: Noise,
    /// Its deviation: 0.03 for 3%.
    pub trial_sd: f64,
    /// How much slower the machine is at the end than at the start: 0.2 for 20%.
    pub drift: f64,
    /// The smallest difference that matters.
    pub delta: f64,
    /// The last planned look.
    pub max_blocks: u32,
    /// The budget of time ends the run after this many blocks.
    pub budget_blocks: Option<u32>,
}

impl Scenario {
    /// METHOD.md's bars: one variant of a true ratio, noise of 3%, drift of 20%, delta of 5%,
    /// looks after 5, 10, 20 and 40 blocks.
    pub fn bar(true_ratio: f64, noise: Noise) -> Scenario {
        Scenario {
            true_ratios: vec![true_ratio],
            noise,
            trial_sd: 0.03,
            drift: 0.20,
            delta: 0.05,
            max_blocks: 40,
            budget_blocks: None,
        }
    }

    /// The experiment: `baseline`, and `variant 1`, `variant 2`, ... in one phase.
    pub fn experiment(&self) -> Experiment {
        let names = (0..=self.true_ratios.len()).map(name);
        Experiment {
            name: "simulated".to_owned(),
            title: String::new(),
            question: String::new(),
            source: None,
            delta: self.delta,
            placements: vec![Placement::Split],
            every: BTreeMap::new(),
            baseline: name(0),
            metrics: vec![Metric::LoopRealS],
            budget_s: 1.0,
            max_blocks: self.max_blocks,
            variants: names.map(variant).collect(),
            workload: workload(),
            published: Vec::new(),
            projection: None,
            faults: None,
            text: String::new(),
        }
    }

    /// The trials of a number of blocks, in the order in which they were run.
    pub fn trials(&self, seed: u64, blocks: u32) -> Vec<TrialRecord> {
        let experiment = self.experiment();
        let contestants = experiment.contestants();
        let mut order: Vec<usize> = (0..contestants.len()).collect();
        let planned = self.budget_blocks.unwrap_or(self.max_blocks).max(blocks);
        let all = f64::from(planned) * contestants.len() as f64;
        let mut random = Random::new(seed);
        let mut trials = Vec::new();
        for block in 0..blocks {
            random.shuffle(&mut order);
            for (position, who) in order.iter().enumerate() {
                // The control, second of the contestants, is the baseline again.
                let true_ratio = who.checked_sub(2).map_or(1.0, |v| self.true_ratios[v]);
                let drift = 1.0 + self.drift * trials.len() as f64 / all;
                let noise = match self.noise {
                    Noise::Normal => random.normal(),
                    Noise::HeavyTailed => random.student3(),
                };
                let seconds = true_ratio * drift * (self.trial_sd * noise).exp();
                trials.push(trial(block, position, &contestants[*who], seconds));
            }
        }
        trials
    }
}

/// One experiment that came to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was concluded.
    pub analysis: Analysis,
    /// The looks that were taken.
    pub looks: Vec<u32>,
    /// Whether each comparison's interval holds its true ratio.
    pub covered: Vec<bool>,
}

/// Runs experiments, keeping the tables of boundaries between them.
#[derive(Default)]
pub struct Simulator {
    tables: Tables,
}

impl Simulator {
    /// One experiment, from its first block to its end: a look where one is planned, until every
    /// comparison has an outcome, the budget is used up, or the last look was taken.
    pub fn run(&mut self, scenario: &Scenario, seed: u64) -> Outcome {
        let experiment = scenario.experiment();
        let end = scenario
            .budget_blocks
            .unwrap_or(u32::MAX)
            .min(scenario.max_blocks);
        let all = scenario.trials(seed, end);
        let contestants = experiment.contestants().len();
        let mut looks = Vec::new();
        loop {
            let done = looks.last().copied().unwrap_or(0);
            let look = next_look(&experiment, done).map_or(end, |look| look.min(end));
            looks.push(look);
            let is_final = look == end;
            let trials = &all[..look as usize * contestants];
            let checks = CrossChecks::Off;
            let analysis = analyse_with(
                &mut self.tables,
                checks,
                &experiment,
                trials,
                &looks,
                is_final,
            );
            if is_final || all_decided(&analysis) {
                let covered = covered(&analysis.comparisons, &scenario.true_ratios);
                return Outcome {
                    analysis,
                    looks,
                    covered,
                };
            }
        }
    }

    /// Many experiments, with seeds from `first_seed` on.
    pub fn tally(&mut self, scenario: &Scenario, first_seed: u64, experiments: u32) -> Tally {
        let mut tally = Tally::default();
        for seed in (first_seed..).take(experiments as usize) {
            tally.add(&self.run(scenario, seed));
        }
        tally
    }
}

/// Counts over many experiments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Experiments.
    pub experiments: u32,
    /// Experiments that named any comparison faster or slower.
    pub any_winner: u32,
    /// Comparisons found faster.
    pub faster: u32,
    /// Comparisons found slower.
    pub slower: u32,
    /// Comparisons found equivalent.
    pub equivalent: u32,
    /// Comparisons left undecided.
    pub undecided: u32,
    /// Comparisons whose interval holds the true ratio.
    pub covered: u32,
    /// Blocks of all experiments together.
    pub blocks: u64,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome) {
        self.experiments += 1;
        self.blocks += u64::from(outcome.analysis.blocks);
        let mut named = false;
        for (comparison, covered) in outcome.analysis.comparisons.iter().zip(&outcome.covered) {
            self.covered += u32::from(*covered);
            named |= matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
            *match comparison.verdict {
                Verdict::Faster => &mut self.faster,
                Verdict::Slower => &mut self.slower,
                Verdict::Equivalent => &mut self.equivalent,
                Verdict::Undecided => &mut self.undecided,
            } += 1;
        }
        self.any_winner += u32::from(named);
    }
}

fn covered(comparisons: &[Comparison], true_ratios: &[f64]) -> Vec<bool> {
    let held = |(c, truth): (&Comparison, &f64)| {
        c.interval.ci_low <= *truth && *truth <= c.interval.ci_high
    };
    comparisons.iter().zip(true_ratios).map(held).collect()
}
