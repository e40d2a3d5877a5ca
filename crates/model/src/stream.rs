//! Operation `i` as a pure function of `(seed, i)`, and the compact file that carries the
//! operations to a worker, so that all languages do the same work and none re-implements a
//! distribution.
//!
//! The file: the magic `RTSTREAM`, `u32` version, `u64` count, then for each operation `u16` key
//! length, `u32` value length, `u8` kind, the key, the value. Numbers are little-endian. The kind
//! is 0 for bytes and 1 for a decimal integer; [`EXPECT_MISS`] is added where the key is not
//! there to be found.

use crate::problem::{Kind, Problem, Result};
use crate::workload::{Distribution, KeyRecipe, Keys, ValueRecipe, Values, hits_before};
use md5::{Digest, Md5};
use std::borrow::Cow;

/// The first bytes of a stream file.
pub const MAGIC: &[u8; 8] = b"RTSTREAM";
/// The version of the file.
pub const VERSION: u32 = 1;
/// Length of the header.
pub const HEADER_BYTES: usize = 20;
/// Length of what stands before the key of an operation.
pub const RECORD_BYTES: usize = 7;
/// The value is a decimal integer.
pub const INTEGER: u8 = 1;
/// Added to the kind: the key is not there, so a miss is the right answer.
pub const EXPECT_MISS: u8 = 0x80;
/// The longest key: what memcached allows.
pub const MAX_KEY_BYTES: u32 = 250;
/// The longest value: what memcached allows by default.
pub const MAX_VALUE_BYTES: u32 = 1_000_000;

/// SplitMix64 (Steele, Lea and Flood, 2014): a well-mixed 64-bit number from a counter.
pub fn mix(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number below `n` from `(seed, i)`, without the bias of a remainder.
pub fn below(seed: u64, i: u64, n: u64) -> u64 {
    ((u128::from(mix(seed, i)) * u128::from(n)) >> 64) as u64
}

/// Which operations a stream holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// The run's seed.
    pub seed: u64,
    /// How keys are made.
    pub keys: Keys,
    /// How values are made.
    pub values: Values,
    /// Put before each key: empty on a store of our own, random for each run on a user's.
    pub prefix: String,
    /// How many operations.
    pub count: u64,
    /// Keys `first .. first + keyspace` are the ones that are there.
    pub first: u64,
    /// How many keys are there.
    pub keyspace: u64,
    /// The share of operations whose key is there.
    pub hit_ratio: f64,
    /// The others each get a key of their own, from this index upwards.
    pub cold_first: u64,
    /// Every `of`-th operation from `part` on belongs to this stream: one part a client.
    pub part: (u64, u64),
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<'a> {
    /// The key.
    pub key: Cow<'a, [u8]>,
    /// The value that is written, or that a read must give.
    pub value: Cow<'a, [u8]>,
    /// The value is a decimal integer, to be given to the client as its own integer type.
    pub integer: bool,
    /// The key is there.
    pub expect_hit: bool,
}

impl Stream {
    /// How many operations this part holds.
    pub fn len(&self) -> u64 {
        let (part, of) = self.part;
        (self.count + of - 1 - part) / of
    }

    /// Whether this part holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many operations of this part find their key.
    pub fn hits(&self) -> u64 {
        self.positions().filter(|i| self.is_hit(*i)).count() as u64
    }

    fn positions(&self) -> impl Iterator<Item = u64> {
        (self.part.0..self.count).step_by(self.part.1.max(1) as usize)
    }

    fn is_hit(&self, i: u64) -> bool {
        hits_before(i + 1, self.hit_ratio) > hits_before(i, self.hit_ratio)
    }

