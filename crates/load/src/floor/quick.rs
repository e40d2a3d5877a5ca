//! The shortest way to the most common answers: reads of one key, recognised by their first bytes,
//! found by the bytes of the key, and answered with one copy. Whatever is not exactly that is left
//! to the codec.
//!
//! Requests that came together are gone through three times: all keys are found in the bytes, all
//! items are brought near, and then they are answered. Looking for one item is waiting for memory
//! three times in a row; looking for all of them at once is waiting for them together.

use super::answer::Service;
use super::conversation::UNSENT_LIMIT;
use super::item::{Item, is_word};
use super::resp::GET;
use roundtrip_wire::memcached::MAX_KEY_BYTES;

/// So many are brought near before the first is answered.
const TOGETHER: usize = 32;

/// A request for one key: where its key is, and what it is found by.
#[derive(Clone, Copy, Default)]
struct Asked {
    start: usize,
    end: usize,
    hash: u64,
}

const LINE_END: &[u8] = b"\r\n";

/// Where the key is in the request of memcached's protocol at the front, if that is a plain read of
/// one key. The request ends with the line of its key.
#[inline]
fn key_of_get(bytes: &[u8]) -> Option<(usize, usize)> {
    const GET_OF: &[u8] = b"get ";
    let line = bytes.strip_prefix(GET_OF)?;
    // A space stands between two keys.
    let end = memchr::memchr2(b' ', b'\r', line)?;
    line[end..]
        .starts_with(LINE_END)
        .then_some((GET_OF.len(), GET_OF.len() + end))
}

/// The same in RESP.
#[inline]
fn key_of_command(bytes: &[u8]) -> Option<(usize, usize)> {
    const GET_OF: &[u8] = b"*2\r\n$3\r\nGET\r\n$";
    let rest = bytes.strip_prefix(GET_OF)?;
    // Two digits are what keys have most, and one or three what else is likely.
    let (length, digits) = match *rest.first_chunk::<4>()? {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', b'\r', b'\n'] => (number(&[a, b]), 2),
        [a @ b'0'..=b'9', b'\r', b'\n', _] => (number(&[a]), 1),
        [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9', b'\r']
            if rest.get(4) == Some(&b'\n') =>
        {
            (number(&[a, b, c]), 3)
        }
        _ => return None,
    };
    let start = digits + LINE_END.len();
    let end = start + length;
    let whole = rest.get(end..end + LINE_END.len())? == LINE_END;
    whole.then_some((GET_OF.len() + start, GET_OF.len() + end))
}

fn number(digits: &[u8]) -> usize {
    let add = |number, digit: &u8| number * 10 + usize::from(digit - b'0');
    digits.iter().fold(0, add)
}

/// Requests that were found together.
struct Ahead {
    asked: [Asked; TOGETHER],
    count: usize,
}

/// What was answered of them.
#[derive(Default)]
struct Answered {
    bytes: usize,
    hits: u64,
    misses: u64,
}

impl Service {
    /// Answers the requests of memcached's protocol at the front that are plain reads of one key,
    /// and says how many bytes they took.
    #[inline]
    pub(super) fn get_quickly(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let ahead = self.look_ahead(bytes, key_of_get);
        let say = |key: &[u8], item: Option<&Item>, out: &mut Vec<u8>| match item {
            Some(item) if item.is_word() => {
                out.extend_from_slice(item.whole_reply());
                true
            }
            // What is refused is no miss.
            None if key.len() <= MAX_KEY_BYTES && is_word(key) => {
                out.extend_from_slice(b"END\r\n");
                true
            }
            _ => false,
        };
        self.answer_quickly(bytes, &ahead, out, say).bytes
    }

    /// The same of RESP, where nothing is said as `null`. A string is the same in RESP3.
    #[inline]
    pub(super) fn command_quickly(
        &mut self,
        bytes: &[u8],
        null: &[u8],
        out: &mut Vec<u8>,
    ) -> usize {
        let ahead = self.look_ahead(bytes, key_of_command);
        let say = |_: &[u8], item: Option<&Item>, out: &mut Vec<u8>| {
            match item {
                Some(item) => item.push_bulk(out),
                None => out.extend_from_slice(null),
            }
            true
        };
        let answered = self.answer_quickly(bytes, &ahead, out, say);
        self.counters.keyspace_hits += answered.hits;
        self.counters.keyspace_misses += answered.misses;
        self.calls[GET].calls += answered.hits + answered.misses;
        answered.bytes
    }

    #[inline]
    fn look_ahead(&self, bytes: &[u8], key_of: impl Fn(&[u8]) -> Option<(usize, usize)>) -> Ahead {
        let mut ahead = Ahead {
            asked: [Asked::default(); TOGETHER],
            count: 0,
        };
        let mut from = 0;
        for asked in &mut ahead.asked {
            let Some((start, end)) = bytes.get(from..).and_then(&key_of) else {
                break;
            };
            let (start, end) = (from + start, from + end);
            let hash = self.memory.hash(&bytes[start..end]);
            *asked = Asked { start, end, hash };
            from = end + LINE_END.len();
            ahead.count += 1;
        }
        if ahead.count > 1 {
            for asked in &ahead.asked[..ahead.count] {
                self.memory.touch(asked.hash);
            }
        }
        ahead
    }

    /// Answers requests until `say` does not.
    #[inline]
    fn answer_quickly(
        &mut self,
        bytes: &[u8],
        ahead: &Ahead,
        out: &mut Vec<u8>,
        say: impl Fn(&[u8], Option<&Item>, &mut Vec<u8>) -> bool,
    ) -> Answered {
        let now_ms = self.memory.now_ms;
        let mut answered = Answered::default();
        for asked in &ahead.asked[..ahead.count] {
            if out.len() >= UNSENT_LIMIT {
                break;
            }
            let key = &bytes[asked.start..asked.end];
            let item = self.memory.find_hashed(asked.hash, key);
            if !say(key, item.as_deref(), out) {
                break;
            }
            match item {
                Some(item) => {
                    item.read_at(now_ms);
                    answered.hits += 1;
                }
                None => answered.misses += 1,
            }
            answered.bytes = asked.end + LINE_END.len();
        }
        self.counters.requests += answered.hits + answered.misses;
        self.counters.get_hits += answered.hits;
        self.counters.get_misses += answered.misses;
        answered
    }
}
