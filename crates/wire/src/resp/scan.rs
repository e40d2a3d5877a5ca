//! The check of a reply with parts, before any of them is looked at. It goes over the heads of the
//! parts and jumps over their values; it keeps its place, so that a long reply which comes in
//! pieces is gone over once.

use super::header::{blob, length, number};
use super::reply::scalar;
use super::{Aggregate, Reply};
use crate::crlf::{bad, line};
use crate::{Because, Halt, Limits, Parsed};

/// The greatest depth of parts in parts.
pub const MAX_DEPTH: usize = 32;

/// A check under way of the reply at the front of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Scan {
    /// Up to here it is checked.
    at: usize,
    /// How many parts are still to come at each depth.
    left: [u64; MAX_DEPTH],
    depth: usize,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan {
            at: 0,
            left: [0; MAX_DEPTH],
            depth: 0,
        }
    }
}

impl Scan {
    /// Goes on with the same bytes and those that came after them. Says how long the reply is when
    /// it is whole; [`Reply::parse`] then cannot fail on it.
    pub fn resume(&mut self, bytes: &[u8], limits: &Limits) -> Parsed<()> {
        match self.go_on(bytes, limits) {
            Ok(()) => Parsed::Complete((), self.at),
            Err(Halt::NeedMore) => Parsed::NeedMore,
            Err(Halt::Bad(bad)) => Parsed::Bad(bad),
        }
    }

    fn go_on(&mut self, bytes: &[u8], limits: &Limits) -> Result<(), Halt> {
        if self.at == 0 {
            self.part(bytes, limits)?;
        }
        loop {
            while self.depth > 0 && self.left[self.depth - 1] == 0 {
                self.depth -= 1;
            }
            if self.depth == 0 {
                return Ok(());
            }
            // Counted when it is there whole, so that the place kept is one between parts.
            let within = self.depth - 1;
            let is_attribute = bytes.get(self.at) == Some(&b'|');
            self.part(bytes, limits)?;
            if !is_attribute {
                self.left[within] -= 1;
            }
            if self.at > limits.message_bytes {
                return Err(bad(Because::TooLong));
            }
        }
    }

    /// Goes over one part, or over the head of one that has parts.
    #[inline]
    fn part(&mut self, bytes: &[u8], limits: &Limits) -> Result<(), Halt> {
        let Some(marker) = bytes.get(self.at) else {
            return Err(Halt::NeedMore);
        };
        self.at = match (*marker, Aggregate::of(*marker)) {
            (b'$', _) => blob(bytes, self.at + 1, limits)?.1,
            (_, Some(kind)) => {
                let (count, next) = head(bytes, self.at, kind, limits)?;
                if let Some(parts) = count.filter(|parts| *parts > 0) {
                    if self.depth >= limits.depth.min(MAX_DEPTH) {
                        return Err(bad(Because::TooDeep));
                    }
                    self.left[self.depth] = parts as u64;
                    self.depth += 1;
                }
                next
            }
            (b'+' | b'-', _) => line(bytes, self.at + 1, limits)?.1,
            (b':', _) => number(bytes, self.at + 1)?.1,
            _ => scalar(bytes, self.at, limits)?.1,
        };
        Ok(())
    }
}

/// How many parts stand after the head at `at`, and where it ends; [`None`] where it says that
/// there is nothing, as RESP2 does with an array of length -1.
#[inline]
pub(super) fn head(
    bytes: &[u8],
    at: usize,
    kind: Aggregate,
    limits: &Limits,
) -> Result<(Option<usize>, usize), Halt> {
    let (count, next) = number(bytes, at + 1)?;
    match length(count, limits.parts / kind.width(), Because::TooManyParts)? {
        Some(count) => Ok((Some(count * kind.width()), next)),
        None if kind == Aggregate::Array => Ok((None, next)),
        None => Err(bad(Because::Number)),
    }
}

/// The reply with parts at the front.
pub(super) fn aggregate<'a>(
    bytes: &'a [u8],
    kind: Aggregate,
    limits: &Limits,
) -> Result<(Reply<'a>, usize), Halt> {
    let (count, start) = head(bytes, 0, kind, limits)?;
    let Some(count) = count else {
        return Ok((Reply::Null(super::NullForm::Array), start));
    };
    let mut scan = Scan::default();
    scan.go_on(bytes, limits)?;
    let items = super::Items::checked(count, &bytes[start..scan.at]);
    let reply = match kind {
        Aggregate::Array => Reply::Array(items),
        Aggregate::Map => Reply::Map(items),
        Aggregate::Set => Reply::Set(items),
        Aggregate::Attribute => Reply::Attribute(items),
        Aggregate::Push => Reply::Push(items),
    };
    Ok((reply, scan.at))
}
