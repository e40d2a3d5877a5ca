//! `roundtrip run`: an experiment from its start to its report.

use super::common::{self, From};
use crate::args::RunArgs;
use roundtrip_lab::catalog;
use roundtrip_lab::overrides::{self, Overrides};
use roundtrip_model::{Kind, Problem, Result};

pub fn run(args: &RunArgs) -> Result<()> {
    let wishes = common::wishes(&args.how)?;
    let experiment = catalog::load(&args.experiment)?;
    if experiment.is_of_faults() {
        let what = format!("`{}` has nothing to compare, only faults", experiment.name);
        return Err(Problem::new(Kind::Usage, what)
            .next(format!("try `roundtrip faults {}`", args.experiment)));
    }
    let experiment = overrides::apply(
        experiment,
        &Overrides {
            count: args.count,
            full: args.full,
            generate: args.generate.map(Into::into),
            placements: args.method.placement.clone(),
            delta: args.method.delta,
            budget_s: args.method.budget.map(|budget| budget.as_secs_f64()),
            max_blocks: args.method.blocks,
        },
    )?;
    common::session(
        From::Start(&experiment),
        &wishes,
        &args.how.format,
        args.how.quiet,
    )
}
