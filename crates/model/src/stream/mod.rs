//! Operation `i` as a pure function of `(seed, i)`, so that all languages do the same work and none
//! re-implements a distribution. A worker that can makes its operations from the [`Stream`] itself;
//! the others read them from a [file].

mod file;
mod keys;
mod plan;
mod random;
mod scatter;
mod size;
mod text;
mod zipf;

pub use file::{
    EXPECT_MISS, HEADER_BYTES, INTEGER, MAGIC, OP, RECORD_BYTES, VERSION, decode_header,
    decode_operation,
};
pub use plan::OpMaker;
pub use random::{below, mix};
pub use text::{KeyMaker, LEAST_COMPRESSIBLE, ValueMaker, decimal};

use crate::names::Op;
use crate::workload::{Keys, ValueRecipe, Values, hits_before};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The longest key: what memcached allows.
pub const MAX_KEY_BYTES: u32 = 250;
/// The longest value: what memcached allows by default.
pub const MAX_VALUE_BYTES: u32 = 1_000_000;

/// Which operations a stream holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// The run's seed.
    pub seed: u64,
    /// The op of every operation; `mix` where they differ.
    pub op: Op,
    /// The ops of a mix with their weights; empty: every operation is `op`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<(Op, f64)>,
    /// The most keys that a scan reads; each reads from 1 to as many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scan_keys: u32,
    /// How many keys each operation has: its records follow one another.
    #[serde(
        default = "crate::usual::one",
        skip_serializing_if = "crate::usual::is_one"
    )]
    pub keys_per_op: u32,
    /// What each visit of a key adds to its number: the value of a record is the number that the
    /// key holds before it.
    #[serde(default, skip_serializing_if = "crate::usual::is_no_sum")]
    pub add: i64,
    /// So many records of the same keys, in order, were worked off before the first of these.
    #[serde(default, skip_serializing_if = "is_no_record")]
    pub records_before: u64,
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
    /// Inserted keys have the indexes from this one upwards, one after another.
    pub insert_first: u64,
    /// Every `of`-th operation from `part` on belongs to this stream: one part a client.
    pub part: (u64, u64),
}

/// What operation `i` is, before its key and value are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The op.
    pub op: Op,
    /// The index of its key and value.
    pub index: u64,
    /// The key is there: not that of an `insert`, nor that of a read that is to miss.
    pub expect_hit: bool,
    /// How many keys a scan reads; 0 for any other op.
    pub scan_keys: u32,
    /// How much was added to its first number by the visits before this one.
    pub added: i64,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation<'a> {
    /// Its op, where those of the stream differ.
    pub op: Option<Op>,
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

    /// How many records this part holds: one for each key of each operation.
    pub fn records(&self) -> u64 {
        self.len() * u64::from(self.keys_per_op)
    }

    /// How many records of this part find their key.
    pub fn hits(&self) -> u64 {
        self.positions().filter(|i| self.is_hit(*i)).count() as u64
    }

    /// The records of this part, by their number in the whole.
    fn positions(&self) -> impl Iterator<Item = u64> {
        let keys = u64::from(self.keys_per_op);
        let ops = (self.part.0..self.count).step_by(self.part.1.max(1) as usize);
        ops.flat_map(move |op| op * keys..(op + 1) * keys)
    }

    /// How much was added to the number of a record's key before it.
    #[inline]
    pub fn added(&self, record: u64) -> i64 {
        match self.add {
            0 => 0,
            add => add * self.visits_before(record) as i64,
        }
    }

    /// How often the key of a record was visited before it, where keys are visited in order.
    fn visits_before(&self, record: u64) -> u64 {
        let keyspace = self.keyspace.max(1);
        let (round, key) = (record / keyspace, record % keyspace);
        round + (self.records_before + keyspace - 1 - key) / keyspace
    }

    fn is_hit(&self, i: u64) -> bool {
        hits_before(i + 1, self.hit_ratio) > hits_before(i, self.hit_ratio)
    }

    /// Which share of the operations is `insert`.
    fn insert_share(&self) -> f64 {
        if self.mix.is_empty() {
            return f64::from(u8::from(self.op == Op::Insert));
        }
        let weights = |of: Option<Op>| -> f64 {
            let fits = |op: Op| of.is_none_or(|of| of == op);
            let mix = self.mix.iter().filter(|(op, _)| fits(*op));
            mix.map(|(_, weight)| weight).sum()
        };
        weights(Some(Op::Insert)) / weights(None)
    }

    /// How many of the operations of the whole are `insert`.
    pub fn inserts(&self) -> u64 {
        hits_before(self.count, self.insert_share())
    }

    /// How many records of the whole each op has: one for each key of each operation. Of a mix
    /// they are counted one by one.
    pub fn ops(&self) -> BTreeMap<Op, u64> {
        if self.mix.is_empty() {
            return BTreeMap::from([(self.op, self.count * u64::from(self.keys_per_op))]);
        }
        let maker = self.op_maker();
        let mut ops = BTreeMap::new();
        for i in 0..self.count {
            *ops.entry(maker.op(i)).or_default() += 1;
        }
        ops
    }

    /// Makes the operations: to be made once and asked often.
    pub fn op_maker(&self) -> OpMaker {
        OpMaker::new(self)
    }

    /// Operation `i` of the whole, whichever part it belongs to. [`OpMaker`] is quicker for many.
    pub fn planned(&self, i: u64) -> Planned {
        self.op_maker().planned(i)
    }

    /// Makes the keys.
    pub fn key_maker(&self) -> KeyMaker {
        KeyMaker::new(self.seed, &self.prefix, self.keys)
    }

    /// Makes the values.
    pub fn value_maker(&self) -> ValueMaker {
        ValueMaker::new(self.seed, self.values.clone())
    }

    fn operation<'a>(
        &self,
        planned: Planned,
        key: Cow<'a, [u8]>,
        value: Cow<'a, [u8]>,
    ) -> Operation<'a> {
        Operation {
            op: (!self.mix.is_empty()).then_some(planned.op),
            key,
            value,
            integer: matches!(self.values.recipe, ValueRecipe::Crc32 | ValueRecipe::Zero),
            expect_hit: planned.expect_hit,
        }
    }

    /// The operations of this part, in order.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'static>> + '_ {
        let (ops, keys, values) = (self.op_maker(), self.key_maker(), self.value_maker());
        self.positions().map(move |i| {
            let planned = ops.planned(i);
            let key = Cow::Owned(keys.make(planned.index));
            let mut value = Vec::new();
            values.write_sum(planned.index, planned.added, &mut value);
            self.operation(planned, key, Cow::Owned(value))
        })
    }
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

