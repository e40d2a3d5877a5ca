//! `roundtrip diff`: the same variants in two runs.

use super::common;
use crate::args::{DiffArgs, TextOrJson};
use crate::output;
use roundtrip_model::Result;

pub fn run(args: &DiffArgs) -> Result<()> {
    let archive = common::existing_archive()?;
    let before = common::find(&archive, &args.before)?;
    let after = common::find(&archive, &args.after)?;
    output::write(&match args.format {
        TextOrJson::Json => roundtrip_report::diff_json(&before, &after),
        TextOrJson::Terminal => roundtrip_report::diff(&before, &after, &output::look()),
    })
}
