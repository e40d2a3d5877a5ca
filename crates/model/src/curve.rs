//! A figure against a factor: what a numeric option or the number of keys of an op does to it.

use crate::names::Placement;
use serde::{Deserialize, Serialize};

/// What a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveFigure {
    /// Wall time of the loop over its ops.
    TimeNsPerOp,
    /// The same over its keys.
    TimeNsPerKey,
    /// CPU of the client over its ops.
    ClientCpuNsPerOp,
    /// The same over its keys.
    ClientCpuNsPerKey,
    /// The most memory that the client held.
    ClientMaxRssBytes,
}

impl CurveFigure {
    /// What it is, in a few words.
    pub fn in_words(self) -> &'static str {
        match self {
            CurveFigure::TimeNsPerOp => "time an op",
            CurveFigure::TimeNsPerKey => "time a key",
            CurveFigure::ClientCpuNsPerOp => "client CPU an op",
            CurveFigure::ClientCpuNsPerKey => "client CPU a key",
            CurveFigure::ClientMaxRssBytes => "memory of the client",
        }
    }

    /// Whether it is a number of bytes; otherwise it is one of nanoseconds.
    pub fn is_bytes(self) -> bool {
        self == CurveFigure::ClientMaxRssBytes
    }
}

/// A figure of one line of variants, or of the phases of one variant, against a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What differs: the name of an option, or `keys_per_op`.
    pub factor: String,
    /// The phase; the op where the phases are the points.
    pub phase: String,
    /// The placement.
    pub placement: Placement,
    /// What all points have in common: the rest of the path, or the variant.
    pub line: String,
    /// The figure.
    pub figure: CurveFigure,
    /// By the factor, growing.
    pub points: Vec<CurvePoint>,
    /// Where more of the factor stops to pay; only of the time that the factor is to reduce.
    pub knee: Option<Knee>,
}

/// A point of a curve, over the valid trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The factor.
    pub factor: f64,
    /// The variant that it is of.
    pub variant: String,
    /// The phase that it is of.
    pub phase: String,
    /// Median over trials.
    pub median: f64,
    /// Smallest trial.
    pub min: f64,
    /// Largest trial.
    pub max: f64,
    /// How many trials.
    pub trials: u32,
}

/// What a curve does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// It falls to near its least, and more of the factor gains little.
    Knee,
    /// All of it is near its least: the factor does nothing.
    Flat,
    /// It still fell at the last point: there is no knee within what was measured.
    Falling,
}

/// Where more of a factor stops to pay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// What the curve does.
    pub shape: Shape,
    /// The smallest factor whose time is near the least; `None` where it is the last one's.
    pub at: Option<f64>,
    /// What counts as near the least: 0.1 for up to 10% above it; more where noise is larger.
    pub slack: f64,
    /// The share of the time at the knee that the best point beyond it saves.
    pub gain_beyond: Option<f64>,
    /// The smallest knee of a single block.
    pub block_low: Option<f64>,
    /// The largest knee of a single block.
    pub block_high: Option<f64>,
    /// Blocks in which every point has a figure.
    pub blocks: u32,
    /// How many of those have no knee.
    pub blocks_without: u32,
}
