//! `roundtrip compare`: any paths, no file needed.

use super::common::{self, From};
use crate::args::{Arrivals, CompareArgs};
use roundtrip_lab::compare::{Comparison, experiment};
use roundtrip_model::workload::Pace;
use roundtrip_model::{Path, Placement, Result};

/// Time for the blocks, where none was given.
const BUDGET_S: f64 = 60.0;

pub fn run(args: &CompareArgs) -> Result<()> {
    let wishes = common::wishes(&args.how)?;
    let (_, names) = common::addresses(&args.how.stores);
    let store = names.first().map(String::as_str);
    let paths: Result<Vec<Path>> = args
        .paths
        .iter()
        .map(|path| Path::parse(path, store))
        .collect();
    let placements = match args.method.placement.as_slice() {
        [] => vec![Placement::Split],
        asked => asked.to_vec(),
    };
    let experiment = experiment(&Comparison {
        paths: paths?,
        ops: args.ops.clone(),
        mix: args.mix.clone(),
        distribution: args.distribution,
        keys: args.keys,
        pace: match (args.rate, args.arrivals) {
            (None, _) => Pace::Closed,
            (Some(per_s), Some(Arrivals::Poisson)) => Pace::Poisson { per_s },
            (Some(per_s), _) => Pace::Fixed { per_s },
        },
        count: args.count,
        key_bytes: args.key_bytes,
        value_bytes: args.value_bytes,
        ttl_s: args.ttl_s,
        hit_ratio: args.hit_ratio,
        concurrency: args.concurrency,
        blocks: args.method.blocks,
        delta: args.method.delta.unwrap_or(0.05),
        budget_s: args
            .method
            .budget
            .map_or(BUDGET_S, |budget| budget.as_secs_f64()),
        placements,
        published_recipe: args.generate.map(Into::into),
    })?;
    common::session(
        From::Start(&experiment),
        &wishes,
        &args.how.format,
        args.how.quiet,
    )
}
