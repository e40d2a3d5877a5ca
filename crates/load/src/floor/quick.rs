//! The shortest way to the most common answer: a hit on one key, recognised by its first bytes,
//! found by the bytes of its key, and answered with one copy. Whatever is not exactly that is left
//! to the codec.

use super::answer::Service;
use super::resp::GET;

impl Service {
    /// Answers the request of memcached's protocol at the front if it is a plain read of one key
    /// that is there, and says how many bytes it took.
    #[inline]
    pub(super) fn get_quickly(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let line = bytes.strip_prefix(b"get ")?;
        let end = memchr::memchr(b'\r', line)?;
        if line.get(end + 1) != Some(&b'\n') {
            return None;
        }
        let now_ms = self.memory.now_ms;
        // A key that has a space in it stands for two keys here.
        let item = self.memory.find(&line[..end])?;
        if !item.is_word() {
            return None;
        }
        item.read_at(now_ms);
        out.extend_from_slice(item.whole_reply());
        self.counters.requests += 1;
        self.counters.get_hits += 1;
        Some(b"get ".len() + end + b"\r\n".len())
    }

    /// The same of RESP.
    #[inline]
    pub(super) fn command_quickly(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        const GET_OF: &[u8] = b"*2\r\n$3\r\nGET\r\n$";
        let rest = bytes.strip_prefix(GET_OF)?;
        // Two digits are what keys have most, and one or three what else is likely.
        let digits = memchr::memchr(b'\r', &rest[..rest.len().min(4)])?;
        let length = rest[..digits].iter().try_fold(0, |length, byte| {
            byte.is_ascii_digit()
                .then(|| length * 10 + usize::from(byte - b'0'))
        })?;
        let start = digits + b"\r\n".len();
        let end = start + length;
        if digits == 0
            || rest[digits..].get(1) != Some(&b'\n')
            || rest.get(end..end + 2)? != b"\r\n"
        {
            return None;
        }
        let now_ms = self.memory.now_ms;
        let item = self.memory.find(&rest[start..end])?;
        item.read_at(now_ms);
        // No RESP3 in this: it says a string as RESP2 does.
        item.push_bulk(out);
        self.counters.requests += 1;
        self.counters.get_hits += 1;
        self.counters.keyspace_hits += 1;
        self.calls[GET].calls += 1;
        Some(GET_OF.len() + end + b"\r\n".len())
    }
}
