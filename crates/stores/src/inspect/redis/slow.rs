//! What took long. Of a command only its name is kept: its arguments are somebody's data.

use crate::probe::redis::Connection;
use roundtrip_model::Result;
use roundtrip_wire::resp::Reply;
use serde::Serialize;

/// How many entries of the log are read; it holds 128 by default, the newest first.
const READ_ENTRIES: &str = "128";
/// How many of them are told.
const TOLD_ENTRIES: usize = 5;
/// The longest name of a command or an event.
const MAX_NAME_CHARS: usize = 40;

/// The log of slow commands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlowLog {
    /// Entries that it holds.
    pub entries: u64,
    /// From how many microseconds on a command is slow; negative: none is.
    pub slower_than_us: Option<i64>,
    /// The slowest, the worst first.
    pub slowest: Vec<SlowCommand>,
}

/// A command that was slow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SlowCommand {
    /// Its name, without arguments.
    pub command: String,
    /// How long it ran in the server.
    pub took_us: u64,
    /// When, in seconds since 1970.
    pub at_unix_s: u64,
}

/// A kind of delay that the server noticed in itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyEvent {
    /// What it was: `command`, `fork`, `aof-write`.
    pub event: String,
    /// The last one.
    pub last_ms: u64,
    /// The longest.
    pub max_ms: u64,
}

/// The log; `None` where it cannot be read.
pub fn read(connection: &mut Connection) -> Result<Option<SlowLog>> {
    let length = connection.told(&["SLOWLOG", "LEN"], whole)?.flatten();
    let Some(entries) = length else {
        return Ok(None);
    };
    let read = connection.told(&["SLOWLOG", "GET", READ_ENTRIES], |reply| {
        parts(reply).iter().filter_map(slow_command).collect()
    })?;
    let mut slowest: Vec<SlowCommand> = read.unwrap_or_default();
    slowest.sort_by_key(|slow| std::cmp::Reverse(slow.took_us));
    slowest.truncate(TOLD_ENTRIES);
    Ok(Some(SlowLog {
        entries,
        slower_than_us: setting(connection, "slowlog-log-slower-than")?,
        slowest,
    }))
}

/// What the server noticed; empty where it does not watch (`latency-monitor-threshold 0`).
pub fn latency_events(connection: &mut Connection) -> Result<Vec<LatencyEvent>> {
    let events = connection.told(&["LATENCY", "LATEST"], |reply| {
        parts(reply).iter().filter_map(latency_event).collect()
    })?;
    Ok(events.unwrap_or_default())
}

/// A setting that is a whole number.
fn setting(connection: &mut Connection, name: &str) -> Result<Option<i64>> {
    let told = connection.told(&["CONFIG", "GET", name], |reply| {
        let value = parts(reply).into_iter().nth(1)?;
        String::from_utf8_lossy(value.text()?).parse().ok()
    })?;
    Ok(told.flatten())
}

fn parts<'a>(reply: &Reply<'a>) -> Vec<Reply<'a>> {
    reply
        .items()
        .map_or(Vec::new(), |items| items.iter().collect())
}

fn whole(reply: &Reply<'_>) -> Option<u64> {
    match reply {
        Reply::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

fn name(reply: &Reply<'_>) -> Option<String> {
    let text = String::from_utf8_lossy(reply.text()?);
    let is_plain = |c: &char| !c.is_control();
    Some(text.chars().filter(is_plain).take(MAX_NAME_CHARS).collect())
}

/// An entry: number, time, microseconds, the command with its arguments, and more.
fn slow_command(entry: &Reply<'_>) -> Option<SlowCommand> {
    let entry = parts(entry);
    Some(SlowCommand {
        at_unix_s: whole(entry.get(1)?)?,
        took_us: whole(entry.get(2)?)?,
        command: name(parts(entry.get(3)?).first()?)?.to_uppercase(),
    })
}

/// An entry: event, time, last and longest in milliseconds.
fn latency_event(entry: &Reply<'_>) -> Option<LatencyEvent> {
    let entry = parts(entry);
    Some(LatencyEvent {
        event: name(entry.first()?)?,
        last_ms: whole(entry.get(2)?)?,
        max_ms: whole(entry.get(3)?)?,
    })
}
