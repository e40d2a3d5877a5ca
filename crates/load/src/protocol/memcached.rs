//! memcached, or anything else that speaks its text protocol.

use super::lead::Lead;
use super::{Answer, Flight, Protocol, Task, after_read, note, reads};
use crate::clock;
use crate::engine::{Fence, Texts};
use crate::outcome::{ErrorKind, Outcome};
use roundtrip_model::Op;
use roundtrip_model::stream::decimal;
use roundtrip_wire::memcached::{MAX_RELATIVE_TTL_S, Reply};
use roundtrip_wire::{Limits, Parsed};

const END: &[u8] = b"END\r\n";

/// One phase. Requests are put together here, because values are written in pieces straight from
/// their maker and what repeats is made once. A reply that is not, byte for byte, the plain one
/// that is expected is read by the codec.
#[derive(Debug)]
pub(crate) struct Memcached {
    /// ` 0 EXPIRES ` of a set.
    storing: Vec<u8>,
    /// ` 0 LENGTH` and a line end: what stands between the key and a value that is there.
    lead: Lead,
    limits: Limits,
    complaint: Option<String>,
}

impl Memcached {
    pub(crate) fn new(task: Task) -> Memcached {
        Memcached {
            storing: format!(" 0 {} ", lifetime(task)).into_bytes(),
            lead: Lead::new(b" 0 "),
            limits: Limits::default(),
            complaint: None,
        }
    }

    /// Appends a set of a value that is no stream's.
    pub(super) fn write_set(&self, key: &[u8], value: &[u8], out: &mut Vec<u8>) {
        let (digits, start) = decimal(value.len() as u64);
        let parts: [&[u8]; 7] = [
            b"set ",
            key,
            &self.storing,
            &digits[start..],
            b"\r\n",
            value,
            b"\r\n",
        ];
        parts.iter().for_each(|part| out.extend_from_slice(part));
    }

    #[inline]
    fn write_value(&self, verb: &[u8], index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        out.extend_from_slice(verb);
        out.extend_from_slice(texts.keys.get(index));
        out.extend_from_slice(&self.storing);
        let (digits, start) = decimal(texts.values.value_bytes(index) as u64);
        out.extend_from_slice(&digits[start..]);
        out.extend_from_slice(b"\r\n");
        texts.values.write(index, out);
        out.extend_from_slice(b"\r\n");
    }

    /// How long the reply is, if it is the whole plain one to the read of a key that is there.
    #[inline]
    fn plain_hit(&mut self, bytes: &[u8], index: u64, texts: &mut Texts) -> Option<usize> {
        let value_bytes = texts.values.value_bytes(index);
        let rest = bytes.strip_prefix(b"VALUE ")?;
        let rest = rest.strip_prefix(texts.keys.get(index))?;
        let (value, rest) = self.lead.value(rest, value_bytes)?;
        let rest = rest.strip_prefix(b"\r\nEND\r\n")?;
        let is_it = texts.values.is(index, value);
        is_it.then(|| bytes.len() - rest.len())
    }

    /// The reply to one key of a request, which may be for many. Keys that are not there are left
    /// out of it, and the last has the end of it to wait for.
    #[inline]
    fn read_get(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer {
        let (index, is_last) = (flight.index, flight.behind == 0);
        if is_last && let Some(used) = self.plain_hit(bytes, index, texts) {
            return after_read(flight.op, Outcome::Hit, used);
        }
        let (reply, used) = match Reply::parse(bytes, &self.limits) {
            Parsed::Complete(reply, used) => (reply, used),
            Parsed::NeedMore => return Answer::NeedMore,
            Parsed::Bad(_) => return Answer::Lost(ErrorKind::Protocol),
        };
        match reply {
            Reply::Value { key, value, .. } if key == texts.keys.get(index) => {
                let outcome = match texts.values.is(index, value) {
                    true => Outcome::Hit,
                    false => Outcome::Wrong,
                };
                let end = &bytes[used..];
                match is_last {
                    false => Answer::Ended(outcome, used),
                    true if end.starts_with(END) => {
                        after_read(flight.op, outcome, used + END.len())
                    }
                    true if END.starts_with(end) => Answer::NeedMore,
                    true => Answer::Lost(ErrorKind::Protocol),
                }
            }
            // The next key that is there, or the end: this one was left out.
            Reply::Value { .. } | Reply::End if !is_last => Answer::Ended(Outcome::Miss, 0),
            Reply::End => after_read(flight.op, Outcome::Miss, used),
            _ => failure(reply, used, flight, &mut self.complaint),
        }
    }
}

/// When what is written expires, as the server wants it: from now, or beyond a month in Unix time.
pub(super) fn lifetime(task: Task) -> u64 {
    let absolute = task.ttl_s > MAX_RELATIVE_TTL_S;
    u64::from(task.ttl_s) + if absolute { clock::unix_s() } else { 0 }
}

impl Protocol for Memcached {
    const GROUPS: bool = true;
    const MAKES_AHEAD: bool = true;
    const FENCE: Option<Fence> = Some(Fence {
        request: b"version\r\n",
        answer: b"VERSION ",
    });

