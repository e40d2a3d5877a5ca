//! Which op each operation of a stream is, and on which key: what is computed once for the whole
//! stream, and the operation itself.

use super::keys::Picker;
use super::random::{below, mix};
use super::{Planned, Stream};
use crate::names::Op;
use crate::workload::hits_before;

/// Sets the choice of the op apart from that of the key.
const OP_SEED: u64 = 0xA076_1D64_78BD_642F;
/// Sets the length of a scan apart from both.
const SCAN_SEED: u64 = 0xE703_7ED1_A0B4_28DB;

/// Makes the operations of a stream: the op, and the index of the key and the value.
#[derive(Clone, Debug)]
pub struct OpMaker {
    stream: Stream,
    /// The share of `insert`, which is held evenly.
    inserts: f64,
    /// The other ops of a mix, each with the first number above its share of all 64-bit numbers.
    others: Vec<(Op, u64)>,
    keys: Picker,
}

impl OpMaker {
    /// The operations of a stream.
    pub fn new(stream: &Stream) -> OpMaker {
        OpMaker {
            inserts: stream.insert_share(),
            others: thresholds(&stream.mix),
            keys: Picker::new(stream),
            stream: stream.clone(),
        }
    }

    /// Record `i` of the whole stream, whichever part it belongs to: operation `i` where each has one
    /// key.
    #[inline]
    pub fn planned(&self, i: u64) -> Planned {
        let stream = &self.stream;
        let op = self.op(i);
        if op == Op::Insert {
            return Planned {
                op,
                index: stream.insert_first + hits_before(i, self.inserts),
                expect_hit: false,
                scan_keys: 0,
                added: 0,
            };
        }
        // The hit ratio of a mix is that of its reads.
        let may_miss = stream.mix.is_empty() || op == Op::Get;
        if may_miss && !stream.is_hit(i) {
            let misses_before = i - hits_before(i, stream.hit_ratio);
            return Planned {
                op,
                index: stream.cold_first + misses_before,
                expect_hit: false,
                scan_keys: 0,
                added: 0,
            };
        }
        Planned {
            op,
            index: self.keys.pick(stream, self.inserts, i),
            expect_hit: true,
            scan_keys: match op {
                Op::Scan => 1 + below(stream.seed ^ SCAN_SEED, i, stream.scan_keys.into()) as u32,
                _ => 0,
            },
            added: stream.added(i),
        }
    }

    /// The op alone of operation `i`.
    #[inline]
    pub fn op(&self, i: u64) -> Op {
        if self.stream.mix.is_empty() {
            return self.stream.op;
        }
        if hits_before(i + 1, self.inserts) > hits_before(i, self.inserts) {
            return Op::Insert;
        }
        let drawn = mix(self.stream.seed ^ OP_SEED, i);
        let found = self.others.iter().find(|(_, end)| drawn < *end);
        found
            .or(self.others.last())
            .map_or(Op::Insert, |(op, _)| *op)
    }
}

