//! memcached's meta commands. Each reply names its key, so that one which belongs to another
//! request is seen where the plain commands would show only another value, or nothing.

use super::memcached::{failure, lifetime};
use super::{Answer, Flight, Protocol, Task, after_read, reads};
use crate::engine::{Fence, Texts};
use crate::outcome::{ErrorKind, Outcome};
use roundtrip_model::Op;
use roundtrip_model::stream::decimal;
use roundtrip_wire::memcached::Reply;
use roundtrip_wire::{Limits, Parsed};

/// One phase. As with the plain commands, a reply that is not, byte for byte, the one that is
/// expected is read by the codec.
#[derive(Debug)]
pub(crate) struct Meta {
    /// What ends the line of a write: how long it lives, and that the key is to be named.
    storing: Vec<u8>,
    /// `VA LENGTH k`: what stands before the key and the value that is there.
    hitting: Vec<u8>,
    hitting_bytes: Option<usize>,
    limits: Limits,
    complaint: Option<String>,
}

impl Meta {
    pub(crate) fn new(task: Task) -> Meta {
        Meta {
            storing: format!(" T{} k", lifetime(task)).into_bytes(),
            hitting: Vec::new(),
            hitting_bytes: None,
            limits: Limits::default(),
            complaint: None,
        }
    }

    #[inline]
    fn write_value(&self, is_new: bool, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        out.extend_from_slice(b"ms ");
        out.extend_from_slice(texts.keys.get(index));
        out.push(b' ');
        let (digits, start) = decimal(texts.values.value_bytes(index) as u64);
        out.extend_from_slice(&digits[start..]);
        out.extend_from_slice(&self.storing);
        // Mode E is the `add` of the plain commands.
        out.extend_from_slice(if is_new { b" ME\r\n" } else { b"\r\n" });
        texts.values.write(index, out);
        out.extend_from_slice(b"\r\n");
    }

    /// How long the reply is, if it is the whole expected one to the read of a key that is there.
    #[inline]
    fn plain_hit(&mut self, bytes: &[u8], index: u64, texts: &mut Texts) -> Option<usize> {
        let value_bytes = texts.values.value_bytes(index);
        if self.hitting_bytes != Some(value_bytes) {
            self.hitting = format!("VA {value_bytes} k").into_bytes();
            self.hitting_bytes = Some(value_bytes);
        }
        let rest = bytes.strip_prefix(self.hitting.as_slice())?;
        let rest = rest.strip_prefix(texts.keys.get(index))?;
        let rest = rest.strip_prefix(b"\r\n")?;
        let (value, rest) = rest.split_at_checked(value_bytes)?;
        let rest = rest.strip_prefix(b"\r\n")?;
        let is_it = texts.values.is(index, value);
        is_it.then(|| bytes.len() - rest.len())
    }

    /// What a reply is to an op; `None` for one that is no answer to it.
    fn outcome(&self, reply: &Reply<'_>, flight: &Flight, texts: &mut Texts) -> Option<Outcome> {
        let index = flight.index;
        // Each names the key that was asked for; of a miss some versions of the server do not.
        let key = Some(texts.keys.get(index));
        let is_it = match reply {
            Reply::MetaDone(flags)
            | Reply::MetaValue { flags, .. }
            | Reply::MetaNotFound(flags)
            | Reply::MetaNotStored(flags) => flags.argument(b'k') == key,
            Reply::MetaMiss(flags) => flags.argument(b'k').is_none_or(|told| Some(told) == key),
            _ => true,
        };
        if !is_it {
            return None;
        }
        Some(match (flight.op, reply) {
            (Op::ReadModifyWrite, Reply::MetaMiss(_)) => Outcome::NotFound,
            (op, Reply::MetaMiss(_)) if reads(op) => Outcome::Miss,
            (op, Reply::MetaValue { value, .. }) if reads(op) => {
                match texts.values.is(index, value) {
                    true => Outcome::Hit,
                    false => Outcome::Wrong,
                }
            }
            (Op::Set | Op::Insert, Reply::MetaDone(_)) => Outcome::Stored,
            (Op::Insert, Reply::MetaNotStored(_)) => Outcome::Error(ErrorKind::NotStored),
            (Op::Delete, Reply::MetaDone(_)) => Outcome::Done,
            (Op::Delete | Op::Incr, Reply::MetaNotFound(_)) => Outcome::NotFound,
            // Nothing is 0 after one was added to it.
            (Op::Incr, Reply::MetaValue { value: b"0", .. }) => Outcome::Wrong,
            (Op::Incr, Reply::MetaValue { value, .. }) if is_number(value) => Outcome::Done,
            _ => return None,
        })
    }
}

fn is_number(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(u8::is_ascii_digit)
}

impl Protocol for Meta {
    const FENCE: Option<Fence> = super::Memcached::FENCE;

    fn complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }

    #[inline]
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        let (word, end): (&[u8], &[u8]) = match op {
            Op::Set | Op::Insert => return self.write_value(op == Op::Insert, index, texts, out),
            Op::Delete => (b"md ", b" k\r\n"),
            Op::Incr => (b"ma ", b" v k\r\n"),
            // Of the rest none comes here but those that begin with a read.
            _ => (b"mg ", b" v k\r\n"),
        };
        out.extend_from_slice(word);
        out.extend_from_slice(texts.keys.get(index));
        out.extend_from_slice(end);
    }

    #[inline]
    fn reply(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer {
        if bytes.is_empty() {
            return Answer::NeedMore;
        }
        if reads(flight.op)
            && let Some(used) = self.plain_hit(bytes, flight.index, texts)
        {
            return after_read(flight.op, Outcome::Hit, used);
        }
        let (reply, used) = match Reply::parse(bytes, &self.limits) {
            Parsed::Complete(reply, used) => (reply, used),
            Parsed::NeedMore => return Answer::NeedMore,
            Parsed::Bad(_) => return Answer::Lost(ErrorKind::Protocol),
        };
        match self.outcome(&reply, flight, texts) {
            Some(outcome) => after_read(flight.op, outcome, used),
            None => failure(reply, used, flight, &mut self.complaint),
        }
    }
}