fn is_no_record(n: &u64) -> bool {
    *n == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Distribution, KeyRecipe};
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn stream(count: u64, hit_ratio: f64) -> Stream {
        Stream {
            seed: 7,
            op: Op::Get,
            keys: Keys {
                recipe: KeyRecipe::Md5,
                bytes: 32,
                distribution: Distribution::Sequential,
                count: None,
            },
            values: Values::of(ValueRecipe::Crc32, 0),
            mix: Vec::new(),
            scan_keys: 0,
            keys_per_op: 1,
            add: 0,
            records_before: 0,
            insert_first: 1 << 42,
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
        let op = stream(10, 1.0).operations().nth(1).unwrap();
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
    fn what_is_added_is_known_at_each_visit_and_at_the_end() {
        let mut s = stream(4, 1.0);
        s.op = Op::ReadModifyWrite;
        s.values = Values::of(ValueRecipe::Zero, 0);
        (s.keyspace, s.keys_per_op, s.add) = (5, 3, 7);
        let held = |s: &Stream| -> Vec<String> {
            let text = |op: Operation<'_>| String::from_utf8(op.value.into_owned()).unwrap();
            s.operations().map(text).collect()
        };
        // Twelve visits of five keys, in order.
        let before = ["0", "0", "0", "0", "0", "7", "7", "7", "7", "7", "14", "14"];
        assert_eq!(held(&s), before);
        let last = Stream {
            op: Op::Get,
            count: 5,
            keys_per_op: 1,
            records_before: 12,
            ..s.clone()
        };
        assert_eq!(held(&last), ["21", "21", "14", "14", "14"]);
        assert_eq!((s.len(), s.records()), (4, 12));
        assert_eq!(s.ops(), BTreeMap::from([(Op::ReadModifyWrite, 12)]));
    }

    #[test]
    fn the_keys_of_an_operation_stay_together_in_one_part() {
        let mut s = stream(5, 1.0);
        (s.keys_per_op, s.keyspace, s.part) = (2, 10, (1, 2));
        let of: Vec<_> = s.positions().collect();
        assert_eq!(of, [2, 3, 6, 7]);
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
                                                  integer: bool, expect_hit: bool,
                                                  which in prop::option::of(0..Op::ALL.len())) {
            let op = which.map(|which| Op::ALL[which]);
            let op = Operation { op, key: key.into(), value: value.into(), integer, expect_hit };
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
