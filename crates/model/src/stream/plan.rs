//! Which op each operation of a stream is, and on which key: what is computed once for the whole
//! stream, and the operation itself.

use super::random::{below, mix};
use super::{Planned, Stream};
use crate::names::Op;
use crate::workload::{Distribution, hits_before};

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
}

impl OpMaker {
    /// The operations of a stream.
    pub fn new(stream: &Stream) -> OpMaker {
        OpMaker {
            inserts: stream.insert_share(),
            others: thresholds(&stream.mix),
            stream: stream.clone(),
        }
    }

    /// Operation `i` of the whole stream, whichever part it belongs to.
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
            };
        }
        Planned {
            op,
            index: self.key(i),
            expect_hit: true,
            scan_keys: match op {
                Op::Scan => 1 + below(stream.seed ^ SCAN_SEED, i, stream.scan_keys.into()) as u32,
                _ => 0,
            },
        }
    }

    #[inline]
    fn op(&self, i: u64) -> Op {
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

    /// The index of a key that is there.
    #[inline]
    fn key(&self, i: u64) -> u64 {
        let stream = &self.stream;
        let keyspace = stream.keyspace.max(1);
        stream.first
            + match stream.keys.distribution {
                Distribution::Sequential => hits_before(i, stream.hit_ratio) % keyspace,
                _ => below(stream.seed, i, keyspace),
            }
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
