//! The headers of a head, borrowed; and what they say of the body and of the connection.

use super::body::Body;
use super::head::Version;
use crate::crlf::{bad, line};
use crate::{Because, Halt, Limits, decimal};

/// Headers, which were checked before, so going over them cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    /// The headers from `at` on, up to the empty line; and where that ends.
    pub(super) fn parse(
        bytes: &'a [u8],
        at: usize,
        limits: &Limits,
    ) -> Result<(Headers<'a>, usize), Halt> {
        let mut next = at;
        let mut count = 0;
        loop {
            let (text, end) = line(bytes, next, limits)?;
            if end > limits.message_bytes {
                return Err(bad(Because::TooLong));
            }
            if text.is_empty() {
                return Ok((Headers(&bytes[at..next]), end));
            }
            count += 1;
            if count > limits.parts {
                return Err(bad(Because::TooManyParts));
            }
            split(text).ok_or(bad(Because::Form))?;
            next = end;
        }
    }

    /// Each name and its value, without the blanks around it.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let lines = self.0.split(|byte| *byte == b'\n');
        lines.filter_map(|line| split(line.strip_suffix(b"\r")?))
    }

    /// The value of the first header of a name, in capital letters or not.
    pub fn get(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// The values of all headers of a name.
    pub fn all<'n>(&self, name: &'n [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.iter()
            .filter_map(move |(found, value)| found.eq_ignore_ascii_case(name).then_some(value))
    }

    /// Whether a header that is a list has a word in it.
    pub(super) fn lists(&self, name: &[u8], word: &[u8]) -> bool {
        self.all(name)
            .flat_map(|value| value.split(|byte| *byte == b','))
            .any(|part| part.trim_ascii().eq_ignore_ascii_case(word))
    }

    /// What the headers say of the body; [`None`] where they say nothing.
    pub(super) fn body(&self, version: Version) -> Result<Option<Body>, Because> {
        let mut lengths = self.all(b"content-length");
        let mut encodings = self.all(b"transfer-encoding");
        match (lengths.next(), encodings.next()) {
            (None, None) => Ok(None),
            (Some(length), None) if lengths.next().is_none() => decimal::read(length)
                .map(|length| Some(Body::Length(length)))
                .ok_or(Because::Number),
            // Any other encoding would have to be undone before the end is known.
            (None, Some(encoding))
                if encodings.next().is_none()
                    && version == Version::Http11
                    && encoding.eq_ignore_ascii_case(b"chunked") =>
            {
                Ok(Some(Body::Chunked))
            }
            _ => Err(Because::Form),
        }
    }

    /// Whether the connection is there for another message after this one.
    pub(super) fn keep_alive(&self, version: Version) -> bool {
        let is_closed = self.lists(b"connection", b"close");
        match version {
            Version::Http11 => !is_closed,
            Version::Http10 => !is_closed && self.lists(b"connection", b"keep-alive"),
        }
    }
}

/// Name and value of a header's line.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (&line[..colon], blanks_off(&line[colon + 1..]));
    (is_token(name) && is_value(value)).then_some((name, value))
}

fn blanks_off(text: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = text.iter().position(|byte| !is_blank(byte));
    let end = text.iter().rposition(|byte| !is_blank(byte));
    match (start, end) {
        (Some(start), Some(end)) => &text[start..=end],
        _ => b"",
    }
}

/// A word as methods and names of headers are.
pub(super) fn is_token(text: &[u8]) -> bool {
    let fine = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(fine)
}

/// What may stand behind the colon: no control byte but a tab.
pub(super) fn is_value(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f))
}
