//! Answers to requests of the older text protocol.

use super::counters::Counters;
use super::faults::Faults;
use super::memory::{Item, Memory};
use super::options::FloorOptions;
use crate::clock;
use roundtrip_wire::memcached::{DumpedItem, Keys, Reply, Request, StoreVerb, push_escaped};
use roundtrip_wire::{BadWire, Because};

/// What the floor says to `version`.
pub(super) const VERSION: &str = concat!("roundtrip-floor-", env!("CARGO_PKG_VERSION"));

/// The longest value that appending may give: what one write may give.
const LONGEST_VALUE: usize = 1 << 20;

const NO_ROOM: Reply<'static> = Reply::ServerError(b"out of memory storing object");
const NO_NUMBER: Reply<'static> =
    Reply::ClientError(b"cannot increment or decrement non-numeric value");

/// Everything that answers are made from.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) memory: Memory,
    pub(super) counters: Counters,
    pub(super) faults: Faults,
    pub(super) started_s: u64,
    /// Used again for the flags of each meta reply.
    pub(super) flags: Vec<u8>,
}

/// How a write went.
pub(super) enum Wrote {
    /// With this version.
    Done(u64),
    NotStored,
    Exists,
    NotFound,
    NoRoom,
}

/// How a change of a number went.
pub(super) enum Counted {
    /// To this.
    Done(u64),
    NotFound,
    NoNumber,
}

