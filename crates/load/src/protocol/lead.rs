//! What stands right before a value in the plain answer to a read: made once for each length, and
//! compared as one word where it is that short, as it is for every value below a megabyte.

use roundtrip_model::stream::decimal;

/// A lead has room for the longest number and what is before it.
const ROOM: usize = 32;
const WORD: usize = size_of::<u64>();

/// `BEFORE`, the length of the value in digits, and a line end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    before: &'static [u8],
    value_bytes: Option<usize>,
    text: [u8; ROOM],
    length: usize,
    word: u64,
    /// Of a lead longer than a word none.
    mask: u64,
}

impl Lead {
    /// A lead that begins with a few bytes.
    pub(super) fn new(before: &'static [u8]) -> Lead {
        Lead {
            before,
            value_bytes: None,
            text: [0; ROOM],
            length: 0,
            word: 0,
            mask: 0,
        }
    }

    /// The value of so many bytes at the front and what is behind it, if the bytes begin with its
    /// lead.
    #[inline]
    pub(super) fn value<'b>(
        &mut self,
        bytes: &'b [u8],
        value_bytes: usize,
    ) -> Option<(&'b [u8], &'b [u8])> {
        if self.value_bytes != Some(value_bytes) {
            self.make(value_bytes);
        }
        let leads = match bytes.first_chunk() {
            Some(first) if self.mask != 0 => u64::from_le_bytes(*first) & self.mask == self.word,
            _ => bytes.starts_with(&self.text[..self.length]),
        };
        match leads {
            true => bytes[self.length..].split_at_checked(value_bytes),
            false => None,
        }
    }

    fn make(&mut self, value_bytes: usize) {
        let (digits, start) = decimal(value_bytes as u64);
        self.length = 0;
        for part in [self.before, &digits[start..], b"\r\n"] {
            self.text[self.length..self.length + part.len()].copy_from_slice(part);
            self.length += part.len();
        }
        self.value_bytes = Some(value_bytes);
        self.mask = match self.length <= WORD {
            true => u64::MAX >> (8 * (WORD - self.length)),
            false => 0,
        };
        let first = self
            .text
            .first_chunk()
            .map_or(0, |first| u64::from_le_bytes(*first));
        self.word = first & self.mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_follows_its_own_lead_and_no_other() {
        for before in [&b"$"[..], b" 0 "] {
            let mut lead = Lead::new(before);
            for value_bytes in [0, 1, 9, 10, 100, 5, 99_999, 100_000, 1_234_567] {
                let value = vec![b'v'; value_bytes];
                let head = [before, value_bytes.to_string().as_bytes(), b"\r\n"].concat();
                let whole = [&head[..], &value, b"rest"].concat();
                let found = lead.value(&whole, value_bytes);
                assert_eq!(found, Some((&value[..], &b"rest"[..])));
                let only = head.len() + value_bytes;
                assert_eq!(
                    lead.value(&whole[..only], value_bytes),
                    Some((&value[..], &b""[..]))
                );
                assert!(value_bytes == 0 || lead.value(&whole[..only - 1], value_bytes).is_none());
                for at in 0..head.len() {
                    let mut other = whole.clone();
                    other[at] ^= 1;
                    assert_eq!(lead.value(&other, value_bytes), None, "{before:?} {at}");
                    assert_eq!(lead.value(&whole[..at], value_bytes), None);
                }
            }
        }
    }
}
