//! Whether an archive is what was meant, to the last bit.

use super::{Doing, Options, Plan, Step, cannot};
use roundtrip_model::{Kind, Problem, Result};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;

const CHUNK_BYTES: usize = 1 << 20;

/// Computes the checksum of the archive and compares it.
pub fn check(plan: &Plan<'_>, archive: &Path, options: &Options<'_>) -> Result<()> {
    let unreadable = |e| cannot("the archive cannot be read", archive, &e);
    let mut file = File::open(archive).map_err(unreadable)?;
    let total_bytes = file.metadata().map_err(unreadable)?.len();
    let (mut sum, mut chunk, mut done_bytes) = (Sha256::new(), vec![0; CHUNK_BYTES], 0);
    loop {
        plan.stopped(options)?;
        match file.read(&mut chunk).map_err(unreadable)? {
            0 => break,
            n => {
                sum.update(&chunk[..n]);
                done_bytes += n as u64;
            }
        }
        (options.progress)(Step {
            what: Doing::Checking,
            done_bytes,
            total_bytes,
        });
    }
    let mut found = String::new();
    for byte in sum.finalize() {
        let _ = write!(found, "{byte:02x}");
    }
    let (wanted, name) = (&plan.artifact.sha256, &plan.manifest.name);
    if found == *wanted {
        return Ok(());
    }
    let path = archive.display();
    let what = format!(
        "the archive of {name} is corrupted: its SHA-256 is {found} and should be {wanted}"
    );
    Err(Problem::new(Kind::Failed, what)
        .at(path.to_string())
        .next(format!(
            "delete it with `rm '{path}'` and call `roundtrip setup {name}` again, or let \
             `roundtrip setup {name} --again` do both"
        )))
}
