//! Lines that end with `\r\n` and nothing else, for protocols whose stream a bad message ends.

use crate::{Because, Halt, Limits};

/// What stops a parser of such a protocol: nobody knows where the next message begins.
#[inline]
pub(crate) fn bad(because: Because) -> Halt {
    Halt::bad(because, None)
}

/// Where the line end that must stand at `at` ends.
#[inline]
pub(crate) fn line_end(bytes: &[u8], at: usize, otherwise: Because) -> Result<usize, Halt> {
    match bytes.get(at..) {
        Some([b'\r', b'\n', ..]) => Ok(at + 2),
        Some([] | [b'\r']) | None => Err(Halt::NeedMore),
        Some(_) => Err(bad(otherwise)),
    }
}

/// The line from `at` on, and where it ends with its end.
#[inline]
pub(crate) fn line<'a>(
    bytes: &'a [u8],
    at: usize,
    limits: &Limits,
) -> Result<(&'a [u8], usize), Halt> {
    let rest = bytes.get(at..).unwrap_or_default();
    let window = &rest[..rest.len().min(limits.line_bytes.saturating_add(1))];
    let Some(end) = window.iter().position(|b| *b == b'\r' || *b == b'\n') else {
        return Err(if window.len() > limits.line_bytes {
            bad(Because::LineTooLong)
        } else {
            Halt::NeedMore
        });
    };
    let next = line_end(bytes, at + end, Because::LineEnd)?;
    Ok((&window[..end], next))
}
