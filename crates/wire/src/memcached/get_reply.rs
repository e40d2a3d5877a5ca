//! The whole answer to a `get` of one key, read in one go: what a client of a cache does most.

use super::Reply;
use crate::{Halt, Limits, Parsed};

/// The answer to a `get`, `gets`, `gat` or `gats` of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetReply<'a> {
    /// The key's item, and the end of the answer.
    Hit {
        /// The number kept with it.
        flags: u32,
        /// Its version, where it was asked for.
        cas: Option<u64>,
        /// Its value.
        value: &'a [u8],
    },
    /// The end of the answer alone: nothing is there.
    Miss,
    /// A reply that is not the answer to this: an error, another key's value, or a value that no
    /// end follows. Only this reply was taken.
    Other(Reply<'a>),
}

const END: &[u8] = b"END\r\n";

impl<'a> GetReply<'a> {
    /// The answer at the front of the bytes to the question for a key.
    #[inline]
    pub fn parse(bytes: &'a [u8], key: &[u8], limits: &Limits) -> Parsed<GetReply<'a>> {
        if bytes.starts_with(END) {
            return Parsed::Complete(GetReply::Miss, END.len());
        }
        match hit(bytes, key, limits) {
            Some(parsed) => parsed,
            None => slowly(bytes, key, limits),
        }
    }
}

/// A hit as memcached writes it; [`None`] for whatever differs, which may be right all the same.
/// The line's end is not looked for: the parts of the line are read as they stand.
#[inline]
fn hit<'a>(bytes: &'a [u8], key: &[u8], limits: &Limits) -> Option<Parsed<GetReply<'a>>> {
    if key.is_empty() || key.len() > limits.key_bytes {
        return None;
    }
    let rest = bytes.strip_prefix(b"VALUE ")?.strip_prefix(key)?;
    let (flags, rest) = number(rest.strip_prefix(b" ")?)?;
    let (length, rest) = number(rest.strip_prefix(b" ")?)?;
    let rest = rest.strip_prefix(b"\r\n")?;
    let head = bytes.len() - rest.len();
    if head > limits.line_bytes || length > limits.value_bytes as u64 {
        return None;
    }
    let end = length as usize;
    let Some(tail) = rest.get(end..end + 2 + END.len()) else {
        // Too little for the whole; what is there may be wrong already.
        return None;
    };
    if tail != b"\r\nEND\r\n" {
        return None;
    }
    let found = GetReply::Hit {
        flags: u32::try_from(flags).ok()?,
        cas: None,
        value: &rest[..end],
    };
    Some(Parsed::Complete(found, head + end + 2 + END.len()))
}

/// A number at the front, and what is behind it. Numbers of more than 18 digits are left to others.
#[inline]
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(19).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (at > 0).then(|| (value, &bytes[at..]));
        }
        value = value * 10 + u64::from(digit);
    }
    None
}

fn slowly<'a>(bytes: &'a [u8], key: &[u8], limits: &Limits) -> Parsed<GetReply<'a>> {
    combine(bytes, key, limits).into()
}

fn combine<'a>(
    bytes: &'a [u8],
    key: &[u8],
    limits: &Limits,
) -> Result<(GetReply<'a>, usize), Halt> {
    let (reply, taken) = whole(Reply::parse(bytes, limits))?;
    let (flags, cas, value) = match reply {
        Reply::End => return Ok((GetReply::Miss, taken)),
        Reply::Value {
            key: found,
            flags,
            cas,
            value,
        } if found == key => (flags, cas, value),
        other => return Ok((GetReply::Other(other), taken)),
    };
    // The end may be written in more than one way too.
    match whole(Reply::parse(&bytes[taken..], limits)) {
        Ok((Reply::End, end)) => Ok((GetReply::Hit { flags, cas, value }, taken + end)),
        Err(Halt::NeedMore) => Err(Halt::NeedMore),
        Ok(_) | Err(Halt::Bad(_)) => Ok((GetReply::Other(reply), taken)),
    }
}

fn whole<T>(parsed: Parsed<T>) -> Result<(T, usize), Halt> {
    match parsed {
        Parsed::Complete(message, bytes) => Ok((message, bytes)),
        Parsed::NeedMore => Err(Halt::NeedMore),
        Parsed::Bad(bad) => Err(Halt::Bad(bad)),
    }
}
