//! The binary: reads the command line, calls the lab, the archive and the reports, prints, exits.
//! The only crate that does the last two.

mod args;
mod commands;
mod output;
mod progress;
mod signals;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match commands::dispatch(cli.command) {
        Ok(code) => code,
        Err(problem) => {
            output::error(&problem);
            ExitCode::from(problem.kind.exit_code())
        }
    }
}
