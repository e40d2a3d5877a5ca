//! Answers to requests of the older text protocol.

use super::changes::{Counted, Wrote};
use super::conversation::REPLY_LIMIT;
use super::counters::{Calls, Counters};
use super::faults::Faults;
use super::memory::{self, Memory};
use super::options::{FloorOptions, Protocols};
use super::resp::COMMANDS;
use crate::clock;
use roundtrip_wire::memcached::{DumpedItem, Keys, Reply, Request, push_escaped};
use roundtrip_wire::{BadWire, Because};

/// What the floor says to `version`. It starts as memcached's does: libmemcached takes a version
/// without a number, or with 0 as its first, for a broken answer.
pub(super) const VERSION: &str = concat!("1.0.0-roundtrip-floor-", env!("CARGO_PKG_VERSION"));

const NO_ROOM: Reply<'static> = Reply::ServerError(b"out of memory storing object");
const NO_NUMBER: Reply<'static> =
    Reply::ClientError(b"cannot increment or decrement non-numeric value");

/// Everything that answers are made from.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) memory: Memory,
    pub(super) counters: Counters,
    /// Of each command of Redis, in the order of their table.
    pub(super) calls: [Calls; COMMANDS.len()],
    pub(super) faults: Faults,
    pub(super) started_s: u64,
    /// Whether nothing is done wrong, and answers may take the shortest way.
    pub(super) is_plain: bool,
    pub(super) protocols: Protocols,
    /// How bytes travel.
    pub(super) io: &'static str,
    /// Of the connections that speak RESP.
    pub(super) last_id: u64,
    /// Used again for the flags of each meta reply.
    pub(super) flags: Vec<u8>,
}

impl Service {
    pub(super) fn new(options: &FloorOptions, io: &'static str) -> Service {
        let mut memory = Memory::new(options.limit_bytes);
        memory.now_ms = clock::unix_ms();
        let faults = Faults::new(options, clock::now_ns());
        Service {
            is_plain: faults.are_none(),
            started_s: memory.now_s(),
            memory,
            counters: Counters::default(),
            calls: [Calls::default(); COMMANDS.len()],
            last_id: 0,
            protocols: options.protocols,
            io,
            faults,
            flags: Vec::new(),
        }
    }

    /// Appends the answer to a request, if it wants one.
    #[inline]
    pub(super) fn answer(&mut self, request: &Request<'_>, out: &mut Vec<u8>) {
        let (reply, noreply) = match *request {
            Request::Get { keys, cas } => return self.get(keys, cas, out),
            Request::Store {
                verb,
                key,
                flags,
                expires,
                value,
                noreply,
            } => {
                let expires_ms = self.memory.expiry_ms(expires);
                let reply = match self.store(verb, key, value, flags, expires_ms) {
                    Wrote::Done(_) => Reply::Stored,
                    Wrote::NotStored => Reply::NotStored,
                    Wrote::Exists => Reply::Exists,
                    Wrote::NotFound => Reply::NotFound,
                    Wrote::NoRoom => NO_ROOM,
                };
                (reply, noreply)
            }
            Request::Delete { key, noreply } => match self.delete(key) {
                true => (Reply::Deleted, noreply),
                false => (Reply::NotFound, noreply),
            },
            Request::Arithmetic {
                decrement,
                key,
                delta,
                noreply,
            } => match self.count(key, decrement, delta) {
                Counted::Done(number) => (Reply::Number(number), noreply),
                Counted::NotFound => (Reply::NotFound, noreply),
                Counted::NoNumber => (NO_NUMBER, noreply),
            },
            Request::Touch {
                key,
                expires,
                noreply,
            } => match self.touch(key, expires) {
                true => (Reply::Touched, noreply),
                false => (Reply::NotFound, noreply),
            },
            Request::Meta {
                verb,
                key,
                flags,
                value,
            } => return self.answer_meta(verb, key, flags, value, out),
            Request::MetaNoop => (Reply::MetaNoop, false),
            Request::Stats(None) => return self.write_stats(out),
            // The floor has no slabs, classes or settings to tell of.
            Request::Stats(Some(_)) => (Reply::End, false),
            Request::Version => (Reply::Version(VERSION.as_bytes()), false),
            Request::Metadump => return self.dump(out),
            Request::Quit => return,
            Request::GetAndTouch { expires, keys, cas } => {
                return self.get_and_touch(expires, keys, cas, out);
            }
            // Nothing empties the floor, or changes how it runs.
            Request::Administer { .. } => (Reply::Error(b""), false),
        };
        if !noreply {
            reply.write(out);
        }
    }

    #[inline]
    fn get(&mut self, keys: Keys<'_>, cas: bool, out: &mut Vec<u8>) {
        for key in keys.iter() {
            self.get_one(key, cas, out);
            if out.len() > REPLY_LIMIT {
                // It is hung up on for this.
                return;
            }
        }
        Reply::End.write(out);
    }

    fn get_and_touch(&mut self, expires: i64, keys: Keys<'_>, cas: bool, out: &mut Vec<u8>) {
        for key in keys.iter() {
            self.touch(key, expires);
            self.get_one(key, cas, out);
            if out.len() > REPLY_LIMIT {
                return;
            }
        }
        Reply::End.write(out);
    }

    #[inline]
    fn get_one(&mut self, key: &[u8], cas: bool, out: &mut Vec<u8>) {
        let now_ms = self.memory.now_ms;
        let Some(item) = self.memory.find(key) else {
            self.counters.get_misses += 1;
            return;
        };
        item.read_at(now_ms);
        self.counters.get_hits += 1;
        let value = item.value();
        match cas {
            false => out.extend_from_slice(item.reply()),
            true => Reply::Value {
                key,
                flags: item.flags(),
                cas: Some(item.cas()),
                value,
            }
            .write(out),
        }
        self.faults.garble(out, value.len());
    }

    fn dump(&mut self, out: &mut Vec<u8>) {
        let mut escaped_key = Vec::new();
        for item in self.memory.iter() {
            escaped_key.clear();
            push_escaped(&mut escaped_key, item.key());
            Reply::Dumped(DumpedItem {
                escaped_key: &escaped_key,
                expires: match item.expires_ms() {
                    0 => -1,
                    expires_ms => (expires_ms / 1000) as i64,
                },
                last_access: item.accessed_s(),
                cas: item.cas(),
                fetched: item.is_fetched(),
                class: 1,
                bytes: memory::size_of(item),
            })
            .write(out);
        }
        Reply::End.write(out);
    }
}

/// What memcached says to a message like this.
pub(super) fn refusal(bad: BadWire) -> Reply<'static> {
    match bad.because {
        Because::UnknownWord => Reply::Error(b""),
        Because::Form => Reply::Error(b""),
        Because::Number => Reply::ClientError(b"bad command line format"),
        Because::KeyTooLong | Because::KeyByte => Reply::ClientError(b"bad command line format"),
        Because::ValueTooLong => Reply::ServerError(b"object too large for cache"),
        Because::ValueEnd => Reply::ClientError(b"bad data chunk"),
        // What else there is cannot be wrong with a message of this protocol.
        _ => Reply::ClientError(b"line too long"),
    }
}
