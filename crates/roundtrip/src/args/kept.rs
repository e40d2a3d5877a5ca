//! What may be typed about runs that are kept.

use super::TextOrJson;
use super::values::{duration, value};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// `runs`
#[derive(Args)]
pub struct RunsArgs {
    /// How many, the newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// terminal or json
    #[arg(long, default_value = "terminal", value_enum)]
    pub format: TextOrJson,
}

/// A run, by name.
#[derive(Args)]
pub struct ShowArgs {
    /// An id, a unique prefix of one, or `last`
    #[arg(default_value = "last")]
    pub run: String,
}

/// `report`
#[derive(Args)]
pub struct ReportArgs {
    /// An id, a unique prefix of one, or `last`
    #[arg(default_value = "last")]
    pub run: String,
    /// terminal, markdown, html, json or csv
    #[arg(long, default_value = "terminal", value_name = "FORMAT")]
    pub format: String,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `diff`
#[derive(Args)]
pub struct DiffArgs {
    /// The earlier run
    pub before: String,
    /// The later run
    #[arg(default_value = "last")]
    pub after: String,
    /// terminal or json
    #[arg(long, default_value = "terminal", value_enum)]
    pub format: TextOrJson,
}

/// `resume`
#[derive(Args)]
pub struct ResumeArgs {
    /// An id, a unique prefix of one, or `last`
    #[arg(default_value = "last")]
    pub run: String,
    /// The longest that one phase may take before it counts as hung
    #[arg(long, value_name = "TIME", value_parser = value(duration))]
    pub deadline: Option<Duration>,
    /// Let a store of the run be on another machine
    #[arg(long)]
    pub allow_remote: bool,
    /// The format of the report on standard output
    #[arg(long, default_value = "terminal", value_name = "FORMAT")]
    pub format: String,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// `export`
#[derive(Args)]
pub struct ExportArgs {
    /// An id, a unique prefix of one, or `last`
    pub run: String,
    /// The file to write; RUN.roundtrip unless said
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `import`
#[derive(Args)]
pub struct ImportArgs {
    /// A file that `roundtrip export` wrote
    pub file: PathBuf,
}
