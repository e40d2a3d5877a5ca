//! `roundtrip diff`: the same variants in two runs.

use super::common;
use crate::args::{DiffArgs, TextOrJson};
use crate::output;
use roundtrip_model::{Kind, Problem, Result};

pub fn run(args: &DiffArgs) -> Result<()> {
    let archive = common::existing_archive()?;
    let before = common::find(&archive, &args.before)?;
    let after = common::find(&archive, &args.after)?;
    for document in [&before, &after] {
        if document.experiment.is_of_faults() {
            let what = format!(
                "run {} tried faults: it has no figures to put beside others",
                document.run.id
            );
            return Err(Problem::new(Kind::Usage, what)
                .next("see it with `roundtrip report`, and each trial with `roundtrip show`"));
        }
    }
    output::write(&match args.format {
        TextOrJson::Json => roundtrip_report::diff_json(&before, &after),
        TextOrJson::Terminal => roundtrip_report::diff(&before, &after, &output::look()),
    })
}
