//! The parts of a reply, borrowed.

use super::Reply;
use crate::{Limits, Parsed};

/// What was checked within limits is read without.
const UNLIMITED: Limits = Limits {
    key_bytes: usize::MAX,
    value_bytes: usize::MAX,
    line_bytes: usize::MAX,
    message_bytes: usize::MAX,
    parts: usize::MAX,
    depth: super::MAX_DEPTH,
};

/// The parts of a reply, which were checked before, so going over them cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items<'a> {
    left: usize,
    bytes: &'a [u8],
}

impl<'a> Items<'a> {
    /// No parts.
    pub const NONE: Items<'static> = Items {
        left: 0,
        bytes: b"",
    };

    pub(super) fn checked(count: usize, bytes: &'a [u8]) -> Items<'a> {
        Items { left: count, bytes }
    }

    /// How many; of a map, names and what they stand for counted each.
    #[inline]
    pub fn len(&self) -> usize {
        self.left
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Each part. An attribute, which only says something about the part after it, is passed over.
    #[inline]
    pub fn iter(&self) -> Items<'a> {
        *self
    }

    /// Two parts at a time: the names of a map and what they stand for, which RESP2 sends as an
    /// array. A last one without another is left out.
    pub fn pairs(&self) -> Pairs<'a> {
        Pairs(*self)
    }

    /// The part that stands after a name.
    pub fn named(&self, name: &[u8]) -> Option<Reply<'a>> {
        self.pairs()
            .find_map(|(found, part)| (found.text() == Some(name)).then_some(part))
    }

    /// The bytes as they came.
    #[inline]
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Reply<'a>;

    #[inline]
    fn next(&mut self) -> Option<Reply<'a>> {
        if self.left == 0 {
            return None;
        }
        loop {
            let Parsed::Complete(part, length) = Reply::parse(self.bytes, &UNLIMITED) else {
                return None;
            };
            self.bytes = &self.bytes[length..];
            if !matches!(part, Reply::Attribute(_)) {
                self.left -= 1;
                return Some(part);
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// Parts two by two.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a>(Items<'a>);

impl<'a> Iterator for Pairs<'a> {
    type Item = (Reply<'a>, Reply<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        Some((self.0.next()?, self.0.next()?))
    }
}
