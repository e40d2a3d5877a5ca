//! A blocking connection on which messages are asked for and read with a codec of `wire`. Every
//! answer has a deadline and a limit: a server that hangs or speaks garbage gives a problem.

use super::in_words;
use super::socket::{Timed, connect};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_wire::{Because, Parsed};
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// Requests that are sent before the replies are read. So few bytes fit in the buffers of the
/// sockets: the server cannot be stuck writing replies while we are stuck writing requests.
pub const MAX_BATCH_BYTES: usize = 16 * 1024;
/// How much is read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// One connection.
pub struct Link {
    socket: Timed,
    /// What came and was not read yet stands behind `at`.
    buffer: Vec<u8>,
    at: usize,
    answer_within: Duration,
    place: String,
    /// What should be there, in a person's words.
    server: &'static str,
}

impl Link {
    /// Connects. Each answer must then come within `answer_within`.
    pub fn open(
        server: &'static str,
        endpoint: &Endpoint,
        answer_within: Duration,
    ) -> Result<Link> {
        let place = in_words(endpoint);
        let socket = connect(endpoint, answer_within).map_err(|e| {
            Problem::new(Kind::Missing, format!("no connection to {server}: {e}"))
                .at(&place)
                .next("look whether it runs and listens there")
        })?;
        Ok(Link {
            socket: Timed {
                socket,
                until: Instant::now() + answer_within,
            },
            buffer: Vec::new(),
            at: 0,
            answer_within,
            place,
            server,
        })
    }

    /// A problem of this connection.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem::new(Kind::Failed, what).at(&self.place)
    }

    fn broken(&self, e: &io::Error) -> Problem {
        use io::ErrorKind::{TimedOut, WouldBlock};
        let server = self.server;
        match e.kind() {
            TimedOut | WouldBlock => self
                .problem(format!(
                    "{server} did not answer within {:.1} s",
                    self.answer_within.as_secs_f64()
                ))
                .next("look whether it is stopped, or the machine is overloaded"),
            _ => self.problem(format!("the connection to {server} broke: {e}")),
        }
    }

    /// Starts the deadline anew: for an answer whose length is not known before.
    pub fn renew_deadline(&mut self) {
        self.socket.until = Instant::now() + self.answer_within;
    }

    /// Sends a request; the deadline of its answer starts.
    pub fn send(&mut self, request: &[u8]) -> Result<()> {
        use io::ErrorKind::{BrokenPipe, ConnectionReset};
        self.renew_deadline();
        match self.socket.write_all(request) {
            Ok(()) => Ok(()),
            // A server that turns a client away says why before it closes: that is the answer.
            Err(e) if matches!(e.kind(), BrokenPipe | ConnectionReset) && self.fill().is_ok() => {
                Ok(())
            }
            Err(e) => Err(self.broken(&e)),
        }
    }

    /// Reads the next message; `request` names what it answers.
    pub fn receive<T>(&mut self, request: &str, read: impl Fn(&[u8]) -> Parsed<T>) -> Result<T> {
        loop {
            match read(&self.buffer[self.at..]) {
                Parsed::Complete(message, bytes) => {
                    self.at += bytes;
                    return Ok(message);
                }
                Parsed::NeedMore => self.fill()?,
                Parsed::Bad(bad) if bad.because == Because::LineTooLong => {
                    let server = self.server;
                    let what = format!("{server} answered with a line that does not end");
                    return Err(self.problem(what));
                }
                Parsed::Bad(bad) => {
                    let rest = &self.buffer[self.at..];
                    let line = rest.split(|b| *b == b'\r' || *b == b'\n').next();
                    let problem = self.unexpected(request, line.unwrap_or(rest));
                    return Err(self.foreign(problem, &bad.because.to_string()));
                }
            }
        }
    }

    fn foreign(&self, problem: Problem, why: &str) -> Problem {
        let server = self.server;
        problem.next(format!(
            "look what listens there: it does not speak as {server} does ({why})"
        ))
    }

    /// An answer that cannot be, as a problem.
    pub fn unexpected(&self, request: &str, answer: &[u8]) -> Problem {
        let shown: String = String::from_utf8_lossy(answer).chars().take(100).collect();
        let server = self.server;
        self.problem(format!("{server} answered `{request}` with `{shown}`"))
    }

    /// Reads what has come behind what was not read yet.
    fn fill(&mut self) -> Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let held = self.buffer.len();
        self.buffer.resize(held + CHUNK_BYTES, 0);
        let read = loop {
            match self.socket.read(&mut self.buffer[held..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(held + read.as_ref().map_or(0, |n| *n));
        match read {
            Ok(0) => {
                let server = self.server;
                Err(self.problem(format!("{server} closed the connection")))
            }
            Ok(_) => Ok(()),
            Err(e) => Err(self.broken(&e)),
        }
    }
}

/// A connection that is made for the first question, and anew for the next one after it broke.
pub struct Kept<C> {
    open: Option<C>,
    answer_within: Duration,
}

impl<C> Kept<C> {
    /// None yet.
    pub fn new(answer_within: Duration) -> Kept<C> {
        Kept {
            open: None,
            answer_within,
        }
    }

    /// Asks on the open connection. One that fails is closed: a late answer to this question must
    /// not be taken for the answer to the next.
    pub fn ask<T>(
        &mut self,
        connect: impl Fn() -> Result<C>,
        question: impl Fn(&mut C) -> Result<T>,
    ) -> Result<T> {
        if let Some(open) = &mut self.open {
            let asked = Instant::now();
            match question(open) {
                Ok(answer) => return Ok(answer),
                // The server may have closed an idle connection; one that hangs stays hung.
                Err(problem) if asked.elapsed() >= self.answer_within => {
                    self.open = None;
                    return Err(problem);
                }
                Err(_) => self.open = None,
            }
        }
        let mut fresh = connect()?;
        let answer = question(&mut fresh)?;
        self.open = Some(fresh);
        Ok(answer)
    }
}

/// A problem with a next step, where it has none of its own.
pub fn or_next(problem: Problem, step: &str) -> Problem {
    match problem.next_step {
        Some(_) => problem,
        None => problem.next(step),
    }
}
