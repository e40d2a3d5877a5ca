//! The part of an experiment that says how keys and values are made.

use super::{MAX_COUNT, Source};
use crate::experiment::shapes::{DistributionText, SizeText};
use crate::experiment::text::{KeysText, ValuesText};
use crate::problem::{Kind, Problem, Result};
use crate::stream::{LEAST_COMPRESSIBLE, MAX_KEY_BYTES, MAX_VALUE_BYTES};
use crate::workload::{Distribution, KeyRecipe, Keys, Sizes, ValueRecipe, Values};
use toml::Spanned;

const MIN_KEY_BYTES: u32 = 16;
const MAX_EXPONENT: f64 = 100.0;
const MAX_SIGMA: f64 = 10.0;
const MAX_LENGTHS: usize = 10_000;
const MOST_COMPRESSIBLE: f64 = 0.95;

pub(super) fn keys(source: &Source<'_>, raw: &KeysText) -> Result<Keys> {
    let recipe = raw.recipe.unwrap_or(KeyRecipe::Hex);
    let bytes = raw.bytes.as_ref().map_or(32, |bytes| *bytes.get_ref());
    let span = raw.bytes.as_ref().map_or(0..0, Spanned::span);
    if !(MIN_KEY_BYTES..=MAX_KEY_BYTES).contains(&bytes) {
        let what =
            format!("keys of {bytes} bytes are not between {MIN_KEY_BYTES} and {MAX_KEY_BYTES}");
        return Err(source.bad(
            span,
            what,
            "shorter keys collide, longer ones memcached refuses",
        ));
    }
    if recipe == KeyRecipe::Md5 && bytes != 32 {
        return Err(source.bad(
            span,
            "keys of the recipe `md5` have 32 bytes",
            "leave `bytes` out",
        ));
    }
    let count = match &raw.count {
        None => None,
        Some(n) if (1..=MAX_COUNT).contains(n.get_ref()) => Some(*n.get_ref()),
        Some(n) => {
            let what = format!("{} keys are not between 1 and {MAX_COUNT}", n.get_ref());
            return Err(source.bad(n.span(), what, "leave it out for as many as are visited"));
        }
    };
    let distribution = match &raw.distribution {
        None => Distribution::Sequential,
        Some(raw) => distribution(raw.get_ref())
            .map_err(|(what, next)| source.bad(raw.span(), what, next))?,
    };
    Ok(Keys {
        recipe,
        bytes,
        distribution,
        count,
    })
}

