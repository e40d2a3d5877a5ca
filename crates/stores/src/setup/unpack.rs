//! Unpacking what is needed of an archive. Its checksum was right; even so it is taken for bad until
//! parsed: no path and no link leaves the folder, and nothing is larger than it said, or than any
//! archive that is meant.

use super::{Doing, Options, Step, cannot};
use roundtrip_model::{Kind, Problem, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Component, Path};
use std::sync::atomic::Ordering;
use zip::ZipArchive;

const MAX_ENTRIES: usize = 100_000;
const MAX_PATH_BYTES: usize = 1024;
const MAX_LINK_BYTES: u64 = 1024;
const MAX_UNPACKED_BYTES: u64 = 8 << 30;
const CHUNK_BYTES: usize = 1 << 18;
/// What remains of an entry's mode: nobody else writes, and nothing runs as its owner.
const MODE_MASK: u32 = 0o755;
/// The mode of an entry that has none.
const USUAL_MODE: u32 = 0o644;

/// Unpacks the entries that match into a new folder.
pub fn unpack(
    archive: &Path,
    patterns: &[String],
    folder: &Path,
    options: &Options<'_>,
) -> Result<()> {
    let file =
        File::open(archive).map_err(|e| cannot("the archive cannot be read", archive, &e))?;
    let mut zip = ZipArchive::new(file).map_err(|e| bad(archive, &e.to_string()))?;
    let wanted = wanted(&mut zip, patterns).map_err(|why| bad(archive, &why))?;
    let total_bytes: u64 = wanted.iter().map(|entry| entry.bytes).sum();
    fs::create_dir_all(folder).map_err(|e| cannot("a folder cannot be made", folder, &e))?;
    room(folder, total_bytes)?;
    let mut done = Done {
        bytes: 0,
        total_bytes,
        options,
    };
    for entry in &wanted {
        let unpacked = entry.unpack(&mut zip, folder, &mut done);
        unpacked.map_err(|failed| match failed {
            Failed::Stopped => Problem::interrupted(),
            Failed::Bad(why) => bad(archive, &why),
            Failed::Io(e) => cannot("the archive cannot be unpacked", folder, &e),
        })?;
    }
    Ok(())
}

fn bad(archive: &Path, why: &str) -> Problem {
    Problem::new(
        Kind::Failed,
        format!("the archive cannot be unpacked: {why}"),
    )
    .at(archive.display().to_string())
    .next("delete it and set up again")
}

/// An entry that is wanted; its path is checked.
struct Entry {
    index: usize,
    path: String,
    bytes: u64,
    is_dir: bool,
    is_link: bool,
    mode: u32,
}

enum Failed {
    Stopped,
    Bad(String),
    Io(io::Error),
}

impl From<io::Error> for Failed {
    fn from(e: io::Error) -> Failed {
        match e.kind() {
            // What the archive holds is not what it says: the reader found it out.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Failed::Bad(e.to_string()),
            _ => Failed::Io(e),
        }
    }
}

struct Done<'o> {
    bytes: u64,
    total_bytes: u64,
    options: &'o Options<'o>,
}

fn wanted(
    zip: &mut ZipArchive<File>,
    patterns: &[String],
) -> std::result::Result<Vec<Entry>, String> {
    if zip.len() > MAX_ENTRIES {
        return Err(format!("it has more than {MAX_ENTRIES} entries"));
    }
    let (mut wanted, mut total): (Vec<Entry>, u64) = (Vec::new(), 0);
    for index in 0..zip.len() {
        let entry = zip.by_index_data(index).map_err(|e| e.to_string())?;
        let path = entry.name().map_err(|e| e.to_string())?.into_owned();
        if !patterns.iter().any(|pattern| matches(pattern, &path)) {
            continue;
        }
        if !is_inside(&path) {
            let shown: String = path.chars().take(100).collect();
            return Err(format!("its entry {shown:?} would leave the folder"));
        }
        total = total.saturating_add(entry.size());
        if total > MAX_UNPACKED_BYTES {
            return Err(format!(
                "it unpacks to more than {MAX_UNPACKED_BYTES} bytes"
            ));
        }
        wanted.push(Entry {
            index,
            bytes: entry.size(),
            is_dir: entry.is_dir(),
            is_link: entry.is_symlink(),
            mode: entry.unix_mode().unwrap_or(USUAL_MODE) & MODE_MASK,
            path,
        });
    }
    if wanted.is_empty() {
        return Err("it holds nothing of what is needed".to_owned());
    }
    Ok(wanted)
}