impl Service {
    pub(super) fn new(options: &FloorOptions) -> Service {
        let mut memory = Memory::new(options.limit_bytes);
        memory.now_s = clock::unix_s();
        Service {
            started_s: memory.now_s,
            memory,
            counters: Counters::default(),
            faults: Faults::new(options, clock::now_ns()),
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
                let reply = match self.store(verb, key, value, flags, expires) {
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
        };
        if !noreply {
            reply.write(out);
        }
    }

    #[inline]
    fn get(&mut self, keys: Keys<'_>, cas: bool, out: &mut Vec<u8>) {
        for key in keys.iter() {
            self.counters.cmd_get += 1;
            let now_s = self.memory.now_s;
            let value_bytes = self.memory.with(key, |item| {
                let item = item?;
                item.fetched = true;
                item.accessed_s = now_s;
                Reply::Value {
                    key,
                    flags: item.flags,
                    cas: cas.then_some(item.cas),
                    value: &item.value,
                }
                .write(out);
                Some(item.value.len())
            });
            if let Some(value_bytes) = value_bytes {
                self.counters.get_hits += 1;
                self.faults.garble(out, value_bytes, b"\r\n".len());
            } else {
                self.counters.get_misses += 1;
            }
        }
        Reply::End.write(out);
    }

    #[inline]
    pub(super) fn store(
        &mut self,
        verb: StoreVerb,
        key: &[u8],
        value: &[u8],
        flags: u32,
        expires: i64,
    ) -> Wrote {
        self.counters.cmd_set += 1;
        if !self.memory.has_room(key, value.len()) {
            return Wrote::NoRoom;
        }
        if verb == StoreVerb::Set {
            self.counters.total_items += 1;
            return Wrote::Done(self.memory.put(key, value, flags, expires));
        }
        let there = self.memory.with(key, |item| item.map(|item| item.cas));
        match (verb, there) {
            (StoreVerb::Add, Some(_)) => return Wrote::NotStored,
            (StoreVerb::Replace | StoreVerb::Append | StoreVerb::Prepend, None) => {
                return Wrote::NotStored;
            }
            (StoreVerb::Cas(_), None) => {
                self.counters.cas_misses += 1;
                return Wrote::NotFound;
            }
            (StoreVerb::Cas(wanted), Some(cas)) if wanted != cas => {
                self.counters.cas_badval += 1;
                return Wrote::Exists;
            }
            (StoreVerb::Cas(_), Some(_)) => self.counters.cas_hits += 1,
            _ => {}
        }
        self.counters.total_items += 1;
        if matches!(verb, StoreVerb::Append | StoreVerb::Prepend) {
            return self.lengthen(key, value, verb == StoreVerb::Append);
        }
        Wrote::Done(self.memory.put(key, value, flags, expires))
    }

    fn lengthen(&mut self, key: &[u8], value: &[u8], at_end: bool) -> Wrote {
        let cas = self.memory.next_cas();
        let wrote = self.memory.with(key, |item| match item {
            Some(item) if item.value.len() + value.len() <= LONGEST_VALUE => {
                let at = if at_end { item.value.len() } else { 0 };
                item.value.splice(at..at, value.iter().copied());
                item.cas = cas;
                Wrote::Done(cas)
            }
            Some(_) => Wrote::NoRoom,
            None => Wrote::NotStored,
        });
        if matches!(wrote, Wrote::Done(_)) {
            self.memory.changed();
        }
        wrote
    }

    pub(super) fn delete(&mut self, key: &[u8]) -> bool {
        let was_there = self.memory.remove(key);
        match was_there {
            true => self.counters.delete_hits += 1,
            false => self.counters.delete_misses += 1,
        }
        was_there
    }

    pub(super) fn count(&mut self, key: &[u8], decrement: bool, delta: u64) -> Counted {
        let cas = self.memory.next_cas();
        let counted = self.memory.with(key, |item| {
            let Some(item) = item else {
                return Counted::NotFound;
            };
            let text = std::str::from_utf8(&item.value).ok();
            let Some(number) = text.and_then(|text| text.trim_end().parse::<u64>().ok()) else {
                return Counted::NoNumber;
            };
            let number = match decrement {
                true => number.saturating_sub(delta),
                false => number.wrapping_add(delta),
            };
            item.cas = cas;
            write_number(item, number, decrement);
            Counted::Done(number)
        });
        if matches!(counted, Counted::Done(_)) {
            self.memory.changed();
        }
        let c = &mut self.counters;
        match (decrement, &counted) {
            (_, Counted::NoNumber) => {}
            (false, Counted::Done(_)) => c.incr_hits += 1,
            (false, Counted::NotFound) => c.incr_misses += 1,
            (true, Counted::Done(_)) => c.decr_hits += 1,
            (true, Counted::NotFound) => c.decr_misses += 1,
        }
        counted
    }

    pub(super) fn touch(&mut self, key: &[u8], expires: i64) -> bool {
        self.counters.cmd_touch += 1;
        let expires_s = self.memory.expiry(expires);
        let there = self.memory.with(key, |item| {
            item.map(|item| item.expires_s = expires_s).is_some()
        });
        match there {
            true => self.counters.touch_hits += 1,
            false => self.counters.touch_misses += 1,
        }
        there
    }

    fn dump(&mut self, out: &mut Vec<u8>) {
        let mut escaped_key = Vec::new();
        for (key, item) in self.memory.iter() {
            escaped_key.clear();
            push_escaped(&mut escaped_key, key);
            Reply::Dumped(DumpedItem {
                escaped_key: &escaped_key,
                expires: if item.expires_s == 0 {
                    -1
                } else {
                    item.expires_s as i64
                },
                last_access: item.accessed_s,
                cas: item.cas,
                fetched: item.fetched,
                class: 1,
                bytes: Memory::size_of(key, item),
            })
            .write(out);
        }
        Reply::End.write(out);
    }
}

/// As memcached does, a number that is taken from keeps its length, with spaces behind it.
fn write_number(item: &mut Item, number: u64, keep_length: bool) {
    let length = if keep_length { item.value.len() } else { 0 };
    item.value.clear();
    item.value.extend_from_slice(number.to_string().as_bytes());
    if item.value.len() < length {
        item.value.resize(length, b' ');
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
        Because::LineTooLong => Reply::ClientError(b"line too long"),
    }
}
