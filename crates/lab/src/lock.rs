//! One Roundtrip a run: a second one that resumed a run under way would write its trials twice.

use roundtrip_model::{Kind, Problem, Result};
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, remove_file};
use std::path::{Path, PathBuf};

/// Held while a run goes on. The kernel lets go of it however this process ends.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
    path: PathBuf,
}

impl RunLock {
    /// Takes the lock of a run, which lies beside the archive.
    pub fn take(archive: &Path, run: &str) -> Result<RunLock> {
        let path = archive.with_file_name(format!("{run}.lock"));
        let failed = |e: std::io::Error| {
            Problem::new(Kind::Archive, format!("the run cannot be locked: {e}"))
                .at(path.display().to_string())
                .next("free some space, or point ROUNDTRIP_HOME at a directory that can be written")
        };
        let file = File::create(&path).map_err(failed)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Problem::new(Kind::Usage, format!("run {run} is under way"))
                .next("wait until the Roundtrip that runs it has ended"));
        }
        Ok(RunLock { _file: file, path })
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A lock file that stays is harmless: nobody holds it.
        let _ = remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_locked_once_and_free_again_afterwards() {
        let dir = tempfile::tempdir().unwrap();
        let archive = dir.path().join("archive.sqlite");
        let held = RunLock::take(&archive, "r").unwrap();
        assert!(RunLock::take(&archive, "other").is_ok());
        assert_eq!(
            RunLock::take(&archive, "r").unwrap_err().what,
            "run r is under way"
        );
        drop(held);
        assert!(RunLock::take(&archive, "r").is_ok());
    }
}
