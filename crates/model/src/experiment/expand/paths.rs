//! The part of an experiment that names paths: variants, factors, the baseline, published figures.

use super::Source;
use crate::experiment::text::{ExperimentText, MatrixText, OptionValue, VariantText};
use crate::experiment::{Published, Variant};
use crate::names::unknown;
use crate::path::{Options, Path};
use crate::problem::{Kind, Problem, Result};
use crate::projection::PublishedProjection;
use crate::workload::Phase;
use std::collections::{BTreeMap, HashSet};
use toml::Spanned;

const MAX_VARIANTS: usize = 64;

pub(super) fn variants(source: &Source<'_>, raw: &ExperimentText) -> Result<Vec<Variant>> {
    let mut variants = Vec::new();
    for spanned in &raw.variant {
        variants.push(variant(source, spanned));
    }
    if let Some(matrix) = &raw.matrix {
        variants.extend(product(matrix.get_ref(), &source.place(matrix.span())));
    }
    if (variants.is_empty() && !has_only_faults(raw)) || variants.len() > MAX_VARIANTS {
        let what = format!(
            "{} variants are not between 1 and {MAX_VARIANTS}",
            variants.len()
        );
        let next = "add a [[variant]] with `client` and `store`";
        return Err(Problem::new(Kind::Usage, what).at(source.file).next(next));
    }
    let mut names = HashSet::new();
    for variant in &variants {
        variant
            .path
            .depth()
            .and(variant.path.connections())
            .map_err(|problem| problem.at(variant.place.clone()))?;
        if !names.insert(variant.name.as_str()) {
            let what = format!("two variants are called `{}`", variant.name);
            return Err(Problem::new(Kind::Usage, what)
                .at(variant.place.clone())
                .next("give one of them another `name`"));
        }
    }
    against_is_known(&variants)?;
    for phase in &raw.phase {
        for only in &phase.get_ref().only {
            if !names.contains(only.get_ref().as_str()) {
                let known = variants.iter().map(|v| v.name.as_str());
                return Err(unknown("variant", only.get_ref(), known).at(source.place(only.span())));
            }
        }
    }
    Ok(variants)
}

/// Whether there is nothing to compare, and need not be.
pub(super) fn has_only_faults(raw: &ExperimentText) -> bool {
    raw.faults.is_some() && raw.phase.is_empty() && raw.variant.is_empty() && raw.matrix.is_none()
}

fn variant(source: &Source<'_>, spanned: &Spanned<VariantText>) -> Variant {
    let raw = spanned.get_ref();
    Variant {
        name: raw.name().to_owned(),
        path: Path {
            client: raw.client.clone(),
            store: raw.store.clone(),
            cache: raw.cache.clone(),
            options: raw
                .options
                .iter()
                .map(|(k, v)| (k.clone(), v.text()))
                .collect(),
        },
        against: raw.against.as_ref().map(|name| name.get_ref().clone()),
        place: source.place(spanned.span()),
    }
}

/// Whoever is compared with another variant names one that there is.
fn against_is_known(variants: &[Variant]) -> Result<()> {
    let names = || variants.iter().map(|v| v.name.as_str());
    for variant in variants {
        let Some(other) = &variant.against else {
            continue;
        };
        if !names().any(|name| name == other) {
            return Err(unknown("variant", other, names()).at(variant.place.clone()));
        }
    }
    Ok(())
}

/// Every combination of the factors, named by the short form of its path.
fn product(matrix: &MatrixText, place: &str) -> Vec<Variant> {
    let mut options = vec![Options::new()];
    for (name, values) in &matrix.options {
        options = options
            .iter()
            .flat_map(|chosen| {
                values.iter().map(move |value| {
                    let mut chosen = chosen.clone();
                    chosen.insert(name.clone(), value.text());
                    chosen
                })
            })
            .take(MAX_VARIANTS + 1)
            .collect();
    }
    let mut variants = Vec::new();
    for client in &matrix.client {
        for store in &matrix.store {
            for options in &options {
                let path = Path {
                    client: client.clone(),
                    store: store.clone(),
                    cache: None,
                    options: options.clone(),
                };
                variants.push(Variant {
                    name: path.to_string(),
                    against: alike(&path, &matrix.against),
                    path,
                    place: place.to_owned(),
                });
            }
        }
    }
    variants
}

