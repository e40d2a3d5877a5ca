//! A file that only the user a server runs as can read.

use rustix::fs::{Gid, Uid};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Writes a file that is not there yet.
pub fn write(path: &Path, text: &str, uid: Option<u32>) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(text.as_bytes())?;
    if let Some(uid) = uid {
        rustix::fs::fchown(&file, Some(Uid::from_raw(uid)), None::<Gid>)?;
    }
    Ok(())
}
