//! Private directories that are gone when Roundtrip is, also when it was killed: each carries the
//! pid of its owner in its name, and the next Roundtrip sweeps those whose owner is dead.

use roundtrip_model::{Kind, Problem, Result};
use rustix::process::{Pid, test_kill_process};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

const PREFIX: &str = "roundtrip-";

/// A directory that is removed when dropped.
#[derive(Debug)]
pub struct PrivateDir(tempfile::TempDir);

impl PrivateDir {
    /// Makes one under the system's temporary directory, and sweeps those of dead owners.
    pub fn new() -> Result<PrivateDir> {
        PrivateDir::within(&std::env::temp_dir())
    }

    /// Makes one under another directory, and sweeps there too.
    pub fn within(parent: &Path) -> Result<PrivateDir> {
        sweep(parent);
        tempfile::Builder::new()
            .prefix(&format!("{PREFIX}{}-", std::process::id()))
            .tempdir_in(parent)
            .map(PrivateDir)
            .map_err(|e| {
                Problem::new(
                    Kind::Failed,
                    format!("no temporary directory can be made: {e}"),
                )
                .at(parent.display().to_string())
                .next("free some space, or point TMPDIR at a directory that can be written")
            })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes a directory within it that a server running as `uid` may use, and nobody else.
    pub fn make(&self, name: &str, uid: Option<u32>) -> Result<PathBuf> {
        let path = self.path().join(name);
        let made = fs::create_dir(&path)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o700)))
            .and_then(|()| match uid {
                Some(uid) => {
                    // The way down must be passable for that user.
                    fs::set_permissions(self.path(), fs::Permissions::from_mode(0o711))?;
                    chown(&path, Some(uid), Some(uid))
                }
                None => Ok(()),
            });
        made.map(|()| path.clone()).map_err(|e| {
            Problem::new(
                Kind::Failed,
                format!("a private directory cannot be made: {e}"),
            )
            .at(path.display().to_string())
            .next("free some space, or point TMPDIR at another directory")
        })
    }
}

fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        if owner(&entry.file_name().to_string_lossy()).is_some_and(is_dead) {
            // It may be another user's, or be swept by another Roundtrip at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn owner(name: &str) -> Option<Pid> {
    let (pid, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Pid::from_raw(pid.parse().ok()?)
}

fn is_dead(pid: Pid) -> bool {
    test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_dir_is_gone_when_dropped() {
        let dir = PrivateDir::new().unwrap();
        let inner = dir.make("store", None).unwrap();
        assert_eq!(
            fs::metadata(&inner).unwrap().permissions().mode() & 0o777,
            0o700
        );
        drop(dir);
        assert!(!inner.exists());
    }

    #[test]
    fn only_directories_of_dead_owners_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        // Above the largest pid that Linux gives.
        let dead = parent.path().join("roundtrip-99999999-x");
        let alive = parent
            .path()
            .join(format!("roundtrip-{}-x", std::process::id()));
        let foreign = parent.path().join("roundtrip-notes");
        for dir in [&dead, &alive, &foreign] {
            fs::create_dir(dir).unwrap();
        }
        sweep(parent.path());
        assert_eq!(
            [dead.exists(), alive.exists(), foreign.exists()],
            [false, true, true]
        );
    }
}
