//! The part of an experiment that names paths: variants, factors, the baseline, published figures.

use super::Source;
use crate::experiment::text::{ExperimentText, MatrixText, VariantText};
use crate::experiment::{Published, Variant};
use crate::names::unknown;
use crate::path::{Options, Path};
use crate::problem::{Kind, Problem, Result};
use crate::workload::Phase;
use std::collections::HashSet;
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
    if variants.is_empty() || variants.len() > MAX_VARIANTS {
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

fn variant(source: &Source<'_>, spanned: &Spanned<VariantText>) -> Variant {
    let raw = spanned.get_ref();
    Variant {
        name: raw.name.clone().unwrap_or_else(|| raw.client.clone()),
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
        place: source.place(spanned.span()),
    }
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
                    path,
                    place: place.to_owned(),
                });
            }
        }
    }
    variants
}

pub(super) fn baseline(
    source: &Source<'_>,
    raw: &ExperimentText,
    variants: &[Variant],
) -> Result<String> {
    let Some(name) = &raw.baseline else {
        return Ok(variants[0].name.clone());
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
        for (metric, value) in &row.figures {
            let metric = metric
                .parse()
                .map_err(|problem: Problem| problem.at(place.clone()))?;
            published.push(Published {
                phase: row.phase.clone(),
                variant: row.variant.clone(),
                metric,
                value: *value,
            });
        }
    }
    Ok(published)
}
