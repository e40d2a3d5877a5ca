//! One item, kept in one piece: what is known of it, and behind that the reply that the memcached
//! protocol has for it. Reading it is then one copy, and touches memory in one place: with its
//! parts in places of their own, two of five cycles of a pipelined read went into waiting for them.

use std::io::Write;

/// What is known of an item, in front of its reply: each number in its place.
const HEAD_BYTES: usize = 34;
const EXPIRES: usize = 0;
const CAS: usize = 8;
const ACCESSED: usize = 16;
const KEY_BYTES: usize = 20;
const VALUE_AT: usize = 24;
const FLAGS: usize = 28;
const IS_WORD: usize = 32;
const FETCHED: usize = 33;

/// What the processor fetches at once.
const LINE_BYTES: usize = 64;

/// What stands before the key in a reply.
const BEFORE_KEY: &[u8] = b"VALUE ";
/// Where the key is, then.
const KEY_AT: usize = HEAD_BYTES + BEFORE_KEY.len();
/// What stands behind the value in a reply to a request for one key.
const BEHIND_VALUE: &[u8] = b"\r\nEND\r\n";
/// The part of it that belongs to the value.
const LINE_END: usize = b"\r\n".len();

/// One item.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// The head, and `VALUE key flags length\r\nvalue\r\nEND\r\n`.
    block: Vec<u8>,
}

impl Item {
    /// Writes key, flags and value; the memory of the ones before is used again. All else that is
    /// known of the item stays.
    pub(super) fn write(&mut self, key: &[u8], flags: u32, value: &[u8]) {
        let block = &mut self.block;
        block.resize(HEAD_BYTES, 0);
        block.reserve(BEFORE_KEY.len() + key.len() + value.len() + BEHIND_VALUE.len() + 24);
        block.extend_from_slice(BEFORE_KEY);
        block.extend_from_slice(key);
        // Writing to a Vec cannot fail.
        let _ = write!(block, " {flags} {}\r\n", value.len());
        let value_at = block.len() as u32;
        block.extend_from_slice(value);
        block.extend_from_slice(BEHIND_VALUE);
        self.set(KEY_BYTES, (key.len() as u32).to_le_bytes());
        self.set(VALUE_AT, value_at.to_le_bytes());
        self.set(FLAGS, flags.to_le_bytes());
        self.set(IS_WORD, [is_word(key).into()]);
    }

    #[inline]
    fn number<const N: usize>(&self, at: usize) -> [u8; N] {
        let part = self.block.get(at..).and_then(<[u8]>::first_chunk);
        part.copied().unwrap_or([0; N])
    }

