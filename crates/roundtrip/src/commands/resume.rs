//! `roundtrip resume`: goes on with a run that was stopped or failed.

use super::common::{self, From};
use crate::args::ResumeArgs;
use roundtrip_lab::bench::Addresses;
use roundtrip_lab::session::{Outcome, Wishes};
use roundtrip_model::Result;
use roundtrip_model::record::RunRecord;

pub fn run(args: &ResumeArgs) -> Result<()> {
    roundtrip_report::format(&args.format)?;
    let archive = common::existing_archive()?;
    let run = archive.find(&args.run)?;
    let trials = archive.trials(&run.id)?;
    drop(archive);
    let wishes = Wishes {
        self_exe: common::self_exe()?,
        seed: Some(run.seed),
        addresses: addresses(&run),
        allow_remote: args.allow_remote,
        deadline: args.deadline,
        command: run.command.clone(),
    };
    common::session(
        From::Left(Box::new(Outcome { run, trials })),
        &wishes,
        &args.format,
        args.quiet,
    )
}

/// The stores that the run was pointed at.
fn addresses(run: &RunRecord) -> Addresses {
    run.environment
        .settings
        .iter()
        .filter_map(|(name, value)| {
            Some((name.strip_suffix(" address")?.to_owned(), value.clone()))
        })
        .collect()
}
