//! SQLite: a durable store that needs no server. One table, prepared statements, a commit an op;
//! a preparation is one transaction.

use super::{Driver, Task};
use crate::clock;
use crate::outcome::{ErrorKind, Outcome};
use crate::source::Operation;
use crate::worker::WorkerError;
use roundtrip_model::Op;
use rusqlite::{Connection, ErrorCode, Statement};
use std::str::FromStr;
use std::time::Duration;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const CREATE: &str = "CREATE TABLE IF NOT EXISTS kv (\
    key BLOB PRIMARY KEY, value BLOB NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID";
const GET: &str = "SELECT value, expires FROM kv WHERE key = ?1";
const SET: &str = "INSERT INTO kv (key, value, expires) VALUES (?1, ?2, ?3) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires";
const DELETE: &str = "DELETE FROM kv WHERE key = ?1 AND (expires = 0 OR expires > ?2)";
const INCR: &str = "UPDATE kv SET value = CAST(CAST(value AS INTEGER) + 1 AS BLOB) \
    WHERE key = ?1 AND (expires = 0 OR expires > ?2)";

/// When a commit is safe on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synchronous {
    /// Before it returns.
    Full,
    /// At the next checkpoint: a power failure may lose commits.
    Normal,
    /// Whenever the kernel likes.
    Off,
}

impl FromStr for Synchronous {
    type Err = ();

    fn from_str(text: &str) -> Result<Synchronous, ()> {
        match text {
            "full" => Ok(Synchronous::Full),
            "normal" => Ok(Synchronous::Normal),
            "off" => Ok(Synchronous::Off),
            _ => Err(()),
        }
    }
}

/// An open database, which lives longer than a phase.
#[derive(Debug)]
pub(crate) struct SqliteStore(Connection);

impl SqliteStore {
    pub(crate) fn open(path: &str, synchronous: Synchronous) -> Result<SqliteStore, WorkerError> {
        let opened = Connection::open(path).and_then(|connection| {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            let level = match synchronous {
                Synchronous::Full => "FULL",
                Synchronous::Normal => "NORMAL",
                Synchronous::Off => "OFF",
            };
            connection.pragma_update(None, "synchronous", level)?;
            connection.execute_batch(CREATE)?;
            Ok(connection)
        });
        opened
            .map(SqliteStore)
            .map_err(|e| WorkerError::connect(format!("{path}: {e}")))
    }
}

/// One phase on a database.
#[derive(Debug)]
pub(crate) struct Sqlite<'a> {
    connection: &'a Connection,
    statement: Statement<'a>,
    task: Task,
}

impl<'a> Sqlite<'a> {
    pub(crate) fn new(store: &'a SqliteStore, task: Task) -> Result<Sqlite<'a>, WorkerError> {
        let connection = &store.0;
        let text = match task.op {
            Op::Get | Op::ReadAside => GET,
            Op::Set => SET,
            Op::Delete => DELETE,
            Op::Incr => INCR,
            Op::Insert | Op::ReadModifyWrite | Op::Scan | Op::Mix => {
                return Err(WorkerError::cannot(task.op));
            }
        };
        let statement = connection.prepare(text).map_err(failed)?;
        if task.prepare {
            connection
                .execute_batch("BEGIN IMMEDIATE")
                .map_err(failed)?;
        }
        Ok(Sqlite {
            connection,
            statement,
            task,
        })
    }

    #[inline]
    fn read(&mut self, operation: Operation<'_>) -> rusqlite::Result<Outcome> {
        self.statement.raw_bind_parameter(1, operation.key)?;
        let mut rows = self.statement.raw_query();
        let Some(row) = rows.next()? else {
            return Ok(Outcome::Miss);
        };
        let expires = row.get_ref(1)?.as_i64()?;
        if expires != 0 && expires <= clock::unix_s() as i64 {
            return Ok(Outcome::Miss);
        }
        Ok(match row.get_ref(0)?.as_blob()? == operation.value {
            true => Outcome::Hit,
            false => Outcome::Wrong,
        })
    }

    #[inline]
    fn write(&mut self, operation: Operation<'_>) -> rusqlite::Result<Outcome> {
        let expires = match self.task.ttl_s {
            0 => 0,
            ttl_s => clock::unix_s() as i64 + i64::from(ttl_s),
        };
        self.statement.raw_bind_parameter(1, operation.key)?;
        self.statement.raw_bind_parameter(2, operation.value)?;
        self.statement.raw_bind_parameter(3, expires)?;
        self.statement.raw_execute()?;
        Ok(Outcome::Stored)
    }

    #[inline]
    fn change(&mut self, operation: Operation<'_>) -> rusqlite::Result<Outcome> {
        self.statement.raw_bind_parameter(1, operation.key)?;
        self.statement
            .raw_bind_parameter(2, clock::unix_s() as i64)?;
        Ok(match self.statement.raw_execute()? {
            0 => Outcome::NotFound,
            _ => Outcome::Done,
        })
    }
}

impl Driver for Sqlite<'_> {
    /// A call is done when it returns.
    const PIPELINES: bool = false;

    #[inline]
    fn send(&mut self, _: Operation<'_>) -> Result<(), WorkerError> {
        Ok(())
    }

    #[inline]
    fn flush(&mut self) {}

    #[inline]
    fn receive(&mut self, operation: Operation<'_>) -> Outcome {
        let done = match self.task.op {
            Op::Get | Op::ReadAside => self.read(operation),
            Op::Set => self.write(operation),
            // Of the others there is no statement.
            _ => self.change(operation),
        };
        done.unwrap_or_else(|e| Outcome::Error(kind(&e)))
    }

    fn finish(&mut self) -> Result<(), WorkerError> {
        match self.task.prepare {
            true => self.connection.execute_batch("COMMIT").map_err(failed),
            false => Ok(()),
        }
    }
}

fn kind(e: &rusqlite::Error) -> ErrorKind {
    match e.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Busy,
        Some(ErrorCode::DiskFull) => ErrorKind::Full,
        _ => ErrorKind::Database,
    }
}

fn failed(e: rusqlite::Error) -> WorkerError {
    WorkerError::io(format!("SQLite: {e}"))
}
