//! The bytes of key `index` and of value `index`: written, or compared, without an allocation.

use super::size::Lengths;
use super::{below, mix};
use crate::workload::{KeyRecipe, Keys, ValueRecipe, Values};
use md5::{Digest, Md5};

/// How many bytes at the front of a value are its own; what follows is shared with others. One
/// word, so that it is written and compared in one step.
const OWN_BYTES: usize = 8;
/// The share that a compressor can remove of values of 64 different letters: 6 bits of 8 stay.
pub const LEAST_COMPRESSIBLE: f64 = 0.25;
/// How often letters that compress come again in a pool.
const PERIOD: u64 = 128;
/// The smallest pool: it stays in the processor's first cache beside what is sent and received.
const SMALLEST_POOL: usize = 1 << 13;
/// Of each byte of a word 6 bits, and what makes them printable: `0` to `o`.
const OWN_BITS: u64 = 0x3f3f_3f3f_3f3f_3f3f;
const OWN_BASE: u64 = 0x3030_3030_3030_3030;
const PRINTABLE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Makes the keys of a stream.
#[derive(Clone, Debug)]
pub struct KeyMaker {
    seed: u64,
    prefix: Vec<u8>,
    keys: Keys,
}

impl KeyMaker {
    /// Keys of a recipe, each behind a prefix.
    pub fn new(seed: u64, prefix: &str, keys: Keys) -> KeyMaker {
        KeyMaker {
            seed,
            prefix: prefix.as_bytes().to_vec(),
            keys,
        }
    }

    /// How long every key is; of numbers, the longest.
    pub fn key_bytes(&self) -> usize {
        let own = match self.keys.recipe {
            KeyRecipe::Md5 => 32,
            KeyRecipe::Hex => self.keys.bytes as usize,
            // As long as any number gets.
            KeyRecipe::Number => 20,
        };
        self.prefix.len() + own
    }

    /// Appends key `index`.
    #[inline]
    pub fn write(&self, index: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.prefix);
        match self.keys.recipe {
            KeyRecipe::Md5 => {
                let (digits, start) = decimal(index);
                push_hex(out, &Md5::digest(&digits[start..]));
            }
            KeyRecipe::Hex => {
                let end = out.len() + self.keys.bytes as usize;
                // The index itself comes first, mixed but not shortened below 16 digits, so that
                // keys of 16 bytes and more never collide.
                let mut word = index;
                while out.len() < end {
                    word = mix(self.seed, word);
                    push_hex(out, &word.to_be_bytes());
                }
                out.truncate(end);
            }
            KeyRecipe::Number => {
                let (digits, start) = decimal(index + 1);
                out.extend_from_slice(&digits[start..]);
            }
        }
    }

    /// Key `index`.
    pub fn make(&self, index: u64) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.key_bytes() + 16);
        self.write(index, &mut key);
        key
    }
}

/// Makes the values of a stream, and tells whether what came back is one of them.
///
/// A value of the recipe `bytes` is 8 bytes of its own and then a stretch of a pool of
/// pseudo-random printable bytes, so that writing one is two copies, and checking one is two
/// comparisons, however long it is. In a compressible pool a part of every stretch is one letter.
#[derive(Clone, Debug)]
pub struct ValueMaker {
    seed: u64,
    recipe: ValueRecipe,
    lengths: Lengths,
    pool: Vec<u8>,
}

impl ValueMaker {
    /// Values of a recipe.
    pub fn new(seed: u64, values: Values) -> ValueMaker {
        let pool = match values.recipe {
            ValueRecipe::Bytes => pool(seed, &values),
            ValueRecipe::Text => values.text.clone().into_bytes(),
            ValueRecipe::Crc32 | ValueRecipe::Zero => Vec::new(),
        };
        ValueMaker {
            seed,
            recipe: values.recipe,
            lengths: Lengths::new(&values),
            pool,
        }
    }

    /// How long value `index` is.
    #[inline]
    pub fn value_bytes(&self, index: u64) -> usize {
        self.sum_bytes(index, 0)
    }

    /// How long value `index` is with so much added to it.
    #[inline]
    pub fn sum_bytes(&self, index: u64, added: i64) -> usize {
        match self.recipe {
            ValueRecipe::Bytes => self.lengths.of(self.seed, index),
            ValueRecipe::Text => self.pool.len(),
            ValueRecipe::Crc32 | ValueRecipe::Zero => {
                let (digits, start) = self.number(index, added);
                digits.len() - start
            }
        }
    }

