//! What bytes mean: one file a protocol, and one a store inside this process. A protocol knows
//! nothing of connections, paces or clocks.

mod call;
mod cluster;
mod lead;
mod memcached;
mod meta;
mod mysql;
mod nothing;
mod read_aside;
mod resp;
mod shards;
mod sqlite;

pub(crate) use call::{Call, Caller, Direct};
pub(crate) use cluster::{Cluster, Map};
pub(crate) use memcached::Memcached;
pub(crate) use meta::Meta;
pub(crate) use mysql::{Mysql, MysqlStore, Seen, Table};
pub(crate) use nothing::Nothing;
pub(crate) use read_aside::ReadAside;
pub(crate) use resp::{Resp, hello};
pub(crate) use shards::Shards;
pub(crate) use sqlite::{Sqlite, SqliteStore, Synchronous};

use crate::engine::{Fence, Texts};
use crate::outcome::{ErrorKind, Outcome, Tally};
use crate::worker::WorkerError;
use roundtrip_model::Op;

/// What a phase is to a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// Time to live of what is written; 0 for ever.
    pub(crate) ttl_s: u32,
    /// What `read_modify_write` adds to the number that it read.
    pub(crate) add: i64,
    /// Whether it only brings data into place, in whatever way is quickest.
    pub(crate) prepare: bool,
}

/// An op that was sent and has no reply yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    /// The index of its key and value.
    pub(crate) index: u64,
    /// The reading of the clock before its batch was handed over.
    pub(crate) sent_ns: u64,
    /// When it was to start.
    pub(crate) intended_ns: u64,
    /// How much was added to the number of its key before it.
    pub(crate) added: i64,
    /// The number of the op that its key is a part of, where ops have several.
    pub(crate) whole: u32,
    pub(crate) op: Op,
    /// How many ops the request has that this one is the first of; 0 for one further behind.
    pub(crate) opens: u16,
    /// How many ops of the same request come after it.
    pub(crate) behind: u16,
    /// How often it was sent to another node of a cluster.
    pub(crate) redirects: u8,
    /// Whether a word of its own was sent before it, which has a reply of its own.
    pub(crate) asking: bool,
}

/// What the bytes at hand are to the first op that has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Its end, and how many bytes that took.
    Ended(Outcome, usize),
    /// The end of its first step, which took so many bytes: the op goes on as this one.
    Then(Op, usize),
    /// Another node of the cluster is to be asked, says a reply that took so many bytes.
    Elsewhere(Redirect, usize),
    /// The beginning of its reply, or nothing.
    NeedMore,
    /// Nothing that could be understood, or no answer to the request: the connection is to be
    /// given up with everything in flight on it.
    Lost(ErrorKind),
}

/// Which node of a cluster is to be asked instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// Its number; one that there is not for a node that nobody knows.
    pub(crate) node: u16,
    /// Whether it has to be told that it was named for this one op.
    pub(crate) asking: bool,
}

/// What the answer to the read of a key makes of the op that it is a part of.
#[inline]
fn after_read(op: Op, outcome: Outcome, used: usize) -> Answer {
    match (op, outcome) {
        // What is written back is made anew: it was compared just now.
        (Op::ReadModifyWrite, Outcome::Hit) => Answer::Then(Op::Set, used),
        (Op::ReadModifyWrite, Outcome::Miss) => Answer::Ended(Outcome::NotFound, used),
        _ => Answer::Ended(outcome, used),
    }
}

/// Whether an op begins with the read of a key.
#[inline]
fn reads(op: Op) -> bool {
    matches!(
        op,
        Op::Get | Op::GetMany | Op::ReadAside | Op::ReadModifyWrite
    )
}

/// The longest sentence of a server that is kept.
const LONGEST_COMPLAINT: usize = 200;

/// Keeps what a server says when it refuses an op, if it is the first time.
#[cold]
fn note(complaint: &mut Option<String>, said: &[u8]) {
    complaint.get_or_insert_with(|| {
        let said = &said[..said.len().min(LONGEST_COMPLAINT)];
        let text = String::from_utf8_lossy(said);
        text.chars().filter(|c| !c.is_control()).collect()
    });
}

/// Writes requests and reads replies. Nothing may be allocated for an op.
pub(crate) trait Protocol {
    /// Whether one request can read many keys.
    const GROUPS: bool = false;

    /// Whether a request is bytes alone, which may be made before the loop.
    const MAKES_AHEAD: bool = false;

    /// What is asked of each connection at the end, where there are any.
    const FENCE: Option<Fence> = None;

    /// Whether ops go to one of several nodes, to each of which a lane has a connection.
    const SPREADS: bool = false;

    /// How many nodes there are.
    #[inline]
    fn nodes(&self) -> usize {
        1
    }

    /// The node that an op is for.
    fn node(&mut self, _index: u64, _texts: &mut Texts) -> usize {
        0
    }

    /// Appends what tells a node that it was named for the op that follows.
    fn ask(&mut self, _out: &mut Vec<u8>) {}

    /// Appends the request of one op.
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>);

    /// The request that follows reads so many keys in a row.
    fn span(&mut self, _keys: u32) {}

    /// Begins a request for so many keys.
    fn open_group(&mut self, _size: usize, _out: &mut Vec<u8>) {}

    /// Adds a key to it.
    fn group_key(&mut self, _index: u64, _texts: &mut Texts, _out: &mut Vec<u8>) {}

    /// Ends it.
    fn close_group(&mut self, _texts: &mut Texts, _out: &mut Vec<u8>) {}

    /// Reads the reply of an op and checks it: status, length and content.
    fn reply(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer;

    /// What a server said when it first refused an op, in its own words.
    fn complaint(&mut self) -> Option<String> {
        None
    }

    /// What ends the phase, if something does.
    #[inline]
    fn trouble(&mut self) -> Option<WorkerError> {
        None
    }

    /// When the part that counts of the op that ended last began, where that is not its sending.
    #[inline]
    fn began_ns(&self) -> Option<u64> {
        None
    }

    /// Ends the phase: what a preparation wrote is in place after it. Gives the part that a cache
    /// played.
    fn finish(&mut self) -> Result<Tally, WorkerError> {
        Ok(Tally::default())
    }
}
