//! Which of the keys that are there an operation visits.

use super::Stream;
use super::random::{below, mix};
use super::scatter::Scatter;
use super::zipf::Zipf;
use crate::workload::{Distribution, hits_before};

/// Sets whether an operation goes to a hot key apart from which one.
const HOT_SEED: u64 = 0x5896_36D0_2D6B_9F5B;

/// So many operations are enough for an insert to be done, however many are in flight.
const MOST_SETTLE: u64 = 10_000;

/// What is computed once for all operations of a stream.
#[derive(Clone, Debug)]
pub(super) enum Picker {
    Sequential,
    Uniform,
    Zipf {
        law: Zipf,
        scatter: Scatter,
    },
    Hotspot {
        hot: u64,
        /// Numbers below it go to a hot key.
        end: u64,
        scatter: Scatter,
    },
    Latest {
        law: Zipf,
        settle: u64,
    },
}

impl Picker {
    pub(super) fn new(stream: &Stream) -> Picker {
        let n = stream.keyspace.max(1);
        let scatter = || Scatter::new(stream.seed, n);
        match stream.keys.distribution {
            Distribution::Sequential => Picker::Sequential,
            Distribution::Uniform => Picker::Uniform,
            Distribution::Zipf { exponent } => Picker::Zipf {
                law: Zipf::new(n, exponent),
                scatter: scatter(),
            },
            Distribution::Hotspot { keys, ops } => Picker::Hotspot {
                hot: ((n as f64 * keys).round() as u64).clamp(1, n),
                end: (ops * 2f64.powi(64)) as u64,
                scatter: scatter(),
            },
            Distribution::Latest { exponent, settle } => Picker::Latest {
                law: Zipf::new(n, exponent),
                settle: settle.unwrap_or((stream.count / 10).min(MOST_SETTLE)),
            },
        }
    }

    /// The index of the key of operation `i`; `inserts` is the share of operations that insert.
    #[inline]
    pub(super) fn pick(&self, stream: &Stream, inserts: f64, i: u64) -> u64 {
        let (seed, n) = (stream.seed, stream.keyspace.max(1));
        let place = match self {
            Picker::Sequential => hits_before(i, stream.hit_ratio) % n,
            Picker::Uniform => below(seed, i, n),
            Picker::Zipf { law, scatter } => scatter.of(law.rank(seed, i) - 1),
            Picker::Hotspot { hot, end, scatter } => {
                let (hot, drawn) = (*hot, mix(seed ^ HOT_SEED, i));
                scatter.of(match drawn < *end || hot == n {
                    true => below(seed, i, hot),
                    false => hot + below(seed, i, n - hot),
                })
            }
            Picker::Latest { law, settle } => {
                let age = law.rank(seed, i) - 1;
                let inserted = hits_before(i.saturating_sub(*settle), inserts);
                match age < inserted {
                    true => return stream.insert_first + inserted - 1 - age,
                    false => n - 1 - (age - inserted),
                }
            }
        };
        stream.first + place
    }
}
