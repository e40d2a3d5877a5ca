//! What a client says: a command and its arguments, as an array of strings, or typed on a line.

use super::header::{blob, length, number};
use crate::crlf::{bad, line};
use crate::{Because, Halt, Limits, Parsed};

/// One request, with its arguments where they stand.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    arguments: Arguments<'a>,
}

impl<'a> Request<'a> {
    /// The request at the front of the bytes. One without a single argument is a request too,
    /// which is not answered.
    #[inline]
    pub fn parse(bytes: &'a [u8], limits: &Limits) -> Parsed<Request<'a>> {
        match bytes {
            [] => Parsed::NeedMore,
            [b'*', ..] => array(bytes, limits).into(),
            _ => typed(bytes, limits).into(),
        }
    }

    /// How many arguments, the command's name among them.
    #[inline]
    pub fn len(&self) -> usize {
        self.arguments.left
    }

    /// Whether there is nothing to be done.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.arguments.left == 0
    }

    /// Each argument, the command's name first.
    #[inline]
    pub fn iter(&self) -> Arguments<'a> {
        self.arguments
    }

    /// The command's name; empty when there is none.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        self.iter().next().unwrap_or_default()
    }

    /// Whether this is the command of that name, in capital letters or not.
    #[inline]
    pub fn is(&self, name: &[u8]) -> bool {
        self.name().eq_ignore_ascii_case(name)
    }

    /// An argument; the command's name is the one at 0.
    #[inline]
    pub fn argument(&self, at: usize) -> Option<&'a [u8]> {
        self.iter().nth(at)
    }
}

impl PartialEq for Request<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Request<'_> {}

/// Arguments one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    left: usize,
    bytes: &'a [u8],
    typed: bool,
}

impl<'a> Iterator for Arguments<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        if self.typed {
            return word(&mut self.bytes);
        }
        // Checked before: a `$`, a length of at most 19 digits, a line end.
        let mut length = 0;
        let mut at = 1;
        loop {
            match self.bytes.get(at) {
                Some(digit @ b'0'..=b'9') => length = length * 10 + usize::from(digit - b'0'),
                Some(_) => break,
                None => return None,
            }
            at += 1;
        }
        let start = at + 2;
        let argument = self.bytes.get(start..start + length)?;
        self.bytes = self.bytes.get(start + length + 2..)?;
        Some(argument)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

#[inline]
fn array<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(Request<'a>, usize), Halt> {
    let (count, start) = number(bytes, 1)?;
    let count = length(count, limits.parts, Because::TooManyParts)?.unwrap_or_default();
    let mut at = start;
    for _ in 0..count {
        match bytes.get(at) {
            None => return Err(Halt::NeedMore),
            Some(b'$') => {}
            Some(_) => return Err(bad(Because::Form)),
        }
        // A sign is no part of a length here, so that arguments are found again by digits alone.
        match bytes.get(at + 1) {
            None => return Err(Halt::NeedMore),
            Some(b'0'..=b'9') => {}
            Some(_) => return Err(bad(Because::Number)),
        }
        at = blob(bytes, at + 1, limits)?.1;
        if at > limits.message_bytes {
            return Err(bad(Because::TooLong));
        }
    }
    let arguments = Arguments {
        left: count,
        bytes: &bytes[start..at],
        typed: false,
    };
    Ok((Request { arguments }, at))
}

/// What somebody types who has no client: words on a line, which ends with `\n` too. Quotes are
/// refused: what stands in them could not be handed out where it stands.
fn typed<'a>(bytes: &'a [u8], limits: &Limits) -> Result<(Request<'a>, usize), Halt> {
    let (text, end) = match line(bytes, 0, limits) {
        Ok(found) => found,
        Err(halt) => lone_line_end(bytes, limits).ok_or(halt)?,
    };
    let mut words = text;
    let mut count = 0;
    while let Some(word) = word(&mut words) {
        if word.iter().any(|byte| matches!(byte, b'"' | b'\'' | 0)) {
            return Err(bad(Because::Form));
        }
        count += 1;
    }
    if count > limits.parts {
        return Err(bad(Because::TooManyParts));
    }
    let arguments = Arguments {
        left: count,
        bytes: text,
        typed: true,
    };
    Ok((Request { arguments }, end))
}

/// A line that ends with `\n` alone.
fn lone_line_end<'a>(bytes: &'a [u8], limits: &Limits) -> Option<(&'a [u8], usize)> {
    let window = &bytes[..bytes.len().min(limits.line_bytes.saturating_add(1))];
    let end = window.iter().position(|b| *b == b'\r' || *b == b'\n')?;
    (window[end] == b'\n').then(|| (&window[..end], end + 1))
}

/// Takes the next word off a line.
#[inline]
fn word<'a>(text: &mut &'a [u8]) -> Option<&'a [u8]> {
    let blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let start = text.iter().position(|byte| !blank(byte))?;
    let rest = &text[start..];
    let end = rest.iter().position(blank).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *text = after;
    Some(word)
}
