//! What requests do to the items, and to the counters, whichever way they are written.

use super::answer::Service;
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
        expires_ms: u64,
    ) -> Wrote {
        self.counters.cmd_set += 1;
        if !self.memory.has_room(key, value.len()) {
            return Wrote::NoRoom;
        }
        if verb == StoreVerb::Set {
            self.counters.total_items += 1;
            return Wrote::Done(self.memory.put(key, value, flags, expires_ms));
        }
        let there = self.memory.find(key).map(|item| item.cas());
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
        Wrote::Done(self.memory.put(key, value, flags, expires_ms))
    }

    fn lengthen(&mut self, key: &[u8], value: &[u8], at_end: bool) -> Wrote {
        let Some(item) = self.memory.find(key) else {
            return Wrote::NotStored;
        };
        let (first, second) = match at_end {
            true => (item.value(), value),
            false => (value, item.value()),
        };
        if first.len() + second.len() > LONGEST_VALUE {
            return Wrote::NoRoom;
        }
        let longer = [first, second].concat();
        match self.memory.change(key, &longer) {
            Some(cas) => Wrote::Done(cas),
            None => Wrote::NotStored,
        }
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
        let counted = self.changed_number(key, decrement, delta);
        let c = &mut self.counters;
        match (decrement, &counted) {
            (_, Counted::NoNumber) => {}
            (is_less, Counted::Done(_)) => c.number_changed(is_less),
            (is_less, Counted::NotFound) => c.number_missed(is_less),
        }
        counted
    }

    fn changed_number(&mut self, key: &[u8], decrement: bool, delta: u64) -> Counted {
        let Some(item) = self.memory.find(key) else {
            return Counted::NotFound;
        };
        let text = std::str::from_utf8(item.value()).ok();
        let Some(number) = text.and_then(|text| text.trim_end().parse::<u64>().ok()) else {
            return Counted::NoNumber;
        };
        let number = match decrement {
            true => number.saturating_sub(delta),
            false => number.wrapping_add(delta),
        };
        // As memcached does, a number that is taken from keeps its length, with spaces behind it.
        let length = if decrement { item.value().len() } else { 0 };
        let text = format!("{number:<length$}");
        self.memory.change(key, text.as_bytes());
        Counted::Done(number)
    }

    pub(super) fn touch(&mut self, key: &[u8], expires: i64) -> bool {
        self.counters.cmd_touch += 1;
        let expires_ms = self.memory.expiry_ms(expires);
        let there = match self.memory.find(key) {
            Some(item) => {
                item.expire_at(expires_ms);
                true
            }
            None => false,
        };
        match there {
            true => self.counters.touch_hits += 1,
            false => self.counters.touch_misses += 1,
        }
        there
    }
}
