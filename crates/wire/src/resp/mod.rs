//! The protocol of Redis in both versions, RESP2 and RESP3, both sides: a client writes commands
//! and parses each [`Reply`], a server parses each [`Request`] and writes replies.
//!
//! A bad message ends the stream: nobody knows where the next one begins, so nothing is said of
//! what to leave out.
//!
//! There is no command that empties or shuts down a server among those with a function of their
//! own, so none can be sent by mistake to a store that is somebody's.

mod cluster;
mod header;
mod items;
mod reply;
mod request;
mod scan;
mod write;

pub use cluster::{Node, Redirect, SLOTS, Shard, Shards, SlotRange, SlotRanges, hash_slot};
pub use items::{Items, Pairs};
pub use reply::{NullForm, Reply};
pub use request::{Arguments, Request};
pub use scan::{MAX_DEPTH, Scan};
pub use write::{write_aggregate, write_command, write_get, write_set};

/// The kinds of replies with parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// `*`: parts in order.
    Array,
    /// `%`: names and what they stand for, in turn.
    Map,
    /// `~`: parts in no order.
    Set,
    /// `|`: like a map, said about the reply that follows it.
    Attribute,
    /// `>`: said without being asked.
    Push,
}

impl Aggregate {
    /// The byte that it begins with.
    #[inline]
    pub fn marker(self) -> u8 {
        match self {
            Aggregate::Array => b'*',
            Aggregate::Map => b'%',
            Aggregate::Set => b'~',
            Aggregate::Attribute => b'|',
            Aggregate::Push => b'>',
        }
    }

    #[inline]
    fn of(marker: u8) -> Option<Aggregate> {
        Some(match marker {
            b'*' => Aggregate::Array,
            b'%' => Aggregate::Map,
            b'~' => Aggregate::Set,
            b'|' => Aggregate::Attribute,
            b'>' => Aggregate::Push,
            _ => return None,
        })
    }

    /// How many parts stand for one that is counted.
    #[inline]
    fn width(self) -> usize {
        match self {
            Aggregate::Map | Aggregate::Attribute => 2,
            _ => 1,
        }
    }
}
