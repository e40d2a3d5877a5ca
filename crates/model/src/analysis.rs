//! What is concluded from a run. Computed by `stats`, shown by `report`.

use crate::curve::Curve;
use crate::fault::{FaultKind, Keeps, Travel};
use crate::metric::Metric;
use crate::names::Placement;
use crate::term::Term;
use crate::warning::Warning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The outcome of a comparison. METHOD.md, "Verdict".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The variant is faster than the baseline.
    Faster,
    /// The variant is slower than the baseline.
    Slower,
    /// The difference is smaller than the one that matters.
    Equivalent,
    /// This run cannot tell.
    Undecided,
}

/// One figure of one phase of one variant, over the valid trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The phase.
    pub phase: String,
    /// The variant.
    pub variant: String,
    /// The placement.
    pub placement: Placement,
    /// The figure.
    pub metric: Metric,
    /// Its unit.
    pub unit: String,
    /// Median over trials.
    pub median: f64,
    /// Smallest trial.
    pub min: f64,
    /// Largest trial.
    pub max: f64,
    /// How many trials.
    pub trials: u32,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioInterval {
    /// Geometric mean of the within-block ratios.
    pub ratio: f64,
    /// Lower end; 0 where a single block gives no interval.
    pub ci_low: f64,
    /// Upper end; infinite (`null` in JSON) where a single block gives no interval.
    #[serde(with = "finite_or_null")]
    pub ci_high: f64,
}

mod finite_or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(x: &f64, s: S) -> Result<S::Ok, S::Error> {
        x.is_finite().then_some(*x).serialize(s)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(d)?.unwrap_or(f64::INFINITY))
    }
}

/// A variant against its baseline, in one phase, placement and metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The phase.
    pub phase: String,
    /// The figure compared.
    pub metric: Metric,
    /// The variant.
    pub variant: String,
    /// The baseline that this variant is compared with.
    pub baseline: String,
    /// The placement.
    pub placement: Placement,
    /// Variant over baseline, in the metric: of seconds, a ratio below 1 is faster; of
    /// operations a second, a ratio above 1.
    #[serde(flatten)]
    pub interval: RatioInterval,
    /// The chance of a difference this large between equal paths, after Holm's correction and
    /// for the looks taken; `None` with fewer than two blocks.
    pub p: Option<f64>,
    /// The outcome.
    pub verdict: Verdict,
    /// The control: that baseline against itself, in the same phase, placement and metric.
    pub control: Option<RatioInterval>,
    /// Complete blocks that it rests on.
    pub blocks: u32,
    /// The smallest relative difference that this run had an 80% chance to find: 0.03 for 3%.
    pub detectable: Option<f64>,
    /// Intervals of other methods that do not agree on the outcome.
    pub disagreements: Vec<String>,
}

impl Comparison {
    /// How many times faster the variant is, whichever way the metric points: above 1 is faster.
    pub fn speed(&self) -> RatioInterval {
        use crate::metric::Better;
        match self.metric.better() {
            Better::Higher => self.interval,
            Better::Lower => RatioInterval {
                ratio: 1.0 / self.interval.ratio,
                ci_low: 1.0 / self.interval.ci_high,
                ci_high: 1.0 / self.interval.ci_low,
            },
        }
    }
}

/// A published figure beside the measured one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedRow {
    /// The phase.
    pub phase: String,
    /// The variant.
    pub variant: String,
    /// The figure.
    pub metric: Metric,
    /// The placement of the measured figure.
    pub placement: Placement,
    /// What was published, in the metric's unit; of several rounds, their median.
    pub published: f64,
    /// The published rounds, where there are several.
    #[serde(default)]
    pub rounds: Vec<f64>,
    /// What was measured here: the median.
    pub measured: Option<f64>,
    /// The smallest trial.
    #[serde(default)]
    pub measured_min: Option<f64>,
    /// The largest trial.
    #[serde(default)]
    pub measured_max: Option<f64>,
    /// How many trials.
    #[serde(default)]
    pub trials: u32,
    /// Measured over published.
    pub ratio: Option<f64>,
    /// The variant's own baseline; `None` for a baseline that is compared with nothing.
    #[serde(default)]
    pub baseline: Option<String>,
    /// How many times faster than its baseline it was published to be.
    pub published_speed: Option<f64>,
    /// How many times faster than its baseline it was measured to be.
    pub measured_speed: Option<f64>,
    /// Whether the same side is faster here; `None` without a baseline and where it is undecided.
    pub direction_agrees: Option<bool>,
}