    /// The index of the key of operation `i`, and whether it is there.
    pub fn key_index(&self, i: u64) -> (u64, bool) {
        if !self.is_hit(i) {
            let misses_before = i - hits_before(i, self.hit_ratio);
            return (self.cold_first + misses_before, false);
        }
        let keyspace = self.keyspace.max(1);
        let offset = match self.keys.distribution {
            Distribution::Sequential => hits_before(i, self.hit_ratio) % keyspace,
            Distribution::Uniform => below(self.seed, i, keyspace),
        };
        (self.first + offset, true)
    }

    /// Operation `i` of the whole, whichever part it belongs to.
    pub fn operation(&self, i: u64) -> Operation<'static> {
        let (index, expect_hit) = self.key_index(i);
        Operation {
            key: Cow::Owned(key(self.seed, &self.prefix, self.keys, index)),
            value: Cow::Owned(value(self.seed, self.values, index)),
            integer: self.values.recipe != ValueRecipe::Bytes,
            expect_hit,
        }
    }

    /// The operations of this part, in order.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'static>> + '_ {
        self.positions().map(|i| self.operation(i))
    }

    /// The header of the file of this part.
    pub fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..].copy_from_slice(&self.len().to_le_bytes());
        header
    }
}

/// The text of key `index`.
pub fn key(seed: u64, prefix: &str, keys: Keys, index: u64) -> Vec<u8> {
    let mut key = prefix.as_bytes().to_vec();
    match keys.recipe {
        KeyRecipe::Md5 => push_hex(&mut key, &Md5::digest(index.to_string())),
        KeyRecipe::Hex => {
            let end = key.len() + keys.bytes as usize;
            // The index itself comes first, mixed but not shortened below 16 digits, so that keys
            // of 16 bytes and more never collide.
            let mut word = index;
            while key.len() < end {
                word = mix(seed, word);
                push_hex(&mut key, &word.to_be_bytes());
            }
            key.truncate(end);
        }
    }
    key
}

/// The value of key `index`.
pub fn value(seed: u64, values: Values, index: u64) -> Vec<u8> {
    match values.recipe {
        ValueRecipe::Crc32 => crc32fast::hash(index.to_string().as_bytes())
            .to_string()
            .into_bytes(),
        ValueRecipe::Zero => b"0".to_vec(),
        ValueRecipe::Bytes => {
            const PRINTABLE: &[u8; 64] =
                b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            let mut bytes = Vec::with_capacity(values.bytes as usize + 10);
            let mut word = seed ^ index.wrapping_mul(0xD6E8_FEB8_6659_FD93);
            while bytes.len() < values.bytes as usize {
                word = mix(word, 0);
                let mut bits = word;
                for _ in 0..10 {
                    bytes.push(PRINTABLE[(bits & 63) as usize]);
                    bits >>= 6;
                }
            }
            bytes.truncate(values.bytes as usize);
            bytes
        }
    }
}

fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

impl Operation<'_> {
    /// Appends the operation as it stands in the file.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let kind = u8::from(self.integer) | if self.expect_hit { 0 } else { EXPECT_MISS };
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(&(self.value.len() as u32).to_le_bytes());
        out.push(kind);
        out.extend_from_slice(&self.key);
        out.extend_from_slice(&self.value);
    }
}

/// Reads the header of a stream file: the number of operations.
pub fn decode_header(bytes: &[u8]) -> Result<u64> {
    let bad = |what| Problem::new(Kind::Failed, format!("a stream file {what}"));
    let header = bytes
        .get(..HEADER_BYTES)
        .ok_or_else(|| bad("is cut short"))?;
    let mut number = [0; 8];
    number.copy_from_slice(&header[12..]);
    if &header[..8] != MAGIC || header[8..12] != VERSION.to_le_bytes() {
        return Err(bad("has another magic or version"));
    }
    Ok(u64::from_le_bytes(number))
}

