//! The figures of a run in the order in which they are asked for: by phase, placement and
//! contestant, then by block. Only valid trials are in it.

use roundtrip_model::experiment::{CONTROL_SUFFIX, Experiment};
use roundtrip_model::record::{PhaseRecord, TrialRecord};
use roundtrip_model::{Metric, Placement};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Every figure of one phase of one trial, by the place of its metric in [`Metric::ALL`].
type Row = [Option<f64>; Metric::ALL.len()];

/// One phase of one valid trial.
pub(crate) struct Cell<'a> {
    /// As recorded.
    pub record: &'a PhaseRecord,
    row: Row,
}

impl Cell<'_> {
    /// A figure, where it is known.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.row[metric as usize]
    }
}

/// The phase of a contestant in a placement, by block.
pub(crate) type Column<'a> = BTreeMap<u32, Cell<'a>>;

/// What a column is of: the phase's place in the workload, the placement, the contestant's place.
type Place = (usize, Placement, usize);

/// The valid trials of a run.
pub(crate) struct Figures<'a> {
    /// What was asked for.
    pub experiment: &'a Experiment,
    /// Names of what runs in a block, with each control if any trial of it was made.
    pub contestants: Vec<String>,
    /// The experiment's placements in which any trial was made.
    pub placements: Vec<Placement>,
    /// Complete blocks, growing: every contestant has a valid trial in every placement.
    pub complete: Vec<u32>,
    /// How many blocks were run, void trials or not.
    pub run: u32,
    columns: HashMap<Place, Column<'a>>,
}

impl<'a> Figures<'a> {
    /// Orders the trials. Of several valid ones of a contestant in one block the last counts.
    pub fn new(experiment: &'a Experiment, trials: &'a [TrialRecord]) -> Figures<'a> {
        let is_control = |name: &str| name.ends_with(CONTROL_SUFFIX);
        let contestants: Vec<String> = experiment
            .contestants()
            .into_iter()
            .filter(|name| !is_control(name) || trials.iter().any(|t| t.variant == **name))
            .map(|name| name.into_owned())
            .collect();
        let placements: Vec<Placement> = experiment
            .placements
            .iter()
            .copied()
            .filter(|p| trials.iter().any(|t| t.placement == *p))
            .collect();
        let mut columns: HashMap<Place, Column<'a>> = HashMap::new();
        let mut seen: BTreeMap<u32, BTreeSet<(Placement, usize)>> = BTreeMap::new();
        for trial in trials.iter().filter(|t| t.is_valid()) {
            let Some(who) = contestants.iter().position(|c| *c == trial.variant) else {
                continue;
            };
            if !placements.contains(&trial.placement) {
                continue;
            }
            seen.entry(trial.block)
                .or_default()
                .insert((trial.placement, who));
            for (phase, wanted) in experiment.workload.phases.iter().enumerate() {
                let Some(record) = trial.phase(&wanted.name) else {
                    continue;
                };
                let cell = Cell {
                    record,
                    row: Metric::ALL.map(|m| m.of(record).filter(|x| x.is_finite())),
                };
                let place = (phase, trial.placement, who);
                columns.entry(place).or_default().insert(trial.block, cell);
            }
        }
        let whole = |block| {
            let wanted = experiment.placements_of(block);
            contestants.len() * wanted.iter().filter(|p| placements.contains(p)).count()
        };
        let complete = seen
            .into_iter()
            .filter(|(block, who)| who.len() == whole(*block))
            .map(|(block, _)| block)
            .collect();
        Figures {
            experiment,
            contestants,
            placements,
            complete,
            run: trials
                .iter()
                .map(|trial| trial.block.saturating_add(1))
                .max()
                .unwrap_or(0),
            columns,
        }
    }

    /// The column of a phase (by its place in the workload), a placement and a contestant.
    pub fn column(
        &self,
        phase: usize,
        placement: Placement,
        contestant: &str,
    ) -> Option<&Column<'a>> {
        let who = self.contestants.iter().position(|c| c == contestant)?;
        self.columns.get(&(phase, placement, who))
    }

    /// Every column with its phase's place, its placement and its contestant, in the order of the
    /// experiment.
    pub fn columns(&self) -> impl Iterator<Item = (usize, Placement, &str, &Column<'a>)> {
        let phases = 0..self.experiment.workload.phases.len();
        phases.flat_map(move |phase| {
            self.placements.iter().flat_map(move |placement| {
                self.contestants
                    .iter()
                    .enumerate()
                    .filter_map(move |(who, name)| {
                        let column = self.columns.get(&(phase, *placement, who))?;
                        Some((phase, *placement, name.as_str(), column))
                    })
            })
        })
    }

    /// The name of a phase by its place.
    pub fn phase_name(&self, phase: usize) -> &str {
        &self.experiment.workload.phases[phase].name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_its_place_in_the_list() {
        for (i, metric) in Metric::ALL.into_iter().enumerate() {
            assert_eq!(metric as usize, i);
        }
    }
}
