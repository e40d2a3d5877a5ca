//! One file a command. A command turns its arguments into calls and what they give into output;
//! it holds no knowledge of its own.

mod calibrate;
mod common;
mod compare;
mod completions;
mod diff;
mod doctor;
mod faults;
mod fidelity;
mod floor;
mod inspect;
mod list;
mod project;
mod report;
mod resume;
mod run;
mod runs;
mod setup;
mod show;
mod transfer;

use crate::args::Command;
use roundtrip_model::Result;
use std::process::ExitCode;

/// Does what was asked.
pub fn dispatch(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Faults(args) => faults::run(&args),
        Command::Fidelity(args) => fidelity::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Runs(args) => runs::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Project(args) => project::run(&args),
        Command::Resume(args) => resume::run(&args),
        Command::Export(args) => transfer::export(&args),
        Command::Import(args) => transfer::import(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Setup(args) => setup::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::List(args) => list::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Floor(args) => floor::run(&args),
        Command::Worker => return Ok(floor::worker()),
    }?;
    Ok(ExitCode::SUCCESS)
}