    #[inline]
    fn set<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        if let Some(place) = self.block.get_mut(at..at + N) {
            place.copy_from_slice(&bytes);
        }
    }

    #[inline]
    fn value_at(&self) -> usize {
        u32::from_le_bytes(self.number(VALUE_AT)) as usize
    }

    /// The Unix millisecond from which it is gone; 0 for never.
    #[inline]
    pub(super) fn expires_ms(&self) -> u64 {
        u64::from_le_bytes(self.number(EXPIRES))
    }

    pub(super) fn expire_at(&mut self, expires_ms: u64) {
        self.set(EXPIRES, expires_ms.to_le_bytes());
    }

    /// Its version; 0 before it was written.
    pub(super) fn cas(&self) -> u64 {
        u64::from_le_bytes(self.number(CAS))
    }

    pub(super) fn set_cas(&mut self, cas: u64) {
        self.set(CAS, cas.to_le_bytes());
    }

    /// The Unix second at which it was last read or written.
    pub(super) fn accessed_s(&self) -> u64 {
        u32::from_le_bytes(self.number(ACCESSED)).into()
    }

    /// Whether it was read since it was written.
    pub(super) fn is_fetched(&self) -> bool {
        self.number(FETCHED) != [0]
    }

    /// Notes that it was read.
    #[inline]
    pub(super) fn read_at(&mut self, now_ms: u64) {
        self.accessed_at(now_ms, true);
    }

    /// Notes that it was written.
    pub(super) fn written_at(&mut self, now_ms: u64) {
        self.accessed_at(now_ms, false);
    }

    #[inline]
    fn accessed_at(&mut self, now_ms: u64, fetched: bool) {
        self.set(ACCESSED, ((now_ms / 1000) as u32).to_le_bytes());
        self.set(FETCHED, [fetched.into()]);
    }

    #[inline]
    pub(super) fn key(&self) -> &[u8] {
        let key_bytes = u32::from_le_bytes(self.number(KEY_BYTES)) as usize;
        &self.block[KEY_AT..KEY_AT + key_bytes]
    }

    #[inline]
    pub(super) fn value(&self) -> &[u8] {
        &self.block[self.value_at()..self.block.len() - BEHIND_VALUE.len()]
    }

    /// Appends what RESP says of the value.
    #[inline]
    pub(super) fn push_bulk(&self, out: &mut Vec<u8>) {
        // Its length stands in the reply of memcached too, right before the value, behind a space.
        let (value_at, end) = (self.value_at(), self.block.len() - BEHIND_VALUE.len());
        let digits = (end - value_at).checked_ilog10().map_or(1, |log| log + 1) as usize;
        let space = value_at - LINE_END - digits - 1;
        let at = out.len();
        out.extend_from_slice(&self.block[space..end + LINE_END]);
        out[at] = b'$';
    }

    /// Brings it near.
    #[inline]
    pub(super) fn touch(&self) -> u8 {
        let byte = |at: usize| self.block.get(at).copied().unwrap_or_default();
        byte(0) | byte(LINE_BYTES) | byte(2 * LINE_BYTES)
    }

    /// What `get` says of it.
    #[inline]
    pub(super) fn reply(&self) -> &[u8] {
        &self.block[HEAD_BYTES..self.block.len() - BEHIND_VALUE.len() + LINE_END]
    }

    /// What `get` says when it is all that was asked for.
    #[inline]
    pub(super) fn whole_reply(&self) -> &[u8] {
        &self.block[HEAD_BYTES..]
    }

    pub(super) fn flags(&self) -> u32 {
        u32::from_le_bytes(self.number(FLAGS))
    }

    #[inline]
    pub(super) fn is_word(&self) -> bool {
        self.number(IS_WORD) != [0]
    }

    #[inline]
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_ms() != 0 && self.expires_ms() <= now_ms
    }
}

/// Whether a key can be written in memcached's text protocol.
#[inline]
pub(super) fn is_word(key: &[u8]) -> bool {
    !key.is_empty() && key.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_parts_are_found_in_its_reply() {
        let mut item = Item::default();
        item.write(b"a longer key", 1, b"a longer value");
        item.set_cas(5);
        item.expire_at(2_000);
        item.read_at(1_999);
        item.write(b"key", 7, b"value");
        assert_eq!(
            (item.cas(), item.expires_ms(), item.accessed_s()),
            (5, 2_000, 1)
        );
        assert!(item.is_fetched() && !item.is_expired(1_999) && item.is_expired(2_000));
        assert_eq!(item.flags(), 7);
        assert_eq!(item.whole_reply(), b"VALUE key 7 5\r\nvalue\r\nEND\r\n");
        assert_eq!(item.reply(), b"VALUE key 7 5\r\nvalue\r\n");
        assert_eq!((item.key(), item.value()), (&b"key"[..], &b"value"[..]));
        let mut bulk = Vec::new();
        item.push_bulk(&mut bulk);
        assert_eq!(bulk, b"$5\r\nvalue\r\n");
        assert!(item.is_word());
        for (length, head) in [
            (0, "$0"),
            (9, "$9"),
            (10, "$10"),
            (99, "$99"),
            (100, "$100"),
        ] {
            item.write(b"key", 7, &vec![b'v'; length]);
            bulk.clear();
            item.push_bulk(&mut bulk);
            let value = "v".repeat(length);
            assert_eq!(bulk, format!("{head}\r\n{value}\r\n").as_bytes());
        }
        item.write(b"two words", 0, b"");
        assert_eq!(item.value(), b"");
        assert!(!item.is_word());
    }
}
