//! Bringing an archive with Maven, which knows where archives come from, keeps what it brought, and
//! goes on with a download that was stopped.

mod trouble;

use super::{Doing, Options, Plan, Step, cannot};
use crate::manifest::Artifact;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{Owned, Settings};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const PROGRAM: &str = "mvn";
/// How Maven tells, among what it says for debugging, where its cache is. Its settings, its
/// environment and its options can all move it.
const CACHE_IS: &str = "Using local repository at ";
const MAX_LOG_BYTES: u64 = 4 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(200);
const STOP_GRACE: Duration = Duration::from_secs(5);

/// Has the archive in Maven's cache; says where it is.
pub fn bring(plan: &Plan<'_>, work_in: &Path, options: &Options<'_>) -> Result<PathBuf> {
    let log = Log::in_folder(work_in);
    let mut log = log.map_err(|e| cannot("the cache cannot be written", work_in, &e))?;
    let mut child = start(&plan.artifact.coordinate, work_in, &log.writer)?;
    let total_bytes = u64::from(plan.artifact.size_mb) * 1_000_000;
    let mut cache = None;
    let exit = loop {
        let ended = child.wait(LOOK_EVERY).map_err(|e| unstartable(&e))?;
        if let Some(exit) = ended {
            break exit;
        }
        if plan.stopped(options).is_err() {
            // What it has so far stays in its cache.
            child.stop(STOP_GRACE)?;
            return Err(plan.interrupted());
        }
        cache = cache.or_else(|| cache_in(&log.said()));
        let here = cache
            .as_deref()
            .map(|cache| folder_in(cache, plan.artifact));
        (options.progress)(Step {
            what: Doing::Bringing,
            done_bytes: here.map_or(0, |folder| grown(&folder)).min(total_bytes),
            total_bytes,
        });
    };
    plan.stopped(options)?;
    let said = log.said();
    if !exit.is_success() {
        return Err(trouble::explain(
            &plan.manifest.name,
            &said,
            &exit.in_words(),
        ));
    }
    let cache = cache.or_else(|| cache_in(&said));
    let file = cache.map(|cache| folder_in(&cache, plan.artifact).join(file_of(plan.artifact)));
    file.filter(|file| file.is_file()).ok_or_else(|| {
        let what = "Maven says that it brought the archive, and it is not where its cache is";
        let step = format!(
            "look with `mvn -X dependency:get -Dartifact={}`",
            plan.artifact.coordinate
        );
        Problem::new(Kind::Failed, what)
            .next(step)
            .with_log(trouble::last_words(&said))
    })
}

fn start(coordinate: &str, work_in: &Path, log: &File) -> Result<Owned> {
    let both = log.try_clone().and_then(|out| Ok((out, log.try_clone()?)));
    let (out, err) = both.map_err(|e| unstartable(&e))?;
    let mut command = Command::new(PROGRAM);
    command
        // `-X` for the place of the cache; `-U` so that a failure of before is not remembered.
        .args(["-B", "-X", "-U", "--no-transfer-progress", "dependency:get"])
        .arg(format!("-Dartifact={coordinate}"))
        .arg("-Dtransitive=false")
        // Away from whatever project is in the current folder.
        .current_dir(work_in)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err);
    Owned::spawn(&mut command, &Settings::default()).map_err(|e| unstartable(&e))
}

fn unstartable(e: &std::io::Error) -> Problem {
    let step = "install it with `sudo apt-get install -y maven`, which brings a Java too";
    match e.kind() {
        std::io::ErrorKind::NotFound => {
            let what = "Maven (`mvn`), which brings the archive, is not installed";
            Problem::new(Kind::Missing, what).next(step)
        }
        _ => Problem::new(Kind::Failed, format!("Maven (`mvn`) cannot be run: {e}"))
            .next("look whether `mvn --version` works"),
    }
}

/// What Maven says: a file that is already unlinked. It is read by a place of its own, so that
/// reading does not move where Maven writes.
struct Log {
    writer: File,
    reader: File,
}

impl Log {
    fn in_folder(folder: &Path) -> std::io::Result<Log> {
        let named = tempfile::NamedTempFile::new_in(folder)?;
        Ok(Log {
            writer: File::options().append(true).open(named.path())?,
            reader: File::open(named.path())?,
        })
    }

    /// All so far, up to a limit.
    fn said(&mut self) -> String {
        let mut text = Vec::new();
        let start = self.reader.seek(SeekFrom::Start(0));
        let mut limited = (&mut self.reader).take(MAX_LOG_BYTES);
        match start.and_then(|_| limited.read_to_end(&mut text)) {
            Ok(_) => String::from_utf8_lossy(&text).into_owned(),
            Err(_) => String::new(),
        }
    }
}

fn cache_in(said: &str) -> Option<PathBuf> {
    let at = said.find(CACHE_IS)? + CACHE_IS.len();
    // A line that is not yet ended may be half of a path.
    let (path, _) = said[at..].split_once('\n')?;
    Some(PathBuf::from(path.trim_end()))
}

/// `GROUP:ARTIFACT:VERSION:TYPE:CLASSIFIER`; the manifest is checked to have all five.
fn parts(artifact: &Artifact) -> [&str; 5] {
    let mut parts = artifact.coordinate.split(':');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

fn folder_in(cache: &Path, artifact: &Artifact) -> PathBuf {
    let [group, name, version, ..] = parts(artifact);
    cache.join(group.replace('.', "/")).join(name).join(version)
}

fn file_of(artifact: &Artifact) -> String {
    let [_, name, version, kind, classifier] = parts(artifact);
    format!("{name}-{version}-{classifier}.{kind}")
}

/// The size of the largest file there: the archive, or what came of it so far.
fn grown(folder: &Path) -> u64 {
    let sizes = fs::read_dir(folder).into_iter().flatten().flatten();
    sizes
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .max()
        .unwrap_or(0)
}
