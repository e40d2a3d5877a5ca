//! `roundtrip runs`: what is in the archive.

use super::common;
use crate::args::{RunsArgs, TextOrJson};
use crate::output;
use roundtrip_model::Result;

pub fn run(args: &RunsArgs) -> Result<()> {
    let runs = common::existing_archive()?.runs(args.limit as usize)?;
    match args.format {
        TextOrJson::Json => output::json(&runs),
        TextOrJson::Terminal => output::write(&roundtrip_report::runs(&runs, &output::look())),
    }
}
