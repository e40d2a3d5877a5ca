//! Keys: what may be one, and several of them on a line.

use super::line::Words;
use crate::{Because, Limits};

/// Whether bytes may stand as a key in a request: 1 to 250 of them, no space, no control byte.
/// Whoever writes a request asks this first; a key with a line end in it would be two requests.
#[inline]
pub fn key_is_valid(key: &[u8]) -> bool {
    check(key, super::MAX_KEY_BYTES).is_ok() && !key.is_empty()
}

#[inline]
pub(super) fn check(key: &[u8], longest: usize) -> Result<(), Because> {
    if key.len() > longest {
        return Err(Because::KeyTooLong);
    }
    // All bytes without a way out in between, which the compiler turns into many at a time.
    let is_bad = |bad, byte: &u8| bad | (*byte <= b' ') | (*byte == 0x7f);
    if key.iter().fold(false, is_bad) {
        return Err(Because::KeyByte);
    }
    Ok(())
}

/// One or more keys, borrowed as they stand on a line.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a>(&'a [u8]);

impl<'a> Keys<'a> {
    /// A single key, which must be [valid](key_is_valid).
    #[inline]
    pub fn one(key: &'a [u8]) -> Keys<'a> {
        debug_assert!(key_is_valid(key));
        Keys(key)
    }

    /// Keys that already stand with spaces between them; says what is wrong with the first bad
    /// one.
    pub fn listed(text: &'a [u8], limits: &Limits) -> Result<Keys<'a>, Because> {
        let keys = Keys(Words(text).rest());
        if keys.0.is_empty() {
            return Err(Because::Form);
        }
        for key in keys.iter() {
            check(key, limits.key_bytes)?;
        }
        Ok(keys)
    }

    /// Each key.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        Words(self.0)
    }

    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }
}

impl PartialEq for Keys<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Keys<'_> {}
