//! The TOML that a person writes. Every key is documented here and nowhere else: the reference
//! page is made from this file's comments. An unknown key is an error.

use super::shapes::{Arrivals, DistributionText, SizeText};
use crate::fault::FaultKind;
use crate::names::{Op, Placement};
use crate::workload::{Generate, KeyRecipe, ValueRecipe};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Spanned;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentText {
    /// A word: letters, digits and `-`.
    pub name: Spanned<String>,
    /// A line.
    #[serde(default)]
    pub title: String,
    /// The question that the experiment answers.
    #[serde(default)]
    pub question: String,
    /// Where the published figures come from.
    pub source: Option<String>,
    /// The smallest difference that matters: `"5%"`.
    pub delta: Option<Spanned<String>>,
    /// `split`, `shared`, `free`: one, or a list to run in each.
    #[serde(default)]
    pub placement: Option<OneOrMany<Placement>>,
    /// A placement that takes part in every n-th block only, because its trials take long:
    /// `every = { split = 2 }`. Each takes part in every block unless said.
    pub every: Option<Spanned<BTreeMap<Placement, u32>>>,
    /// The variant that the others are compared with; the first one unless said.
    pub baseline: Option<Spanned<String>>,
    /// Figures to compare, the leading one first: `["ops_per_s"]` unless said.
    pub metrics: Option<Spanned<Vec<String>>>,
    /// Time that the blocks may take, in seconds; 300 unless said.
    pub budget_s: Option<Spanned<f64>>,
    /// The last planned look; 40 unless said.
    pub max_blocks: Option<Spanned<u32>>,
    /// `prepared` or `in-loop`: where keys and values are made.
    #[serde(default)]
    pub generate: Generate,
    /// Connections, each with as many requests in flight as its pipeline is deep; 1 unless said.
    /// A client that carries one connection a process runs in as many processes.
    pub concurrency: Option<Spanned<u32>>,
    /// The keys.
    #[serde(default)]
    pub keys: KeysText,
    /// The values.
    #[serde(default)]
    pub values: ValuesText,
    /// The phases, in order.
    #[serde(default)]
    pub phase: Vec<Spanned<PhaseText>>,
    /// The variants.
    #[serde(default)]
    pub variant: Vec<Spanned<VariantText>>,
    /// Variants as the product of factors.
    pub matrix: Option<Spanned<MatrixText>>,
    /// Published figures.
    #[serde(default)]
    pub published: Vec<Spanned<PublishedText>>,
    /// The published projection: what a difference was said to mean a day.
    pub projection: Option<Spanned<ProjectionText>>,
    /// What `roundtrip faults` does. An experiment may have it beside its phases, or alone.
    pub faults: Option<Spanned<FaultsText>>,
}

/// A value, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// As a list.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

/// `[keys]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeysText {
    /// `hex` (unless said), `md5`, or `number`: 1, 2, ..., for tables whose key is a number.
    pub recipe: Option<KeyRecipe>,
    /// Length: 32 unless said, at least 16.
    pub bytes: Option<Spanned<u32>>,
    /// Which keys are visited: `"sequential"` (unless said), `"uniform"`, `"zipf"`, `"latest"` (the
    /// keys inserted last the most), or with figures: `{ zipf = { exponent = 0.99 } }`,
    /// `{ latest = { exponent = 0.99, settle = 10000 } }` (keys inserted by the last `settle` ops
    /// are left out), `{ hotspot = { keys = 0.2, ops = 0.8 } }` (a fifth of the keys gets four
    /// fifths of the ops).
    pub distribution: Option<Spanned<DistributionText>>,
    /// How many keys there are: as many as the largest phase visits, unless said.
    pub count: Option<Spanned<u64>>,
}

/// `[values]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValuesText {
    /// `bytes` (unless said), `crc32`, `zero`, or `text`.
    pub recipe: Option<ValueRecipe>,
    /// The text of the recipe `text`, the same under every key.
    pub text: Option<Spanned<String>>,
    /// Length of a value of the recipe `bytes`: 100 unless said.
    pub bytes: Option<Spanned<u32>>,
    /// In the place of `bytes`, lengths that differ: `{ uniform = [10, 1000] }`,
    /// `{ lognormal = { median_bytes = 100, sigma = 1.0, max_bytes = 100000 } }`,
    /// `{ histogram = [[100, 0.9], [1000, 0.1]] }` (lengths with weights), or
    /// `{ histogram_file = "sizes.txt" }` (a length and a weight on each line).
    pub size: Option<Spanned<SizeText>>,
    /// The share of each value that a compressor can remove, from 0.25: values are letters, and
    /// 6 bits of 8 are the least that Deflate leaves of them. Unless said they are that.
    pub compressible: Option<Spanned<f64>>,
}

