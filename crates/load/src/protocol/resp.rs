//! Redis, or anything else that speaks RESP.

use super::lead::Lead;
use super::{Answer, Flight, Protocol, Task, after_read, note, reads};
use crate::engine::{Fence, Texts};
use crate::io::Hello;
use crate::outcome::{ErrorKind, Outcome};
use roundtrip_model::Op;
use roundtrip_model::contract::Login;
use roundtrip_model::stream::decimal;
use roundtrip_wire::resp::{Reply, write_command};
use roundtrip_wire::{Limits, Parsed};

/// What a read has before the length of its key.
const GET: &[u8] = b"*2\r\n$3\r\nGET\r\n";

/// What a server that asks for a password is told on each connection.
pub(crate) fn hello(login: &Login) -> Hello {
    let password = login.password.reveal().as_bytes();
    let mut request = Vec::new();
    match login.user.as_bytes() {
        b"" => write_command(&mut request, &[b"AUTH", password]),
        user => write_command(&mut request, &[b"AUTH", user, password]),
    }
    Hello {
        request,
        answer: b"+OK\r\n",
        secret: login.password.clone(),
        next_step: "put the right password into the environment variable ROUNDTRIP_REDIS_PASSWORD"
            .to_owned(),
    }
}

/// One phase. As for memcached, requests are put together here, and a reply that is not, byte for
/// byte, the plain one that is expected is read by the codec.
#[derive(Debug)]
pub(crate) struct Resp {
    /// The end of a `SET`: how long it lives, or nothing.
    expiry: Vec<u8>,
    /// How many parts a `SET` has.
    parts: usize,
    /// `$LENGTH` and a line end: what stands before a value that is there.
    lead: Lead,
    limits: Limits,
    complaint: Option<String>,
}

impl Resp {
    pub(crate) fn new(task: Task) -> Resp {
        let mut expiry = Vec::new();
        if task.ttl_s > 0 {
            expiry.extend_from_slice(b"$2\r\nEX\r\n");
            push_blob(&mut expiry, task.ttl_s.to_string().as_bytes());
        }
        Resp {
            parts: if task.ttl_s > 0 { 5 } else { 3 },
            expiry,
            lead: Lead::new(b"$"),
            limits: Limits::default(),
            complaint: None,
        }
    }

    #[inline]
    fn write_set(&self, is_new: bool, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        push_length(out, b'*', self.parts + usize::from(is_new));
        out.extend_from_slice(b"$3\r\nSET\r\n");
        push_blob(out, texts.keys.get(index));
        push_length(out, b'$', texts.values.value_bytes(index));
        texts.values.write(index, out);
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&self.expiry);
        if is_new {
            out.extend_from_slice(b"$2\r\nNX\r\n");
        }
    }

    /// How long the part is, if it is the whole value of a key that is there.
    #[inline]
    fn plain_hit(&mut self, bytes: &[u8], index: u64, texts: &Texts) -> Option<usize> {
        let value_bytes = texts.values.value_bytes(index);
        let (value, rest) = self.lead.value(bytes, value_bytes)?;
        let rest = rest.strip_prefix(b"\r\n")?;
        let is_it = texts.values.is(index, value);
        is_it.then(|| bytes.len() - rest.len())
    }

    #[inline]
    fn read_get(&mut self, bytes: &[u8], flight: &Flight, texts: &Texts) -> Answer {
        let head = match flight.opens {
            0 | 1 => 0,
            parts => match group_head(bytes, parts) {
                Ok(head) => head,
                Err(answer) => return answer,
            },
        };
        let part = &bytes[head..];
        if let Some(used) = self.plain_hit(part, flight.index, texts) {
            return after_read(flight.op, Outcome::Hit, head + used);
        }
        let (reply, used) = match Reply::parse(part, &self.limits) {
            Parsed::Complete(reply, used) => (reply, head + used),
            Parsed::NeedMore => return Answer::NeedMore,
            Parsed::Bad(_) => return Answer::Lost(ErrorKind::Protocol),
        };
        match reply {
            Reply::Bulk(value) if texts.values.is(flight.index, value) => {
                after_read(flight.op, Outcome::Hit, used)
            }
            Reply::Bulk(_) => Answer::Ended(Outcome::Wrong, used),
            Reply::Null(_) => after_read(flight.op, Outcome::Miss, used),
            _ => self.failure(&reply, used, flight),
        }
    }
}

