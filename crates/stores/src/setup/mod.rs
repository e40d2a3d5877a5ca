//! `roundtrip setup NAME`: brings what a store needs and no package has. The archive comes through
//! Maven into Maven's own cache; it is checked; what is needed of it is unpacked beside its place
//! and moved there when all of it is; and the program is tried.
//!
//! Whatever stops it on the way (Ctrl-C, a power failure), nothing half done is taken for whole, and
//! the next call goes on where this one was stopped.

mod check;
mod maven;
mod program;
mod unpack;

use crate::artifact::{self, is_complete};
use crate::manifest::{Artifact, Manifest, registry};
use roundtrip_model::{Kind, Problem, Result};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is to be set up, and where to.
#[derive(Clone, Debug)]
pub struct Plan<'m> {
    /// The store.
    pub manifest: &'m Manifest,
    /// What is brought.
    pub artifact: &'m Artifact,
    /// Where it goes.
    pub folder: PathBuf,
}

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is being done.
    pub what: Doing,
    /// Bytes that are done.
    pub done_bytes: u64,
    /// Bytes that there are to do.
    pub total_bytes: u64,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Maven brings the archive.
    Bringing,
    /// Its checksum is computed.
    Checking,
    /// What is needed of it is unpacked.
    Unpacking,
    /// The program is started, to see whether it can be.
    Trying,
}

/// How to set up.
pub struct Options<'o> {
    /// Do it anew, also where it was done, and bring a corrupted archive again.
    pub again: bool,
    /// Set when the person wants to stop.
    pub stop: &'o AtomicBool,
    /// Told how far it is, several times a second.
    pub progress: &'o dyn Fn(Step),
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Whether it had been done before.
    pub already: bool,
    /// Its version, read by asking it.
    pub version: String,
}

/// Everything that can be set up.
pub fn all() -> Vec<Plan<'static>> {
    registry().iter().filter_map(Plan::of).collect()
}

/// What is to be set up under a name.
pub fn plan(name: &str) -> Result<Plan<'static>> {
    let manifest = crate::find(name)?;
    Plan::of(manifest).ok_or_else(|| {
        let what = format!("`{name}` needs no setup");
        let problem = Problem::new(Kind::Usage, what);
        problem.next(match manifest.install() {
            Some(install) => format!("it is installed with `{install}`"),
            None => "it is inside Roundtrip".to_owned(),
        })
    })
}

