//! `roundtrip show`: a run's trials in order, with what voided them.

use super::common;
use crate::args::ShowArgs;
use crate::output;
use roundtrip_model::Result;

pub fn run(args: &ShowArgs) -> Result<()> {
    let document = common::find(&common::existing_archive()?, &args.run)?;
    output::write(&roundtrip_report::show(&document, &output::look()))
}
