//! The parts of meta commands that are like nothing in the older text protocol.

use super::base64::read_base64;
use super::line::Words;

/// Which meta command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaVerb {
    /// `mg`
    Get,
    /// `ms`
    Set,
    /// `md`
    Delete,
    /// `ma`
    Arithmetic,
    /// `me`: what is known of an item, without its value.
    Debug,
}

impl MetaVerb {
    pub(super) fn word(self) -> &'static [u8] {
        match self {
            MetaVerb::Get => b"mg",
            MetaVerb::Set => b"ms",
            MetaVerb::Delete => b"md",
            MetaVerb::Arithmetic => b"ma",
            MetaVerb::Debug => b"me",
        }
    }
}

/// Flags of a meta command or of its reply: letters, each with what stands right after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct MetaFlags<'a>(&'a [u8]);

impl<'a> MetaFlags<'a> {
    /// No flags.
    pub const NONE: MetaFlags<'static> = MetaFlags(b"");

    /// Flags as they stand on a line; `None` when one does not begin with a letter, or when the
    /// text has a control byte.
    #[inline]
    pub fn listed(text: &'a [u8]) -> Option<MetaFlags<'a>> {
        let flags = MetaFlags(Words(text).rest());
        let fine = Words(flags.0).all(|word| {
            word[0].is_ascii_alphabetic() && word.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
        });
        fine.then_some(flags)
    }

    /// Each letter with its argument, which may be empty.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        Words(self.0).map(|word| (word[0], &word[1..]))
    }

    /// The argument of a letter, where it stands.
    #[inline]
    pub fn argument(&self, letter: u8) -> Option<&'a [u8]> {
        self.iter()
            .find_map(|(found, argument)| (found == letter).then_some(argument))
    }

    /// Whether a letter stands.
    #[inline]
    pub fn has(&self, letter: u8) -> bool {
        self.argument(letter).is_some()
    }

    /// `O`: what the client marked the request with, which comes back in the reply.
    #[inline]
    pub fn opaque(&self) -> Option<&'a [u8]> {
        self.argument(b'O')
    }

    /// `q`: whether the usual reply is left out: a miss of `mg`, a success of the others.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.has(b'q')
    }

    /// `b`: whether the key stands in base64.
    #[inline]
    pub fn is_base64(&self) -> bool {
        self.has(b'b')
    }

    /// Appends the key that a text stands for under these flags. [`None`] where it should be
    /// base64 and is not.
    pub fn read_key(&self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        if self.is_base64() {
            return read_base64(out, text);
        }
        out.extend_from_slice(text);
        Some(())
    }

    /// Appends them with a space before them, or nothing when there are none.
    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        if !self.0.is_empty() {
            out.push(b' ');
            out.extend_from_slice(self.0);
        }
    }
}

impl PartialEq for MetaFlags<'_> {
    fn eq(&self, other: &Self) -> bool {
        Words(self.0).eq(Words(other.0))
    }
}

impl Eq for MetaFlags<'_> {}