/// Where the share of each op but `insert` ends among all 64-bit numbers.
fn thresholds(mix: &[(Op, f64)]) -> Vec<(Op, u64)> {
    let others = || mix.iter().filter(|(op, _)| *op != Op::Insert);
    let total: f64 = others().map(|(_, weight)| weight).sum();
    let mut sum = 0.0;
    others()
        .map(|(op, weight)| {
            sum += weight;
            (*op, (sum / total * 2f64.powi(64)) as u64)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Distribution, KeyRecipe, Keys, ValueRecipe, Values};
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    fn stream(distribution: Distribution, mix: &[(Op, f64)], count: u64) -> Stream {
        Stream {
            seed: 7,
            op: if mix.is_empty() { Op::Get } else { Op::Mix },
            mix: mix.to_vec(),
            scan_keys: 100,
            keys_per_op: 1,
            add: 0,
            records_before: 0,
            keys: Keys {
                recipe: KeyRecipe::Hex,
                bytes: 32,
                distribution,
                count: None,
            },
            values: Values::of(ValueRecipe::Bytes, 10),
            prefix: String::new(),
            count,
            first: 1000,
            keyspace: 5000,
            hit_ratio: 1.0,
            cold_first: 1 << 40,
            insert_first: 6000,
            part: (0, 1),
        }
    }

    fn all(stream: &Stream) -> Vec<Planned> {
        let maker = stream.op_maker();
        (0..stream.count).map(|i| maker.planned(i)).collect()
    }

    fn close(found: usize, share: f64, of: u64) -> bool {
        let expected = share * of as f64;
        (found as f64 - expected).abs() < 5.0 * (expected * (1.0 - share)).sqrt()
    }

    #[test]
    fn a_mix_has_its_shares_and_its_inserts_exactly() {
        let mix = [
            (Op::Get, 90.0),
            (Op::Set, 3.0),
            (Op::Scan, 2.0),
            (Op::Insert, 5.0),
        ];
        let s = stream(Distribution::Uniform, &mix, 100_000);
        let planned = all(&s);
        for (op, weight) in mix {
            let found = planned.iter().filter(|p| p.op == op).count();
            assert!(close(found, weight / 100.0, s.count), "{op}: {found}");
        }
        let inserted: Vec<u64> = planned
            .iter()
            .filter(|p| p.op == Op::Insert)
            .map(|p| p.index)
            .collect();
        assert_eq!(s.inserts(), 5000);
        assert_eq!(inserted, (6000..11_000).collect::<Vec<u64>>());
        assert!(planned.iter().all(|p| p.expect_hit != (p.op == Op::Insert)));
        let scans = planned.iter().filter(|p| p.op == Op::Scan);
        let lengths: HashSet<u32> = scans.map(|p| p.scan_keys).collect();
        assert_eq!(lengths.len(), 100);
        assert!(lengths.contains(&1) && lengths.contains(&100));
    }

    #[test]
    fn inserts_alone_take_every_key_from_the_first_on() {
        let mut s = stream(Distribution::Uniform, &[], 100);
        s.op = Op::Insert;
        let indexes: Vec<u64> = all(&s).iter().map(|p| p.index).collect();
        assert_eq!(indexes, (6000..6100).collect::<Vec<u64>>());
    }

    #[test]
    fn the_op_and_the_key_of_an_operation_are_independent() {
        let mix = [(Op::Get, 0.5), (Op::Set, 0.5)];
        let planned = all(&stream(Distribution::Uniform, &mix, 100_000));
        let low = |op| {
            let of = planned.iter().filter(|p| p.op == op && p.index < 3500);
            of.count()
        };
        assert!(close(low(Op::Get), 0.25, 100_000), "{}", low(Op::Get));
        assert!(close(low(Op::Set), 0.25, 100_000), "{}", low(Op::Set));
    }

    #[test]
    fn the_hit_ratio_of_a_mix_is_that_of_its_reads() {
        let mix = [(Op::Get, 0.8), (Op::Set, 0.2)];
        let mut s = stream(Distribution::Uniform, &mix, 100_000);
        s.hit_ratio = 0.9;
        let planned = all(&s);
        let missed: Vec<&Planned> = planned.iter().filter(|p| !p.expect_hit).collect();
        assert!(missed.iter().all(|p| p.op == Op::Get));
        assert!(close(missed.len(), 0.08, s.count), "{}", missed.len());
        let keys: HashSet<u64> = missed.iter().map(|p| p.index).collect();
        assert_eq!(keys.len(), missed.len());
    }

    #[test]
    fn the_hottest_key_of_zipf_has_its_share_and_is_not_the_first() {
        let s = stream(Distribution::Zipf { exponent: 1.0 }, &[], 100_000);
        let mut visits: HashMap<u64, usize> = HashMap::new();
        for planned in all(&s) {
            *visits.entry(planned.index).or_default() += 1;
        }
        let total: f64 = (1..=5000).map(|k| 1.0 / f64::from(k)).sum();
        let mut hottest: Vec<(usize, u64)> = visits.iter().map(|(k, n)| (*n, *k)).collect();
        hottest.sort_unstable_by(|a, b| b.cmp(a));
        for (rank, (found, _)) in (1..=3).zip(&hottest) {
            assert!(close(*found, 1.0 / f64::from(rank) / total, s.count));
        }
        assert!(hottest[0].1.abs_diff(hottest[1].1) > 1);
    }

    #[test]
    fn a_hotspot_gets_its_share_of_the_operations() {
        let distribution = Distribution::Hotspot {
            keys: 0.01,
            ops: 0.9,
        };
        let s = stream(distribution, &[], 100_000);
        let mut visits: HashMap<u64, usize> = HashMap::new();
        for planned in all(&s) {
            *visits.entry(planned.index).or_default() += 1;
        }
        let mut counts: Vec<usize> = visits.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        // 50 keys with 1,800 each, then 4,950 with 2 each.
        assert!(close(counts[..50].iter().sum(), 0.9, s.count));
        assert!(counts[49] > 1500 && counts[50] < 20);
    }

    #[test]
    fn the_latest_keys_are_read_most_and_none_that_may_not_be_there() {
        let distribution = Distribution::Latest {
            exponent: 0.99,
            settle: Some(1000),
        };
        let mix = [(Op::Get, 0.9), (Op::Insert, 0.1)];
        let s = stream(distribution, &mix, 100_000);
        let maker = s.op_maker();
        let (mut newest, mut reads) = (0, 0);
        for i in 0..s.count {
            let planned = maker.planned(i);
            if planned.op != Op::Get {
                continue;
            }
            let there = 6000 + hits_before(i.saturating_sub(1000), 0.1);
            assert!((1000..there).contains(&planned.index), "{i}: {planned:?}");
            assert!(planned.index >= there - 5000);
            newest += usize::from(planned.index == there - 1);
            reads += 1;
        }
        let total: f64 = (1..=5000).map(|k| f64::from(k).powf(-0.99)).sum();
        assert!(close(newest, 1.0 / total, reads), "{newest} of {reads}");
    }

    proptest! {
        #[test]
        fn keys_are_always_within_the_keyspace(i in 0u64..1 << 50, which in 0usize..4, n in 1u64..1 << 40) {
            let mut s = stream([
                Distribution::Sequential,
                Distribution::Uniform,
                Distribution::Zipf { exponent: 1.2 },
                Distribution::Hotspot { keys: 0.2, ops: 0.8 },
            ][which], &[], 1 << 50);
            s.keyspace = n;
            let planned = s.planned(i);
            prop_assert!((1000..1000 + n).contains(&planned.index));
            prop_assert_eq!(planned, s.planned(i));
        }
    }
}
