//! What is kept of a run: the archive's nouns.

use crate::contract::{Carried, Gap, GapTotals, Lateness, Redirects, outcome};
use crate::fault::FaultRecord;
use crate::histogram::Histogram;
use crate::machine::MachineState;
use crate::names::{Op, Placement};
use crate::term::Term;
use crate::warning::Warning;
use crate::workload::Pace;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Trials are being added, or its process died without a word.
    Running,
    /// It came to its own end.
    Finished,
    /// The person stopped it; `resume` goes on.
    Interrupted,
    /// A store or worker failed; `resume` goes on once that is mended.
    Failed,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// Every comparison has an outcome.
    Decided,
    /// The budget of time was used up.
    Budget,
    /// The last planned look was taken.
    LastLook,
}

/// The machine that a run was made on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The operating system's own name of itself.
    pub os: String,
    /// The kernel's release.
    pub kernel: String,
    /// The processor's model.
    pub cpu_model: String,
    /// Processors that this process may use.
    pub cpus: u32,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// `none`, or what the machine runs inside of.
    pub virtualization: Option<String>,
    /// The frequency governor.
    pub governor: Option<String>,
    /// The load average over the minute before the run.
    pub load_1m: Option<f64>,
    /// Version of Roundtrip.
    pub roundtrip: String,
    /// `release` or `debug`.
    pub build: String,
    /// Versions of stores, runtimes and libraries, read at run time.
    pub versions: BTreeMap<String, String>,
    /// Settings of stores and runtimes that can change a result.
    pub settings: BTreeMap<String, String>,
    /// What a worker's loop costs with a client that does nothing, by language.
    pub loop_ns_per_op: BTreeMap<String, f64>,
}

/// An experiment executed once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Its id: time first, so that ids sort by age.
    pub id: String,
    /// The experiment's name.
    pub experiment: String,
    /// The experiment's text, whole; it parses again.
    pub experiment_text: String,
    /// The command that makes the run again.
    pub command: String,
    /// The seed of order, keys and values.
    pub seed: u64,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// End, milliseconds since 1970.
    pub ended_unix_ms: Option<u64>,
    /// How it stands.
    pub state: RunState,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// The numbers of blocks after which a look was taken, in order. Adjusted intervals depend on
    /// them.
    pub looks: Vec<u32>,
    /// The machine.
    pub environment: Environment,
    /// Warnings of the run as a whole.
    pub warnings: Vec<Warning>,
    /// Where a round trip of the same clients goes when the server does nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floor_bars: Vec<FloorBar>,
}

/// Where a round trip of a variant's client goes on the floor: medians over the trials that were
/// made of it before the blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorBar {
    /// The phase.
    pub phase: String,
    /// The variant whose client it is; [`FloorBar::LEAST`] for the native client.
    pub variant: String,
    /// Where server and client ran.
    pub placement: Placement,
    /// How many trials.
    pub trials: u32,
    /// User CPU of the client an op.
    pub client_user_ns_per_op: f64,
    /// System CPU of the client an op.
    pub client_sys_ns_per_op: f64,
    /// CPU of the floor an op.
    pub server_cpu_ns_per_op: f64,
    /// What is left of the wall time.
    pub waiting_ns_per_op: f64,
}

impl FloorBar {
    /// The native client on the floor: the least that a round trip costs on a machine.
    pub const LEAST: &'static str = "native@floor";
}

/// A line of the list of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunOverview {
    /// Its id.
    pub id: String,
    /// The experiment's name.
    pub experiment: String,
    /// How it stands.
    pub state: RunState,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How many trials are kept.
    pub trials: u32,
    /// From start to end; `None` where it has not ended, or not told so.
    pub took_ms: Option<u64>,
}

/// Whether a trial counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "reason")]
pub enum Validity {
    /// Its counts agree with the server's.
    Valid,
    /// It must not be used, because.
    Void(String),
}

/// One variant run once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Which block, from 0.
    pub block: u32,
    /// Its place in the order of the block, from 0.
    pub position: u32,
    /// The variant's name.
    pub variant: String,
    /// Where server and client ran.
    pub placement: Placement,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How long it took, with everything around the phases.
    pub took_ns: u64,
    /// Whether it counts.
    pub validity: Validity,
    /// Its phases.
    pub phases: Vec<PhaseRecord>,
    /// What could mislead in it.
    pub warnings: Vec<Warning>,
    /// What a fault in the middle of it left, where one struck.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultRecord>,
}

impl TrialRecord {
    /// Whether it counts.
    pub fn is_valid(&self) -> bool {
        self.validity == Validity::Valid
    }

    /// The phase of a name.
    pub fn phase(&self, name: &str) -> Option<&PhaseRecord> {
        self.phases.iter().find(|phase| phase.name == name)
    }
}

/// CPU and wall time of a whole client process, less its warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUsage {
    /// From spawn to exit.
    pub real_ns: u64,
    /// User CPU.
    pub user_ns: u64,
    /// System CPU.
    pub sys_ns: u64,
}

/// The store's own counters at one moment: `cmd_get`, `get_hits`, `curr_items`, ...
pub type Counters = BTreeMap<String, u64>;

