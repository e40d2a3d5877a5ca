//! What a measured difference means for a stated daily load, price or quota.

use crate::names::Placement;
use serde::{Deserialize, Serialize};

/// What is to be projected on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Ops a day, over all servers.
    pub per_day: f64,
    /// How many servers share them.
    pub servers: u32,
    /// What an hour of CPU costs.
    #[serde(default)]
    pub price_per_cpu_hour: Option<f64>,
    /// The word for money.
    #[serde(default)]
    pub currency: String,
    /// CPU that is to be had in a day.
    #[serde(default)]
    pub quota_cpu_hours: Option<f64>,
    /// Bytes that are to be had in a day, and what an op takes of them.
    #[serde(default)]
    pub quota_bytes: Option<QuotaBytes>,
}

/// A quota of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuotaBytes {
    /// Bytes a day.
    pub bytes: f64,
    /// Bytes an op.
    pub bytes_per_op: f64,
}

/// A projection that was published with the figures of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedProjection {
    /// Ops a day.
    pub per_day: f64,
    /// How many servers share them.
    pub servers: u32,
    /// The phase that it is of; of any where it is not said.
    pub phase: Option<String>,
    /// The variant that saves; any where it is not said.
    pub variant: Option<String>,
    /// How many ops the published loop had.
    pub unit_ops: f64,
    /// What that loop saved.
    pub published_saved_s: f64,
    /// It in the publication's own terms.
    pub source: String,
}

impl PublishedProjection {
    /// The published saving of a day.
    pub fn saved_s_per_day(&self) -> f64 {
        self.per_day / self.unit_ops * self.published_saved_s
    }

    /// Whether it is of this phase and variant.
    pub fn is_of(&self, phase: &str, variant: &str) -> bool {
        let fits = |named: &Option<String>, it: &str| named.as_deref().is_none_or(|n| n == it);
        fits(&self.phase, phase) && fits(&self.variant, variant)
    }
}

/// A mean over blocks with its 95% interval; `None` for the ends with fewer than two blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Estimate {
    /// The same in another unit.
    pub fn times(self, factor: f64) -> Estimate {
        let ends = |end: Option<f64>| end.map(|x| x * factor);
        let (low, high) = (ends(self.low), ends(self.high));
        let (low, high) = if factor < 0.0 {
            (high, low)
        } else {
            (low, high)
        };
        Estimate {
            mean: self.mean * factor,
            low,
            high,
        }
    }

    /// Whether 0 may be the truth: nothing is certain to be saved, or lost.
    pub fn may_be_nothing(&self) -> bool {
        match (self.low, self.high) {
            (Some(low), Some(high)) => low <= 0.0 && high >= 0.0,
            _ => true,
        }
    }
}

/// A figure of a variant and of its baseline in the same blocks, and what the variant saves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saving {
    /// The baseline's mean.
    pub baseline: Estimate,
    /// The variant's mean.
    pub variant: Estimate,
    /// Baseline less variant, within blocks.
    pub saved: Estimate,
    /// How many blocks.
    pub blocks: u32,
}

/// How many ops a quota allows in a day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithinQuota {
    /// Of the baseline, by CPU.
    pub baseline_by_cpu: Option<Estimate>,
    /// Of the variant, by CPU.
    pub variant_by_cpu: Option<Estimate>,
    /// Of either, by bytes.
    pub by_bytes: Option<f64>,
}

/// What one comparison means a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// The phase.
    pub phase: String,
    /// The placement.
    pub placement: Placement,
    /// The variant.
    pub variant: String,
    /// What it is compared with.
    pub baseline: String,
    /// Connections that shared the loop.
    pub concurrency: u32,
    /// Mean time an op, in nanoseconds.
    pub time_ns_per_op: Saving,
    /// CPU of client and server an op, in nanoseconds, where both are known.
    pub cpu_ns_per_op: Option<Saving>,
    /// Time saved a day, in seconds; below 0 it is lost.
    pub saved_s_per_day: Estimate,
    /// The same for each server.
    pub saved_s_per_server: Estimate,
    /// Money saved a day.
    pub money_per_day: Option<Estimate>,
    /// Ops that a quota allows.
    pub within_quota: Option<WithinQuota>,
    /// The published projection, where there is one of this comparison.
    pub published: Option<PublishedProjection>,
}
