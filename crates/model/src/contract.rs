//! What the host and a worker say to each other: JSON lines, commands one way, events the other.
//! `workers/CONTRACT.md` tells it to the author of a worker; these types are its letter.
//!
//! A worker answers each command with one event (and `go` with two), in order:
//!
//! | command | event | when |
//! |---|---|---|
//! | `describe` | `described` | at once |
//! | `open` | `opened` | connected |
//! | `phase` | `ready` | the stream is decoded; the clock has not started |
//! | `go` | `done`, then `written` | the loop ended; the latencies are in their file |
//! | `check` | `checked` | the vectors were written or read |
//! | `close` | `closed` | connections are closed; the worker then exits with 0 |
//!
//! `error` may stand in the place of any event; the worker then exits.

use crate::names::Op;
use crate::path::Options;
use crate::workload::Generate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version that this host speaks.
pub const VERSION: u32 = 1;

/// Where a store is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// A TCP address.
    Tcp {
        /// Host name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// A unix socket.
    Unix {
        /// Its path.
        path: String,
    },
    /// A file that the client opens itself.
    File {
        /// Its path.
        path: String,
    },
}

/// What the host says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case")]
pub enum Command {
    /// Tell what you are and what you can drive.
    Describe,
    /// Connect a client.
    Open(Open),
    /// Get ready for a phase: decode its stream.
    Phase(PhaseCommand),
    /// Run the loop of the phase that is ready.
    Go,
    /// Write or read the fidelity vectors.
    Check(Check),
    /// Disconnect and exit.
    Close,
}

/// Connect a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The library, without its language: `memcached`.
    pub client: String,
    /// The kind of store at the endpoint.
    pub store: String,
    /// Where it is.
    pub endpoint: Endpoint,
    /// A cache in front of it, for `read_aside`: its kind and where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<(String, Endpoint)>,
    /// Options of the client.
    #[serde(default)]
    pub options: Options,
}

/// What a phase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Bring data into place, in whatever way is quickest.
    Prepare,
    /// Get warm; the figures are thrown away.
    Warmup,
    /// The figures count.
    Measure,
}

/// Which of a path's two places a preparation writes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The store.
    #[default]
    Store,
    /// The cache in front of it.
    Cache,
}

/// Get ready for a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseCommand {
    /// Its name, for the log.
    pub name: String,
    /// The op.
    pub op: Op,
    /// What it is for.
    pub purpose: Purpose,
    /// Which place a preparation writes to.
    #[serde(default)]
    pub target: Target,
    /// How many ops: what the stream file says too.
    pub count: u64,
    /// The stream file.
    pub stream: String,
    /// Where the latencies go: `count` numbers of 64 bits, little-endian, nanoseconds, in the
    /// order of the ops. Absent: do not write them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<String>,
    /// Time to live of what is written; 0 for none.
    pub ttl_s: u32,
    /// Ops sent before the first reply is awaited.
    pub depth: u32,
    /// `in-loop`: make key `i` as `md5(i)` and value `i` as `crc32(i)` inside the loop, with the
    /// language's own functions, instead of taking them from the stream.
    pub generate: Generate,
}

/// Write or read the fidelity vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// `write` sets every vector; `read` gets them back, in another process.
    pub mode: CheckMode,
    /// The vectors' file (`workers/vectors/values.json`).
    pub vectors: String,
    /// Put before the name of each vector to make its key.
    pub prefix: String,
    /// Whether the reader declares the class of the object vectors.
    pub classes: bool,
}

/// Which half of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckMode {
    /// Set every vector.
    Write,
    /// Get every vector.
    Read,
}

/// What a worker says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The answer to `describe`.
    Described(Described),
    /// The answer to `open`.
    Opened {
        /// Time to connect.
        connect_ns: u64,
    },
    /// The answer to `phase`.
    Ready,
    /// The first answer to `go`, sent right after the loop.
    Done(Done),
    /// The second answer to `go`.
    Written {
        /// How many latencies are in the file.
        latencies: u64,
    },
    /// The answer to `check`.
    Checked {
        /// One row a vector, in the order of the file.
        rows: Vec<CheckRow>,
    },
    /// The answer to `close`.
    Closed,
    /// Something failed; the worker exits after it.
    Error {
        /// `usage`, `missing`, `connect`, `protocol`, `io` or `internal`.
        kind: String,
        /// A sentence.
        message: String,
    },
}

/// What a worker is and what it can drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// The version of the contract that it speaks.
    pub contract: u32,
    /// `php`, `python`, ... or `native`.
    pub language: String,
    /// The runtime and its version, read at run time.
    pub runtime: String,
    /// Settings of the runtime that can change a result.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
    /// The libraries.
    pub clients: Vec<ClientInfo>,
}

/// One library that a worker can drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClientInfo {
    /// Its name without the language.
    pub name: String,
    /// Whether it is installed.
    pub available: bool,
    /// Its version, read at run time.
    #[serde(default)]
    pub version: Option<String>,
    /// Why it is not available, and the one command that installs it.
    #[serde(default)]
    pub reason: Option<String>,
    /// The stores that it reaches.
    pub stores: Vec<String>,
    /// The ops that it can do.
    pub ops: Vec<Op>,
    /// Options and the values that each may take; an empty list takes any.
    #[serde(default)]
    pub options: BTreeMap<String, Vec<String>>,
}

/// What a loop gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// When the loop started, on the machine's monotonic clock.
    pub started_ns: u64,
    /// When it ended, on the same clock.
    pub ended_ns: u64,
    /// User CPU of the process over the loop.
    pub user_ns: u64,
    /// System CPU of the process over the loop.
    pub sys_ns: u64,
    /// Counts by outcome; see [`outcome`].
    pub outcomes: BTreeMap<String, u64>,
    /// Counts for the part that a cache played (`hit`, `miss`, `stored`), for `read_aside`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cache_outcomes: BTreeMap<String, u64>,
    /// The largest resident set of the process so far, where it can be known.
    #[serde(default)]
    pub max_rss_bytes: Option<u64>,
}

/// The names of outcomes. Errors are `error:KIND`.
pub mod outcome {
    /// A read that found its key and gave the right value.
    pub const HIT: &str = "hit";
    /// A read that found nothing.
    pub const MISS: &str = "miss";
    /// A read that gave another value than was written: voids the trial.
    pub const WRONG: &str = "wrong";
    /// A write that was acknowledged.
    pub const STORED: &str = "stored";
    /// A removal or increment that was acknowledged.
    pub const DONE: &str = "done";
    /// A removal or increment of a key that is not there.
    pub const NOT_FOUND: &str = "not_found";
    /// What stands before the kind of an error.
    pub const ERROR: &str = "error:";
}

/// What became of one vector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    /// The vector's name.
    pub name: String,
    /// The language's type of what came back (or was written).
    #[serde(rename = "type")]
    pub type_name: String,
    /// It, in the language's own notation, shortened.
    pub value: String,
    /// Whether value and type are the ones written.
    pub same: bool,
    /// What to know about it: an exception, a class that the reader does not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
