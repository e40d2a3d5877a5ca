//! The items. Nothing is evicted: above the limit a write is refused.

use super::item::Item;
use hashbrown::{DefaultHashBuilder, HashTable};
use roundtrip_wire::memcached::MAX_RELATIVE_TTL_S;
use std::hash::BuildHasher;

/// What an item takes besides its key and value: an estimate, of the size of memcached's own.
const OVERHEAD_BYTES: u64 = 56;

/// All items, by key.
#[derive(Debug)]
pub(super) struct Memory {
    items: HashTable<Item>,
    hashing: DefaultHashBuilder,
    bytes: u64,
    limit_bytes: u64,
    last_cas: u64,
    /// The Unix millisecond that times to live are measured against.
    pub(super) now_ms: u64,
}

impl Memory {
    pub(super) fn new(limit_bytes: u64) -> Memory {
        Memory {
            items: HashTable::new(),
            hashing: DefaultHashBuilder::default(),
            bytes: 0,
            limit_bytes,
            last_cas: 0,
            now_ms: 0,
        }
    }

    pub(super) fn now_s(&self) -> u64 {
        self.now_ms / 1000
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

    /// The Unix millisecond that a time to live of the memcached protocol means.
    pub(super) fn expiry_ms(&self, expires: i64) -> u64 {
        match u64::try_from(expires) {
            Ok(0) => 0,
            Ok(seconds) if seconds <= u64::from(MAX_RELATIVE_TTL_S) => {
                // Whole seconds, as memcached counts.
                (self.now_s() + seconds) * 1000
            }
            Ok(moment) => moment.saturating_mul(1000),
            // Below 0 is gone at once.
            Err(_) => 1,
        }
    }

    /// The item of a key. One that has expired is removed here: nobody looks for expired items
    /// before they are asked for.
    #[inline]
    pub(super) fn find(&mut self, key: &[u8]) -> Option<&mut Item> {
        self.find_hashed(self.hash(key), key)
    }

    /// What a key is found by.
    #[inline]
    pub(super) fn hash(&self, key: &[u8]) -> u64 {
        self.hashing.hash_one(key)
    }

    /// Brings the item of a hash near, if there is one.
    #[inline]
    pub(super) fn touch(&self, hash: u64) {
        let first = |item: &Item| std::hint::black_box(item.touch()) < u8::MAX;
        std::hint::black_box(self.items.find(hash, first).is_some());
    }

    /// The item of a key whose hash is known.
    #[inline]
    pub(super) fn find_hashed(&mut self, hash: u64, key: &[u8]) -> Option<&mut Item> {
        let entry = self.items.find_entry(hash, |item| item.key() == key).ok()?;
        if entry.get().is_expired(self.now_ms) {
            self.bytes -= size_of(entry.get());
            entry.remove();
            return None;
        }
        Some(entry.into_mut())
    }

    /// Whether a value of so many bytes more may be written.
    pub(super) fn has_room(&self, key: &[u8], value_bytes: usize) -> bool {
        self.bytes + size(key, value_bytes) <= self.limit_bytes
    }

    /// Writes an item whatever is there; the memory of the one before is used again. Says its
    /// version.
    pub(super) fn put(&mut self, key: &[u8], value: &[u8], flags: u32, expires_ms: u64) -> u64 {
        self.last_cas += 1;
        let cas = self.last_cas;
        let hashing = &self.hashing;
        let entry = self.items.entry(
            hashing.hash_one(key),
            |item| item.key() == key,
            |item| hashing.hash_one(item.key()),
        );
        let mut entry = entry.or_insert_with(Item::default);
        let item = entry.get_mut();
        if item.cas() != 0 {
            self.bytes -= size_of(item);
        }
        item.write(key, flags, value);
        item.expire_at(expires_ms);
        item.set_cas(cas);
        item.written_at(self.now_ms);
        self.bytes += size_of(item);
        cas
    }

    /// Gives an item that is there another value, and nothing else but a version. Says which;
    /// `None` when nothing is there.
    pub(super) fn change(&mut self, key: &[u8], value: &[u8]) -> Option<u64> {
        let cas = self.last_cas + 1;
        let item = self.find(key)?;
        let before = size_of(item);
        let flags = item.flags();
        item.write(key, flags, value);
        item.set_cas(cas);
        let now = size_of(item);
        self.bytes = self.bytes + now - before;
        self.last_cas = cas;
        Some(cas)
    }

    /// Removes an item; says whether it was there.
    pub(super) fn remove(&mut self, key: &[u8]) -> bool {
        let hash = self.hashing.hash_one(key);
        let Ok(entry) = self.items.find_entry(hash, |item| item.key() == key) else {
            return false;
        };
        let (item, _) = entry.remove();
        self.bytes -= size_of(&item);
        !item.is_expired(self.now_ms)
    }

    /// Every item that has not expired.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Item> {
        let now_ms = self.now_ms;
        self.items
            .iter()
            .filter(move |item| !item.is_expired(now_ms))
    }
}

/// What an item takes.
pub(super) fn size_of(item: &Item) -> u64 {
    size(item.key(), item.value().len())
}

fn size(key: &[u8], value_bytes: usize) -> u64 {
    key.len() as u64 + value_bytes as u64 + OVERHEAD_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory_at(now_s: u64) -> Memory {
        let mut memory = Memory::new(1000);
        memory.now_ms = now_s * 1000;
        memory
    }

    #[test]
    fn bytes_follow_writes_changes_and_removals() {
        let mut memory = memory_at(100);
        memory.put(b"key", b"12345", 0, 0);
        assert_eq!(memory.bytes(), 3 + 5 + OVERHEAD_BYTES);
        memory.put(b"key", b"1", 0, 0);
        assert_eq!(memory.bytes(), 3 + 1 + OVERHEAD_BYTES);
        assert_eq!(memory.change(b"key", b"123"), Some(3));
        assert_eq!(memory.change(b"other", b"123"), None);
        assert_eq!(memory.bytes(), 3 + 3 + OVERHEAD_BYTES);
        assert!(memory.has_room(b"key", 700));
        assert!(!memory.has_room(b"key", 1000));
        assert!(memory.remove(b"key"));
        assert_eq!((memory.bytes(), memory.len()), (0, 0));
    }

    #[test]
    fn an_item_is_there_until_its_moment_comes() {
        let mut memory = memory_at(1_000_000);
        let moment = 1_000_020 + i64::from(MAX_RELATIVE_TTL_S);
        for (key, expires) in [("short", 10), ("moment", moment), ("gone", -1), ("ever", 0)] {
            let expires_ms = memory.expiry_ms(expires);
            memory.put(key.as_bytes(), b"x", 0, expires_ms);
        }
        let mut there = |now_ms| {
            memory.now_ms = now_ms;
            ["short", "moment", "gone", "ever"].map(|key| memory.find(key.as_bytes()).is_some())
        };
        assert_eq!(there(1_000_009_999), [true, true, false, true]);
        assert_eq!(there(1_000_010_000), [false, true, false, true]);
        assert_eq!(there(9_000_000_000), [false, false, false, true]);
        assert_eq!((memory.len(), memory.bytes()), (1, 5 + OVERHEAD_BYTES));
    }
}
