//! What a loop gave.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// What a server said when it first refused an op, in its own words, where it said anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
    /// Counts for the part that a cache played (`hit`, `miss`, `stored`), for `read_aside`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cache_outcomes: BTreeMap<String, u64>,
    /// The largest resident set of the process so far, where it can be known.
    #[serde(default)]
    pub max_rss_bytes: Option<u64>,
    /// How the requests were carried, where the worker can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
    /// Times without a connection, between the loss of one and its return.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How many there were in all, where not every one of them need be listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_totals: Option<GapTotals>,
    /// How often the nodes of a cluster sent ops to one another.
    #[serde(default, skip_serializing_if = "Redirects::are_none")]
    pub redirects: Redirects,
    /// How late ops started, where a pace was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lateness: Option<Lateness>,
}

/// How requests were carried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// `blocking`, `epoll` or `io_uring`.
    pub io: String,
    /// Threads.
    pub threads: u32,
    /// Connections of all of them.
    pub connections: u32,
}

/// A time without a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Which connection, from 0.
    pub connection: u32,
    /// When it was lost, since the loop started.
    pub at_ns: u64,
    /// How long until it was back.
    pub lasted_ns: u64,
    /// How often it was tried.
    pub attempts: u32,
}

/// Times without a connection, those that are not listed too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapTotals {
    /// How many.
    pub count: u64,
    /// How long all of them were, one after another.
    pub lasted_ns: u64,
}

/// How often the nodes of a cluster sent ops to one another. Each such op went on and has an
/// outcome of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Redirects {
    /// A slot had moved for good (`MOVED`).
    pub moved: u64,
    /// A slot was on the move (`ASK`).
    pub asked: u64,
}

impl Redirects {
    /// Whether there were none.
    pub fn are_none(&self) -> bool {
        *self == Redirects::default()
    }

    /// Those of two clients.
    pub fn and(self, other: Redirects) -> Redirects {
        Redirects {
            moved: self.moved + other.moved,
            asked: self.asked + other.asked,
        }
    }
}

/// How late the generator itself was: the part of the delay between the moment at which an op was
/// to start and its sending that is not the server's doing. An op that waits because every
/// connection it may use is taken is not late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// The latest.
    pub max_ns: u64,
    /// The median, where it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The mean.
    pub mean_ns: u64,
    /// For how long threads looked for the next moment without sleeping, in all: CPU time that is
    /// no work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spun_ns: Option<u64>,
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