impl<'m> Plan<'m> {
    /// Of a store that has something to set up.
    pub fn of(manifest: &'m Manifest) -> Option<Plan<'m>> {
        Some(Plan {
            manifest,
            artifact: artifact::of(manifest)?,
            folder: artifact::folder(manifest),
        })
    }

    /// Whether everything is unpacked.
    pub fn is_set_up(&self) -> bool {
        is_complete(&self.folder)
    }

    /// Does it.
    pub fn run(&self, options: &Options<'_>) -> Result<Done> {
        if self.is_set_up() && !options.again {
            let version = self.try_program(options)?;
            return Ok(Done {
                already: true,
                version,
            });
        }
        let parent = self.make_cache()?;
        let _lock = self.lock(&parent)?;
        // Somebody else may have done it while this one waited for nothing but the lock.
        if !self.is_set_up() || options.again {
            let archive = self.bring(&parent, options)?;
            self.unpack(&archive, &parent, options)?;
        }
        let version = self.try_program(options)?;
        Ok(Done {
            already: false,
            version,
        })
    }

    fn make_cache(&self) -> Result<PathBuf> {
        let parent = self.folder.parent().unwrap_or(Path::new("/")).to_owned();
        fs::create_dir_all(&parent).map_err(|e| cannot("the cache cannot be made", &parent, &e))?;
        Ok(parent)
    }

    /// One setup at a time: they would unpack into the same place.
    fn lock(&self, parent: &Path) -> Result<File> {
        let path = parent.join(format!(".{}.lock", self.manifest.name));
        let file = File::create(&path);
        let file = file.map_err(|e| cannot("the cache cannot be written", &path, &e))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                let name = &self.manifest.name;
                let what = format!("another `roundtrip setup {name}` is under way");
                Err(Problem::new(Kind::Refused, what).next("wait until it has finished"))
            }
            Err(TryLockError::Error(e)) => Err(cannot("the cache cannot be locked", &path, &e)),
        }
    }

    /// The archive, whole. One that is corrupted is brought anew only when asked for: it is in a
    /// cache that others use too.
    fn bring(&self, parent: &Path, options: &Options<'_>) -> Result<PathBuf> {
        let archive = maven::bring(self, parent, options)?;
        match check::check(self, &archive, options) {
            Err(problem) if options.again && problem.kind == Kind::Failed => {
                let gone = fs::remove_file(&archive);
                gone.map_err(|e| cannot("the corrupted archive cannot be deleted", &archive, &e))?;
                let archive = maven::bring(self, parent, options)?;
                check::check(self, &archive, options)?;
                Ok(archive)
            }
            checked => checked.map(|()| archive),
        }
    }

    fn unpack(&self, archive: &Path, parent: &Path, options: &Options<'_>) -> Result<()> {
        let name = self.folder.file_name().unwrap_or_default();
        let beside = parent.join(format!(".{}.unpacking", name.to_string_lossy()));
        // What is there was left by a setup that was killed: this one holds the lock.
        remove(&beside)?;
        let unpacked = unpack::unpack(archive, &self.artifact.unpack, &beside, options);
        let unpacked = unpacked.and_then(|()| self.complete(&beside));
        if unpacked.is_err() {
            // The problem that led here says more than one of tidying up.
            let _ = fs::remove_dir_all(&beside);
        }
        unpacked.map_err(|problem| match problem.kind {
            Kind::Interrupted => self.interrupted(),
            _ => problem,
        })
    }

    /// Marks what is unpacked as whole and moves it to its place.
    fn complete(&self, beside: &Path) -> Result<()> {
        let program = beside.join(&self.artifact.program);
        if !program.is_file() {
            let what = format!("the archive has no `{}`", self.artifact.program);
            return Err(Problem::new(Kind::Internal, what).at(self.artifact.coordinate.clone()));
        }
        let marker = beside.join(artifact::MARKER);
        let (coordinate, sha256) = (&self.artifact.coordinate, &self.artifact.sha256);
        let marked = flush(beside)
            .and_then(|()| fs::write(&marker, format!("{coordinate}\n{sha256}\n")))
            .and_then(|()| flush(beside));
        marked.map_err(|e| cannot("what was unpacked cannot be kept", &marker, &e))?;
        remove(&self.folder)?;
        fs::rename(beside, &self.folder)
            .map_err(|e| cannot("what was unpacked cannot be moved", &self.folder, &e))
    }

    fn try_program(&self, options: &Options<'_>) -> Result<String> {
        (options.progress)(Step {
            what: Doing::Trying,
            done_bytes: 0,
            total_bytes: 0,
        });
        program::version(self)
    }

    /// The problem of a person who wanted to stop.
    fn interrupted(&self) -> Problem {
        let name = &self.manifest.name;
        let what = "stopped; nothing half done is taken for whole";
        Problem::new(Kind::Interrupted, what).next(format!(
            "`roundtrip setup {name}` goes on: what was brought so far is kept"
        ))
    }

    fn stopped(&self, options: &Options<'_>) -> Result<()> {
        match options.stop.load(Ordering::Relaxed) {
            true => Err(self.interrupted()),
            false => Ok(()),
        }
    }
}

/// Has the disk keep what was written, so that a marker never outlives what it marks.
fn flush(folder: &Path) -> std::io::Result<()> {
    rustix::fs::syncfs(File::open(folder)?).map_err(std::io::Error::from)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(cannot("an older folder cannot be removed", folder, &e))
        }
        _ => Ok(()),
    }
}

/// A problem of the file system, with what to do.
fn cannot(what: &str, path: &Path, e: &std::io::Error) -> Problem {
    let step = match e.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "free some space, or let the environment variable ROUNDTRIP_CACHE name a folder on \
             another disk"
        }
        std::io::ErrorKind::PermissionDenied => {
            "look who owns that folder, or let the environment variable ROUNDTRIP_CACHE name \
             another one"
        }
        _ => "look at the folder and its disk, or let ROUNDTRIP_CACHE name another one",
    };
    Problem::new(Kind::Failed, format!("{what}: {e}"))
        .at(path.display().to_string())
        .next(step)
}