/// Reads one operation from the front; says how many bytes it took.
pub fn decode_operation(bytes: &[u8]) -> Result<(Operation<'_>, usize)> {
    let short = || Problem::new(Kind::Failed, "a stream file is cut short");
    let head = bytes.get(..RECORD_BYTES).ok_or_else(short)?;
    let key_bytes = usize::from(u16::from_le_bytes([head[0], head[1]]));
    let value_bytes = u32::from_le_bytes([head[2], head[3], head[4], head[5]]) as usize;
    let key_end = RECORD_BYTES + key_bytes;
    let end = key_end + value_bytes;
    Ok((
        Operation {
            key: Cow::Borrowed(bytes.get(RECORD_BYTES..key_end).ok_or_else(short)?),
            value: Cow::Borrowed(bytes.get(key_end..end).ok_or_else(short)?),
            integer: head[6] & INTEGER != 0,
            expect_hit: head[6] & EXPECT_MISS == 0,
        },
        end,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn stream(count: u64, hit_ratio: f64) -> Stream {
        Stream {
            seed: 7,
            keys: Keys {
                recipe: KeyRecipe::Md5,
                bytes: 32,
                distribution: Distribution::Sequential,
                count: None,
            },
            values: Values {
                recipe: ValueRecipe::Crc32,
                bytes: 0,
            },
            prefix: String::new(),
            count,
            first: 0,
            keyspace: count,
            hit_ratio,
            cold_first: 1 << 32,
            part: (0, 1),
        }
    }

    #[test]
    fn study_1_keys_and_values_are_the_published_ones() {
        let op = stream(10, 1.0).operation(1);
        // md5("1") and crc32("1"), as PHP gives them.
        assert_eq!(op.key, b"c4ca4238a0b923820dcc509a6f75849b".as_slice());
        assert_eq!(op.value, b"2212294583".as_slice());
        assert!(op.integer);
    }

    #[test]
    fn the_hit_ratio_is_held_exactly_and_no_missing_key_is_used_twice() {
        let s = stream(1000, 0.9);
        let misses: Vec<_> = s.operations().filter(|op| !op.expect_hit).collect();
        assert_eq!(misses.len(), 100);
        assert_eq!(
            misses
                .iter()
                .map(|op| &op.key)
                .collect::<HashSet<_>>()
                .len(),
            100
        );
        assert_eq!(s.hits(), 900);
    }

    #[test]
    fn long_hex_keys_do_not_collide() {
        let keys = Keys {
            recipe: KeyRecipe::Hex,
            bytes: 16,
            distribution: Distribution::Uniform,
            count: None,
        };
        let all: HashSet<_> = (0..100_000).map(|i| key(3, "", keys, i)).collect();
        assert_eq!(all.len(), 100_000);
    }

    proptest! {
        #[test]
        fn parts_together_are_the_whole(count in 1u64..500, of in 1u64..8, hit in 0.0f64..=1.0) {
            let whole: Vec<_> = stream(count, hit).operations().collect();
            let mut parts: Vec<Vec<_>> = (0..of)
                .map(|k| Stream { part: (k, of), ..stream(count, hit) }.operations().collect())
                .collect();
            prop_assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), whole.len());
            let woven: Vec<_> = (0..whole.len()).map(|i| parts[i % of as usize][i / of as usize].clone()).collect();
            prop_assert_eq!(woven, whole);
            parts.clear();
        }

        #[test]
        fn operations_round_trip_through_the_file(key in prop::collection::vec(any::<u8>(), 0..250),
                                                  value in prop::collection::vec(any::<u8>(), 0..2000),
                                                  integer: bool, expect_hit: bool) {
            let op = Operation { key: key.into(), value: value.into(), integer, expect_hit };
            let mut bytes = Vec::new();
            op.encode(&mut bytes);
            prop_assert_eq!(decode_operation(&bytes).unwrap(), (op.clone(), bytes.len()));
            prop_assert!(decode_operation(&bytes[..bytes.len() - 1]).is_err());
        }

        #[test]
        fn uniform_keys_stay_within_the_keyspace(i in 0u64..u64::MAX, n in 1u64..1_000_000) {
            prop_assert!(below(9, i, n) < n);
        }
    }
}