/// What the server says of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// Counters just before the loop.
    pub before: Counters,
    /// Counters just after it.
    pub after: Counters,
}

impl Witness {
    /// How much a counter grew; `None` where the store does not have it or it fell.
    pub fn grew(&self, counter: &str) -> Option<u64> {
        self.after
            .get(counter)?
            .checked_sub(*self.before.get(counter)?)
    }
}

/// Counters sampled during a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterSample {
    /// Since the loop started.
    pub at_ms: u64,
    /// The counters.
    pub counters: Counters,
}

/// What other clients did to the store of a phase at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BesideRecord {
    /// Language and library, or `native`.
    pub client: String,
    /// The op.
    pub op: Op,
    /// How many ops.
    pub ops: u64,
    /// Wall time of its loop.
    pub wall_ns: u64,
    /// Counts by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Whether it went on until the phase had ended, so that all of the phase had it beside it.
    pub outlasted: bool,
}

/// One phase of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// The phase's name.
    pub name: String,
    /// Its op.
    pub op: Op,
    /// Ops done.
    pub ops: u64,
    /// How many keys each op had.
    #[serde(
        default = "crate::usual::one",
        skip_serializing_if = "crate::usual::is_one"
    )]
    pub keys_per_op: u32,
    /// What other clients did to the same store at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<BesideRecord>,
    /// Ops sent before the first reply is awaited.
    pub depth: u32,
    /// Connections that carried the requests: each has up to `depth` of them in flight.
    pub concurrency: u32,
    /// How they were carried, where the client tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
    /// When ops started.
    #[serde(default, skip_serializing_if = "Pace::is_closed")]
    pub pace: Pace,
    /// How late the generator was, where a pace was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
    /// Times without a connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How many there were in all, where a client tells: `gaps` lists the longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_totals: Option<GapTotals>,
    /// How often the nodes of a cluster sent ops to one another.
    #[serde(default, skip_serializing_if = "Redirects::are_none")]
    pub redirects: Redirects,
    /// Wall time of the loop: from the first client's start to the last one's end.
    pub wall_ns: u64,
    /// User CPU of the clients over the loop.
    pub user_ns: Option<u64>,
    /// System CPU of the clients over the loop.
    pub sys_ns: Option<u64>,
    /// CPU of the servers over the loop; 0 where the store has no server.
    pub server_cpu_ns: Option<u64>,
    /// The whole client process.
    pub process: Option<ProcessUsage>,
    /// Largest resident set of a client process.
    pub client_max_rss_bytes: Option<u64>,
    /// What a server said when it first refused an op, in its own words, where it said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
    /// Counts by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Counts of a cache's part, for `read_aside`.
    #[serde(default)]
    pub cache_outcomes: BTreeMap<String, u64>,
    /// Service times: from the sending of each op to its reply. Kept by the archive beside the
    /// record, so not part of its JSON.
    #[serde(skip)]
    pub latency: Option<Histogram>,
    /// Response times: from the moment at which each op was to start, where a pace was set. Kept
    /// like the service times.
    #[serde(skip)]
    pub response: Option<Histogram>,
    /// Time taken by consecutive equal parts of the ops, in order; 30 parts, fewer when there
    /// are fewer ops.
    pub slices_ns: Vec<u64>,
    /// Whether the rate was steady; `None` with too few ops to tell.
    pub steady: Option<bool>,
    /// The store's counters before and after, by store name.
    pub witness: BTreeMap<String, Witness>,
    /// What the store did for the phase, out of those counters, where its manifest names them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub terms: BTreeMap<Term, u64>,
    /// Counters on the way.
    pub samples: Vec<CounterSample>,
    /// What the machine did meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineState>,
}

impl PhaseRecord {
    /// A quantile of latency in nanoseconds, where there are samples enough.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.latency.as_ref()?.quantile(q).map(|ns| ns as f64)
    }

    /// A quantile of the response time, like [`PhaseRecord::quantile`].
    pub fn response_quantile(&self, q: f64) -> Option<f64> {
        self.response.as_ref()?.quantile(q).map(|ns| ns as f64)
    }

    /// Requests in flight at most, over all connections.
    pub fn in_flight(&self) -> u64 {
        u64::from(self.depth) * u64::from(self.concurrency)
    }

    /// What is left of the wall time after client and server CPU. Only for sequential phases:
    /// elsewhere the parts overlap and do not sum.
    pub fn waiting_ns(&self) -> Option<u64> {
        if self.depth != 1 || self.concurrency != 1 || !self.pace.is_closed() {
            return None;
        }
        let busy = self
            .user_ns?
            .saturating_add(self.sys_ns?)
            .saturating_add(self.server_cpu_ns?);
        Some(self.wall_ns.saturating_sub(busy))
    }

    /// How many ops failed, by kind.
    pub fn errors(&self) -> impl Iterator<Item = (&str, u64)> {
        self.outcomes
            .iter()
            .filter_map(|(name, n)| name.strip_prefix(outcome::ERROR).map(|kind| (kind, *n)))
    }

    /// How many ops had an outcome.
    pub fn outcome(&self, name: &str) -> u64 {
        self.outcomes.get(name).copied().unwrap_or(0)
    }
}
