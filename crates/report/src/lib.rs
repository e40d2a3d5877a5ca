//! Reports: finished records in, bytes out. Pure functions, one file a format.
//!
//! What a report says is decided once, in the view; a format only lays it out. Nothing here
//! opens the archive, computes a statistic, prints, or looks at the clock.

mod calibration;
mod diff;
mod formats;
mod lists;
mod number;
mod projection;
mod svg;
mod text;
mod view;

pub use calibration::{calibration, calibration_format};
pub use diff::{diff, diff_json};
pub use formats::json::SCHEMA;
pub use formats::{Format, format, formats};
pub use lists::{fidelity, named, runs, show};
pub use projection::{projection, projection_format};

use roundtrip_model::Experiment;
use roundtrip_model::analysis::Analysis;
use roundtrip_model::record::{RunRecord, TrialRecord};

/// A run with everything that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The run.
    pub run: RunRecord,
    /// Its experiment, parsed from the run's text.
    pub experiment: Experiment,
    /// Its trials, with their latencies.
    pub trials: Vec<TrialRecord>,
    /// What is concluded from them.
    pub analysis: Analysis,
}

/// How a report is to look. Formats that are not for a terminal ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// Columns of the terminal; fewer than 40 are taken as 40.
    pub width: usize,
    /// Whether the terminal shows colours.
    pub color: bool,
}

impl Default for RenderOptions {
    fn default() -> Self {
        RenderOptions {
            width: 80,
            color: false,
        }
    }
}
