//! What a server says.

use super::header::{blob, number};
use super::scan::aggregate;
use super::write::{push_blob, push_line, write_aggregate};
use super::{Aggregate, Items};
use crate::crlf::{bad, line};
use crate::{Because, Halt, Limits, Parsed, decimal};

/// The ways of saying that there is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullForm {
    /// `$-1`, in the place of a string in RESP2.
    Bulk,
    /// `*-1`, in the place of an array in RESP2.
    Array,
    /// `_`, in the place of anything in RESP3.
    Any,
}

/// One reply, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// `+`: a short text.
    Simple(&'a [u8]),
    /// `-`: the command failed.
    Error(&'a [u8]),
    /// `:`: a number.
    Integer(i64),
    /// `$`: bytes.
    Bulk(&'a [u8]),
    /// Nothing is there.
    Null(NullForm),
    /// `*`: parts in order.
    Array(Items<'a>),
    /// `%`: names and what they stand for.
    Map(Items<'a>),
    /// `~`: parts in no order.
    Set(Items<'a>),
    /// `|`: about the reply that comes after this one.
    Attribute(Items<'a>),
    /// `>`: said without being asked.
    Push(Items<'a>),
    /// `,`: a number with a fraction, as it stands; see [`Reply::number`].
    Double(&'a [u8]),
    /// `#`: yes or no.
    Boolean(bool),
    /// `(`: a number of any length, as it stands.
    BigNumber(&'a [u8]),
    /// `=`: bytes that say what they are.
    Verbatim {
        /// Three letters, such as `txt` or `mkd`.
        format: &'a [u8; 3],
        /// The bytes.
        text: &'a [u8],
    },
    /// `!`: the command failed, with more to say than a line.
    BlobError(&'a [u8]),
}

impl<'a> Reply<'a> {
    /// The reply at the front of the bytes.
    #[inline]
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Parsed<Reply<'a>> {
        // What a client of a cache sees, and nothing else, is read right here.
        match bytes {
            [b'$', ..] => match blob(bytes, 1, limits) {
                Ok((Some(value), end)) => Parsed::Complete(Reply::Bulk(value), end),
                Ok((None, end)) => Parsed::Complete(Reply::Null(NullForm::Bulk), end),
                Err(Halt::NeedMore) => Parsed::NeedMore,
                Err(Halt::Bad(bad)) => Parsed::Bad(bad),
            },
            [b'+', b'O', b'K', b'\r', b'\n', ..] => Parsed::Complete(Reply::Simple(b"OK"), 5),
            [b':', ..] => number(bytes, 1)
                .map(|(number, end)| (Reply::Integer(number), end))
                .into(),
            _ => other(bytes, limits).into(),
        }
    }

    /// What went wrong, when the command failed.
    #[inline]
    pub fn error(&self) -> Option<&'a [u8]> {
        match *self {
            Reply::Error(text) | Reply::BlobError(text) => Some(text),
            _ => None,
        }
    }

    /// The text, of any of the kinds that are one.
    #[inline]
    pub fn text(&self) -> Option<&'a [u8]> {
        match *self {
            Reply::Simple(text) | Reply::Bulk(text) | Reply::Verbatim { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The parts, of any of the kinds that have some.
    #[inline]
    pub fn items(&self) -> Option<Items<'a>> {
        match *self {
            Reply::Array(items)
            | Reply::Map(items)
            | Reply::Set(items)
            | Reply::Attribute(items)
            | Reply::Push(items) => Some(items),
            _ => None,
        }
    }

    /// The number, of any of the kinds that are one.
    pub fn number(&self) -> Option<f64> {
        match *self {
            Reply::Integer(number) => Some(number as f64),
            Reply::Double(text) | Reply::BigNumber(text) => {
                std::str::from_utf8(text).ok()?.parse().ok()
            }
            _ => None,
        }
    }

    /// Appends the reply.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Reply::Bulk(value) => push_blob(out, b'$', value),
            Reply::Simple(text) => push_line(out, b'+', text),
            Reply::Integer(number) => {
                out.push(b':');
                decimal::push_signed(out, number);
                out.extend_from_slice(b"\r\n");
            }
            Reply::Null(NullForm::Bulk) => out.extend_from_slice(b"$-1\r\n"),
            Reply::Null(NullForm::Array) => out.extend_from_slice(b"*-1\r\n"),
            Reply::Null(NullForm::Any) => out.extend_from_slice(b"_\r\n"),
            _ => self.write_rare(out),
        }
    }

    fn write_rare(&self, out: &mut Vec<u8>) {
        match *self {
            Reply::Error(text) => push_line(out, b'-', text),
            Reply::Double(text) => push_line(out, b',', text),
            Reply::BigNumber(text) => push_line(out, b'(', text),
            Reply::Boolean(yes) => push_line(out, b'#', if yes { b"t" } else { b"f" }),
            Reply::BlobError(text) => push_blob(out, b'!', text),
            Reply::Verbatim { format, text } => {
                out.push(b'=');
                decimal::push(out, text.len() as u64 + 4);
                out.extend_from_slice(b"\r\n");
                out.extend_from_slice(format);
                out.push(b':');
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            Reply::Array(items) => push_items(out, Aggregate::Array, items),
            Reply::Map(items) => push_items(out, Aggregate::Map, items),
            Reply::Set(items) => push_items(out, Aggregate::Set, items),
            Reply::Attribute(items) => push_items(out, Aggregate::Attribute, items),
            Reply::Push(items) => push_items(out, Aggregate::Push, items),
            _ => {}
        }
    }
}

fn push_items(out: &mut Vec<u8>, kind: Aggregate, items: Items<'_>) {
    write_aggregate(out, kind, items.len() / kind.width());
    out.extend_from_slice(items.bytes());
}

fn other<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(Reply<'a>, usize), Halt> {
    match bytes.first() {
        None => Err(Halt::NeedMore),
        Some(marker) => match Aggregate::of(*marker) {
            Some(kind) => aggregate(bytes, kind, limits),
            None => scalar(bytes, 0, limits),
        },
    }
}

/// The part without parts that stands at `at`, and where it ends.
pub(super) fn scalar<'a>(
    bytes: &'a [u8],
    at: usize,
    limits: &Limits,
) -> Result<(Reply<'a>, usize), Halt> {
    let marker = *bytes.get(at).ok_or(Halt::NeedMore)?;
    let at = at + 1;
    match marker {
        b'+' => line(bytes, at, limits).map(|(text, end)| (Reply::Simple(text), end)),
        b'-' => line(bytes, at, limits).map(|(text, end)| (Reply::Error(text), end)),
        b':' => number(bytes, at).map(|(number, end)| (Reply::Integer(number), end)),
        b'$' => blob(bytes, at, limits).map(|(value, end)| match value {
            Some(value) => (Reply::Bulk(value), end),
            None => (Reply::Null(NullForm::Bulk), end),
        }),
        b'_' | b'#' | b',' | b'(' => {
            let (text, end) = line(bytes, at, limits)?;
            Ok((worded(marker, text).map_err(bad)?, end))
        }
        b'=' => {
            let (text, end) = whole(bytes, at, limits)?;
            match text.split_first_chunk() {
                Some((format, [b':', text @ ..])) => Ok((Reply::Verbatim { format, text }, end)),
                _ => Err(bad(Because::Form)),
            }
        }
        b'!' => whole(bytes, at, limits).map(|(text, end)| (Reply::BlobError(text), end)),
        b'.' | b';' => Err(bad(Because::Streamed)),
        _ => Err(bad(Because::UnknownWord)),
    }
}

/// Bytes that may not be nothing.
fn whole<'a>(bytes: &'a [u8], at: usize, limits: &Limits) -> Result<(&'a [u8], usize), Halt> {
    match blob(bytes, at, limits)? {
        (Some(text), end) => Ok((text, end)),
        (None, _) => Err(bad(Because::Number)),
    }
}

fn worded(marker: u8, text: &[u8]) -> Result<Reply<'_>, Because> {
    match (marker, text) {
        (b'_', b"") => Ok(Reply::Null(NullForm::Any)),
        (b'#', b"t") => Ok(Reply::Boolean(true)),
        (b'#', b"f") => Ok(Reply::Boolean(false)),
        (b',', _) if is_double(text) => Ok(Reply::Double(text)),
        (b'(', _) if is_whole_number(text) => Ok(Reply::BigNumber(text)),
        (b'_' | b'#', _) => Err(Because::Form),
        _ => Err(Because::Number),
    }
}

fn is_double(text: &[u8]) -> bool {
    if let b"inf" | b"-inf" | b"nan" | b"-nan" = text {
        return true;
    }
    let plain = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    text.iter().all(plain)
        && std::str::from_utf8(text).is_ok_and(|text| text.parse::<f64>().is_ok())
}

fn is_whole_number(text: &[u8]) -> bool {
    let digits = match text {
        [b'+' | b'-', digits @ ..] => digits,
        digits => digits,
    };
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}
