//! Ratios within a block. METHOD.md, point 1: what drifts over a run hits all trials of a block
//! alike, so it cancels in their ratio and would not in a ratio of means.

use crate::figures::{Column, Figures};
use crate::student::Sample;
use roundtrip_model::experiment::Experiment;
use roundtrip_model::{Metric, Placement};

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair<'a> {
    /// The phase's place in the workload.
    pub phase: usize,
    /// The placement.
    pub placement: Placement,
    /// The figure.
    pub metric: Metric,
    /// The variant, or the control of `baseline`.
    pub variant: &'a str,
    /// The baseline that this variant is compared with.
    pub baseline: &'a str,
}

/// The comparisons of an experiment that its trials give figures for, in its order: each variant
/// with its own baseline. A baseline that is compared with nothing has none.
pub(crate) fn pairs<'a>(figures: &Figures<'a>) -> Vec<Pair<'a>> {
    let experiment: &'a Experiment = figures.experiment;
    let mut pairs = Vec::new();
    for phase in 0..experiment.workload.phases.len() {
        for placement in &figures.placements {
            for variant in &experiment.variants {
                let Some(baseline) = experiment.baseline_of(&variant.name) else {
                    continue;
                };
                for metric in &experiment.metrics {
                    let pair = Pair {
                        phase,
                        placement: *placement,
                        metric: *metric,
                        variant: &variant.name,
                        baseline,
                    };
                    if !log_ratios(figures, pair).is_empty() {
                        pairs.push(pair);
                    }
                }
            }
        }
    }
    pairs
}

/// The logarithm of variant over baseline in each block in which both have a valid trial and a
/// figure above 0, by block. A void trial takes its block from its own comparisons only.
pub(crate) fn log_ratios(figures: &Figures<'_>, pair: Pair<'_>) -> Vec<(u32, f64)> {
    let column = |name: &str| figures.column(pair.phase, pair.placement, name);
    match (column(pair.variant), column(pair.baseline)) {
        (Some(variant), Some(baseline)) => of_columns(variant, baseline, pair.metric),
        _ => Vec::new(),
    }
}

fn of_columns(variant: &Column<'_>, baseline: &Column<'_>, metric: Metric) -> Vec<(u32, f64)> {
    let figure = |column: &Column<'_>, block: &u32| {
        column
            .get(block)
            .and_then(|cell| cell.get(metric))
            .filter(|x| *x > 0.0)
    };
    variant
        .keys()
        .filter_map(|block| {
            let ratio = figure(variant, block)?.ln() - figure(baseline, block)?.ln();
            Some((*block, ratio))
        })
        .collect()
}

/// The blocks that each look could see: all up to a block's number. The last one is present.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Looks {
    /// The last block of each look.
    pub up_to: Vec<u32>,
    /// Whether no planned look was taken yet: figures are shown, nothing is concluded.
    pub is_peek: bool,
    /// Whether the run ended at the last look for a reason that does not depend on the ratios.
    pub is_final: bool,
}

impl Looks {
    /// From the numbers of blocks after which looks were taken, and how many were run. A look saw
    /// what was run by then, void trials or not. A final look sees all there is; what came after the
    /// last look of a run that goes on waits for the next.
    pub fn new(taken: &[u32], run: u32, is_final: bool) -> Looks {
        let mut up_to: Vec<u32> = taken
            .iter()
            .filter(|n| **n > 0 && !(is_final && **n >= run))
            .map(|n| n - 1)
            .collect();
        let is_peek = up_to.is_empty() && !is_final;
        if is_final || is_peek {
            up_to.push(u32::MAX);
        }
        Looks {
            up_to,
            is_peek,
            is_final,
        }
    }

    /// The figures of each look.
    pub fn samples(&self, log_ratios: &[(u32, f64)]) -> Vec<Option<Sample>> {
        self.up_to
            .iter()
            .map(|last| Sample::of(&self.seen(log_ratios, *last)))
            .collect()
    }

    /// The log ratios that the present look sees.
    pub fn present(&self, log_ratios: &[(u32, f64)]) -> Vec<f64> {
        self.seen(log_ratios, self.up_to.last().copied().unwrap_or(u32::MAX))
    }

    fn seen(&self, log_ratios: &[(u32, f64)], last: u32) -> Vec<f64> {
        log_ratios
            .iter()
            .take_while(|(block, _)| *block <= last)
            .map(|(_, ratio)| *ratio)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_sees_the_blocks_that_were_run_by_then_and_no_later_one() {
        let looks = Looks::new(&[3, 7], 9, false);
        assert_eq!(looks.up_to, [2, 6]);
        // Blocks 1 and 4 have void trials, so no ratio.
        let ratios: Vec<(u32, f64)> = [0, 2, 3, 5, 6, 7, 8].map(|b| (b, f64::from(b))).to_vec();
        assert_eq!(looks.present(&ratios).len(), 5);
        assert_eq!(looks.samples(&ratios)[0].unwrap().n, 2);
    }

    #[test]
    fn a_final_look_sees_everything_and_is_not_taken_twice() {
        assert_eq!(Looks::new(&[5, 6], 6, true).up_to, [4, u32::MAX]);
        assert_eq!(Looks::new(&[5], 6, true).up_to, [4, u32::MAX]);
        assert_eq!(Looks::new(&[6], 6, true).up_to, [u32::MAX]);
        let before_any_look = Looks::new(&[], 3, true);
        assert_eq!(before_any_look.up_to, [u32::MAX]);
        assert!(!before_any_look.is_peek);
    }

    #[test]
    fn no_look_yet_is_a_peek() {
        let looks = Looks::new(&[], 2, false);
        assert!(looks.is_peek && looks.up_to == [u32::MAX]);
    }
}
