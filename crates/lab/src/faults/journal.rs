//! The host's side of a journal: `contract::journal` says what it holds.

use roundtrip_model::contract::journal;
use roundtrip_model::{Kind, Problem, Result};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// How often it is looked at.
pub const EVERY: Duration = Duration::from_micros(50);

/// A journal that a worker writes.
#[derive(Debug)]
pub struct Journal {
    path: String,
    file: File,
}

/// How far a loop is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Far {
    /// Ops that were handed to the library.
    pub sent: u64,
    /// Ops that came back acknowledged.
    pub acknowledged: u64,
}

impl Journal {
    /// A new one, with nothing done. A file that is there is not taken: it would be of another
    /// trial.
    pub fn make(path: String) -> Result<Journal> {
        let made = || -> io::Result<File> {
            let _ = std::fs::remove_file(&path);
            std::fs::write(&path, [0; journal::BYTES])?;
            File::open(&path)
        };
        match made() {
            Ok(file) => Ok(Journal { path, file }),
            Err(e) => Err(bad(&path, &e)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// How far the loop is. A worker that has not begun to write says nothing yet.
    pub fn read(&self) -> Result<Far> {
        let mut bytes = [0; journal::BYTES];
        match self.file.read_exact_at(&mut bytes, 0) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(e) => return Err(bad(&self.path, &e)),
        }
        let (sent, acknowledged) = bytes.split_at(journal::BYTES / 2);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
        Ok(Far {
            sent: number(sent),
            acknowledged: number(acknowledged),
        })
    }
}

fn bad(path: &str, error: &io::Error) -> Problem {
    Problem::new(Kind::Failed, format!("a journal cannot be read: {error}"))
        .at(path)
        .next("free some space, or point TMPDIR at another directory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_overwrites_in_place_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal").to_string_lossy().into_owned();
        let journal = Journal::make(path.clone()).unwrap();
        assert_eq!(journal.read().unwrap(), Far::default());
        let worker = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        for n in [1_u64, 300, 1 << 40] {
            worker.write_all_at(&n.to_le_bytes(), 0).unwrap();
            worker.write_all_at(&(n - 1).to_le_bytes(), 8).unwrap();
            let far = Far {
                sent: n,
                acknowledged: n - 1,
            };
            assert_eq!(journal.read().unwrap(), far);
        }
        // One that truncates it first has not said anything yet.
        worker.set_len(0).unwrap();
        assert_eq!(journal.read().unwrap(), Far::default());
        assert_eq!(Journal::make(path).unwrap().read().unwrap(), Far::default());
    }
}
