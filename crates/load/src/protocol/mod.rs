//! What bytes mean: one file a protocol, and one a store inside this process. A protocol knows
//! nothing of connections, paces or clocks.

mod call;
mod lead;
mod memcached;
mod nothing;
mod read_aside;
mod resp;
mod sqlite;

pub(crate) use call::{Call, Caller, Direct};
pub(crate) use memcached::Memcached;
pub(crate) use nothing::Nothing;
pub(crate) use read_aside::ReadAside;
pub(crate) use resp::Resp;
pub(crate) use sqlite::{Sqlite, SqliteStore, Synchronous};

use crate::engine::{Fence, Frame, Texts};
use crate::outcome::{ErrorKind, Outcome, Tally};
use crate::worker::WorkerError;
use roundtrip_model::Op;

/// What a phase is to a protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// The op. `read_aside` on one store alone is a plain read.
    pub(crate) op: Op,
    /// Time to live of what is written; 0 for ever.
    pub(crate) ttl_s: u32,
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
    pub(crate) op: Op,
    /// How many ops the request has that this one is the first of; 0 for one further behind.
    pub(crate) opens: u16,
    /// How many ops of the same request come after it.
    pub(crate) behind: u16,
}

/// What the bytes at hand are to the first op that has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Its end, and how many bytes that took.
    Ended(Outcome, usize),
    /// The end of its first step, which took so many bytes: the op goes on as this one.
    Then(Op, usize),
    /// The beginning of its reply, or nothing.
    NeedMore,
    /// Nothing that could be understood, or no answer to the request: the connection is to be
    /// given up with everything in flight on it.
    Lost(ErrorKind),
}

/// What the answer to the read of a key makes of the op that it is a part of.
#[inline]
fn after_read(op: Op, outcome: Outcome, used: usize) -> Answer {
    match (op, outcome) {
        // What is written back is the same value: it was compared just now.
        (Op::ReadModifyWrite, Outcome::Hit) => Answer::Then(Op::Set, used),
        _ => Answer::Ended(outcome, used),
    }
}

/// Whether an op begins with the read of a key.
#[inline]
fn reads(op: Op) -> bool {
    matches!(op, Op::Get | Op::ReadAside | Op::ReadModifyWrite)
}

/// Writes requests and reads replies. Nothing may be allocated for an op.
pub(crate) trait Protocol {
    /// Whether one request can read many keys.
    const GROUPS: bool = false;

    /// What is asked of each connection at the end, where there are any.
    const FENCE: Option<Fence> = None;

    /// What stands around a key of so many bytes in the request that reads it.
    fn frame(&self, _key_bytes: usize) -> Option<Frame> {
        None
    }

    /// Appends the request of one op.
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>);

    /// Begins a request for so many keys.
    fn open_group(&mut self, _size: usize, _out: &mut Vec<u8>) {}

    /// Adds a key to it.
    fn group_key(&mut self, _key: &[u8], _out: &mut Vec<u8>) {}

    /// Ends it.
    fn close_group(&mut self, _out: &mut Vec<u8>) {}

    /// Reads the reply of an op and checks it: status, length and content.
    fn reply(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer;

    /// What ends the phase, if something does.
    #[inline]
    fn trouble(&mut self) -> Option<WorkerError> {
        None
    }

    /// Ends the phase: what a preparation wrote is in place after it. Gives the part that a cache
    /// played.
    fn finish(&mut self) -> Result<Tally, WorkerError> {
        Ok(Tally::default())
    }
}
