//! Lines, the words on them, and the values after them.

use crate::find::find;
use crate::{Because, Halt, Limits};

/// One line without its end.
pub(super) struct Line<'a> {
    pub(super) text: &'a [u8],
    /// Its length with its end.
    pub(super) bytes: usize,
}

impl<'a> Line<'a> {
    /// The line at the front. It ends with `\n`, with or without `\r` before it: memcached
    /// accepts both, and ends the lines of a dump with `\n` alone.
    #[inline]
    pub(super) fn first(bytes: &'a [u8], limits: &Limits) -> Result<Line<'a>, Halt> {
        // One byte more for the `\r`, which does not count.
        let window = &bytes[..bytes.len().min(limits.line_bytes + 2)];
        let Some(end) = find(window, b'\n') else {
            return Err(if window.len() == limits.line_bytes + 2 {
                Halt::bad(Because::LineTooLong, None)
            } else {
                Halt::NeedMore
            });
        };
        let text = &window[..end];
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.len() > limits.line_bytes {
            return Err(Halt::bad(Because::LineTooLong, None));
        }
        Ok(Line {
            text,
            bytes: end + 1,
        })
    }

    /// The trouble with this line, which can be left out to find the next message.
    #[inline]
    pub(super) fn bad(&self, because: Because) -> Halt {
        Halt::bad(because, Some(self.bytes))
    }
}

/// The words of a line: what stands between spaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'a>(pub(super) &'a [u8]);

impl<'a> Words<'a> {
    /// What is left, without the spaces around it.
    #[inline]
    pub(super) fn rest(self) -> &'a [u8] {
        let mut text = self.0;
        while let [b' ', tail @ ..] = text {
            text = tail;
        }
        while let [head @ .., b' '] = text {
            text = head;
        }
        text
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        while let [b' ', tail @ ..] = self.0 {
            self.0 = tail;
        }
        if self.0.is_empty() {
            return None;
        }
        let end = find(self.0, b' ').unwrap_or(self.0.len());
        let (word, tail) = self.0.split_at(end);
        self.0 = tail;
        Some(word)
    }
}

/// The value of `length` bytes that begins at `start` and ends with `\r\n`; and where it all ends.
#[inline]
pub(super) fn value<'a>(
    bytes: &'a [u8],
    start: usize,
    length: u64,
    limits: &Limits,
) -> Result<(&'a [u8], usize), Halt> {
    let length = usize::try_from(length)
        .ok()
        .filter(|length| *length <= limits.value_bytes)
        .ok_or(Halt::bad(Because::ValueTooLong, None))?;
    let end = start + length;
    match bytes.get(end..end + 2) {
        Some(b"\r\n") => Ok((&bytes[start..end], end + 2)),
        Some(_) => Err(Halt::bad(Because::ValueEnd, None)),
        None => Err(Halt::NeedMore),
    }
}
