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

mod done;

pub use done::{Carried, Done, Gap, GapTotals, Lateness, Redirects, outcome};

use crate::names::Op;
use crate::path::Options;
use crate::secret::Secret;
use crate::stream::Stream;
use crate::workload::{Generate, Pace};
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
    /// A TCP address that speaks TLS.
    Tls {
        /// Host name or address.
        host: String,
        /// Port.
        port: u16,
        /// The file of the certificate that signs the server's.
        ca: String,
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
    /// Where every server of it is, this endpoint first, for a store of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Endpoint>,
    /// Where the same store is reached by another protocol than its usual one, by the name of the
    /// protocol: `memcached` of a `mysql` with the plugin. A client goes to the door that it speaks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub doors: BTreeMap<String, Endpoint>,
    /// Who the client is to the store, where it asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
    /// A cache in front of it, for `read_aside`: its kind and where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<(String, Endpoint)>,
    /// How many connections carry the requests. More than one only for a client that says that
    /// it can.
    #[serde(
        default = "crate::usual::one",
        skip_serializing_if = "crate::usual::is_one"
    )]
    pub connections: u32,
    /// Options of the client.
    #[serde(default)]
    pub options: Options,
}

impl Open {
    /// One connection of a client to one endpoint, with nothing special about it.
    pub fn to(client: &str, store: &str, endpoint: Endpoint) -> Open {
        Open {
            client: client.to_owned(),
            store: store.to_owned(),
            endpoint,
            nodes: Vec::new(),
            doors: BTreeMap::new(),
            login: None,
            cache: None,
            connections: 1,
            options: Options::new(),
        }
    }
}

/// Who a client is to a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    /// The name of the user; empty where a password is enough.
    #[serde(default)]
    pub user: String,
    /// The password. It goes to a worker on its standard input and nowhere else.
    pub password: Secret,
    /// The database, where the store has several.
    #[serde(default)]
    pub database: String,
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
    /// How many ops.
    pub count: u64,
    /// How many keys each op has: the stream holds so many records for each, one after another.
    #[serde(
        default = "crate::usual::one",
        skip_serializing_if = "crate::usual::is_one"
    )]
    pub keys_per_op: u32,
    /// What `read_modify_write` adds to each number that it read before it writes it back. A record
    /// then holds the number that the read must give.
    #[serde(default, skip_serializing_if = "crate::usual::is_no_sum")]
    pub add: i64,
    /// The stream file; empty where `plan` stands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stream: String,
    /// The stream itself, for a client that says that it makes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Stream>>,
    /// Where the latencies go, in the form that `written` then tells. Absent: do not write them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latencies: Option<String>,
    /// Where to keep account of how far the loop is, so that what the client had seen is known
    /// however it dies: see [`journal`]. Only for a client that says that it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<String>,
    /// Time to live of what is written; 0 for none.
    pub ttl_s: u32,
    /// Ops sent before the first reply is awaited.
    pub depth: u32,
    /// When ops start. Anything but `closed` only for a client that says that it can.
    #[serde(default, skip_serializing_if = "Pace::is_closed")]
    pub pace: Pace,
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
        /// What the file holds.
        #[serde(default)]
        form: LatencyForm,
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

/// What a file of latencies holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyForm {
    /// Numbers of 64 bits, little-endian, nanoseconds, in the order of the ops.
    #[default]
    Raw,
    /// A JSON text of [`LatencyHistograms`]: its size does not grow with the ops.
    Histograms,
}

/// Latencies that a worker has already counted into histograms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyHistograms {
    /// From the sending of each op to its reply: an HDR histogram (V2) in base64.
    pub service: String,
    /// From the moment at which each op was to start; only where a pace was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
    /// Wall time that consecutive equal parts of the ops took, in order of their replies.
    pub slices_ns: Vec<u64>,
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
    /// How many connections one process of it carries at once.
    #[serde(default = "crate::usual::one")]
    pub connections: u32,
    /// Whether it makes the stream itself from `plan`; it then gets no file.
    #[serde(default)]
    pub plans: bool,
    /// Whether it can start ops at a pace.
    #[serde(default)]
    pub paces: bool,
    /// The most ops that it sends before the first reply is awaited (`depth`); 1 where it cannot.
    #[serde(
        default = "crate::usual::one",
        skip_serializing_if = "crate::usual::is_one"
    )]
    pub depth: u32,
    /// The stores that it asks one op at a time by their own protocol, whatever its depth.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub one_at_a_time: Vec<String>,
    /// Whether it keeps a journal.
    #[serde(default)]
    pub journals: bool,
}

/// The journal of a phase: a file of two numbers of 64 bits, little-endian, which the worker
/// overwrites in place and without a buffer of its own, so that they outlive it. The first is how
/// many ops were handed to the library so far, and is written before each call that sends; the
/// second how many have come back acknowledged, and is written after the call that returned them.
pub mod journal {
    /// Length of the file.
    pub const BYTES: usize = 16;
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