/// On which terms a variant did its ops: medians over the valid trials, an op.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TermsRow {
    /// The phase.
    pub phase: String,
    /// The variant, or a control.
    pub variant: String,
    /// The placement.
    pub placement: Placement,
    /// What the store did for each op, by term; a term that its store does not count is absent.
    pub per_op: BTreeMap<Term, f64>,
    /// How many trials.
    pub trials: u32,
}

/// All that is concluded from a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// Complete blocks: every trial of theirs is valid.
    pub blocks: u32,
    /// Trials that were voided.
    pub void_trials: u32,
    /// Figures.
    pub summaries: Vec<Summary>,
    /// Comparisons.
    pub comparisons: Vec<Comparison>,
    /// Published figures beside the measured ones.
    pub published: Vec<PublishedRow>,
    /// On which terms ops were done, where stores count that.
    #[serde(default)]
    pub terms: Vec<TermsRow>,
    /// Figures against factors.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Warnings that come from the figures.
    pub warnings: Vec<Warning>,
    /// What faults lost, where they struck.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRow>,
}

/// A number over the trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
}

/// What the valid trials of a variant with a kind of fault show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultRow {
    /// The variant.
    pub variant: String,
    /// What struck.
    pub kind: FaultKind,
    /// How ops travelled.
    pub travel: Travel,
    /// How many travelled together.
    pub depth: u32,
    /// Where a write is when it is acknowledged, as the store was set.
    pub keeps: Option<Keeps>,
    /// Writes that a trial was to have.
    pub count: u64,
    /// Valid trials.
    pub trials: u32,
    /// Trials that were voided.
    pub void: u32,
    /// Writes handed to the library.
    pub sent: Spread,
    /// Writes that it said to be done.
    pub acknowledged: Spread,
    /// Writes that were there afterwards.
    pub applied: Spread,
    /// Those of them that nobody was told of.
    pub applied_unacknowledged: Spread,
    /// Writes that were acknowledged and not there.
    pub acknowledged_lost: Spread,
    /// Writes handed to the library, over all trials.
    pub all_sent: u64,
    /// Writes that it said to be done, over all trials.
    pub all_acknowledged: u64,
    /// Writes that were there afterwards, over all trials.
    pub all_applied: u64,
    /// Those of them that nobody was told of, over all trials.
    pub all_applied_unacknowledged: u64,
    /// Writes that were acknowledged and not there, over all trials.
    pub all_lost: u64,
    /// Keys that held another value, over all trials.
    pub all_wrong: u64,
    /// Writes that were there and were never sent, over all trials.
    pub all_beyond: u64,
    /// Batches of a transaction that were there in part, over all trials.
    pub all_torn: u64,
    /// Trials in which an acknowledged write was lost.
    pub trials_with_loss: u32,
    /// Their share,
    pub loss_share: f64,
    /// and the ends of its 95% interval.
    pub loss_low: f64,
    /// Upper end.
    pub loss_high: f64,
    /// What was seen and cannot be, if the store does what its settings promise.
    pub contradictions: Vec<Contradiction>,
}

/// What cannot be, and was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Contradiction {
    /// Acknowledged writes were lost that should have outlived the fault.
    Lost,
    /// Writes were there that should have been gone.
    Survived,
    /// Of a transaction a part was there.
    Torn,
    /// Keys held another value than the one written.
    Wrong,
    /// Writes were there that were never sent.
    Beyond,
}