impl Resp {
    fn failure(&mut self, reply: &Reply<'_>, used: usize, flight: &Flight) -> Answer {
        let Some(error) = reply.error() else {
            return Answer::Lost(ErrorKind::Protocol);
        };
        note(&mut self.complaint, error);
        failure(error, used, flight)
    }
}

/// How long the head of a reply of so many parts is.
fn group_head(bytes: &[u8], parts: u16) -> Result<usize, Answer> {
    let (digits, start) = decimal(parts.into());
    let mut room = [0; 24];
    let mut length = 0;
    for part in [&b"*"[..], &digits[start..], b"\r\n"] {
        room[length..length + part.len()].copy_from_slice(part);
        length += part.len();
    }
    let expected = &room[..length];
    if bytes.starts_with(expected) {
        return Ok(expected.len());
    }
    if expected.starts_with(bytes) {
        return Err(Answer::NeedMore);
    }
    Err(Answer::Lost(match bytes.first() {
        Some(b'-') => ErrorKind::Refused,
        _ => ErrorKind::Protocol,
    }))
}

impl Protocol for Resp {
    const GROUPS: bool = true;
    const MAKES_AHEAD: bool = true;
    const FENCE: Option<Fence> = Some(Fence {
        request: b"*1\r\n$4\r\nPING\r\n",
        answer: b"+PONG\r\n",
    });

    #[inline]
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        if let Some(request) = texts.request(op, index) {
            return out.extend_from_slice(request);
        }
        out.extend_from_slice(match op {
            Op::Set | Op::Insert => return self.write_set(op == Op::Insert, index, texts, out),
            Op::Delete => b"*2\r\n$3\r\nDEL\r\n",
            Op::Incr => b"*2\r\n$4\r\nINCR\r\n",
            // Of the rest none comes here but those that begin with a read.
            _ => GET,
        });
        push_blob(out, texts.keys.get(index));
    }

    fn complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }

    fn open_group(&mut self, size: usize, out: &mut Vec<u8>) {
        push_length(out, b'*', size + 1);
        out.extend_from_slice(b"$4\r\nMGET\r\n");
    }

    #[inline]
    fn group_key(&mut self, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        push_blob(out, texts.keys.get(index));
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
            (Op::Set | Op::Insert, Reply::Simple(b"OK")) => Outcome::Stored,
            (Op::Insert, Reply::Null(_)) => Outcome::Error(ErrorKind::NotStored),
            (Op::Delete, Reply::Integer(1)) => Outcome::Done,
            (Op::Delete, Reply::Integer(0)) => Outcome::NotFound,
            // Nothing is 0 after one was added to it.
            (Op::Incr, Reply::Integer(0)) => Outcome::Wrong,
            (Op::Incr, Reply::Integer(_)) => Outcome::Done,
            _ => return self.failure(&reply, used, flight),
        };
        Answer::Ended(outcome, used)
    }
}

/// What a server says instead of any answer. RESP has one kind of error; its first word tells
/// whether the server could not or would not.
fn failure(error: &[u8], used: usize, flight: &Flight) -> Answer {
    let could_not: [&[u8]; 6] = [
        b"OOM ",
        b"LOADING ",
        b"BUSY ",
        b"CLUSTERDOWN ",
        b"MISCONF ",
        b"TRYAGAIN ",
    ];
    let kind = match could_not.iter().any(|word| error.starts_with(word)) {
        true => ErrorKind::Server,
        false => ErrorKind::Refused,
    };
    // An error within a reply for many keys leaves nobody knowing which are still to come.
    match flight.opens {
        1 => Answer::Ended(Outcome::Error(kind), used),
        _ => Answer::Lost(kind),
    }
}

#[inline]
fn push_length(out: &mut Vec<u8>, marker: u8, length: usize) {
    let (digits, start) = decimal(length as u64);
    out.push(marker);
    out.extend_from_slice(&digits[start..]);
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn push_blob(out: &mut Vec<u8>, blob: &[u8]) {
    push_length(out, b'$', blob.len());
    out.extend_from_slice(blob);
    out.extend_from_slice(b"\r\n");
}