/// What is wrong, and what to write.
type Wrong = (String, &'static str);

fn distribution(raw: &DistributionText) -> std::result::Result<Distribution, Wrong> {
    let exponent = |exponent: f64| match exponent > 0.0 && exponent <= MAX_EXPONENT {
        true => Ok(exponent),
        false => Err((
            format!("the exponent {exponent} is not above 0 and at most {MAX_EXPONENT}"),
            "write { zipf = { exponent = 0.99 } } as YCSB has it",
        )),
    };
    Ok(match raw {
        DistributionText::Sequential => Distribution::Sequential,
        DistributionText::Uniform => Distribution::Uniform,
        DistributionText::Zipf(zipf) => Distribution::Zipf {
            exponent: exponent(zipf.exponent)?,
        },
        DistributionText::Latest(latest) => Distribution::Latest {
            exponent: exponent(latest.exponent)?,
            settle: latest.settle,
        },
        DistributionText::Hotspot(spot) => {
            let (keys, ops) = (spot.keys, spot.ops);
            if !(keys > 0.0 && keys <= 1.0 && (0.0..=1.0).contains(&ops)) {
                let what = format!("a hotspot of {keys} of the keys and {ops} of the ops");
                return Err((what, "write shares, as in { keys = 0.2, ops = 0.8 }"));
            }
            Distribution::Hotspot { keys, ops }
        }
    })
}

pub(super) fn values(source: &Source<'_>, raw: &ValuesText) -> Result<Values> {
    let recipe = raw.recipe.unwrap_or(ValueRecipe::Bytes);
    let said = raw.size.as_ref().map(Spanned::span);
    let said = said.or(raw.compressible.as_ref().map(Spanned::span));
    if let Some(span) = said.filter(|_| recipe != ValueRecipe::Bytes) {
        let what = "only values of the recipe `bytes` have a size or can be compressed";
        return Err(source.bad(span, what, "leave it out, or use recipe = \"bytes\""));
    }
    let size = match &raw.size {
        None => Sizes::Constant,
        Some(raw) => {
            sizes(raw.get_ref()).map_err(|(what, next)| source.bad(raw.span(), what, next))?
        }
    };
    if let (Some(bytes), Some(_)) = (&raw.bytes, &raw.size) {
        let what = "values have either `bytes` or a `size`";
        return Err(source.bad(bytes.span(), what, "leave one of them out"));
    }
    let text = text(source, raw, recipe)?;
    let asked = match recipe {
        ValueRecipe::Text => text.len() as u32,
        _ => raw.bytes.as_ref().map_or(100, |bytes| *bytes.get_ref()),
    };
    let bytes = size.longest_bytes().unwrap_or(asked);
    if bytes > MAX_VALUE_BYTES {
        let span = raw.bytes.as_ref().map(Spanned::span);
        let span = span
            .or(raw.size.as_ref().map(Spanned::span))
            .unwrap_or(0..0);
        let what = format!("values of {bytes} bytes are over {MAX_VALUE_BYTES}");
        return Err(source.bad(span, what, "memcached holds no larger item by default"));
    }
    Ok(Values {
        recipe,
        bytes,
        size,
        compressible: compressible(source, raw.compressible.as_ref())?,
        text,
    })
}

fn text(source: &Source<'_>, raw: &ValuesText, recipe: ValueRecipe) -> Result<String> {
    match (recipe, &raw.text) {
        (ValueRecipe::Text, Some(text)) if !text.get_ref().is_empty() => Ok(text.get_ref().clone()),
        (ValueRecipe::Text, _) => {
            let what = "values of the recipe `text` do not say which";
            let next = "add text = \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"";
            Err(Problem::new(Kind::Usage, what).at(source.file).next(next))
        }
        (_, None) => Ok(String::new()),
        (_, Some(text)) => {
            let what = "only values of the recipe `text` have a text";
            Err(source.bad(text.span(), what, "add recipe = \"text\", or leave it out"))
        }
    }
}

fn compressible(source: &Source<'_>, raw: Option<&Spanned<f64>>) -> Result<f64> {
    let allowed = LEAST_COMPRESSIBLE..=MOST_COMPRESSIBLE;
    match raw {
        None => Ok(0.0),
        Some(share) if allowed.contains(share.get_ref()) => Ok(*share.get_ref()),
        Some(share) => Err(source.bad(
            share.span(),
            format!(
                "compressible {} is not between {LEAST_COMPRESSIBLE} and {MOST_COMPRESSIBLE}",
                share.get_ref()
            ),
            "values are letters, which lose a quarter at least; leave it out for that",
        )),
    }
}

fn sizes(raw: &SizeText) -> std::result::Result<Sizes, Wrong> {
    match raw {
        SizeText::Uniform([min_bytes, max_bytes]) if min_bytes <= max_bytes => Ok(Sizes::Uniform {
            min_bytes: *min_bytes,
            max_bytes: *max_bytes,
        }),
        SizeText::Uniform([min_bytes, max_bytes]) => Err((
            format!("no length is from {min_bytes} to {max_bytes}"),
            "write the shorter one first, as in uniform = [10, 1000]",
        )),
        SizeText::Lognormal(law) => {
            let fits = law.sigma > 0.0 && law.sigma <= MAX_SIGMA;
            if !fits || law.median_bytes == 0 || law.median_bytes > law.max_bytes {
                let (median, sigma, max) = (law.median_bytes, law.sigma, law.max_bytes);
                return Err((
                    format!("a median of {median}, a sigma of {sigma} and a maximum of {max}"),
                    "write { median_bytes = 100, sigma = 1.0, max_bytes = 100000 }",
                ));
            }
            Ok(Sizes::Lognormal {
                median_bytes: law.median_bytes,
                sigma: law.sigma,
                max_bytes: law.max_bytes,
            })
        }
        SizeText::Histogram(lengths) => {
            let fits = |weight: &f64| weight.is_finite() && *weight > 0.0;
            let all = lengths.iter().all(|(_, weight)| fits(weight));
            if !all || lengths.is_empty() || lengths.len() > MAX_LENGTHS {
                return Err((
                    format!("not 1 to {MAX_LENGTHS} lengths with weights above 0"),
                    "write lengths with weights, as in histogram = [[100, 0.9], [1000, 0.1]]",
                ));
            }
            Ok(Sizes::Histogram(lengths.clone()))
        }
        SizeText::HistogramFile(file) => Err((
            format!("the file `{file}` is not beside a text that is no file"),
            "write the lengths themselves: histogram = [[100, 0.9], [1000, 0.1]]",
        )),
    }
}
