//! `roundtrip export` and `roundtrip import`: a run as one file.

use super::common;
use crate::args::{ExportArgs, ImportArgs};
use crate::output;
use roundtrip_model::Result;
use std::path::PathBuf;

pub fn export(args: &ExportArgs) -> Result<()> {
    let archive = common::existing_archive()?;
    let run = archive.find(&args.run)?;
    let file = args
        .output
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.roundtrip", run.id)));
    archive.export(&run.id, &file)?;
    output::line(&file.display().to_string())
}

pub fn import(args: &ImportArgs) -> Result<()> {
    let imported = common::archive()?.import(&args.file)?;
    for (ids, state) in [
        (&imported.present, "was here already"),
        (
            &imported.differing,
            "is here already and is another; the one here was kept",
        ),
    ] {
        for id in ids {
            output::note(&format!("{id} {state}"));
        }
    }
    imported.added.iter().try_for_each(|id| output::line(id))
}