/// The name of the path that has these options and is otherwise alike; `None` for that path itself.
fn alike(path: &Path, options: &BTreeMap<String, OptionValue>) -> Option<String> {
    if options.is_empty() {
        return None;
    }
    let mut other = path.clone();
    let options = options
        .iter()
        .map(|(name, value)| (name.clone(), value.text()));
    other.options.extend(options);
    (other != *path).then(|| other.to_string())
}

pub(super) fn baseline(
    source: &Source<'_>,
    raw: &ExperimentText,
    variants: &[Variant],
) -> Result<String> {
    let Some(name) = &raw.baseline else {
        // Faults alone compare nothing.
        return Ok(variants
            .first()
            .map_or_else(String::new, |v| v.name.clone()));
    };
    if variants.iter().any(|v| v.name == *name.get_ref()) {
        return Ok(name.get_ref().clone());
    }
    let known = variants.iter().map(|v| v.name.as_str());
    Err(unknown("variant", name.get_ref(), known).at(source.place(name.span())))
}

pub(super) fn published(
    source: &Source<'_>,
    raw: &ExperimentText,
    phases: &[Phase],
    variants: &[Variant],
) -> Result<Vec<Published>> {
    let mut published = Vec::new();
    for spanned in &raw.published {
        let row = spanned.get_ref();
        let place = source.place(spanned.span());
        if !phases.iter().any(|p| p.name == row.phase) {
            return Err(
                unknown("phase", &row.phase, phases.iter().map(|p| p.name.as_str())).at(place),
            );
        }
        if !variants.iter().any(|v| v.name == row.variant) {
            let known = variants.iter().map(|v| v.name.as_str());
            return Err(unknown("variant", &row.variant, known).at(place));
        }
        let figures = row
            .figures
            .iter()
            .map(|(metric, value)| (metric, vec![*value]));
        let rounds = row
            .rounds
            .iter()
            .map(|(metric, rounds)| (metric, rounds.clone()));
        for (metric, mut rounds) in figures.chain(rounds) {
            let metric = metric
                .parse()
                .map_err(|problem: Problem| problem.at(place.clone()))?;
            let value = median(&rounds).ok_or_else(|| {
                let what = format!("no round of `{}` was published", row.variant);
                source.bad(spanned.span(), what, "write its figures, or leave it out")
            })?;
            if rounds.len() == 1 {
                rounds.clear();
            }
            published.push(Published {
                phase: row.phase.clone(),
                variant: row.variant.clone(),
                metric,
                value,
                rounds,
            });
        }
    }
    Ok(published)
}

pub(super) fn projection(
    source: &Source<'_>,
    raw: &ExperimentText,
    phases: &[Phase],
    variants: &[Variant],
) -> Result<Option<PublishedProjection>> {
    let Some(spanned) = &raw.projection else {
        return Ok(None);
    };
    let row = spanned.get_ref();
    let bad = |what: &str, next: &str| Err(source.bad(spanned.span(), what, next));
    let is_count = |x: f64| x.is_finite() && x > 0.0;
    if !is_count(row.per_day) || !is_count(row.unit_ops) || !row.published_saved_s.is_finite() {
        return bad(
            "a projection needs ops a day, the ops of the published loop, and what it saved",
            "write per_day = 1570000, unit_ops = 10000, published_saved_s = 10.0",
        );
    }
    let servers = row.servers.unwrap_or(1);
    if servers == 0 {
        return bad("no server shares the load", "leave servers out for one");
    }
    let place = || source.place(spanned.span());
    if let Some(phase) = &row.phase
        && !phases.iter().any(|p| p.name == *phase)
    {
        return Err(unknown("phase", phase, phases.iter().map(|p| p.name.as_str())).at(place()));
    }
    if let Some(variant) = &row.variant
        && !variants.iter().any(|v| v.name == *variant)
    {
        let known = variants.iter().map(|v| v.name.as_str());
        return Err(unknown("variant", variant, known).at(place()));
    }
    Ok(Some(PublishedProjection {
        per_day: row.per_day,
        servers,
        phase: row.phase.clone(),
        variant: row.variant.clone(),
        unit_ops: row.unit_ops,
        published_saved_s: row.published_saved_s,
        source: row.source.clone(),
    }))
}

fn median(rounds: &[f64]) -> Option<f64> {
    let mut sorted = rounds.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some((lower + upper) / 2.0)
}
