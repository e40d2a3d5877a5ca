//! `roundtrip diff`: the same variants in two runs.

use super::common;
use crate::args::{DiffArgs, TextOrJson};
use crate::output;
use roundtrip_model::Result;

pub fn run(args: &DiffArgs) -> Result<()> {
    let archive = common::existing_archive()?;
    let before = common::find(&archive, &args.before)?;
    let after = common::find(&archive, &args.after)?;
    let difference = roundtrip_report::diff(&before, &after);
    match args.format {
        TextOrJson::Json => output::json(&difference),
        TextOrJson::Terminal => output::write(difference.text(output::width()).as_bytes()),
    }
}