    /// Appends value `index`.
    #[inline]
    pub fn write(&self, index: u64, out: &mut Vec<u8>) {
        self.write_sum(index, 0, out);
    }

    /// Appends value `index`, a number, with so much added to it. What is no number stays as it is.
    #[inline]
    pub fn write_sum(&self, index: u64, added: i64, out: &mut Vec<u8>) {
        match self.recipe {
            ValueRecipe::Bytes => {
                let (own, length, shared) = self.parts(index);
                out.extend_from_slice(&own[..length]);
                out.extend_from_slice(shared);
            }
            ValueRecipe::Text => out.extend_from_slice(&self.pool),
            ValueRecipe::Crc32 | ValueRecipe::Zero => {
                let (digits, start) = self.number(index, added);
                out.extend_from_slice(&digits[start..]);
            }
        }
    }

    /// Whether these bytes are value `index`.
    #[inline]
    pub fn is(&self, index: u64, bytes: &[u8]) -> bool {
        self.is_sum(index, 0, bytes)
    }

    /// Whether these bytes are value `index` with so much added to it.
    #[inline]
    pub fn is_sum(&self, index: u64, added: i64, bytes: &[u8]) -> bool {
        match self.recipe {
            ValueRecipe::Bytes => {
                let (own, length, shared) = self.parts(index);
                match bytes.split_first_chunk::<OWN_BYTES>() {
                    Some((first, rest)) if length == OWN_BYTES => *first == own && *rest == *shared,
                    _ => *bytes == own[..length] && shared.is_empty(),
                }
            }
            ValueRecipe::Text => *bytes == *self.pool,
            ValueRecipe::Crc32 | ValueRecipe::Zero => {
                let (digits, start) = self.number(index, added);
                *bytes == digits[start..]
            }
        }
    }

    /// Value `index`.
    pub fn make(&self, index: u64) -> Vec<u8> {
        let mut value = Vec::with_capacity(self.value_bytes(index));
        self.write(index, &mut value);
        value
    }

    #[inline]
    fn parts(&self, index: u64) -> ([u8; OWN_BYTES], usize, &[u8]) {
        let bits = mix(self.seed ^ 0xD6E8_FEB8_6659_FD93, index);
        let own = (bits & OWN_BITS) + OWN_BASE;
        let bytes = self.lengths.of(self.seed, index);
        let length = bytes.min(OWN_BYTES);
        let rest = bytes - length;
        // The product stirs in the bits that are not its own.
        let draw = bits.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let room = (self.pool.len() - rest) as u64;
        let start = ((u128::from(draw) * u128::from(room)) >> 64) as usize;
        (own.to_le_bytes(), length, &self.pool[start..start + rest])
    }

    #[inline]
    fn number(&self, index: u64, added: i64) -> ([u8; 20], usize) {
        let first = match self.recipe {
            ValueRecipe::Crc32 => {
                let (digits, start) = decimal(index);
                i64::from(crc32fast::hash(&digits[start..]))
            }
            ValueRecipe::Bytes | ValueRecipe::Text | ValueRecipe::Zero => 0,
        };
        let sum = first.saturating_add(added);
        let (mut digits, mut start) = decimal(sum.unsigned_abs());
        if sum < 0 {
            // A number of 63 bits leaves room for its sign.
            start -= 1;
            digits[start] = b'-';
        }
        (digits, start)
    }
}

fn pool(seed: u64, values: &Values) -> Vec<u8> {
    let length = SMALLEST_POOL.max(2 * values.bytes as usize);
    let seed = mix(seed, u64::MAX - 1);
    // What is not one letter has 6 bits a byte, so that much of it a compressor leaves.
    let random = (1.0 - values.compressible) / (1.0 - LEAST_COMPRESSIBLE);
    let random = (random * PERIOD as f64).round() as u64;
    (0..length as u64)
        .map(|i| match i % PERIOD < random {
            true => PRINTABLE[below(seed, i, 64) as usize],
            false => b'.',
        })
        .collect()
}

#[inline]
fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend_from_slice(&[
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ]);
    }
}

