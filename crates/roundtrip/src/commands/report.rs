//! `roundtrip report`: a run in a format.

use super::common;
use crate::args::ReportArgs;
use crate::output;
use roundtrip_model::Result;

pub fn run(args: &ReportArgs) -> Result<()> {
    roundtrip_report::format(&args.format)?;
    let document = common::find(&common::existing_archive()?, &args.run)?;
    let bytes = common::rendered(&document, &args.format)?;
    match &args.output {
        Some(file) => common::write_file(file, &bytes),
        None => output::write(&bytes),
    }
}
