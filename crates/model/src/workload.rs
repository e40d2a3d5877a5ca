//! What is done: phases of ops over keys and values.

use crate::names::Op;
use crate::path::Options;
use serde::{Deserialize, Serialize};

/// How the text of a key is made from its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyRecipe {
    /// The MD5 of the decimal index, in hexadecimal: 32 bytes, as published in study 1.
    Md5,
    /// Pseudo-random hexadecimal digits from the seed and the index, `bytes` long.
    Hex,
    /// The index in decimal, from 1: for tables whose key is a number.
    Number,
}

/// In which order the keys are visited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// 0, 1, 2, ... and around.
    Sequential,
    /// Each key as likely as any other.
    Uniform,
    /// The key of rank k, from 1, is k to the power of `exponent` times less likely than that of
    /// rank 1. Ranks are scattered over the keys.
    Zipf {
        /// Over 0; YCSB has 0.99.
        exponent: f64,
    },
    /// The share `keys` of the keys gets the share `ops` of the operations.
    Hotspot {
        /// Which share of the keys is hot.
        keys: f64,
        /// Which share of the operations goes to them.
        ops: f64,
    },
    /// Like `zipf`, but the rank is the age: the newest key is the likeliest.
    Latest {
        /// Over 0; YCSB has 0.99.
        exponent: f64,
        /// Keys inserted by so many operations before one may not be there yet, and are left out;
        /// a tenth of the operations, at most 10,000, unless said.
        settle: Option<u64>,
    },
}

impl Distribution {
    /// How keys are visited, after the word "visited".
    pub fn in_words(self) -> String {
        let percent = |share: f64| (share * 1e6).round() / 1e4;
        match self {
            Distribution::Sequential => "in order".to_owned(),
            Distribution::Uniform => "each as likely as any other".to_owned(),
            Distribution::Zipf { exponent } => {
                format!("by Zipf's law with the exponent {exponent}")
            }
            Distribution::Hotspot { keys, ops } => {
                let (keys, ops) = (percent(keys), percent(ops));
                format!("with {ops}% of the ops on {keys}% of the keys")
            }
            Distribution::Latest { exponent, .. } => {
                format!("the newest most, by Zipf's law with the exponent {exponent}")
            }
        }
    }
}

/// Keys of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Keys {
    /// How the text is made.
    pub recipe: KeyRecipe,
    /// Length of a key; 32 for `md5`.
    pub bytes: u32,
    /// The order of visits.
    pub distribution: Distribution,
    /// How many keys there are; as many as the largest phase visits unless said.
    pub count: Option<u64>,
}

/// How the value of a key is made from its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueRecipe {
    /// The CRC-32 of the decimal index, as an integer, as published in study 1.
    Crc32,
    /// Printable pseudo-random bytes from the seed and the index, `bytes` long.
    Bytes,
    /// The number 0, for `incr`.
    Zero,
    /// The same text under every key.
    Text,
}

/// How long values of the recipe `bytes` are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// All of them `bytes` long.
    #[default]
    Constant,
    /// Each length between two as likely as any other.
    Uniform {
        /// The shortest.
        min_bytes: u32,
        /// The longest.
        max_bytes: u32,
    },
    /// Half of them below a median, with a long tail that is cut off.
    Lognormal {
        /// The median.
        median_bytes: u32,
        /// Standard deviation of the natural logarithm of the length.
        sigma: f64,
        /// What is longer is this long.
        max_bytes: u32,
    },
    /// Given lengths with weights.
    Histogram(Vec<(u32, f64)>),
}

impl Sizes {
    /// The longest length, where they differ.
    pub fn longest_bytes(&self) -> Option<u32> {
        match self {
            Sizes::Constant => None,
            Sizes::Uniform { max_bytes, .. } | Sizes::Lognormal { max_bytes, .. } => {
                Some(*max_bytes)
            }
            Sizes::Histogram(lengths) => lengths.iter().map(|(bytes, _)| *bytes).max(),
        }
    }

    /// Whether all values have one length.
    pub fn is_constant(&self) -> bool {
        *self == Sizes::Constant
    }
}

/// Values of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Values {
    /// How the value is made.
    pub recipe: ValueRecipe,
    /// Length of a value of the recipe `bytes`; the longest one where lengths differ.
    pub bytes: u32,
    /// How long each is.
    #[serde(default, skip_serializing_if = "Sizes::is_constant")]
    pub size: Sizes,
    /// The share of each value that a compressor can remove.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compressible: f64,
    /// The text of the recipe `text`; empty for any other.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

