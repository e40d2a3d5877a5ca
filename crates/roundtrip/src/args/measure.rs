//! What is run, how it is measured, and where: the arguments of `run` and `compare`.

use super::values::{delta, distribution, duration, value, weight};
use clap::{Args, ValueEnum};
use roundtrip_model::workload::Distribution;
use roundtrip_model::{Op, Placement};
use std::time::Duration;

/// `run`
#[derive(Args)]
#[command(after_help = "\
Examples:
  roundtrip run quickstart
  roundtrip run php-memcached --placement shared --generate in-loop
  roundtrip run mine.toml --budget 10m --seed 7
  roundtrip run php-memcached --store memcached=memcached://127.0.0.1:11211")]
pub struct RunArgs {
    /// A name from `roundtrip list experiments`, or the path of a TOML file
    pub experiment: String,
    /// Operations in every phase, instead of what the experiment says
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// As many operations as the study published, where the experiment does fewer by itself
    #[arg(long, conflicts_with = "count")]
    pub full: bool,
    /// Make keys and values before the loop, or inside it as the published loop did
    #[arg(long, value_enum)]
    pub generate: Option<Generate>,
    #[command(flatten)]
    pub method: MethodArgs,
    #[command(flatten)]
    pub how: HowArgs,
}

/// `compare`
#[derive(Args)]
#[command(after_help = "\
A path is CLIENT[@STORE[+CACHE]][?OPTION=VALUE&...]; `roundtrip list clients` shows the options.

Examples:
  roundtrip compare php/memcache php/memcached --store memcached --op get --count 100000
  roundtrip compare 'php/memcached' 'php/memcached?serializer=igbinary' --store memcached --op set
  roundtrip compare native@floor native@sqlite --op get
  roundtrip compare 'native?transport=tcp' 'native?transport=unix' --store memcached")]
pub struct CompareArgs {
    /// The paths; the first is the baseline
    #[arg(required = true, num_args = 2.., value_name = "PATH")]
    pub paths: Vec<String>,
    /// Operations, in order: get, set, delete, incr, read_aside, insert, read_modify_write, scan
    #[arg(long = "op", value_delimiter = ',', default_value = "get", value_parser = value(str::parse::<Op>))]
    pub ops: Vec<Op>,
    /// In the place of --op, operations with their weights: get=0.95,set=0.05
    #[arg(long, value_name = "OP=WEIGHT", value_delimiter = ',', conflicts_with = "ops", value_parser = value(weight))]
    pub mix: Vec<(Op, f64)>,
    /// Which keys are visited: sequential, uniform, zipf[:EXPONENT], latest[:EXPONENT], hotspot:KEYS:OPS
    #[arg(long, value_name = "SHAPE", value_parser = value(distribution))]
    pub distribution: Option<Distribution>,
    /// How many keys there are; as many as are visited unless said
    #[arg(long, value_name = "N")]
    pub keys: Option<u64>,
    /// Operations a second, whether those before have their replies or not; native only
    #[arg(long, value_name = "PER_S")]
    pub rate: Option<f64>,
    /// With --rate: at equal distances, or at random moments
    #[arg(long, value_enum, requires = "rate")]
    pub arrivals: Option<Arrivals>,
    /// Operations in each phase
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub count: u64,
    /// Length of a value
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub value_bytes: u32,
    /// Length of a key
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub key_bytes: u32,
    /// Time to live of what is written, in seconds
    #[arg(long, value_name = "N")]
    pub ttl_s: Option<u32>,
    /// The share of reads that find their key
    #[arg(long, value_name = "SHARE")]
    pub hit_ratio: Option<f64>,
    /// Connections; a client that carries one a process runs in as many processes
    #[arg(
        long,
        visible_alias = "connections",
        value_name = "N",
        default_value_t = 1
    )]
    pub concurrency: u32,
    /// Use md5(i) as keys and crc32(i) as values, made before or inside the loop
    #[arg(long, value_enum, conflicts_with_all = ["value_bytes", "key_bytes"])]
    pub generate: Option<Generate>,
    #[command(flatten)]
    pub method: MethodArgs,
    #[command(flatten)]
    pub how: HowArgs,
}

/// How it is measured.
#[derive(Args)]
pub struct MethodArgs {
    /// Where server and client run: split, shared, free, or several
    #[arg(long, value_delimiter = ',', value_parser = value(str::parse::<Placement>))]
    pub placement: Vec<Placement>,
    /// The smallest difference that matters
    #[arg(long, value_name = "SHARE", value_parser = value(delta))]
    pub delta: Option<f64>,
    /// Time that the blocks may take: 90s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = value(duration))]
    pub budget: Option<Duration>,
    /// The last planned look, in blocks
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
}

/// How a run goes.
#[derive(Args)]
pub struct HowArgs {
    /// A store, or one that is there already: memcached=memcached://127.0.0.1:11211
    #[arg(long = "store", value_name = "NAME[=ADDRESS]")]
    pub stores: Vec<String>,
    /// Let such a store be on another machine
    #[arg(long)]
    pub allow_remote: bool,
    /// The seed of order, keys and values; drawn when not given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The longest that one phase may take before it counts as hung
    #[arg(long, value_name = "TIME", value_parser = value(duration))]
    pub deadline: Option<Duration>,
    /// The format of the report on standard output
    #[arg(long, default_value = "terminal", value_name = "FORMAT")]
    pub format: String,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// At which moments operations start.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Arrivals {
    /// At equal distances
    Fixed,
    /// At random ones
    Poisson,
}

/// Where keys and values are made.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum Generate {
    /// Before the loop
    Prepared,
    /// Inside it, as published
    InLoop,
}

impl From<Generate> for roundtrip_model::workload::Generate {
    fn from(asked: Generate) -> Self {
        match asked {
            Generate::Prepared => Self::Prepared,
            Generate::InLoop => Self::InLoop,
        }
    }
}