/// Whether a path is one of names only, downwards.
fn is_inside(path: &str) -> bool {
    let is_name = |c: Component<'_>| matches!(c, Component::Normal(_));
    (1..=MAX_PATH_BYTES).contains(&path.len())
        && !path.contains(['\0', '\\'])
        && Path::new(path).components().all(is_name)
}

/// Whether a link from an entry leads to a place in the folder.
fn leads_inside(entry: &str, target: &str) -> bool {
    let mut depth = Path::new(entry).components().count().saturating_sub(1);
    for component in Path::new(target).components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    !target.is_empty()
}

/// Whether a pattern, in which `*` stands for any text, matches a path.
fn matches(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

impl Entry {
    fn unpack(
        &self,
        zip: &mut ZipArchive<File>,
        folder: &Path,
        done: &mut Done<'_>,
    ) -> std::result::Result<(), Failed> {
        let path = folder.join(&self.path);
        if self.is_dir {
            return Ok(fs::create_dir_all(path)?);
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
            // A link on the way down could lead out of the folder by way of another.
            if !parent.canonicalize()?.starts_with(folder.canonicalize()?) {
                return Err(Failed::Bad(format!("{:?} leaves the folder", self.path)));
            }
        }
        let entry = zip.by_index(self.index);
        let entry = entry.map_err(|e| Failed::Bad(e.to_string()))?;
        if self.is_link {
            let mut target = String::new();
            { entry }.take(MAX_LINK_BYTES).read_to_string(&mut target)?;
            if !leads_inside(&self.path, &target) {
                return Err(Failed::Bad(format!(
                    "the link {:?} leaves the folder",
                    self.path
                )));
            }
            return Ok(symlink(target, path)?);
        }
        // New, so that no link that is there already is written through.
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(self.mode)
            .open(&path)?;
        // One byte more than it said shows that there is more.
        let written = done.copy(&mut entry.take(self.bytes + 1), &mut file)?;
        match written == self.bytes {
            true => Ok(()),
            false => Err(Failed::Bad(format!(
                "{:?} is not as large as it says",
                self.path
            ))),
        }
    }
}

impl Done<'_> {
    fn copy(
        &mut self,
        from: &mut impl Read,
        to: &mut impl Write,
    ) -> std::result::Result<u64, Failed> {
        let (mut chunk, mut copied) = (vec![0; CHUNK_BYTES], 0);
        loop {
            if self.options.stop.load(Ordering::Relaxed) {
                return Err(Failed::Stopped);
            }
            let n = from.read(&mut chunk)?;
            if n == 0 {
                return Ok(copied);
            }
            to.write_all(&chunk[..n])?;
            copied += n as u64;
            self.bytes += n as u64;
            (self.options.progress)(Step {
                what: Doing::Unpacking,
                done_bytes: self.bytes,
                total_bytes: self.total_bytes,
            });
        }
    }
}

/// Whether there is room for so much, before the disk is full of half of it.
fn room(folder: &Path, bytes: u64) -> Result<()> {
    let Ok(disk) = rustix::fs::statvfs(folder) else {
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= bytes {
        return Ok(());
    }
    let full = io::Error::from(io::ErrorKind::StorageFull);
    let (need, free) = (bytes / 1_000_000, free / 1_000_000);
    let what = format!("unpacking takes {need} MB, and {free} MB are free");
    Err(cannot(&what, folder, &full))
}

#[cfg(test)]
mod tests;