/// The digits of a number at the end of an array, and where they start.
#[inline]
pub fn decimal(mut n: u64) -> ([u8; 20], usize) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            return (digits, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Distribution;
    use crate::workload::Sizes;
    use std::collections::HashSet;

    fn hex(bytes: u32) -> Keys {
        Keys {
            recipe: KeyRecipe::Hex,
            bytes,
            distribution: Distribution::Sequential,
            count: None,
        }
    }

    #[test]
    fn long_hex_keys_do_not_collide_and_are_as_long_as_asked() {
        let maker = KeyMaker::new(3, "p:", hex(16));
        let all: HashSet<_> = (0..100_000).map(|i| maker.make(i)).collect();
        assert_eq!(all.len(), 100_000);
        assert!(
            all.iter()
                .all(|key| key.len() == 18 && key.starts_with(b"p:"))
        );
        assert_eq!(KeyMaker::new(3, "", hex(35)).make(1).len(), 35);
    }

    #[test]
    fn a_value_is_itself_and_no_other() {
        for bytes in [0, 1, 7, 8, 9, 100, 70_000] {
            let values = Values::of(ValueRecipe::Bytes, bytes);
            let maker = ValueMaker::new(5, values);
            let value = maker.make(7);
            assert_eq!(value.len(), bytes as usize);
            assert!(maker.is(7, &value));
            assert!(!maker.is(7, &[&value[..], b"x"].concat()));
            for at in 0..value.len().min(200) {
                let mut garbled = value.clone();
                garbled[at] ^= 1;
                assert!(!maker.is(7, &garbled));
            }
            assert!(bytes < 10 || !maker.is(8, &value));
        }
    }

    #[test]
    fn values_of_ten_bytes_do_not_collide() {
        let values = Values::of(ValueRecipe::Bytes, 10);
        let maker = ValueMaker::new(5, values);
        let all: HashSet<_> = (0..100_000).map(|i| maker.make(i)).collect();
        assert_eq!(all.len(), 100_000);
    }

    #[test]
    fn values_of_differing_lengths_are_themselves_and_no_others() {
        let values = Values {
            size: Sizes::Uniform {
                min_bytes: 0,
                max_bytes: 3000,
            },
            compressible: 0.6,
            ..Values::of(ValueRecipe::Bytes, 3000)
        };
        let maker = ValueMaker::new(5, values);
        for index in 0..2000 {
            let value = maker.make(index);
            assert_eq!(value.len(), maker.value_bytes(index));
            assert!(maker.is(index, &value));
            assert!(!maker.is(index, &[&value[..], b"."].concat()));
            assert!(value.len() < 10 || !maker.is(index + 1, &value));
        }
    }

    #[test]
    fn a_compressor_removes_the_share_that_was_asked_for() {
        use flate2::{Compression, write::ZlibEncoder};
        use std::io::Write;
        let removed = |bytes: u32, compressible: f64| {
            let values = Values {
                compressible,
                ..Values::of(ValueRecipe::Bytes, bytes)
            };
            let maker = ValueMaker::new(5, values);
            // Each value alone, as a client does it.
            let left = (0..20).map(|index| {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(&maker.make(index)).unwrap();
                encoder.finish().unwrap().len()
            });
            1.0 - left.sum::<usize>() as f64 / (20.0 * f64::from(bytes))
        };
        for share in [0.25, 0.5, 0.7, 0.9] {
            // The tables of a compressor weigh most in a short value.
            for (bytes, tolerance) in [(1000, 0.08), (10_000, 0.03), (100_000, 0.03)] {
                let found = removed(bytes, share);
                assert!(
                    (found - share).abs() < tolerance,
                    "{share} of {bytes}: {found}"
                );
            }
        }
        // Where nothing is asked for, only the letters compress.
        let found = removed(100_000, 0.0);
        assert!((found - LEAST_COMPRESSIBLE).abs() < 0.02, "{found}");
    }

    #[test]
    fn numbers_are_written_and_recognised() {
        let of = |recipe| ValueMaker::new(1, Values::of(recipe, 0));
        // crc32("1"), as PHP gives it.
        assert_eq!(of(ValueRecipe::Crc32).make(1), b"2212294583");
        assert!(of(ValueRecipe::Crc32).is(1, b"2212294583"));
        assert_eq!(of(ValueRecipe::Zero).make(9), b"0");
        assert_eq!(decimal(0).0[decimal(0).1..], *b"0");
        assert_eq!(decimal(u64::MAX).0, *b"18446744073709551615");
    }
}
