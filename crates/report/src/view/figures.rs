//! Looking up what was computed, and the order in which it is shown.

use crate::Document;
use roundtrip_model::analysis::{Comparison, RatioInterval, Summary};
use roundtrip_model::experiment::CONTROL_SUFFIX;
use roundtrip_model::record::{FloorBar, PhaseRecord, TrialRecord};
use roundtrip_model::{Metric, Placement};
use std::collections::HashMap;

/// An index over a document.
#[derive(Debug)]
pub struct Figures<'a> {
    /// The document.
    pub document: &'a Document,
    summaries: HashMap<(&'a str, &'a str, Placement, Metric), &'a Summary>,
}

/// One phase in one placement: what a chapter of figures is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene<'a> {
    /// The placement.
    pub placement: Placement,
    /// The phase.
    pub phase: &'a str,
}

impl Scene<'_> {
    /// Its heading.
    pub fn title(&self) -> String {
        match self.placement {
            Placement::Free => format!("{}, {}", self.phase, self.placement.in_words()),
            placement => format!("{}, {placement} ({})", self.phase, placement.in_words()),
        }
    }

    /// The same in two words.
    pub fn short(&self) -> String {
        format!("{}, {}", self.phase, self.placement)
    }
}

impl<'a> Figures<'a> {
    /// The index of a document.
    pub fn new(document: &'a Document) -> Self {
        let key = |s: &'a Summary| (s.phase.as_str(), s.variant.as_str(), s.placement, s.metric);
        Figures {
            document,
            summaries: document
                .analysis
                .summaries
                .iter()
                .map(|s| (key(s), s))
                .collect(),
        }
    }

    /// The figure that leads: it decides the headlines.
    pub fn leading(&self) -> Metric {
        self.document
            .experiment
            .metrics
            .first()
            .copied()
            .unwrap_or(Metric::OpsPerS)
    }

    /// Every placement and phase that was run or planned, in the experiment's order.
    pub fn scenes(&self) -> Vec<Scene<'a>> {
        let d = self.document;
        let mut placements = d.experiment.placements.clone();
        let mut phases: Vec<&str> = d
            .experiment
            .workload
            .phases
            .iter()
            .map(|p| p.name.as_str())
            .collect();
        for trial in &d.trials {
            push_new(&mut placements, trial.placement);
            trial
                .phases
                .iter()
                .for_each(|p| push_new(&mut phases, p.name.as_str()));
        }
        let ran = |s: &Scene<'_>| {
            d.trials
                .iter()
                .any(|t| t.placement == s.placement && t.phase(s.phase).is_some())
        };
        let scenes = placements.iter().flat_map(|placement| {
            phases.iter().map(|phase| Scene {
                placement: *placement,
                phase,
            })
        });
        scenes.filter(ran).collect()
    }

    /// Every contestant's name, in the experiment's order, then any that only the trials know.
    pub fn contestants(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .document
            .experiment
            .contestants()
            .into_iter()
            .map(|n| n.into_owned())
            .collect();
        for trial in &self.document.trials {
            push_new(&mut names, trial.variant.clone());
        }
        names
    }

    /// Contestants that took part in a scene, with their place among all.
    pub fn in_scene(&self, scene: Scene<'_>) -> Vec<(usize, String)> {
        let took_part = |name: &str| self.trials(scene, name).next().is_some();
        self.contestants()
            .into_iter()
            .enumerate()
            .filter(|(_, name)| took_part(name))
            .collect()
    }

    /// Trials of a contestant in a scene, void ones too.
    pub fn trials<'s>(
        &'s self,
        scene: Scene<'s>,
        variant: &'s str,
    ) -> impl Iterator<Item = (&'a TrialRecord, &'a PhaseRecord)> + 's {
        self.document
            .trials
            .iter()
            .filter(move |t| t.placement == scene.placement && t.variant == variant)
            .filter_map(move |t| Some((t, t.phase(scene.phase)?)))
    }

    /// A summary.
    pub fn summary(&self, scene: Scene<'_>, variant: &str, metric: Metric) -> Option<&'a Summary> {
        self.summaries
            .get(&(scene.phase, variant, scene.placement, metric))
            .copied()
    }

    /// A median, where it is known.
    pub fn median(&self, scene: Scene<'_>, variant: &str, metric: Metric) -> Option<f64> {
        self.summary(scene, variant, metric)
            .map(|s| s.median)
            .filter(|m| m.is_finite())
    }

    /// A comparison.
    pub fn comparison(
        &self,
        scene: Scene<'_>,
        variant: &str,
        metric: Metric,
    ) -> Option<&'a Comparison> {
        self.document.analysis.comparisons.iter().find(|c| {
            c.placement == scene.placement
                && c.phase == scene.phase
                && c.variant == variant
                && c.metric == metric
        })
    }

    /// Where a round trip of a variant's client goes on the floor.
    pub fn floor_bar(&self, scene: Scene<'_>, variant: &str) -> Option<&'a FloorBar> {
        self.document.run.floor_bars.iter().find(|bar| {
            bar.placement == scene.placement && bar.phase == scene.phase && bar.variant == variant
        })
    }

    /// The ratio of a baseline's control in a scene and metric.
    pub fn control(
        &self,
        scene: Scene<'_>,
        metric: Metric,
        baseline: &str,
    ) -> Option<RatioInterval> {
        let here = |c: &&Comparison| {
            c.placement == scene.placement
                && c.phase == scene.phase
                && c.metric == metric
                && c.baseline == baseline
        };
        self.document
            .analysis
            .comparisons
            .iter()
            .filter(here)
            .find_map(|c| c.control)
    }

    /// The variants that others are compared with, in the experiment's order; the experiment's own
    /// baseline alone where nothing else is one.
    pub fn baselines(&self) -> Vec<&'a str> {
        let experiment = &self.document.experiment;
        let names = experiment.variants.iter().map(|v| v.name.as_str());
        let compared = |baseline: &str| {
            let mut others = experiment.variants.iter();
            others.any(|v| experiment.baseline_of(&v.name) == Some(baseline))
        };
        let found: Vec<&str> = names.filter(|name| compared(name)).collect();
        match found.is_empty() {
            true => vec![experiment.baseline.as_str()],
            false => found,
        }
    }

    /// What took part in a scene, by the baseline that it is compared with: each baseline, its
    /// control, and its variants. What belongs to none stands with the first.
    pub fn groups(&self, scene: Scene<'_>) -> Vec<Group<'a>> {
        let experiment = &self.document.experiment;
        let baselines = self.baselines();
        let belongs = |name: &str, baseline: &str| {
            name.strip_suffix(CONTROL_SUFFIX).unwrap_or(name) == baseline
                || experiment.baseline_of(name) == Some(baseline)
        };
        let in_scene = self.in_scene(scene);
        let groups = baselines.iter().enumerate().map(|(i, baseline)| Group {
            baseline,
            members: in_scene
                .iter()
                .filter(|(_, name)| {
                    let of_none = || !baselines.iter().any(|b| belongs(name, b));
                    belongs(name, baseline) || (i == 0 && of_none())
                })
                .map(|(_, name)| name.clone())
                .collect(),
        });
        groups.filter(|group| !group.members.is_empty()).collect()
    }
}

/// What is compared with one baseline in a scene.
#[derive(Debug)]
pub struct Group<'a> {
    /// The baseline.
    pub baseline: &'a str,
    /// The baseline, its control and its variants, in the experiment's order.
    pub members: Vec<String>,
}

/// Whether a name is the control's.
pub fn is_control(name: &str) -> bool {
    name.ends_with(CONTROL_SUFFIX)
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}
