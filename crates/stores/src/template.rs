//! The data directory that a server needs before it can start. Making one takes seconds, so it is
//! made once, kept in the cache under a name that tells version and recipe, and copied for each
//! start.

use crate::log;
use crate::manifest::{Initialise, Manifest};
use crate::options::StartOptions;
use crate::private_file;
use crate::program;
use crate::store::StoreDir;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{Owned, PrivateDir, Settings};
use rustix::fs::{Gid, Uid};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// What a data directory is made of and by.
pub struct Recipe<'a> {
    /// The store.
    pub manifest: &'a Manifest,
    /// How it is done.
    pub initialise: &'a Initialise,
    /// The server's program.
    pub program: &'a Path,
    /// How the store is started.
    pub options: &'a StartOptions<'a>,
    /// Who the server runs as.
    pub run_as: Option<u32>,
}

impl Recipe<'_> {
    /// Puts a copy of the data directory there.
    pub fn copy_to(&self, data: &Path) -> Result<()> {
        let template = self.template();
        if !template.is_dir() {
            self.make(&template)?;
        }
        copy(&template, data, self.run_as, false)
            .map_err(|e| self.failed(&format!("its data directory cannot be copied: {e}"), data))
    }

    fn template(&self) -> PathBuf {
        let Recipe {
            manifest,
            initialise,
            ..
        } = self;
        let version = program::version_of(self.manifest, self.program).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        let once = (&initialise.program, &initialise.args, &initialise.sql);
        (&version, once).hash(&mut hasher);
        let name = format!("{}-{version}-data-{:016x}", manifest.name, hasher.finish());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let name: String = name
            .chars()
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect();
        self.options.cache.join(name)
    }

    /// Makes the data directory in the run's own directory, and gives it to the cache whole: by one
    /// renaming, so that a half made one is never used, and two at once do not disturb each other.
    fn make(&self, template: &Path) -> Result<()> {
        let dir = StoreDir::make(self.options.dir, &self.manifest.name, self.run_as)?;
        let data = dir.path().join("data");
        self.run(dir.path(), &data)?;
        let cache = &self.options.cache;
        let step =
            "free some space there, or point ROUNDTRIP_CACHE at a directory that can be written";
        let kept = |e: io::Error| {
            let name = &self.manifest.name;
            let what = format!("the cache cannot keep the data directory of {name}: {e}");
            let problem = Problem::new(Kind::Failed, what);
            problem.at(cache.display().to_string()).next(step)
        };
        fs::create_dir_all(cache).map_err(kept)?;
        // If Roundtrip is killed meanwhile, the next one removes it.
        let making = PrivateDir::within(cache).map_err(|problem| problem.next(step))?;
        let whole = making.path().join("data");
        copy(&data, &whole, None, true).map_err(kept)?;
        match fs::rename(&whole, template) {
            // Another Roundtrip was first; its is as good.
            Err(_) if template.is_dir() => Ok(()),
            renamed => renamed.map_err(kept),
        }
    }

    fn run(&self, dir: &Path, data: &Path) -> Result<()> {
        let program = match &self.initialise.program {
            None => self.program.to_owned(),
            Some(name) => program::find(name).ok_or_else(|| {
                let what = format!(
                    "{name} is not installed, which makes the data directory of {}",
                    self.manifest.name
                );
                let install = self.manifest.install().unwrap_or_default();
                Problem::new(Kind::Missing, what).next(format!("install it with `{install}`"))
            })?,
        };
        let failed = |e: io::Error| self.failed(&format!("it cannot be started: {e}"), &program);
        let sql = dir.join("initialise.sql");
        let statements: String = self
            .initialise
            .sql
            .iter()
            .map(|one| format!("{one};\n"))
            .collect();
        private_file::write(&sql, &statements, self.run_as).map_err(failed)?;
        let log_file = dir.join("initialise.log");
        let said = File::create(&log_file).map_err(failed)?;
        let fill = |arg: &String| {
            arg.replace("{data}", &data.to_string_lossy())
                .replace("{sql}", &sql.to_string_lossy())
                .replace("{dir}", &dir.to_string_lossy())
        };
        let mut command = Command::new(&program);
        command
            .args(self.initialise.args.iter().map(fill))
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(said.try_clone().map_err(failed)?)
            .stderr(said);
        let settings = Settings {
            cpus: None,
            run_as: self.run_as,
        };
        let mut owned = Owned::spawn(&mut command, &settings).map_err(failed)?;
        let exit = owned
            .wait(Duration::from_millis(self.initialise.within_ms))
            .map_err(failed)?;
        let what = match exit {
            Some(exit) if exit.is_success() => return Ok(()),
            Some(exit) => format!("making its data directory {}", exit.in_words()),
            None => format!(
                "its data directory was not made within {} s",
                self.initialise.within_ms / 1000
            ),
        };
        Err(self.failed(&what, &program).with_log(log::tail(&log_file)))
    }

    fn failed(&self, what: &str, place: &Path) -> Problem {
        let what = format!("{} cannot be started: {what}", self.manifest.name);
        Problem::new(Kind::Failed, what)
            .at(place.display().to_string())
            .next("look at its last words, and whether the disk is full")
    }
}

/// Copies a directory with all that is in it; `durably`, it is on the disk when this comes back.
fn copy(from: &Path, to: &Path, uid: Option<u32>, durably: bool) -> io::Result<()> {
    let own = |path: &Path| match uid {
        Some(uid) => rustix::fs::chown(path, Some(Uid::from_raw(uid)), Some(Gid::from_raw(uid))),
        None => Ok(()),
    };
    fs::create_dir(to)?;
    own(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy(&entry.path(), &target, uid, durably)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            own(&target)?;
            if durably {
                File::open(&target)?.sync_all()?;
            }
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}
