//! What a machine's measurements are worth: what `roundtrip calibrate` finds out.

use crate::names::Placement;
use crate::record::Environment;
use crate::warning::Warning;
use serde::{Deserialize, Serialize};

/// Goes up when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The version of this form.
    pub calibration_version: u32,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How long it took.
    pub took_ms: u64,
    /// The machine.
    pub environment: Environment,
    /// The clock.
    pub clock: Clock,
    /// How much longer short sleeps last than asked.
    pub sleeps: Vec<Sleep>,
    /// What handing over to another thread and back costs.
    pub wakes: Vec<Wake>,
    /// What a thread that never sleeps loses, by processor.
    pub gaps: Vec<Gaps>,
    /// What each language's loop costs with a client that does nothing.
    pub loops: Vec<LoopCost>,
    /// Clients against the floor.
    pub floors: Vec<FloorCost>,
    /// The smallest differences that this machine can show.
    pub smallest: Vec<Smallest>,
    /// What is bad, and what to do about it.
    pub warnings: Vec<Warning>,
}

/// The monotonic clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// What the kernel tells time by.
    pub source: Option<String>,
    /// A call of the clock, the median of batches.
    pub call_ns: f64,
    /// A call in the quickest batch.
    pub quickest_call_ns: f64,
    /// The smallest step between two readings that differ.
    pub step_ns: Option<u64>,
    /// Readings taken.
    pub readings: u64,
    /// Readings that were before the one before them.
    pub backwards: u64,
}

/// A way of sleeping.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sleep {
    /// `nanosleep` or `poll`.
    pub way: String,
    /// What was asked.
    pub asked_ns: u64,
    /// How much longer it lasted: the median.
    pub over_p50_ns: u64,
    /// The 99th percentile.
    pub over_p99_ns: u64,
}

/// A message to another thread and back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wake {
    /// `eventfd` or `tcp`.
    pub way: String,
    /// The processor of each end.
    pub cpus: (u32, u32),
    /// There and back: the median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
}

/// What a thread that never sleeps lost on a processor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Gaps {
    /// The processor.
    pub cpu: u32,
    /// How long it was tried.
    pub watched_ns: u64,
    /// Gaps over 10 us.
    pub over_10us: u64,
    /// Gaps over 100 us.
    pub over_100us: u64,
    /// Gaps over 1 ms.
    pub over_1ms: u64,
    /// The longest.
    pub longest_ns: u64,
    /// All gaps over 10 us together.
    pub lost_ns: u64,
}

impl Gaps {
    /// The share of the time that was lost.
    pub fn lost_share(&self) -> f64 {
        self.lost_ns as f64 / self.watched_ns.max(1) as f64
    }
}

/// A language's loop with a client that does nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopCost {
    /// The language.
    pub language: String,
    /// Its runtime and version.
    pub runtime: String,
    /// An op.
    pub ns_per_op: f64,
}

/// A client against the floor, in a placement: medians over trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorCost {
    /// The client.
    pub client: String,
    /// The placement.
    pub placement: Placement,
    /// Trials that count.
    pub trials: u32,
    /// Operations a second.
    pub ops_per_s: Option<f64>,
    /// Median latency.
    pub p50_ns: Option<f64>,
    /// 99th percentile.
    pub p99_ns: Option<f64>,
    /// User CPU of the client an op.
    pub client_user_ns_per_op: Option<f64>,
    /// System CPU of the client an op.
    pub client_sys_ns_per_op: Option<f64>,
    /// CPU of the server an op.
    pub server_cpu_ns_per_op: Option<f64>,
    /// What is left of the wall time.
    pub waiting_ns_per_op: Option<f64>,
}

/// What can be told apart in a placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Smallest {
    /// The placement.
    pub placement: Placement,
    /// Pairs of trials of the same client that the noise was estimated from.
    pub pairs: u32,
    /// Deviation of the logarithm of the ratio of two such trials: near enough its share.
    pub noise: f64,
    /// How long a block of two variants and the control takes.
    pub block_s: f64,
    /// After how many blocks, how long that takes, and what is found nine times in ten.
    pub after: Vec<Detectable>,
    /// The same for a minute; `None` where it holds no two blocks.
    pub in_a_minute: Option<Detectable>,
}

/// What is found with 90% power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detectable {
    /// Blocks.
    pub blocks: u32,
    /// How long they take.
    pub takes_s: f64,
    /// The relative difference: 0.04 for 4%.
    pub difference: f64,
}
