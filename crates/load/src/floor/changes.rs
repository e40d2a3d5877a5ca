//! What requests do to the items, and to the counters, whichever way they are written.

use super::answer::Service;
use super::memory::Item;
use roundtrip_wire::memcached::StoreVerb;

/// The longest value that appending may give: what one write may give.
const LONGEST_VALUE: usize = 1 << 20;

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
