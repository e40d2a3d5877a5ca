//! The shortest way to the most common answer: a hit on one key, recognised by its first bytes,
//! found by the bytes of its key, and answered with one copy. Whatever is not exactly that is left
//! to the codec.

use super::answer::Service;

impl Service {
    /// Answers the request at the front if it is a plain read of one key that is there, and says
    /// how many bytes it took.
    #[inline]
    pub(super) fn answer_quickly(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        if !self.is_plain {
            return None;
        }
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
        self.counters.cmd_get += 1;
        self.counters.get_hits += 1;
        Some(b"get ".len() + end + b"\r\n".len())
    }
}
