//! From what a person wrote to an [`Experiment`], or to a problem with line and column.

mod paths;
mod phases;
mod recipes;

use paths::{baseline, projection, published, variants};
use phases::phases;
use recipes::{keys, values};

use super::faults::faults;
use super::text::ExperimentText;
use super::{Experiment, LOOKS};
use crate::metric::Metric;
use crate::names::{Op, Placement, nearest};
use crate::path::MAX_CONNECTIONS;
use crate::problem::{Kind, Problem, Result};
use crate::workload::{Distribution, Generate, KeyRecipe, Phase, ValueRecipe, Workload};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;

/// The longest file, and the most of each thing in it.
const MAX_TEXT_BYTES: usize = 1 << 20;
const MAX_COUNT: u64 = 1_000_000_000;
const DEFAULT_BUDGET_S: f64 = 300.0;
const MAX_BLOCKS: u32 = 1000;

/// Where in which text: makes places for messages.
pub(super) struct Source<'a> {
    text: &'a str,
    pub(super) file: &'a str,
}

impl Source<'_> {
    pub(super) fn place(&self, span: Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .map_or(0, |tail| tail.chars().count())
            + 1;
        format!("{}:{line}:{column}", self.file)
    }

    pub(super) fn bad(
        &self,
        span: Range<usize>,
        what: impl Into<String>,
        next: impl Into<String>,
    ) -> Problem {
        Problem::new(Kind::Usage, what)
            .at(self.place(span))
            .next(next)
    }
}

pub(super) fn experiment(text: &str, file: &str) -> Result<Experiment> {
    let source = Source { text, file };
    if text.len() > MAX_TEXT_BYTES {
        return Err(Problem::new(Kind::Usage, "an experiment of over 1 MiB is not read").at(file));
    }
    let raw: ExperimentText = toml::from_str(text).map_err(|e| syntax(&source, &e))?;
    let faults = raw
        .faults
        .as_ref()
        .map(|raw| faults(&source, raw))
        .transpose()?;
    let phases = phases(&source, &raw)?;
    let variants = variants(&source, &raw)?;
    let baseline = baseline(&source, &raw, &variants)?;
    let published = published(&source, &raw, &phases, &variants)?;
    let projection = projection(&source, &raw, &phases, &variants)?;
    let workload = Workload {
        keys: keys(&source, &raw.keys)?,
        values: values(&source, &raw.values)?,
        generate: raw.generate,
        concurrency: concurrency(&source, &raw)?,
        phases,
    };
    in_loop_is_possible(&source, &raw, &workload)?;
    sums_have_numbers(&source, &workload)?;
    Ok(Experiment {
        name: name(&source, &raw.name)?,
        delta: delta(&source, raw.delta.as_ref())?,
        metrics: metrics(&source, raw.metrics.as_ref())?,
        budget_s: budget_s(&source, raw.budget_s.as_ref())?,
        max_blocks: max_blocks(&source, raw.max_blocks.as_ref())?,
        title: raw.title,
        question: raw.question,
        source: raw.source,
        every: every(&source, raw.every.as_ref())?,
        placements: raw
            .placement
            .map_or(vec![Placement::Split], |p| p.into_vec()),
        baseline,
        variants,
        workload,
        published,
        projection,
        faults,
        text: text.to_owned(),
    })
}

/// What the TOML reader says, with the nearest known name where a key is unknown.
fn syntax(source: &Source<'_>, error: &toml::de::Error) -> Problem {
    let message = error.message().trim().replace('\n', "; ");
    let mut quoted = message.split('`').skip(1).step_by(2);
    let next = match (message.starts_with("unknown"), quoted.next()) {
        (true, Some(typed)) => match nearest(typed, quoted) {
            Some(name) => format!("did you mean `{name}`?"),
            None => "see `docs/reference/experiment.md` for the keys there are".to_owned(),
        },
        _ => "see `docs/reference/experiment.md`".to_owned(),
    };
    let problem = Problem::new(Kind::Usage, message).next(next);
    problem.at(error
        .span()
        .map_or(source.file.to_owned(), |span| source.place(span)))
}

fn name(source: &Source<'_>, raw: &Spanned<String>) -> Result<String> {
    let name = raw.get_ref();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(fits) {
        let what = format!("`{name}` cannot be the name of an experiment");
        return Err(source.bad(
            raw.span(),
            what,
            "use up to 64 letters, digits, `-` and `_`",
        ));
    }
    Ok(name.clone())
}

/// Parses `5%` or `0.05`.
pub fn parse_delta(text: &str) -> Option<f64> {
    let delta = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.trim().parse().ok()?,
    };
    (delta > 0.0 && delta < 1.0).then_some(delta)
}

fn delta(source: &Source<'_>, raw: Option<&Spanned<String>>) -> Result<f64> {
    let Some(raw) = raw else { return Ok(0.05) };
    parse_delta(raw.get_ref()).ok_or_else(|| {
        let what = format!(
            "delta `{}` is not a share between 0% and 100%",
            raw.get_ref()
        );
        source.bad(
            raw.span(),
            what,
            "write the smallest difference that matters, as in \"5%\"",
        )
    })
}

