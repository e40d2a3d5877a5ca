//! `roundtrip completions`: for a shell.

use crate::args::{Cli, CompletionsArgs};
use crate::output;
use clap::CommandFactory;
use roundtrip_model::Result;

pub fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "roundtrip", &mut script);
    output::write(&script)
}
