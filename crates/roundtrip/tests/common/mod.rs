//! The built binary as a user calls it, with an archive of its own.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    missing_docs
)]

use rustix::process::{Pid, Signal};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A home for one test: archive, working directory, and a place for fake programs.
pub struct Home {
    pub dir: tempfile::TempDir,
}

impl Home {
    pub fn new() -> Home {
        let dir = tempfile::tempdir().unwrap();
        for name in ["home", "work", "bin"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Home { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn archive(&self) -> PathBuf {
        self.path("home/archive.sqlite")
    }

    /// The binary, to be run from an empty folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_roundtrip"));
        command
            .args(args)
            .current_dir(self.path("work"))
            .env("ROUNDTRIP_HOME", self.path("home"))
            .env_remove("ROUNDTRIP_WORKERS")
            .env_remove("COLUMNS")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs and expects it to end well.
    pub fn good(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}\n{}\n{}", ran.out, ran.err);
        ran.out
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path("work").join(name);
        fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// Puts a program before all others in the search path.
    pub fn program(&self, name: &str, script: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        for dir in [self.dir.path().to_owned(), self.path("bin")] {
            fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let old = std::env::var("PATH").unwrap();
        format!("{}:{old}", self.path("bin").display())
    }
}

/// A command that runs beside the test. It is killed when dropped, so that a test that fails
/// leaves nothing running.
pub struct Running(Option<Child>);

impl Running {
    pub fn start(command: &mut Command) -> Running {
        Running(Some(command.spawn().unwrap()))
    }

    pub fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    pub fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    pub fn signal(&self, signal: Signal) {
        let child = self.0.as_ref().unwrap();
        rustix::process::kill_process(Pid::from_child(child), signal).unwrap();
    }

    /// Kills it and waits for its end.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.child().wait().unwrap();
    }

    /// Waits for its end and what it said.
    pub fn end(mut self) -> Ran {
        Ran::of(self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a command gave.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Expects a refusal: its exit code and what its message holds.
    pub fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "`{word}` is not in:\n{}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }
}

/// Waits until something holds; the limit is for a test that has failed anyway.
pub fn soon<T>(what: &str, mut holds: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = holds() {
            return value;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "not in time: {what}"
        );
        sleep(Duration::from_millis(10));
    }
}

/// Direct children of a process.
pub fn children(pid: u32) -> Vec<u32> {
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))
        .unwrap_or_default()
        .split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect()
}

/// Whether a process runs; a zombie does not.
pub fn runs(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

/// The name of the program that a process runs.
pub fn program(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// How many trials an archive holds.
pub fn trials(archive: &Path) -> u32 {
    let Ok(db) = rusqlite::Connection::open(archive) else {
        return 0;
    };
    let _ = db.busy_timeout(Duration::from_secs(10));
    db.query_row("SELECT count(*) FROM trial", [], |row| row.get(0))
        .unwrap_or(0)
}

/// A short run that needs nothing installed.
pub const SHORT: [&str; 8] = [
    "run",
    "quickstart",
    "--count",
    "200",
    "--blocks",
    "2",
    "--seed",
    "7",
];

/// A run that is long enough to be disturbed.
pub const LONG: [&str; 8] = [
    "run",
    "quickstart",
    "--count",
    "2000",
    "--budget",
    "300s",
    "--delta",
    "0.01%",
];
