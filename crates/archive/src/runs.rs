//! Runs: beginning, updating, listing and finding them.

use crate::open::no_runs;
use crate::{Archive, id, limits, trouble};
use roundtrip_model::names::unknown;
use roundtrip_model::record::{RunOverview, RunRecord, RunState};
use roundtrip_model::{Kind, Problem, Result};
use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How many ids a message lists.
const LISTED: usize = 10;

/// A record as text, with its checksum. A record that could not be read again is a defect, and
/// is found now rather than when the report is wanted.
pub(crate) fn to_text<T: Serialize + DeserializeOwned>(record: &T) -> Result<(String, u32)> {
    let defect = |e: serde_json::Error| {
        Problem::new(Kind::Internal, format!("a record cannot be kept: {e}"))
            .next("this is a defect of Roundtrip: please report it")
    };
    let text = serde_json::to_string(record).map_err(defect)?;
    serde_json::from_str::<T>(&text).map_err(defect)?;
    let crc = crc32fast::hash(text.as_bytes());
    Ok((text, crc))
}

/// The name of a state in its column.
fn state_name(state: RunState) -> &'static str {
    match state {
        RunState::Running => "running",
        RunState::Finished => "finished",
        RunState::Interrupted => "interrupted",
        RunState::Failed => "failed",
    }
}

fn state_from(name: &str) -> Option<RunState> {
    [
        RunState::Running,
        RunState::Finished,
        RunState::Interrupted,
        RunState::Failed,
    ]
    .into_iter()
    .find(|state| state_name(*state) == name)
}

/// A time as SQLite's signed number. Times past the year 292 million are all alike.
fn signed(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

impl Archive {
    /// Keeps a new run.
    pub fn begin(&self, run: &RunRecord) -> Result<()> {
        let change = self.change()?;
        self.insert_run(run)?;
        change.commit().map_err(|e| self.bad(e))
    }

    pub(crate) fn insert_run(&self, run: &RunRecord) -> Result<()> {
        if !id::is_run_id(&run.id) {
            let what = format!("`{}` cannot be the id of a run", run.id);
            return Err(Problem::new(Kind::Internal, what).next("please report it"));
        }
        let (text, crc) = to_text(run)?;
        self.run(|conn| {
            conn.prepare_cached("INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
                .execute(params![
                    run.id,
                    run.experiment,
                    state_name(run.state),
                    signed(run.started_unix_ms),
                    run.ended_unix_ms.map(signed),
                    text,
                    crc
                ])
        })?;
        Ok(())
    }

    /// Replaces what is known of a run: its state, its looks, its end, its warnings.
    pub fn update(&self, run: &RunRecord) -> Result<()> {
        let (text, crc) = to_text(run)?;
        let changed = self.run(|conn| {
            conn.execute(
                "UPDATE run SET state = ?2, ended_unix_ms = ?3, record = ?4, crc32 = ?5 WHERE id = ?1",
                params![run.id, state_name(run.state), run.ended_unix_ms.map(signed), text, crc],
            )
        })?;
        match changed {
            1 => Ok(()),
            _ => Err(self.unknown_run(&run.id)?),
        }
    }

    /// The newest runs, newest first.
    pub fn runs(&self, limit: usize) -> Result<Vec<RunOverview>> {
        let overview = |row: &Row<'_>| {
            let state: String = row.get(2)?;
            let (started, ended): (i64, Option<i64>) = (row.get(3)?, row.get(4)?);
            let took = ended.and_then(|end| u64::try_from(end.checked_sub(started)?).ok());
            Ok((
                state_from(&state),
                RunOverview {
                    id: row.get(0)?,
                    experiment: row.get(1)?,
                    state: RunState::Running,
                    started_unix_ms: started.max(0) as u64,
                    trials: row.get(5)?,
                    took_ms: took,
                },
            ))
        };
        let rows: Vec<(Option<RunState>, RunOverview)> = self.run(|conn| {
            conn.prepare(
                "SELECT id, experiment, state, started_unix_ms, ended_unix_ms,
                        (SELECT count(*) FROM trial WHERE trial.run = run.id)
                 FROM run ORDER BY started_unix_ms DESC, id DESC LIMIT ?1",
            )?
            .query_map([signed(limit as u64)], overview)?
            .collect()
        })?;
        rows.into_iter()
            .map(|(state, overview)| match state {
                Some(state) => Ok(RunOverview { state, ..overview }),
                None => Err(trouble::corrupted(
                    &self.path,
                    format!("the state of run {} is not one", overview.id),
                )),
            })
            .collect()
    }

    /// The run of an id, of a unique prefix of one, or `last`.
    pub fn find(&self, text: &str) -> Result<RunRecord> {
        if text == "last" {
            let newest = self.runs(1)?.into_iter().next();
            return self.record(&newest.ok_or_else(|| no_runs(&self.path))?.id);
        }
        let mut ids: Vec<String> = self.run(|conn| {
            conn.prepare(
                "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC, id DESC LIMIT ?2",
            )?
            .query_map(params![text, LISTED as i64 + 1], |row| row.get(0))?
            .collect()
        })?;
        match ids.as_slice() {
            [] => Err(self.unknown_run(text)?),
            [first, ..] if first == text || ids.len() == 1 => self.record(first),
            _ => {
                let more = if ids.len() > LISTED { ", ..." } else { "" };
                ids.truncate(LISTED);
                let what = format!("several runs begin with `{text}`");
                Err(Problem::new(Kind::Usage, what)
                    .next(format!("type more of it: {}{more}", ids.join(", "))))
            }
        }
    }

    /// The problem of a run that is not there.
    pub(crate) fn unknown_run(&self, text: &str) -> Result<Problem> {
        let runs = self.runs(LISTED)?;
        if runs.is_empty() {
            return Ok(no_runs(&self.path));
        }
        // A whole argument list may have ended up here; the message stays a line.
        let text: String = text.chars().take(80).collect();
        let known: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
        Ok(unknown("run", &text, known).at(self.path.display().to_string()))
    }

    /// The record of a run that is there.
    pub(crate) fn record(&self, id: &str) -> Result<RunRecord> {
        let found: Option<(String, u32)> = self.run(|conn| {
            conn.query_row("SELECT record, crc32 FROM run WHERE id = ?1", [id], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()
        })?;
        let Some((text, crc)) = found else {
            return Err(self.unknown_run(id)?);
        };
        let run: RunRecord = self.parse(&text, crc, &format!("run {id}"))?;
        if run.id != id || !id::is_run_id(id) || run.experiment.len() > limits::NAME_BYTES {
            return Err(trouble::corrupted(
                &self.path,
                format!("run {id} is not what it says"),
            ));
        }
        Ok(run)
    }

    /// Reads a record back, if it is the one that was written.
    pub(crate) fn parse<T: DeserializeOwned>(&self, text: &str, crc: u32, what: &str) -> Result<T> {
        if crc32fast::hash(text.as_bytes()) != crc {
            return Err(trouble::corrupted(
                &self.path,
                format!("the checksum of {what} does not match"),
            ));
        }
        serde_json::from_str(text)
            .map_err(|e| trouble::corrupted(&self.path, format!("{what} cannot be read: {e}")))
    }
}
