//! The command line: what may be typed, and the help that teaches it.

mod faults;
mod floor;
mod kept;
mod measure;
mod project;
mod values;

pub use faults::FaultsArgs;
pub use floor::FloorArgs;
pub use measure::{Arrivals, CompareArgs, HowArgs, RunArgs};
pub use project::ProjectArgs;

use clap::{Args, Parser, Subcommand, ValueEnum};
pub use kept::{DiffArgs, ExportArgs, ImportArgs, ReportArgs, ResumeArgs, RunsArgs, ShowArgs};
use std::time::Duration;
use values::{duration, value};

const AFTER_HELP: &str = "\
Start here:
  roundtrip run quickstart             nothing to install: SQLite, a cache over TCP, both
  roundtrip doctor                     what is installed, and the command for what is not
  roundtrip setup mysql                bring a MySQL with its memcached plugin, for its study
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
    /// Find out what a crash loses: kill client or server, or cut the connection, and count
    Faults(FaultsArgs),
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
    /// Say what a run's differences mean a day: time, money, ops within a quota
    Project(ProjectArgs),
    /// Go on with a run that was stopped or failed
    Resume(ResumeArgs),
    /// Write a run to one file
    Export(ExportArgs),
    /// Bring the runs of such a file into the archive
    Import(ImportArgs),
    /// Say what is installed, and the one command for what is not
    Doctor(FormatArgs),
    /// Bring what a store needs and no package has; without a name, list what there is
    Setup(SetupArgs),
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
Each view says what is wrong, what it means, and what to do. It reads and never writes.

What the views show:
  display   memcached: the slab classes; Redis and MySQL: the few numbers that matter
  stats     these numbers and everything that the server counts, by name
  dump      memcached: every item; for Redis there is `redis-cli --rdb`, for MySQL `mysqldump`

Counts and rates are averages over the server's life; --interval 10s looks twice and tells what
happens now. Passwords come from the environment: ROUNDTRIP_REDIS_PASSWORD, ROUNDTRIP_MYSQL_USER,
ROUNDTRIP_MYSQL_PASSWORD. For MySQL any user that can connect will do: CREATE USER 'look'@'localhost'.

Examples:
  roundtrip inspect memcached://127.0.0.1:11211 stats
  roundtrip inspect memcached://127.0.0.1:11211 dump > items.txt
  roundtrip inspect redis://127.0.0.1:6379 display --interval 10s
  roundtrip inspect mysql://look@127.0.0.1:3306 display
  roundtrip inspect mysql://look@/run/mysqld/mysqld.sock stats --format json")]
pub struct InspectArgs {
    /// The server: memcached://HOST:PORT, redis://HOST:PORT, mysql://USER@HOST:PORT; or a socket,
    /// as in redis:///PATH/OF/SOCKET
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
    /// The slab classes, or the few numbers that matter
    Display,
    /// The statistics and what they mean
    Stats,
    /// Every item of a memcached as a re-loadable `add`
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

/// A format alone.
#[derive(Args)]
pub struct FormatArgs {
    /// terminal or json
    #[arg(long, default_value = "terminal", value_enum)]
    pub format: TextOrJson,
}

/// `setup`
#[derive(Args)]
#[command(after_help = "\
It says first what it will bring, how large and where to. The archive comes through Maven (`mvn`),
into Maven's own cache and with Maven's own mirrors and proxies; its SHA-256 is checked; what is
needed of it is unpacked under $ROUNDTRIP_CACHE (or $XDG_CACHE_HOME/roundtrip, or
~/.cache/roundtrip); and the program is tried. Ctrl-C stops it at any time: nothing half done is
taken for whole, and the next call goes on. What was set up already is left as it is.

Examples:
  roundtrip setup                      what can be set up, and what is
  roundtrip setup mysql --dry-run      what would be brought
  roundtrip setup mysql
  roundtrip setup mysql --again        anew, and a corrupted archive too")]
pub struct SetupArgs {
    /// What to set up
    pub name: Option<String>,
    /// Say what would be brought, and bring nothing
    #[arg(long, requires = "name")]
    pub dry_run: bool,
    /// Unpack anew what is set up already; bring a corrupted archive again
    #[arg(long, requires = "name")]
    pub again: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
    /// terminal or json, for the list
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
