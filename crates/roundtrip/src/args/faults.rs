//! What may be typed about what a crash loses.

use super::values::{duration, value};
use clap::Args;
use std::time::Duration;

/// `faults`
#[derive(Args)]
#[command(after_help = "\
In each trial a client does numbered writes to a fresh store, and at a random point of them one
fault strikes: the client is killed, or the server (and started again on its data), or the
connection is cut. Then the store is asked which writes are there. Counted are those that were
sent, acknowledged, applied, applied without anybody being told, and acknowledged but lost.

Which clients, which settings of the store and which faults is said in the [faults] table of the
experiment; docs/reference/experiment.md has its keys. Only stores that Roundtrip starts itself are
killed, never one that was there.

Ctrl-C keeps the trials that are finished; `roundtrip resume` goes on. The run is kept like any
other: `roundtrip show` lists its trials, `roundtrip report` writes it in other formats.

Examples:
  roundtrip faults redis-pipeline
  roundtrip faults redis-pipeline --trials 10 --seed 7
  roundtrip faults mine.toml --format json > lost.json")]
pub struct FaultsArgs {
    /// A name from `roundtrip list experiments`, or the path of a TOML file
    pub experiment: String,
    /// Trials of each variant and fault, instead of what the experiment says
    #[arg(long, value_name = "N")]
    pub trials: Option<u32>,
    /// The seed of order, points, keys and values; drawn when not given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The longest that the writes of one trial may take before it counts as hung
    #[arg(long, value_name = "TIME", value_parser = value(duration))]
    pub deadline: Option<Duration>,
    /// The format of the report on standard output
    #[arg(long, default_value = "terminal", value_name = "FORMAT")]
    pub format: String,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}
