//! The items. Nothing is evicted: above the limit a write is refused.

use roundtrip_wire::memcached::MAX_RELATIVE_TTL_S;
use std::collections::HashMap;

/// What an item takes besides its key and value: an estimate, of the size of memcached's own.
const OVERHEAD_BYTES: u64 = 56;

/// One item.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) value: Vec<u8>,
    pub(super) flags: u32,
    /// The Unix second from which it is gone; 0 for never.
    pub(super) expires_s: u64,
    pub(super) cas: u64,
    pub(super) accessed_s: u64,
    pub(super) fetched: bool,
}

impl Item {
    fn is_expired(&self, now_s: u64) -> bool {
        self.expires_s != 0 && self.expires_s <= now_s
    }
}

/// All items, by key.
#[derive(Debug)]
pub(super) struct Memory {
    items: HashMap<Box<[u8]>, Item>,
    bytes: u64,
    limit_bytes: u64,
    last_cas: u64,
    /// The Unix second that times to live are measured against.
    pub(super) now_s: u64,
}

impl Memory {
    pub(super) fn new(limit_bytes: u64) -> Memory {
        Memory {
            items: HashMap::new(),
            bytes: 0,
            limit_bytes,
            last_cas: 0,
            now_s: 0,
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.items.len() as u64
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn limit_bytes(&self) -> u64 {
        self.limit_bytes
    }

    /// The version of the next change.
    pub(super) fn next_cas(&self) -> u64 {
        self.last_cas + 1
    }

    /// Says that there was a change.
    pub(super) fn changed(&mut self) {
        self.last_cas += 1;
    }

    /// The Unix second that a time to live on the wire means.
    pub(super) fn expiry(&self, expires: i64) -> u64 {
        match u64::try_from(expires) {
            Ok(0) => 0,
            Ok(seconds) if seconds <= u64::from(MAX_RELATIVE_TTL_S) => self.now_s + seconds,
            Ok(moment) => moment,
            // Below 0 is gone at once.
            Err(_) => 1,
        }
    }

    /// Hands the item of a key to `f`, which may change it. One that has expired is removed here:
    /// nobody looks for expired items before they are asked for.
    #[inline]
    pub(super) fn with<R>(&mut self, key: &[u8], f: impl FnOnce(Option<&mut Item>) -> R) -> R {
        match self.items.get_mut(key) {
            Some(item) if !item.is_expired(self.now_s) => {
                let before = item.value.len() as u64;
                let answer = f(Some(item));
                self.bytes = self.bytes + item.value.len() as u64 - before;
                return answer;
            }
            Some(_) => {}
            None => return f(None),
        }
        self.remove(key);
        f(None)
    }

    /// Whether a value of so many bytes more may be written.
    pub(super) fn has_room(&self, key: &[u8], value_bytes: usize) -> bool {
        self.bytes + size(key, value_bytes) <= self.limit_bytes
    }

    /// Writes an item whatever is there; the memory of the one before is used again. Says its
    /// version.
    #[inline]
    pub(super) fn put(&mut self, key: &[u8], value: &[u8], flags: u32, expires: i64) -> u64 {
        let (cas, expires_s, accessed_s) = (self.next_cas(), self.expiry(expires), self.now_s);
        self.changed();
        if !self.items.contains_key(key) {
            self.bytes += size(key, 0);
            self.items.insert(key.into(), Item::default());
        }
        if let Some(item) = self.items.get_mut(key) {
            self.bytes = self.bytes + value.len() as u64 - item.value.len() as u64;
            item.value.clear();
            item.value.extend_from_slice(value);
            item.flags = flags;
            item.expires_s = expires_s;
            item.cas = cas;
            item.accessed_s = accessed_s;
            item.fetched = false;
        }
        cas
    }

    /// Removes an item; says whether it was there.
    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let Some(item) = self.items.remove(key) else {
            return false;
        };
        self.bytes -= size(key, item.value.len());
        !item.is_expired(self.now_s)
    }

    /// Every item that has not expired.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &Item)> {
        self.items
            .iter()
            .filter(|(_, item)| !item.is_expired(self.now_s))
            .map(|(key, item)| (key.as_ref(), item))
    }

    /// What an item takes.
    pub(super) fn size_of(key: &[u8], item: &Item) -> u64 {
        size(key, item.value.len())
    }
}

fn size(key: &[u8], value_bytes: usize) -> u64 {
    key.len() as u64 + value_bytes as u64 + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory_at(now_s: u64) -> Memory {
        let mut memory = Memory::new(1000);
        memory.now_s = now_s;
        memory
    }

    #[test]
    fn bytes_follow_writes_changes_and_removals() {
        let mut memory = memory_at(100);
        memory.put(b"key", b"12345", 0, 0);
        assert_eq!(memory.bytes(), 3 + 5 + OVERHEAD_BYTES);
        memory.put(b"key", b"1", 0, 0);
        assert_eq!(memory.bytes(), 3 + 1 + OVERHEAD_BYTES);
        memory.with(b"key", |item| item.unwrap().value.extend_from_slice(b"23"));
        assert_eq!(memory.bytes(), 3 + 3 + OVERHEAD_BYTES);
        assert!(memory.has_room(b"key", 700));
        assert!(!memory.has_room(b"key", 1000));
        assert!(memory.remove(b"key"));
        assert_eq!((memory.bytes(), memory.len()), (0, 0));
    }

    #[test]
    fn an_item_is_there_until_its_second_comes() {
        let mut memory = memory_at(1_000_000);
        memory.put(b"short", b"x", 0, 10);
        memory.put(
            b"moment",
            b"x",
            0,
            1_000_020 + i64::from(MAX_RELATIVE_TTL_S),
        );
        memory.put(b"gone", b"x", 0, -1);
        memory.put(b"ever", b"x", 0, 0);
        let mut there = |now_s| {
            memory.now_s = now_s;
            [&b"short"[..], b"moment", b"gone", b"ever"]
                .map(|key| memory.with(key, |item| item.is_some()))
        };
        assert_eq!(there(1_000_009), [true, true, false, true]);
        assert_eq!(there(1_000_010), [false, true, false, true]);
        assert_eq!(there(9_000_000), [false, false, false, true]);
        assert_eq!(memory.len(), 1);
    }
}
