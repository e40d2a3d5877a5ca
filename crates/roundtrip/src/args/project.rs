//! What may be typed about a daily load.

use super::values::{amount, value};
use clap::Args;

/// `project`
#[derive(Args)]
#[command(after_help = "\
Time saved a day is the difference of the mean times an op within each block of the run, times the
ops of a day; its 95% interval is Student's t over these differences. Every line says what it comes
from. Where the experiment holds a published projection, that stands beside the measured one, and
its load is the one that is taken unless you say another.

Examples:
  roundtrip project last --per-day 1570000 --servers 5
  roundtrip project last --per-day 2e6 --phase get --variant php/memcached
  roundtrip project last --per-day 2e6 --price-per-cpu-hour 0.05 --currency EUR
  roundtrip project last --per-day 2e6 --quota-cpu-hours 6.5 --quota-bytes 1e9 --bytes-per-op 400
  roundtrip project last --per-day 1570000 --format json > projection.json")]
pub struct ProjectArgs {
    /// An id, a unique prefix of one, or `last`
    #[arg(default_value = "last")]
    pub run: String,
    /// Ops a day, over all servers; the experiment's published load unless said
    #[arg(long, value_name = "OPS", value_parser = value(amount))]
    pub per_day: Option<f64>,
    /// How many servers share them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub servers: Option<u32>,
    /// Only this variant
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Only this phase
    #[arg(long, value_name = "NAME")]
    pub phase: Option<String>,
    /// What an hour of CPU costs, of client and server
    #[arg(long, value_name = "PRICE", value_parser = value(amount))]
    pub price_per_cpu_hour: Option<f64>,
    /// The word for money
    #[arg(
        long,
        value_name = "WORD",
        default_value = "",
        requires = "price_per_cpu_hour"
    )]
    pub currency: String,
    /// Hours of CPU to be had in a day: how many ops fit in
    #[arg(long, value_name = "HOURS", value_parser = value(amount))]
    pub quota_cpu_hours: Option<f64>,
    /// Bytes to be had in a day: how many ops fit in
    #[arg(long, value_name = "BYTES", value_parser = value(amount), requires = "bytes_per_op")]
    pub quota_bytes: Option<f64>,
    /// Bytes that an op takes of them
    #[arg(long, value_name = "BYTES", value_parser = value(amount), requires = "quota_bytes")]
    pub bytes_per_op: Option<f64>,
    /// terminal, markdown or json
    #[arg(long, default_value = "terminal", value_name = "FORMAT")]
    pub format: String,
}