    #[inline]
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        if let Some(request) = texts.request(op, index) {
            return out.extend_from_slice(request);
        }
        let (word, end): (&[u8], &[u8]) = match op {
            Op::Set => return self.write_value(b"set ", index, texts, out),
            Op::Insert => return self.write_value(b"add ", index, texts, out),
            Op::Delete => (b"delete ", b"\r\n"),
            Op::Incr => (b"incr ", b" 1\r\n"),
            // Of the rest none comes here but those that begin with a read.
            _ => (b"get ", b"\r\n"),
        };
        out.extend_from_slice(word);
        out.extend_from_slice(texts.keys.get(index));
        out.extend_from_slice(end);
    }

    fn complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }

    fn open_group(&mut self, _: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"get");
    }

    #[inline]
    fn group_key(&mut self, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        out.push(b' ');
        out.extend_from_slice(texts.keys.get(index));
    }

    fn close_group(&mut self, _: &mut Texts, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\r\n");
    }

    #[inline]
    fn reply(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer {
        if bytes.is_empty() {
            return Answer::NeedMore;
        }
        if reads(flight.op) {
            return self.read_get(bytes, flight, texts);
        }
        let (reply, used) = match Reply::parse(bytes, &self.limits) {
            Parsed::Complete(reply, used) => (reply, used),
            Parsed::NeedMore => return Answer::NeedMore,
            Parsed::Bad(_) => return Answer::Lost(ErrorKind::Protocol),
        };
        let outcome = match (flight.op, reply) {
            (Op::Set | Op::Insert, Reply::Stored) => Outcome::Stored,
            (Op::Insert, Reply::NotStored) => Outcome::Error(ErrorKind::NotStored),
            (Op::Delete, Reply::Deleted) => Outcome::Done,
            (Op::Delete | Op::Incr, Reply::NotFound) => Outcome::NotFound,
            // Nothing is 0 after one was added to it.
            (Op::Incr, Reply::Number(0)) => Outcome::Wrong,
            (Op::Incr, Reply::Number(_)) => Outcome::Done,
            _ => return failure(reply, used, flight, &mut self.complaint),
        };
        Answer::Ended(outcome, used)
    }
}

/// What a server says instead of any answer.
pub(super) fn failure(
    reply: Reply<'_>,
    used: usize,
    flight: &Flight,
    complaint: &mut Option<String>,
) -> Answer {
    if let Reply::ServerError(said) | Reply::ClientError(said) = reply {
        note(complaint, said);
    }
    let kind = match reply {
        Reply::ServerError(_) | Reply::NotStored => ErrorKind::Server,
        Reply::Error(_) | Reply::ClientError(_) => ErrorKind::Refused,
        _ => return Answer::Lost(ErrorKind::Protocol),
    };
    // The server may take the value of a set that it refused for a request; and which of many keys
    // it still answers nobody knows.
    let is_lost = flight.opens != 1
        || (matches!(flight.op, Op::Set | Op::Insert) && kind == ErrorKind::Refused);
    match is_lost {
        true => Answer::Lost(kind),
        false => Answer::Ended(Outcome::Error(kind), used),
    }
}
