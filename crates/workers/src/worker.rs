//! One running worker and the conversation with it.

use crate::conversation::{parse, silence, tail, unexpected};
use crate::language::Language;
use crate::lines::{Lines, NoLine};
use crate::path::HOST_OPTIONS;
use roundtrip_model::contract::{
    Check, CheckRow, Command, Described, Done, Event, LatencyForm, Open, PhaseCommand,
};
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{Exit, Owned, Settings};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a worker that closed its output may take to end.
const LAST_BREATH: Duration = Duration::from_secs(2);
/// What decoding an operation, or writing its latency, may take at most.
const PER_OPERATION: Duration = Duration::from_micros(50);

/// A worker. It is killed when dropped, and dies with the thread that started it.
///
/// After a method gave a problem the worker is of no use any more: it has ended or been killed.
#[derive(Debug)]
pub struct Worker {
    language: String,
    child: Owned,
    stdin: Option<ChildStdin>,
    lines: Lines,
    log: PathBuf,
    patience: Duration,
    /// Operations of the phase that is ready.
    count: u64,
}

impl Worker {
    pub(crate) fn spawn(
        language: &str,
        how: &Language,
        environment: &[(OsString, OsString)],
        settings: &Settings,
        log: PathBuf,
        patience: Duration,
    ) -> Result<Worker> {
        let failed = |e: io::Error| cannot_start(language, how, &e);
        let mut command = std::process::Command::new(&how.program);
        command
            .args(&how.args)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).map_err(failed)?);
        let mut child = Owned::spawn(&mut command, settings).map_err(failed)?;
        let stdout = child.take_stdout().ok_or_else(|| {
            Problem::new(Kind::Internal, "a worker was started without an output")
        })?;
        Ok(Worker {
            language: language.to_owned(),
            stdin: child.take_stdin(),
            child,
            lines: Lines::of(stdout),
            log,
            patience,
            count: 0,
        })
    }

    /// What it is and what it can drive.
    pub fn describe(&mut self) -> Result<Described> {
        match self.ask(&Command::Describe, "described", self.patience)? {
            Event::Described(described) => Ok(described),
            other => Err(self.unexpected(&other, "described")),
        }
    }

    /// Connects a client; gives the time that took, in nanoseconds. Options that are the host's
    /// own are not sent.
    pub fn open(&mut self, mut open: Open) -> Result<u64> {
        open.options
            .retain(|name, _| !HOST_OPTIONS.contains(&name.as_str()));
        match self.ask(&Command::Open(open), "opened", self.patience)? {
            Event::Opened { connect_ns } => Ok(connect_ns),
            other => Err(self.unexpected(&other, "opened")),
        }
    }

    /// Has it decode the stream of a phase.
    pub fn ready(&mut self, phase: PhaseCommand) -> Result<()> {
        self.count = phase.count;
        let deadline = self.patience_for_all();
        match self.ask(&Command::Phase(phase), "ready", deadline)? {
            Event::Ready => Ok(()),
            other => Err(self.unexpected(&other, "ready")),
        }
    }

    /// Starts the loop of the phase that is ready, and does not wait: several workers can run at
    /// once.
    pub fn go(&mut self) -> Result<()> {
        self.send(&Command::Go)
    }

    /// Waits for the end of the loop, or until the person wants to stop.
    pub fn done(&mut self, deadline: Duration, stop: &AtomicBool) -> Result<Done> {
        match self.hear_unless("done", deadline, stop)? {
            Event::Done(done) if done.ended_ns < done.started_ns => Err(self.told(Problem::new(
                Kind::Failed,
                "it says that the loop ended before it started",
            ))),
            Event::Done(done) => Ok(done),
            other => Err(self.unexpected(&other, "done")),
        }
    }

    /// Waits until the latencies are in their file; gives how many there are, and in which form.
    pub fn written(&mut self) -> Result<(u64, LatencyForm)> {
        match self.hear("written", self.patience_for_all())? {
            Event::Written { latencies, form } => Ok((latencies, form)),
            other => Err(self.unexpected(&other, "written")),
        }
    }

    /// Has it write or read the fidelity vectors.
    pub fn check(&mut self, check: Check) -> Result<Vec<CheckRow>> {
        match self.ask(&Command::Check(check), "checked", self.patience)? {
            Event::Checked { rows } => Ok(rows),
            other => Err(self.unexpected(&other, "checked")),
        }
    }

    /// Has it disconnect and exit; gives what it used over its whole life.
    pub fn close(mut self) -> Result<Exit> {
        match self.ask(&Command::Close, "closed", self.patience)? {
            Event::Closed => {}
            other => return Err(self.unexpected(&other, "closed")),
        }
        match self.child.wait(self.patience) {
            Ok(Some(exit)) if exit.is_success() => Ok(exit),
            Ok(Some(exit)) => Err(self.told(Problem::new(
                Kind::Failed,
                format!("it {} after it had closed", exit.in_words()),
            ))),
            Ok(None) => Err(self.told(Problem::new(
                Kind::Failed,
                format!(
                    "it did not exit within {} s of `closed`",
                    self.patience.as_secs_f64()
                ),
            ))),
            Err(e) => Err(self.told(Problem::new(
                Kind::Internal,
                format!("its end cannot be awaited: {e}"),
            ))),
        }
    }

    /// Kills it, with everything that it started.
    pub fn kill(&mut self) {
        self.child.kill();
    }

    /// Whether its process is gone.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    fn patience_for_all(&self) -> Duration {
        let operations = u32::try_from(self.count).unwrap_or(u32::MAX);
        self.patience + PER_OPERATION * operations
    }

    fn ask(&mut self, command: &Command, awaited: &str, deadline: Duration) -> Result<Event> {
        self.send(command)?;
        self.hear(awaited, deadline)
    }

    fn send(&mut self, command: &Command) -> Result<()> {
        let mut line = serde_json::to_vec(command).map_err(|e| {
            Problem::new(Kind::Internal, format!("a command cannot be written: {e}"))
        })?;
        line.push(b'\n');
        // A worker that cannot be written to has ended, and its output tells why.
        let _ = self.stdin.as_mut().map(|stdin| stdin.write_all(&line));
        Ok(())
    }

    fn hear(&mut self, awaited: &str, deadline: Duration) -> Result<Event> {
        self.hear_unless(awaited, deadline, &AtomicBool::new(false))
    }

    fn hear_unless(
        &mut self,
        awaited: &str,
        deadline: Duration,
        stop: &AtomicBool,
    ) -> Result<Event> {
        match self.lines.next_unless(deadline, stop) {
            Ok(line) => parse(&line).map_err(|problem| self.told(problem)),
            Err(no) => {
                let ended = match no {
                    NoLine::Ended => self.child.wait(LAST_BREATH).ok().flatten(),
                    _ => None,
                };
                let ended = ended.map(|exit| exit.in_words());
                Err(self.told(silence(&no, awaited, deadline, ended)))
            }
        }
    }

    fn unexpected(&mut self, event: &Event, awaited: &str) -> Problem {
        if matches!(event, Event::Error { .. }) {
            // It exits by itself; so its log is whole.
            let _ = self.child.wait(LAST_BREATH);
        }
        self.told(unexpected(event, awaited))
    }

    /// Ends the worker, and adds where the problem is and the worker's last words.
    fn told(&mut self, mut problem: Problem) -> Problem {
        self.child.kill();
        let _ = self.child.wait(LAST_BREATH);
        if problem.kind == Kind::Interrupted {
            return problem;
        }
        problem.place = Some(format!("the worker of `{}`", self.language));
        problem.with_log(tail(&self.log))
    }
}

fn cannot_start(language: &str, how: &Language, error: &io::Error) -> Problem {
    let place = format!("the worker of `{language}`");
    if error.kind() == io::ErrorKind::NotFound {
        let what = format!("the program `{}` is not installed", how.program);
        return Problem::new(Kind::Missing, what)
            .at(place)
            .next(how.install.clone());
    }
    let what = format!("the program `{}` cannot be started: {error}", how.program);
    Problem::new(Kind::Failed, what).at(place)
}
