//! A run as one file, out of an archive and into another.

use crate::{Archive, limits, trouble};
use roundtrip_model::record::RunRecord;
use roundtrip_model::{Experiment, Problem, Result};
use rusqlite::OpenFlags;
use rusqlite::backup::Backup;
use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::path::Path;
use std::time::Duration;

const PAGES_A_STEP: i32 = 1024;

/// What became of the runs of an imported file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Runs that are new here.
    pub added: Vec<String>,
    /// Runs that were here already, the same.
    pub present: Vec<String>,
    /// Runs that were here already and are not the same: the ones here were kept as they are.
    pub differing: Vec<String>,
}

impl Archive {
    /// Writes a run to a new file of its own: an archive like any other, with nothing beside it.
    pub fn export(&self, run_id: &str, path: &Path) -> Result<()> {
        let run = self.record(run_id)?;
        // Not over a file that is there: it may be the only copy of another run.
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|e| match e.kind() {
                std::io::ErrorKind::AlreadyExists => trouble::at(
                    path,
                    "this file is there already",
                    "name another file, or remove it",
                ),
                _ => trouble::at(
                    path,
                    format!("the file cannot be made: {e}"),
                    "name a file in a directory that can be written",
                ),
            })?;
        self.write_copy(&run, path).inspect_err(|_| {
            // Half a run is of no use to anybody.
            let _ = fs::remove_file(path);
        })
    }

    fn write_copy(&self, run: &RunRecord, path: &Path) -> Result<()> {
        // The rollback journal, unlike a write-ahead log, is gone when the file is closed, however
        // many others have it open.
        let copy = Archive::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        copy.migrate()?;
        copy.begin(run)?;
        self.each_trial(&run.id, |trial| copy.add_trial(&run.id, &trial))?;
        copy.conn.close().map_err(|(_, e)| trouble::sqlite(path, e))
    }

    /// Takes over every run of another archive or exported file. Nothing is taken when anything is
    /// wrong with the file, and nothing that is here is changed.
    pub fn import(&self, path: &Path) -> Result<Imported> {
        let size = fs::metadata(path).map_err(|e| {
            trouble::at(
                path,
                format!("the file cannot be read: {e}"),
                "name a file that `roundtrip export` wrote",
            )
        })?;
        if !size.is_file() || size.len() == 0 || size.len() > limits::IMPORT_BYTES {
            return Err(trouble::at(
                path,
                "this is not a file of 1 byte to 4 GiB",
                "name a file that `roundtrip export` wrote",
            ));
        }
        // The file of another is never written to, so an older one is migrated in a copy.
        let parent = self.path.parent().unwrap_or(Path::new("."));
        let directory = tempfile::Builder::new()
            .prefix("import-")
            .tempdir_in(parent)
            .map_err(|e| {
                trouble::at(
                    parent,
                    format!("no temporary directory can be made: {e}"),
                    "free some space, or make the archive's directory writable",
                )
            })?;
        let copy = copy_of(path, &directory.path().join("copy.sqlite"))
            .map_err(|problem| of_import(problem, path))?;
        self.take_over(&copy).map_err(|problem| {
            let ours = self.path.display().to_string();
            match problem.place.as_deref() {
                Some(place) if place == ours => problem,
                _ => of_import(problem, path),
            }
        })
    }

    fn take_over(&self, other: &Archive) -> Result<Imported> {
        let runs = other.runs(limits::IMPORT_RUNS + 1)?;
        if runs.is_empty() || runs.len() > limits::IMPORT_RUNS {
            let what = format!("it holds {} runs", runs.len());
            return Err(trouble::corrupted(&other.path, what));
        }
        // Everything is read once before anything is kept.
        for overview in &runs {
            let run = other.record(&overview.id)?;
            let place = format!("the experiment of run {}", run.id);
            Experiment::parse(&run.experiment_text, &place)?;
            other.each_trial(&run.id, |_| Ok(()))?;
        }
        let known: HashSet<String> = self.runs(usize::MAX)?.into_iter().map(|r| r.id).collect();
        let mut imported = Imported::default();
        for overview in runs {
            let run = other.record(&overview.id)?;
            if !known.contains(&run.id) {
                self.add_whole(other, &run)?;
                imported.added.push(run.id);
            } else if self.same(other, &run)? {
                imported.present.push(run.id);
            } else {
                imported.differing.push(run.id);
            }
        }
        Ok(imported)
    }

    fn add_whole(&self, other: &Archive, run: &RunRecord) -> Result<()> {
        let change = self.change()?;
        self.insert_run(run)?;
        other.each_trial(&run.id, |trial| self.insert_whole_trial(&run.id, &trial))?;
        change.commit().map_err(|e| self.bad(e))
    }

    fn same(&self, other: &Archive, run: &RunRecord) -> Result<bool> {
        Ok(self.record(&run.id)? == *run && self.trials(&run.id)? == other.trials(&run.id)?)
    }
}

/// A private copy of a file from outside, checked and brought up to date.
fn copy_of(path: &Path, private: &Path) -> Result<Archive> {
    let outside = Archive::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    outside.check()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut copy = Archive::connect(private, flags)?;
    let copied = Backup::new(&outside.conn, &mut copy.conn)
        .and_then(|backup| backup.run_to_completion(PAGES_A_STEP, Duration::ZERO, None));
    copied.map_err(|e| trouble::sqlite(path, e))?;
    copy.migrate()?;
    Ok(copy)
}

/// Names the file that the person named, not our copy of it.
fn of_import(mut problem: Problem, path: &Path) -> Problem {
    problem.what = problem.what.replace("the archive", "the file");
    problem.at(path.display().to_string())
}
