//! An experiment: question, variants, workload, baseline, the smallest difference that matters.
//! What a person writes is in [`text`]; what it becomes, checked, is here.

pub mod expand;
pub mod faults;
pub mod shapes;
pub mod text;

use crate::metric::Metric;
use crate::names::Placement;
use crate::path::Path;
use crate::problem::Result;
use crate::projection::PublishedProjection;
use crate::workload::Workload;
use faults::Faults;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Looks are planned after these numbers of complete blocks. METHOD.md, "Verdict".
pub const LOOKS: [u32; 4] = [5, 10, 20, 40];

/// What the name of the control ends with.
pub const CONTROL_SUFFIX: &str = " (control)";

/// A path under the workload, with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Its name in the experiment.
    pub name: String,
    /// The path.
    pub path: Path,
    /// The variant that it is compared with, where that is not the baseline of the experiment.
    pub against: Option<String>,
    /// Where it is written, for messages.
    pub place: String,
}

/// A published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The phase.
    pub phase: String,
    /// The variant.
    pub variant: String,
    /// The figure.
    pub metric: Metric,
    /// Its value, in the metric's unit; of several rounds, their median.
    pub value: f64,
    /// The rounds, where several were published.
    pub rounds: Vec<f64>,
}

/// An experiment, checked as far as it can be without looking at this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name: a word.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The question it answers.
    pub question: String,
    /// Where the published figures come from.
    pub source: Option<String>,
    /// The smallest relative difference that matters: 0.05 for 5%.
    pub delta: f64,
    /// Placements to run in.
    pub placements: Vec<Placement>,
    /// Placements that take part in every n-th block only.
    pub every: BTreeMap<Placement, u32>,
    /// The variant that the others are compared with, unless they say another.
    pub baseline: String,
    /// The figures that are compared; the first one leads.
    pub metrics: Vec<Metric>,
    /// Time that the blocks may take.
    pub budget_s: f64,
    /// The last planned look.
    pub max_blocks: u32,
    /// The variants, without the control.
    pub variants: Vec<Variant>,
    /// What they do.
    pub workload: Workload,
    /// Published figures.
    pub published: Vec<Published>,
    /// The published projection.
    pub projection: Option<PublishedProjection>,
    /// What `roundtrip faults` does.
    pub faults: Option<Faults>,
    /// The text that it was parsed from.
    pub text: String,
}

impl Experiment {
    /// Parses and checks an experiment; `place` is the name of the file, for messages.
    pub fn parse(text: &str, place: &str) -> Result<Experiment> {
        expand::experiment(text, place)
    }

    /// Whether it has nothing to compare, and only faults to try.
    pub fn is_of_faults(&self) -> bool {
        self.workload.phases.is_empty() && self.faults.is_some()
    }

    /// The name under which a baseline runs a second time in each block.
    pub fn control_of(baseline: &str) -> String {
        format!("{baseline}{CONTROL_SUFFIX}")
    }

    /// The variant that this one is compared with; `None` for a baseline that is compared with
    /// nothing.
    pub fn baseline_of(&self, variant: &str) -> Option<&str> {
        let own = self.variants.iter().find(|v| v.name == variant)?;
        let baseline = own.against.as_deref().unwrap_or(&self.baseline);
        (baseline != variant).then_some(baseline)
    }

    /// Whether another variant is compared with this one; it then has a control.
    pub fn is_baseline(&self, variant: &str) -> bool {
        let mut others = self.variants.iter();
        variant == self.baseline || others.any(|v| v.against.as_deref() == Some(variant))
    }

    /// The path of a variant or of the control.
    pub fn path(&self, variant: &str) -> Option<&Path> {
        let name = variant.strip_suffix(CONTROL_SUFFIX).unwrap_or(variant);
        self.variants
            .iter()
            .find(|v| v.name == name)
            .map(|v| &v.path)
    }

    /// Names of what runs in a block, each control right after its baseline.
    pub fn contestants(&self) -> Vec<Cow<'_, str>> {
        let mut names = Vec::with_capacity(self.variants.len() + 1);
        for variant in &self.variants {
            names.push(Cow::Borrowed(variant.name.as_str()));
            if self.is_baseline(&variant.name) {
                names.push(Cow::Owned(Self::control_of(&variant.name)));
            }
        }
        names
    }

    /// The planned looks, in blocks: those of [`LOOKS`] below the last one, and the last one.
    pub fn looks(&self) -> Vec<u32> {
        LOOKS
            .into_iter()
            .filter(|n| *n < self.max_blocks)
            .chain([self.max_blocks])
            .collect()
    }

    /// The placements that take part in a block, from 0: all of them in the first.
    pub fn placements_of(&self, block: u32) -> Vec<Placement> {
        let takes_part = |placement: &Placement| {
            let every = self.every.get(placement).copied().unwrap_or(1);
            block.is_multiple_of(every)
        };
        self.placements.iter().copied().filter(takes_part).collect()
    }

    /// Whether a contestant does a phase; the control does what the baseline does.
    pub fn does(&self, contestant: &str, phase: &crate::workload::Phase) -> bool {
        phase.concerns(
            contestant
                .strip_suffix(CONTROL_SUFFIX)
                .unwrap_or(contestant),
        )
    }
}
