//! The native client as a worker of the worker contract: JSON lines in, JSON lines out.
//!
//! It has no statistics of its own, and does not know which server it drives.

mod crew;
mod describe;
mod error;
mod loops;
mod options;
mod phase;
mod place;
mod session;

pub(crate) use error::WorkerError;

use phase::Ready;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Event, LatencyForm};
use session::Session;
use std::io::{BufRead, Read, Write};

/// The longest line that is read.
const LONGEST_LINE: u64 = 1 << 20;

/// Serves one host until it says good bye or its end of the pipe closes. Returns the exit code of
/// the process: 0, or 1 after an `error` event or when nobody listens any more.
pub fn serve_worker(mut stdin: impl BufRead, mut stdout: impl Write) -> u8 {
    let mut worker = Worker::default();
    loop {
        let answered = match next_command(&mut stdin) {
            Ok(None) => return 0,
            Ok(Some(command)) => worker.answer(command, &mut stdout),
            Err(error) => Err(error),
        };
        match answered {
            Ok(Stay::Yes) => {}
            Ok(Stay::No) => return 0,
            Err(error) => {
                // When nobody listens there is nobody to tell.
                let _ = say(&mut stdout, &error.into_event());
                return 1;
            }
        }
    }
}

/// Whether the worker waits for another command.
enum Stay {
    Yes,
    No,
}

#[derive(Debug, Default)]
struct Worker {
    session: Option<Session>,
    ready: Option<Ready>,
}

impl Worker {
    fn answer(&mut self, command: Command, out: &mut impl Write) -> Result<Stay, WorkerError> {
        match command {
            Command::Describe => say(out, &Event::Described(describe::describe()))?,
            Command::Open(open) => {
                if self.session.is_some() {
                    return Err(WorkerError::protocol("`open` came twice"));
                }
                let (session, connect_ns) = Session::open(&open)?;
                self.session = Some(session);
                say(out, &Event::Opened { connect_ns })?;
            }
            Command::Phase(phase) => {
                let session = self.session.as_ref().ok_or_else(not_open)?;
                self.ready = Some(session.prepare(phase)?);
                say(out, &Event::Ready)?;
            }
            Command::Go => {
                let session = self.session.as_mut().ok_or_else(not_open)?;
                let mut ready = self
                    .ready
                    .take()
                    .ok_or_else(|| WorkerError::protocol("`go` came before `phase`"))?;
                let done = session.run(&mut ready)?;
                say(out, &Event::Done(done))?;
                let latencies = ready.write_latencies()?;
                say(
                    out,
                    &Event::Written {
                        latencies,
                        form: LatencyForm::Histograms,
                    },
                )?;
            }
            Command::Check(_) => {
                return Err(WorkerError::usage(
                    "the native client stores bytes only: it has no types to check",
                ));
            }
            Command::Close => {
                self.session = None;
                say(out, &Event::Closed)?;
                return Ok(Stay::No);
            }
        }
        Ok(Stay::Yes)
    }
}

fn not_open() -> WorkerError {
    WorkerError::protocol("a command came that needs `open` before it")
}

fn next_command(stdin: &mut impl BufRead) -> Result<Option<Command>, WorkerError> {
    let mut line = Vec::new();
    let read = stdin
        .by_ref()
        .take(LONGEST_LINE)
        .read_until(b'\n', &mut line)
        .map_err(|e| WorkerError::io(format!("the commands cannot be read: {e}")))?;
    if read == 0 {
        return Ok(None);
    }
    if read as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
        return Err(WorkerError::protocol("a command is longer than 1 MiB"));
    }
    serde_json::from_slice(&line)
        .map(Some)
        .map_err(|e| unreadable(&line, &e))
}

/// A command with an op that is not known is no defect of the host's, but a wish that cannot be.
fn unreadable(line: &[u8], e: &serde_json::Error) -> WorkerError {
    let value: serde_json::Value = serde_json::from_slice(line).unwrap_or_default();
    match value["op"].as_str().map(str::parse::<Op>) {
        Some(Err(problem)) => problem.into(),
        _ => WorkerError::protocol(format!("a command cannot be read: {e}")),
    }
}

fn say(out: &mut impl Write, event: &Event) -> Result<(), WorkerError> {
    let failed = |e: std::io::Error| WorkerError::io(format!("nobody listens: {e}"));
    let mut line = serde_json::to_vec(event)
        .map_err(|e| WorkerError::internal(format!("an event cannot be written: {e}")))?;
    line.push(b'\n');
    out.write_all(&line).map_err(failed)?;
    out.flush().map_err(failed)
}
