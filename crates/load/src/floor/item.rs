//! One item, kept as the reply that the memcached protocol has for it, so that reading it is one
//! copy.

use std::io::Write;

/// What stands before the key in a reply.
const BEFORE_KEY: &[u8] = b"VALUE ";
/// What stands behind the value in a reply to a request for one key.
const BEHIND_VALUE: &[u8] = b"\r\nEND\r\n";
/// The part of it that belongs to the value.
const LINE_END: usize = b"\r\n".len();

/// One item.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// `VALUE key flags length\r\nvalue\r\nEND\r\n`
    reply: Vec<u8>,
    key_bytes: u32,
    value_at: u32,
    flags: u32,
    /// Whether the key is one that the memcached protocol can name.
    word: bool,
    pub(super) fetched: bool,
    pub(super) cas: u64,
    /// The Unix millisecond from which it is gone; 0 for never.
    pub(super) expires_ms: u64,
    pub(super) accessed_s: u64,
}

impl Item {
    /// Writes key, flags and value; the memory of the ones before is used again.
    pub(super) fn write(&mut self, key: &[u8], flags: u32, value: &[u8]) {
        let reply = &mut self.reply;
        reply.clear();
        reply.reserve(BEFORE_KEY.len() + key.len() + value.len() + BEHIND_VALUE.len() + 24);
        reply.extend_from_slice(BEFORE_KEY);
        reply.extend_from_slice(key);
        // Writing to a Vec cannot fail.
        let _ = write!(reply, " {flags} {}\r\n", value.len());
        self.value_at = reply.len() as u32;
        reply.extend_from_slice(value);
        reply.extend_from_slice(BEHIND_VALUE);
        self.key_bytes = key.len() as u32;
        self.flags = flags;
        self.word = key.iter().all(|byte| *byte > b' ' && *byte != 0x7f);
    }

    #[inline]
    pub(super) fn key(&self) -> &[u8] {
        &self.reply[BEFORE_KEY.len()..BEFORE_KEY.len() + self.key_bytes as usize]
    }

    #[inline]
    pub(super) fn value(&self) -> &[u8] {
        &self.reply[self.value_at as usize..self.reply.len() - BEHIND_VALUE.len()]
    }

    /// Appends what RESP says of the value.
    #[inline]
    pub(super) fn push_bulk(&self, out: &mut Vec<u8>) {
        // Its length stands in the reply of memcached too, right before the value.
        let head = &self.reply[..self.value_at as usize];
        let digits = memchr::memrchr(b' ', head).map_or(&head[..0], |space| &head[space + 1..]);
        let tail = self.reply.len() - BEHIND_VALUE.len() + LINE_END;
        out.reserve(1 + digits.len() + tail - self.value_at as usize);
        out.push(b'$');
        out.extend_from_slice(digits);
        out.extend_from_slice(&self.reply[self.value_at as usize..tail]);
    }

    /// What `get` says of it.
    #[inline]
    pub(super) fn reply(&self) -> &[u8] {
        &self.reply[..self.reply.len() - BEHIND_VALUE.len() + LINE_END]
    }

    /// What `get` says when it is all that was asked for.
    #[inline]
    pub(super) fn whole_reply(&self) -> &[u8] {
        &self.reply
    }

    pub(super) fn flags(&self) -> u32 {
        self.flags
    }

    #[inline]
    pub(super) fn is_word(&self) -> bool {
        self.word
    }

    #[inline]
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_ms != 0 && self.expires_ms <= now_ms
    }

    /// Notes that it was read.
    #[inline]
    pub(super) fn read_at(&mut self, now_ms: u64) {
        self.fetched = true;
        self.accessed_s = now_ms / 1000;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_parts_are_found_in_its_reply() {
        let mut item = Item::default();
        item.write(b"a longer key", 1, b"a longer value");
        item.write(b"key", 7, b"value");
        assert_eq!(item.whole_reply(), b"VALUE key 7 5\r\nvalue\r\nEND\r\n");
        assert_eq!(item.reply(), b"VALUE key 7 5\r\nvalue\r\n");
        assert_eq!((item.key(), item.value()), (&b"key"[..], &b"value"[..]));
        let mut bulk = Vec::new();
        item.push_bulk(&mut bulk);
        assert_eq!(bulk, b"$5\r\nvalue\r\n");
        assert!(item.is_word());
        item.write(b"two words", 0, b"");
        assert_eq!(item.value(), b"");
        assert!(!item.is_word());
    }
}