fn metrics(source: &Source<'_>, raw: Option<&Spanned<Vec<String>>>) -> Result<Vec<Metric>> {
    let Some(raw) = raw else {
        return Ok(vec![Metric::OpsPerS]);
    };
    let parsed: Result<Vec<Metric>> = raw.get_ref().iter().map(|name| name.parse()).collect();
    let metrics = parsed.map_err(|problem| problem.at(source.place(raw.span())))?;
    if metrics.is_empty() {
        return Err(source.bad(raw.span(), "no metric to compare", "write [\"ops_per_s\"]"));
    }
    Ok(metrics)
}

fn budget_s(source: &Source<'_>, raw: Option<&Spanned<f64>>) -> Result<f64> {
    match raw {
        None => Ok(DEFAULT_BUDGET_S),
        Some(raw) if *raw.get_ref() > 0.0 && *raw.get_ref() <= 7.0 * 86_400.0 => Ok(*raw.get_ref()),
        Some(raw) => Err(source.bad(
            raw.span(),
            "the budget is not between 0 seconds and a week",
            "write the seconds that the blocks may take, as in budget_s = 300.0",
        )),
    }
}

fn max_blocks(source: &Source<'_>, raw: Option<&Spanned<u32>>) -> Result<u32> {
    let default = LOOKS[LOOKS.len() - 1];
    match raw {
        None => Ok(default),
        Some(raw) if (1..=MAX_BLOCKS).contains(raw.get_ref()) => Ok(*raw.get_ref()),
        Some(raw) => Err(source.bad(
            raw.span(),
            format!("max_blocks is not between 1 and {MAX_BLOCKS}"),
            format!("leave it out for {default}"),
        )),
    }
}

fn every(
    source: &Source<'_>,
    raw: Option<&Spanned<BTreeMap<Placement, u32>>>,
) -> Result<BTreeMap<Placement, u32>> {
    let Some(raw) = raw else {
        return Ok(BTreeMap::new());
    };
    let mut pairs = raw.get_ref().iter();
    match pairs.find(|(_, n)| !(1..=MAX_BLOCKS).contains(*n)) {
        None => Ok(raw.get_ref().clone()),
        Some((placement, n)) => Err(source.bad(
            raw.span(),
            format!("`{placement}` cannot take part in every {n}th block"),
            format!("write a number from 1 to {MAX_BLOCKS}, as in every = {{ split = 2 }}"),
        )),
    }
}

fn concurrency(source: &Source<'_>, raw: &ExperimentText) -> Result<u32> {
    match &raw.concurrency {
        None => Ok(1),
        Some(n) if (1..=MAX_CONNECTIONS).contains(n.get_ref()) => Ok(*n.get_ref()),
        Some(n) => Err(source.bad(
            n.span(),
            format!("concurrency is not between 1 and {MAX_CONNECTIONS}"),
            "write how many connections there are, as in concurrency = 50",
        )),
    }
}

/// Making keys inside the loop is what the published loop did, and only that can be done there.
fn in_loop_is_possible(source: &Source<'_>, raw: &ExperimentText, work: &Workload) -> Result<()> {
    let published_recipes = work.keys.recipe == KeyRecipe::Md5
        && work.values.recipe == ValueRecipe::Crc32
        && work.keys.distribution == Distribution::Sequential
        && work.concurrency == 1
        && work.keys.count.is_none()
        && work
            .phases
            .iter()
            .all(|p| matches!(p.op, Op::Get | Op::Set) && p.hit_ratio == 1.0 && p.pace.is_closed());
    if raw.generate == Generate::Prepared || published_recipes {
        return Ok(());
    }
    Err(Problem::new(
        Kind::Usage,
        "these keys and values cannot be made inside the loop",
    )
    .at(source.file)
    .next(
        "in-loop needs `get` and `set` over sequential `md5` keys and `crc32` values, one client",
    ))
}

/// Only numbers can be incremented; and what one client adds to is only known while no other does.
fn sums_have_numbers(source: &Source<'_>, work: &Workload) -> Result<()> {
    let refuse =
        |what: String, next: &str| Err(Problem::new(Kind::Usage, what).at(source.file).next(next));
    let sums = |phase: &&Phase| phase.op == Op::Incr || phase.add != 0;
    let Some(phase) = work.phases.iter().find(sums) else {
        return Ok(());
    };
    if !matches!(work.values.recipe, ValueRecipe::Zero | ValueRecipe::Crc32) {
        let what = format!("`{}` needs values that are numbers", phase.op);
        return refuse(what, "add [values] with recipe = \"zero\"");
    }
    let is_in_order = work.keys.distribution == Distribution::Sequential;
    if work.phases.iter().any(|phase| phase.add != 0) && (!is_in_order || work.concurrency > 1) {
        let what = "what `add` gives is known only for one client that visits keys in order";
        return refuse(what.to_owned(), "leave concurrency and distribution out");
    }
    Ok(())
}

#[cfg(test)]
mod tests;
