//! The command line: what may be typed, and the help that teaches it.

mod kept;
mod values;

use clap::{Args, Parser, Subcommand, ValueEnum};
pub use kept::{DiffArgs, ExportArgs, ImportArgs, ReportArgs, ResumeArgs, RunsArgs, ShowArgs};
use roundtrip_model::workload::Distribution;
use roundtrip_model::{Op, Placement};
use std::time::Duration;
use values::{delta, distribution, duration, value, weight};

const AFTER_HELP: &str = "\
Start here:
  roundtrip run quickstart             nothing to install: SQLite, a cache over TCP, both
  roundtrip doctor                     what is installed, and the command for what is not
  roundtrip calibrate                  what this machine can tell apart, in a minute
  roundtrip run php-memcached          two PHP extensions on one real memcached
  roundtrip compare php/memcache php/memcached --store memcached --op get --count 100000

Runs are kept under $ROUNDTRIP_HOME (or $XDG_DATA_HOME/roundtrip, or ~/.local/share/roundtrip).
Exit codes: 0 done, 2 usage, 3 something is missing, 4 a store or worker failed, 5 no usable
trial, 6 archive, 7 refused for safety, 130 stopped, 1 a defect of Roundtrip.";

/// Tells what each way of reaching data costs, and which of two is faster, with evidence.
#[derive(Parser)]
#[command(name = "roundtrip", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What there is to do.
#[derive(Subcommand)]
pub enum Command {
    /// Run an experiment: a built-in one by name, or a TOML file
    Run(RunArgs),
    /// Compare two or more paths, no file needed
    Compare(CompareArgs),
    /// Show what becomes of values of every type
    Fidelity(FidelityArgs),
    /// Look into a server that is there: display, stats or dump
    Inspect(InspectArgs),
    /// List the runs in the archive
    Runs(RunsArgs),
    /// Show a run's trials and warnings
    Show(ShowArgs),
    /// Report a run: terminal, markdown, html, json or csv
    Report(ReportArgs),
    /// Put two runs of the same variants side by side
    Diff(DiffArgs),
    /// Go on with a run that was stopped or failed
    Resume(ResumeArgs),
    /// Write a run to one file
    Export(ExportArgs),
    /// Bring the runs of such a file into the archive
    Import(ImportArgs),
    /// Say what is installed, and the one command for what is not
    Doctor(FormatArgs),
    /// Say what this machine's measurements are worth, in a minute
    Calibrate(CalibrateArgs),
    /// List stores, clients or experiments
    List(ListArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Serve the floor: an in-memory cache that does the least a correct answer needs
    Floor(FloorArgs),
    /// Be the native worker (the host calls this)
    #[command(hide = true)]
    Worker,
}

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

/// `fidelity`
#[derive(Args)]
#[command(after_help = "\
Without options, every serializer that a client has gets a column of its own.

Examples:
  roundtrip fidelity php/memcache php/memcached
  roundtrip fidelity 'php/memcached?serializer=json' --format json")]
pub struct FidelityArgs {
    /// The clients, or paths with options
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<String>,
    /// The store, or one that is there already: memcached=memcached://127.0.0.1:11211
    #[arg(long, value_name = "NAME[=ADDRESS]", default_value = "memcached")]
    pub store: String,
    /// Let such a store be on another machine
    #[arg(long)]
    pub allow_remote: bool,
    /// terminal or json
    #[arg(long, default_value = "terminal", value_enum)]
    pub format: TextOrJson,
}

/// `inspect`
#[derive(Args)]
#[command(after_help = "\
Examples:
  roundtrip inspect memcached://127.0.0.1:11211 stats
  roundtrip inspect memcached://127.0.0.1:11211 display
  roundtrip inspect memcached://127.0.0.1:11211 dump > items.txt")]
pub struct InspectArgs {
    /// The server: memcached://HOST:PORT, or memcached:///PATH/OF/SOCKET
    pub address: String,
    /// What to look at
    #[arg(value_enum, default_value = "stats")]
    pub view: View,
    /// Let the server be on another machine
    #[arg(long)]
    pub allow_remote: bool,
    /// Take rates over this time instead of over the server's life
    #[arg(long, value_name = "TIME", value_parser = value(duration))]
    pub interval: Option<Duration>,
    /// terminal or json
    #[arg(long, default_value = "terminal", value_enum)]
    pub format: TextOrJson,
}

/// What to look at in a server.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum View {
    /// The slab classes
    Display,
    /// The statistics and what they mean
    Stats,
    /// Every item as a re-loadable `add`
    Dump,
}

/// Text for a person or JSON for a program.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub enum TextOrJson {
    /// Text
    Terminal,
    /// JSON
    Json,
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

/// A format alone.
#[derive(Args)]
pub struct FormatArgs {
    /// terminal or json
    #[arg(long, default_value = "terminal", value_enum)]
    pub format: TextOrJson,
}

/// `calibrate`
#[derive(Args)]
#[command(after_help = "\
It looks at the clock, at short sleeps, at what waking another thread costs, at what a thread that
never sleeps loses, and runs every installed client against the floor, a server that does the least
a correct answer needs. From the noise between trials of the same client follows the smallest
difference that a run can show here. The last lines say what to do about what is bad.

Examples:
  roundtrip calibrate
  roundtrip calibrate --budget 5m --format json > calibration.json")]
pub struct CalibrateArgs {
    /// About how long it may take: 30s, 1m, 5m
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = value(duration))]
    pub budget: Duration,
    /// terminal, json or markdown
    #[arg(long, default_value = "terminal", value_name = "FORMAT")]
    pub format: String,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// `list`
#[derive(Args)]
pub struct ListArgs {
    /// What to list
    #[arg(value_enum)]
    pub what: Listed,
    /// terminal or json
    #[arg(long, default_value = "terminal", value_enum)]
    pub format: TextOrJson,
}

/// What can be listed.
#[derive(Clone, Copy, ValueEnum)]
pub enum Listed {
    /// Where data is held
    Stores,
    /// Languages and libraries, with their ops and options
    Clients,
    /// The built-in experiments
    Experiments,
}

/// `completions`
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `floor`
#[derive(Args)]
pub struct FloorArgs {
    /// Where to listen: a loopback ADDRESS:PORT (port 0 for a free one), or unix:PATH
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub listen: String,
    /// What to speak: memcached, resp, or both on one port
    #[arg(long, default_value = "memcached,resp", value_name = "PROTOCOLS")]
    pub protocol: String,
    /// Delay every answer: constant:200us, or two:100us,5ms,1%
    #[arg(long, value_name = "DELAY")]
    pub delay: Option<String>,
    /// Stop answering for a while, again and again: 100ms/1s
    #[arg(long, value_name = "STALL")]
    pub stall: Option<String>,
    /// Leave every N-th request unanswered and close its connection
    #[arg(long, value_name = "N")]
    pub drop: Option<u64>,
    /// Flip a byte of every N-th value
    #[arg(long, value_name = "N")]
    pub garble: Option<u64>,
    /// Send every N-th answer twice
    #[arg(long, value_name = "N")]
    pub double: Option<u64>,
    /// Read at most so many bytes a second from each connection
    #[arg(long, value_name = "BYTES/S")]
    pub slow_read: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