/// `[[phase]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseText {
    /// Its name; the op's unless said.
    pub name: Option<String>,
    /// The op.
    pub op: Op,
    /// The ops of `op = "mix"` with their weights: `{ get = 0.95, set = 0.05 }`.
    pub mix: Option<Spanned<BTreeMap<Op, f64>>>,
    /// The most keys that a `scan` reads, 100 unless said; each reads from 1 to as many.
    pub scan_keys: Option<Spanned<u32>>,
    /// How many keys each op has: 3 unless said for `get_many`, 1 for `read_modify_write`.
    pub keys_per_op: Option<Spanned<u32>>,
    /// How many of the keys the phase is about, the first ones: all of them unless said.
    pub keys: Option<Spanned<u64>>,
    /// What `read_modify_write` adds to the number that it read; unless said it writes back what
    /// it read. The final values are checked.
    pub add: Option<Spanned<i64>>,
    /// What other clients do to the same store at the same time, for longer than the phase takes:
    /// `{ client = "php/memcached", op = "set", count = 100000 }`, with `options` where need be.
    pub beside: Option<Spanned<BesideText>>,
    /// How many ops.
    pub count: Option<Spanned<u64>>,
    /// How many ops with `--full`, for a study whose published form takes long.
    pub full_count: Option<Spanned<u64>>,
    /// With `rate_per_s`, how long, in the place of `count`.
    pub duration_s: Option<Spanned<f64>>,
    /// Ops a second, over all connections: an op then starts at its moment, whether others have
    /// their replies or not. Only for clients that can; unless said, an op starts when the one
    /// before it has its reply.
    pub rate_per_s: Option<Spanned<f64>>,
    /// With `rate_per_s`: `fixed` (at equal distances, unless said) or `poisson` (at random
    /// moments).
    pub arrivals: Option<Spanned<Arrivals>>,
    /// A file of the moments at which ops start, in seconds since the start, one on each line, in
    /// order; beside the experiment's own file.
    pub schedule: Option<Spanned<String>>,
    /// Ops before the figures start; a hundredth of the count, at most 1,000, unless said.
    pub warmup: Option<u64>,
    /// Time to live of what is written, in seconds.
    pub ttl_s: Option<Spanned<u32>>,
    /// The share of reads that find their key; 1 unless said. For `get`, `read_aside` and `mix`.
    pub hit_ratio: Option<Spanned<f64>>,
    /// The variants that do it; all unless said.
    #[serde(default)]
    pub only: Vec<Spanned<String>>,
}

/// `beside` of a phase.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BesideText {
    /// Language and library, or `native`.
    pub client: String,
    /// The op.
    pub op: Op,
    /// How many ops.
    pub count: u64,
    /// Options of the client.
    #[serde(default)]
    pub options: BTreeMap<String, OptionValue>,
}

/// `[[variant]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantText {
    /// Its name; the client's unless said.
    pub name: Option<String>,
    /// Language and library, or `native`.
    pub client: String,
    /// The store.
    pub store: String,
    /// A cache in front of it, for `read_aside`.
    pub cache: Option<String>,
    /// The variant that it is compared with, where that is not the baseline of the experiment; its
    /// own name to be compared with nothing.
    pub against: Option<Spanned<String>>,
    /// Options of the client.
    #[serde(default)]
    pub options: BTreeMap<String, OptionValue>,
}

impl VariantText {
    /// Its name.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.client)
    }
}

/// `[matrix]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixText {
    /// Clients.
    pub client: Vec<String>,
    /// Stores.
    pub store: Vec<String>,
    /// Values of each option.
    #[serde(default)]
    pub options: BTreeMap<String, Vec<OptionValue>>,
    /// Each is compared with the one that has these options and all else alike:
    /// `against = { depth = 1 }`. The baseline of the experiment unless said.
    #[serde(default)]
    pub against: BTreeMap<String, OptionValue>,
}

/// The value of an option: text, number or boolean; kept as text.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// Text.
    Text(String),
    /// A number.
    Number(i64),
    /// A boolean.
    Flag(bool),
}

impl OptionValue {
    /// As text.
    pub fn text(&self) -> String {
        match self {
            OptionValue::Text(text) => text.clone(),
            OptionValue::Number(number) => number.to_string(),
            OptionValue::Flag(flag) => flag.to_string(),
        }
    }
}

/// `[[published]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedText {
    /// The phase.
    pub phase: String,
    /// The variant.
    pub variant: String,
    /// Figures by metric: `process_real_s = 5.773`.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
    /// Figures of several rounds by metric: `loop_real_s = [4.725, 4.673]`.
    #[serde(default)]
    pub rounds: BTreeMap<String, Vec<f64>>,
}

/// `[projection]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectionText {
    /// Ops a day, over all servers; `roundtrip project` takes it unless told otherwise.
    pub per_day: f64,
    /// How many servers share them; 1 unless said.
    pub servers: Option<u32>,
    /// The phase that it is of; any unless said.
    pub phase: Option<String>,
    /// The variant that saves; any unless said.
    pub variant: Option<String>,
    /// How many ops the published loop had.
    pub unit_ops: f64,
    /// The seconds that the variant saved of that loop.
    pub published_saved_s: f64,
    /// The projection in a sentence, as it was published.
    pub source: String,
}

/// `[faults]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultsText {
    /// `set` or `insert`: write i is of key i with value i.
    pub op: Spanned<Op>,
    /// Writes of a trial, in the middle of which a fault strikes.
    pub count: Spanned<u64>,
    /// Trials of each variant and kind of fault; 50 unless said.
    pub trials: Option<Spanned<u32>>,
    /// Length of a value; 100 unless said.
    pub value_bytes: Option<Spanned<u32>>,
    /// What strikes: `client` (its process is killed), `server` (every server is killed and started
    /// again on its data), `connection` (it is cut, and no new one can be made); all unless said.
    pub kinds: Option<Spanned<Vec<FaultKind>>>,
    /// The variants.
    #[serde(default)]
    pub variant: Vec<Spanned<FaultVariantText>>,
}

/// `[[faults.variant]]`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultVariantText {
    /// Its name; the client's unless said.
    pub name: Option<String>,
    /// Language and library.
    pub client: String,
    /// The store.
    pub store: String,
    /// Options of the client and of the server: `depth`, `transaction`, `appendonly`, ...
    #[serde(default)]
    pub options: BTreeMap<String, OptionValue>,
    /// The op; that of `[faults]` unless said.
    pub op: Option<Spanned<Op>>,
    /// What strikes it; the kinds of `[faults]` unless said.
    pub kinds: Option<Spanned<Vec<FaultKind>>>,
}
