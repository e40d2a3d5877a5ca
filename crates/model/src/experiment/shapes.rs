//! Keys of the experiment file whose value is a word or a table. `text.rs` documents them.

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;

/// What YCSB has.
pub const EXPONENT: f64 = 0.99;

/// Which keys are visited.
#[derive(Debug)]
pub enum DistributionText {
    /// In order.
    Sequential,
    /// Each as likely as any other.
    Uniform,
    /// By Zipf's law.
    Zipf(ZipfText),
    /// Some keys much, the others little.
    Hotspot(HotspotText),
    /// The newest most.
    Latest(LatestText),
}

/// By Zipf's law.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZipfText {
    /// Over 0.
    #[serde(default = "exponent")]
    pub exponent: f64,
}

/// Some keys much, the others little.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HotspotText {
    /// Which share of the keys.
    pub keys: f64,
    /// Gets which share of the operations.
    pub ops: f64,
}

/// The newest most.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatestText {
    /// Over 0.
    #[serde(default = "exponent")]
    pub exponent: f64,
    /// Operations whose inserts may not be there yet.
    pub settle: Option<u64>,
}

fn exponent() -> f64 {
    EXPONENT
}

/// The words that stand alone.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Sequential,
    Uniform,
    Zipf,
    Latest,
}

/// The words that have a table: one of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    zipf: Option<ZipfText>,
    hotspot: Option<HotspotText>,
    latest: Option<LatestText>,
}

impl<'de> Deserialize<'de> for DistributionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WordOrTable;

        impl<'de> Visitor<'de> for WordOrTable {
            type Value = DistributionText;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a distribution, as in \"uniform\" or { zipf = { exponent = 0.99 } }")
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
                let exponent = EXPONENT;
                Ok(match Word::deserialize(StrDeserializer::new(word))? {
                    Word::Sequential => DistributionText::Sequential,
                    Word::Uniform => DistributionText::Uniform,
                    Word::Zipf => DistributionText::Zipf(ZipfText { exponent }),
                    Word::Latest => DistributionText::Latest(LatestText {
                        exponent,
                        settle: None,
                    }),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let table = Table::deserialize(MapAccessDeserializer::new(map))?;
                match (table.zipf, table.hotspot, table.latest) {
                    (Some(zipf), None, None) => Ok(DistributionText::Zipf(zipf)),
                    (None, Some(hotspot), None) => Ok(DistributionText::Hotspot(hotspot)),
                    (None, None, Some(latest)) => Ok(DistributionText::Latest(latest)),
                    _ => Err(de::Error::custom(
                        "not one distribution, but none or several",
                    )),
                }
            }
        }

        deserializer.deserialize_any(WordOrTable)
    }
}

/// How long values are.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeText {
    /// Each length between two.
    Uniform([u32; 2]),
    /// A median and a tail.
    Lognormal(LognormalText),
    /// Lengths with weights.
    Histogram(Vec<(u32, f64)>),
    /// A file of them.
    HistogramFile(String),
}

/// A median and a tail.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LognormalText {
    /// Half are shorter.
    pub median_bytes: u32,
    /// Standard deviation of the logarithm.
    pub sigma: f64,
    /// None is longer.
    pub max_bytes: u32,
}

/// At which moments ops start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At equal distances.
    Fixed,
    /// At random ones.
    Poisson,
}
