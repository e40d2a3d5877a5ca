//! How a server is started, kept so that it can be started again as it was.

use crate::accounts::{self, Logins};
use crate::place::Place;
use crate::probe::Asked;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{Owned, Settings};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Everything that one start of a server needs.
pub struct Launch {
    /// The store that it is of.
    pub store: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments, with nothing left to fill in.
    pub args: Vec<String>,
    /// Where and as whom it runs.
    pub settings: Settings,
    /// How long it may take until it answers.
    pub ready_within: Duration,
    /// Where it listens and keeps its files.
    pub place: Place,
    /// Who may log in, where that is asked.
    pub logins: Option<Logins>,
}

impl Launch {
    /// Starts it. What it says goes to the end of its log.
    pub fn spawn(&self) -> Result<Owned> {
        if let Some(logins) = &self.logins {
            logins.write(&self.place.login_sql(), self.settings.run_as)?;
        }
        for socket in self.place.sockets() {
            // One that was killed left them, and not every server binds over them.
            let _ = fs::remove_file(socket);
        }
        let failed = |e: io::Error| {
            Problem::new(
                Kind::Failed,
                format!("{} cannot be started: {e}", self.store),
            )
            .at(self.program.display().to_string())
            .next("look whether the program can be executed, and whether the disk is full")
        };
        let mut appending = OpenOptions::new();
        let log = appending.create(true).append(true).open(self.place.log());
        let log = log.map_err(failed)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.place.dir)
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(failed)?)
            .stderr(log);
        Owned::spawn(&mut command, &self.settings).map_err(failed)
    }

    /// To be called when it is ready: it has read who may log in.
    pub fn is_ready(&self) {
        if self.logins.is_some() {
            accounts::forget(&self.place.login_sql());
        }
    }

    /// Whom a probe asks.
    pub fn asked(&self) -> Asked {
        Asked {
            login: self.logins.as_ref().map(|logins| logins.probe.clone()),
            ..Asked::at(&[self.place.probe_endpoint()])
        }
    }
}
