//! What a worker's line means, and how each way of failing is told.

use crate::lines::NoLine;
use roundtrip_model::contract::{self, Event};
use roundtrip_model::{Kind, Problem, Result};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

/// How much of a bad line is shown.
const SHOWN_CHARACTERS: usize = 160;
/// How much of the end of a log is shown.
const LOG_BYTES: u64 = 4096;
/// How many lines of it.
const LOG_LINES: usize = 20;

/// Reads a line as an event.
pub(crate) fn parse(line: &str) -> Result<Event> {
    // Another version may have another form, so its number is looked at before the form.
    let value: serde_json::Value = serde_json::from_str(line).map_err(|e| garbage(line, &e))?;
    if let Some(version) = value.get("contract").and_then(serde_json::Value::as_u64)
        && version != u64::from(contract::VERSION)
    {
        let what = format!(
            "it speaks version {version} of the worker contract, and this Roundtrip version {}",
            contract::VERSION
        );
        return Err(Problem::new(Kind::Failed, what)
            .next("use the worker that belongs to this Roundtrip: see workers/CONTRACT.md"));
    }
    serde_json::from_value(value).map_err(|e| garbage(line, &e))
}

fn garbage(line: &str, error: &serde_json::Error) -> Problem {
    Problem::new(
        Kind::Failed,
        format!("it said what is not an event ({error}): `{}`", shown(line)),
    )
    .next("a worker must write nothing but events to its standard output: see workers/CONTRACT.md")
}

/// The start of a line, with its control characters made visible.
fn shown(line: &str) -> String {
    let mut start: String = line
        .chars()
        .take(SHOWN_CHARACTERS)
        .flat_map(|c| {
            let escaped = c.is_control().then(|| c.escape_default());
            let plain = escaped.is_none().then_some(c);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect();
    if line.chars().nth(SHOWN_CHARACTERS).is_some() {
        start.push_str("...");
    }
    start
}

/// An event that is not the one awaited.
pub(crate) fn unexpected(event: &Event, awaited: &str) -> Problem {
    let Event::Error { kind, message } = event else {
        let said = serde_json::to_string(event).unwrap_or_default();
        return Problem::new(
            Kind::Failed,
            format!("it answered `{}` where `{awaited}` was due", shown(&said)),
        );
    };
    let kind = match kind.as_str() {
        "usage" => Kind::Usage,
        "missing" => Kind::Missing,
        _ => Kind::Failed,
    };
    Problem::new(kind, shown(message))
}

/// No event at all. `ended` tells how the process ended, where it did.
pub(crate) fn silence(
    no: &NoLine,
    awaited: &str,
    deadline: Duration,
    ended: Option<String>,
) -> Problem {
    match no {
        NoLine::Stopped => Problem::interrupted(),
        NoLine::Late => Problem::new(
            Kind::Failed,
            format!(
                "it did not say `{awaited}` within {} s",
                deadline.as_secs_f64()
            ),
        )
        .next("it was ended; look for a store that does not answer or a loop without end, or give it longer with --deadline"),
        NoLine::TooLong(start) => Problem::new(
            Kind::Failed,
            format!("it said a line of over 1 MiB: `{}`", shown(start)),
        ),
        NoLine::Ended => Problem::new(
            Kind::Failed,
            format!(
                "it {} before it said `{awaited}`",
                ended.unwrap_or_else(|| "closed its output".to_owned())
            ),
        ),
    }
}

/// The end of a log.
pub(crate) fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES)))?;
        let mut bytes = Vec::new();
        file.take(LOG_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    // A log that cannot be read must not hide the problem that it was to explain.
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_bad_line_is_shown_short_and_without_control_characters() {
        assert_eq!(shown("a\tb\u{1b}[31m\u{e9}"), "a\\tb\\u{1b}[31m\u{e9}");
        assert_eq!(shown(&"x".repeat(200)), format!("{}...", "x".repeat(160)));
        assert_eq!(shown(&"x".repeat(160)), "x".repeat(160));
    }

    #[test]
    fn another_version_is_named_whatever_its_form() {
        let problem = parse(r#"{"event":"hello","contract":7,"shape":[]}"#).unwrap_err();
        assert_eq!(
            problem.what,
            "it speaks version 7 of the worker contract, and this Roundtrip version 1"
        );
    }

    #[test]
    fn the_kind_of_an_error_decides_the_kind_of_the_problem() {
        for (kind, expected) in [
            ("usage", Kind::Usage),
            ("missing", Kind::Missing),
            ("connect", Kind::Failed),
            ("whatever", Kind::Failed),
        ] {
            let event = Event::Error {
                kind: kind.to_owned(),
                message: "m".to_owned(),
            };
            assert_eq!(unexpected(&event, "ready").kind, expected);
        }
    }

    #[test]
    fn only_the_end_of_a_log_is_shown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines: Vec<String> = (0..10_000).map(|i| format!("line {i}")).collect();
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        assert_eq!(tail(file.path()), lines[9_980..].join("\n"));
        assert_eq!(tail(Path::new("/nowhere")), "");
    }

    proptest! {
        #[test]
        fn no_line_makes_a_panic(line in ".{0,300}") {
            let _ = parse(&line);
        }
    }
}
