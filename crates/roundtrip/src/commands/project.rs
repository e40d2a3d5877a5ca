//! `roundtrip project`: what a run's differences mean for a daily load.

use super::common;
use crate::args::ProjectArgs;
use crate::output;
use roundtrip_lab::stats::project::project;
use roundtrip_model::names::unknown;
use roundtrip_model::projection::{Load, QuotaBytes};
use roundtrip_model::{Experiment, Kind, Problem, Result};

pub fn run(args: &ProjectArgs) -> Result<()> {
    roundtrip_report::projection_format(&args.format)?;
    let document = common::find(&common::existing_archive()?, &args.run)?;
    let experiment = &document.experiment;
    are_known(args, experiment)?;
    let load = load(args, experiment)?;
    let asked = |wanted: &Option<String>, it: &str| wanted.as_deref().is_none_or(|w| w == it);
    let projections = project(experiment, &document.trials, &load, |phase, variant| {
        asked(&args.phase, phase) && asked(&args.variant, variant)
    });
    if projections.is_empty() {
        return Err(nothing(args, experiment).at(format!("run {}", document.run.id)));
    }
    let options = output::look();
    let bytes =
        roundtrip_report::projection(&document, &load, &projections, &args.format, &options)?;
    output::write(&bytes)
}

/// The names that were asked for are those of the run.
fn are_known(args: &ProjectArgs, experiment: &Experiment) -> Result<()> {
    let variants = || experiment.variants.iter().map(|v| v.name.as_str());
    let phases = || experiment.workload.phases.iter().map(|p| p.name.as_str());
    if let Some(variant) = &args.variant
        && !variants().any(|name| name == variant)
    {
        return Err(unknown("variant", variant, variants()));
    }
    match &args.phase {
        Some(phase) if !phases().any(|name| name == phase) => {
            Err(unknown("phase", phase, phases()))
        }
        _ => Ok(()),
    }
}

/// The load: what was typed, and of what was not, what was published.
fn load(args: &ProjectArgs, experiment: &Experiment) -> Result<Load> {
    let published = experiment.projection.as_ref();
    let per_day = args.per_day.or(published.map(|p| p.per_day));
    let per_day = per_day.ok_or_else(|| {
        Problem::new(Kind::Usage, "it is not said how many ops a day there are")
            .next("add --per-day, as in --per-day 1570000")
    })?;
    let bytes = args.quota_bytes.zip(args.bytes_per_op);
    Ok(Load {
        per_day,
        servers: args.servers.or(published.map(|p| p.servers)).unwrap_or(1),
        price_per_cpu_hour: args.price_per_cpu_hour,
        currency: args.currency.clone(),
        quota_cpu_hours: args.quota_cpu_hours,
        quota_bytes: bytes.map(|(bytes, bytes_per_op)| QuotaBytes {
            bytes,
            bytes_per_op,
        }),
    })
}

/// Why there is nothing to project.
fn nothing(args: &ProjectArgs, experiment: &Experiment) -> Problem {
    let compared = |name: &str| experiment.baseline_of(name).is_some();
    if let Some(variant) = args.variant.as_deref().filter(|name| !compared(name)) {
        let what = format!("`{variant}` is a baseline: it is compared with nothing");
        return Problem::new(Kind::Usage, what)
            .next("name a variant that is compared with it, or leave --variant out");
    }
    if !experiment.variants.iter().any(|v| compared(&v.name)) {
        return Problem::new(Kind::Usage, "the run compares nothing, so nothing is saved")
            .next("project a run of two variants or more");
    }
    Problem::new(
        Kind::Void,
        "no block has a valid trial of both a variant and its baseline with a time an op",
    )
    .next("see why with `roundtrip show`; a phase at a rate has no time an op of its own")
}
