//! Where workers come from: the embedded ones, and those of a developer beside them.

use crate::worker::Worker;
use crate::{assets, language, language::Language};
use roundtrip_model::contract::{ClientInfo, Described};
use roundtrip_model::names::unknown;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{PrivateDir, Settings};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Names a folder whose languages are added to the embedded ones, or stand in their place: a
/// worker can be written and tried without building Roundtrip.
pub const WORKERS_VARIABLE: &str = "ROUNDTRIP_WORKERS";

/// How long a worker may take for anything but a phase.
const PATIENCE: Duration = Duration::from_secs(30);

/// What stands between the reason that a client is missing and the command that installs it.
const INSTALL: &str = "; install it with: ";

/// Starts workers.
#[derive(Debug)]
pub struct Host {
    folder: PathBuf,
    languages: BTreeMap<String, Language>,
    environment: Vec<(OsString, OsString)>,
    patience: Duration,
    described: Mutex<BTreeMap<String, Described>>,
    spawned: AtomicU64,
}

impl Host {
    /// Unpacks the embedded workers into a folder within `dir`, and adds those of
    /// [`WORKERS_VARIABLE`]. `self_exe` is the program of `native`.
    pub fn new(self_exe: PathBuf, dir: &PrivateDir) -> Result<Host> {
        let added = std::env::var_os(WORKERS_VARIABLE).filter(|path| !path.is_empty());
        Host::with_workers(self_exe, dir, added.as_ref().map(Path::new))
    }

    /// As [`Host::new`], with the added folder given and not taken from the environment.
    pub fn with_workers(self_exe: PathBuf, dir: &PrivateDir, added: Option<&Path>) -> Result<Host> {
        let folder = tempfile::Builder::new()
            .prefix("workers-")
            .tempdir_in(dir.path())
            .map(tempfile::TempDir::keep)
            .map_err(|e| {
                Problem::new(
                    Kind::Failed,
                    format!("no private directory can be made: {e}"),
                )
                .at(dir.path().display().to_string())
                .next("free some space, or point TMPDIR at another directory")
            })?;
        assets::unpack(&folder)?;
        let mut languages = language::find(&folder, &folder, &self_exe)?;
        if let Some(added) = added {
            let added = std::path::absolute(added).unwrap_or_else(|_| added.to_owned());
            languages.extend(language::find(&added, &folder, &self_exe)?);
        }
        Ok(Host {
            folder,
            languages,
            environment: Vec::new(),
            patience: PATIENCE,
            described: Mutex::default(),
            spawned: AtomicU64::new(0),
        })
    }

    /// Gives every worker one more variable of the environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Host {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// How long a worker may take for anything but the loop of a phase; 30 s unless said.
    pub fn patience(mut self, patience: Duration) -> Host {
        self.patience = patience;
        self
    }

    /// The languages that there are a worker for, by name; whether their programs are installed
    /// is another matter, which [`Host::describe`] knows.
    pub fn languages(&self) -> impl Iterator<Item = (&str, &Language)> {
        self.languages.iter().map(|(name, l)| (name.as_str(), l))
    }

    /// The file of the fidelity vectors.
    pub fn vectors(&self) -> PathBuf {
        self.folder.join("vectors").join("values.json")
    }

    /// What the worker of a language says of itself. Asked once; a failure is asked again.
    pub fn describe(&self, language: &str) -> Result<Described> {
        let described = || {
            self.described
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = described().get(language) {
            return Ok(known.clone());
        }
        let mut worker = self.spawn(language, &Settings::default())?;
        let said = worker.describe()?;
        worker.close()?;
        described().insert(language.to_owned(), said.clone());
        Ok(said)
    }

    /// What is known of a client, `php/memcached` or `native`; a problem when it cannot be used.
    pub fn client(&self, name: &str) -> Result<ClientInfo> {
        let (language, library) = name.split_once('/').unwrap_or((name, name));
        self.language(language)?;
        let clients = self.describe(language)?.clients;
        let full = |client: &ClientInfo| match client.name == language {
            true => language.to_owned(),
            false => format!("{language}/{}", client.name),
        };
        match clients.iter().find(|client| client.name == library) {
            Some(client) if client.available => Ok(client.clone()),
            Some(client) => Err(unavailable(name, client)),
            None => {
                let names: Vec<String> = clients.iter().map(full).collect();
                Err(unknown("client", name, names.iter().map(String::as_str)))
            }
        }
    }

    /// Starts the worker of a language. It dies with the thread that starts it.
    pub fn spawn(&self, language: &str, settings: &Settings) -> Result<Worker> {
        let number = self.spawned.fetch_add(1, Ordering::Relaxed);
        let log = self.folder.join(format!("{language}-{number}.log"));
        let how = self.language(language)?;
        Worker::spawn(
            language,
            how,
            &self.environment,
            settings,
            log,
            self.patience,
        )
    }

    fn language(&self, name: &str) -> Result<&Language> {
        self.languages
            .get(name)
            .ok_or_else(|| unknown("language", name, self.languages.keys().map(String::as_str)))
    }
}

/// A client whose library is not installed. Its reason ends with the command that installs it.
fn unavailable(name: &str, client: &ClientInfo) -> Problem {
    let reason = client.reason.as_deref().unwrap_or("it gives no reason");
    let (why, command) = reason
        .split_once(INSTALL)
        .unwrap_or((reason, "see `roundtrip doctor`"));
    Problem::new(Kind::Missing, format!("`{name}` cannot be used: {why}")).next(command)
}