fn is_none(n: &u32) -> bool {
    *n == 0
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

impl Values {
    /// Values of one length that a compressor finds nothing in.
    pub fn of(recipe: ValueRecipe, bytes: u32) -> Values {
        Values {
            recipe,
            bytes,
            size: Sizes::Constant,
            compressible: 0.0,
            text: String::new(),
        }
    }
}

/// Where keys and values are made. Study 1 made them inside the timed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Generate {
    /// Before the loop: the loop holds the call and the clock, nothing else.
    #[default]
    Prepared,
    /// Inside the loop, by the language's own functions, as the published loop did.
    InLoop,
}

/// When ops start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Each as soon as the one before it on its place in flight has its reply.
    #[default]
    Closed,
    /// At equal distances.
    Fixed {
        /// Ops a second, over all connections.
        per_s: f64,
    },
    /// At random moments, independent of one another.
    Poisson {
        /// Ops a second in the mean, over all connections.
        per_s: f64,
    },
    /// At given moments.
    Schedule {
        /// A text file: a moment in seconds since the start of the loop on each line, in order.
        file: String,
    },
}

impl Pace {
    /// Whether ops wait for the replies of others, and for nothing else.
    pub fn is_closed(&self) -> bool {
        *self == Pace::Closed
    }
}

/// One phase of a trial, in a client process of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name in reports.
    pub name: String,
    /// The op.
    pub op: Op,
    /// The ops of a mix with their weights; empty for any other op.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<(Op, f64)>,
    /// The most keys that a scan reads.
    #[serde(default, skip_serializing_if = "is_none")]
    pub scan_keys: u32,
    /// How many keys each op has.
    #[serde(
        default = "crate::usual::one",
        skip_serializing_if = "crate::usual::is_one"
    )]
    pub keys_per_op: u32,
    /// How many of the keys it is about, where that is not all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// What `read_modify_write` adds to the number that it read; 0: it writes back what it read.
    #[serde(default, skip_serializing_if = "crate::usual::is_no_sum")]
    pub add: i64,
    /// What other clients do to the same store at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// How many ops.
    pub count: u64,
    /// Ops before the figures start, over keys of their own.
    pub warmup: u64,
    /// Time to live of what is written, in seconds.
    pub ttl_s: Option<u32>,
    /// The share of reads that find their key: in the store for `get`, in the cache for
    /// `read_aside`.
    pub hit_ratio: f64,
    /// When ops start.
    #[serde(default, skip_serializing_if = "Pace::is_closed")]
    pub pace: Pace,
    /// The variants that do it; empty for all.
    pub only: Vec<String>,
}

/// What other clients do to the store of a phase while it is measured: it should go on for longer
/// than the phase, so that all of the phase has it beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Language and library, or `native`.
    pub client: String,
    /// The op.
    pub op: Op,
    /// How many ops.
    pub count: u64,
    /// Options of the client.
    #[serde(default)]
    pub options: Options,
}

impl Phase {
    /// Every op that it does; of a mix, `mix` itself first.
    pub fn ops(&self) -> impl Iterator<Item = Op> + '_ {
        std::iter::once(self.op).chain(self.mix.iter().map(|(op, _)| *op))
    }

    /// Whether a variant does this phase.
    pub fn concerns(&self, variant: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == variant)
    }

    /// How many keys all of its ops have together.
    pub fn records(&self) -> u64 {
        self.count * u64::from(self.keys_per_op)
    }

    /// How many of the keys are there to be found: all of them where no ratio is held.
    pub fn hits(&self) -> u64 {
        hits_before(self.records(), self.hit_ratio)
    }
}

/// How many of the first `i` ops are hits when the share `ratio` is held evenly.
pub fn hits_before(i: u64, ratio: f64) -> u64 {
    (i as f64 * ratio + 1e-9).floor() as u64
}

/// What every variant of an experiment does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The keys.
    pub keys: Keys,
    /// The values.
    pub values: Values,
    /// Where they are made.
    pub generate: Generate,
    /// Requests in flight.
    pub concurrency: u32,
    /// The phases, in order.
    pub phases: Vec<Phase>,
}
