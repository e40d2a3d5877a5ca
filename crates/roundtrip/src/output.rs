//! Standard output and standard error: the one place that prints.

#![allow(clippy::disallowed_macros)]

use roundtrip_model::{Kind, Problem, Result};
use roundtrip_report::RenderOptions;
use std::io::{self, ErrorKind, IsTerminal, Write};

/// What is assumed where there is no terminal to ask.
const DEFAULT_WIDTH: usize = 80;
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=200;

/// Prints a problem on standard error.
pub fn error(problem: &Problem) {
    // Where even standard error is gone there is nobody left to tell.
    let _ = writeln!(io::stderr(), "error: {problem}");
}

/// Prints a line for the person on standard error.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes to standard output. A reader that went away is not a failure.
pub fn write(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// A result of writing to standard output as a result of the command.
pub fn written(outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Problem::new(
            Kind::Failed,
            format!("standard output cannot be written: {e}"),
        )
        .next("free some space, or write somewhere else")),
        Ok(()) => Ok(()),
    }
}

/// Standard output for what writes to it by itself; remembers whether its reader went away.
#[derive(Debug, Default)]
pub struct Pipe {
    is_broken: bool,
}

impl Pipe {
    /// Whether the reader went away, which is not a failure.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    fn note<T>(&mut self, outcome: io::Result<T>) -> io::Result<T> {
        self.is_broken |= outcome
            .as_ref()
            .is_err_and(|e| e.kind() == ErrorKind::BrokenPipe);
        outcome
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = io::stdout().write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = io::stdout().flush();
        self.note(flushed)
    }
}

/// Writes text and a line's end to standard output.
pub fn line(text: &str) -> Result<()> {
    write(format!("{text}\n").as_bytes())
}

/// Writes a value as JSON to standard output.
pub fn json(value: &impl serde::Serialize) -> Result<()> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Problem::new(Kind::Internal, format!("no JSON can be made: {e}")))?;
    line(&text)
}

/// How text on standard output is to look.
pub fn look() -> RenderOptions {
    let color = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    RenderOptions {
        width: width(),
        color,
    }
}

fn width() -> usize {
    let asked = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let real = rustix::termios::tcgetwinsize(io::stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0);
    asked
        .or(real)
        .unwrap_or(DEFAULT_WIDTH)
        .clamp(*WIDTHS.start(), *WIDTHS.end())
}
