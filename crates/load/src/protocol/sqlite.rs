//! SQLite: a durable store that needs no server. One table, prepared statements, a commit an op;
//! a preparation is one transaction.

use super::{Call, Task};
use crate::clock;
use crate::engine::Texts;
use crate::outcome::{ErrorKind, Outcome, Tally};
use crate::worker::WorkerError;
use roundtrip_model::Op;
use rusqlite::{Connection, ErrorCode, Statement};
use std::str::FromStr;
use std::time::Duration;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const CREATE: &str = "CREATE TABLE IF NOT EXISTS kv (\
    key BLOB PRIMARY KEY, value BLOB NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID";
const GET: &str = "SELECT value, expires FROM kv WHERE key = ?1";
const SCAN: &str = "SELECT key, value FROM kv \
    WHERE key >= ?1 AND (expires = 0 OR expires > ?2) ORDER BY key LIMIT ?3";
const SET: &str = "INSERT INTO kv (key, value, expires) VALUES (?1, ?2, ?3) \
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, expires = excluded.expires";
const INSERT: &str =
    "INSERT INTO kv (key, value, expires) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO NOTHING";
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
    get: Statement<'a>,
    scan: Statement<'a>,
    set: Statement<'a>,
    insert: Statement<'a>,
    delete: Statement<'a>,
    incr: Statement<'a>,
    /// For so many keys at once.
    many: Option<(usize, Statement<'a>)>,
    /// The keys of a request for many, sorted, with their places in it.
    sorted: Vec<(Vec<u8>, usize)>,
    /// How many keys the next scan reads.
    span: u32,
    /// The key that a scan read last.
    last_key: Vec<u8>,
    /// The value that is being written.
    value: Vec<u8>,
    task: Task,
}

impl<'a> Sqlite<'a> {
    pub(crate) fn new(store: &'a SqliteStore, task: Task) -> Result<Sqlite<'a>, WorkerError> {
        let connection = &store.0;
        let prepared = |text| connection.prepare(text).map_err(failed);
        if task.prepare {
            connection
                .execute_batch("BEGIN IMMEDIATE")
                .map_err(failed)?;
        }
        Ok(Sqlite {
            connection,
            get: prepared(GET)?,
            scan: prepared(SCAN)?,
            set: prepared(SET)?,
            insert: prepared(INSERT)?,
            delete: prepared(DELETE)?,
            incr: prepared(INCR)?,
            many: None,
            sorted: Vec::new(),
            span: 0,
            last_key: Vec::new(),
            value: Vec::new(),
            task,
        })
    }

    #[inline]
    fn read(&mut self, index: u64, texts: &mut Texts) -> rusqlite::Result<Outcome> {
        self.get.raw_bind_parameter(1, texts.keys.get(index))?;
        let mut rows = self.get.raw_query();
        let Some(row) = rows.next()? else {
            return Ok(Outcome::Miss);
        };
        let expires = row.get_ref(1)?.as_i64()?;
        if expires != 0 && expires <= clock::unix_s() as i64 {
            return Ok(Outcome::Miss);
        }
        let value = row.get_ref(0)?.as_blob()?;
        Ok(match texts.values.is(index, value) {
            true => Outcome::Hit,
            false => Outcome::Wrong,
        })
    }

    /// Reads keys in a row from one on, which must be the first of them. Its value is compared; of
    /// the others nobody here knows which they are, so what is checked is that they come in order,
    /// and never too many.
    fn scan(&mut self, index: u64, texts: &mut Texts) -> rusqlite::Result<Outcome> {
        let first = texts.keys.get(index);
        self.scan.raw_bind_parameter(1, first)?;
        self.scan.raw_bind_parameter(2, clock::unix_s() as i64)?;
        self.scan.raw_bind_parameter(3, self.span)?;
        let mut rows = self.scan.raw_query();
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let (key, value) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
            if count == 0 && key != first {
                return Ok(Outcome::Miss);
            }
            let is_right = match count {
                0 => texts.values.is(index, value),
                _ => key > self.last_key.as_slice(),
            };
            count += 1;
            if !is_right || count > self.span {
                return Ok(Outcome::Wrong);
            }
            self.last_key.clear();
            self.last_key.extend_from_slice(key);
        }
        Ok(match count {
            0 => Outcome::Miss,
            _ => Outcome::Hit,
        })
    }

    /// Reads many keys with one statement; appends what became of each, in order.
    fn read_many(
        &mut self,
        indexes: &[u64],
        texts: &mut Texts,
        out: &mut Vec<u8>,
    ) -> rusqlite::Result<()> {
        let count = indexes.len();
        if self
            .many
            .as_ref()
            .is_none_or(|(prepared, _)| *prepared != count)
        {
            self.many = Some((count, self.connection.prepare(&in_list(count))?));
        }
        let Some((_, statement)) = &mut self.many else {
            return Ok(());
        };
        self.sorted.resize_with(count, Default::default);
        for (place, (key, at)) in self.sorted.iter_mut().enumerate() {
            key.clear();
            key.extend_from_slice(texts.keys.get(indexes[place]));
            *at = place;
            statement.raw_bind_parameter(place + 1, key.as_slice())?;
        }
        statement.raw_bind_parameter(count + 1, clock::unix_s() as i64)?;
        self.sorted.sort_unstable();
        let first = out.len();
        out.resize(first + count, Outcome::Miss.code());
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            let (key, value) = (row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
            // A key that was asked for twice comes once.
            let from = self
                .sorted
                .partition_point(|(sorted, _)| sorted.as_slice() < key);
            let same = self.sorted[from..]
                .iter()
                .take_while(|(sorted, _)| sorted == key);
            for (_, place) in same {
                out[first + place] = match texts.values.is(indexes[*place], value) {
                    true => Outcome::Hit.code(),
                    false => Outcome::Wrong.code(),
                };
            }
        }
        Ok(())
    }

    /// Writes a key: any, or only one that is not there.
    #[inline]
    fn write(&mut self, op: Op, index: u64, texts: &mut Texts) -> rusqlite::Result<Outcome> {
        let expires = match self.task.ttl_s {
            0 => 0,
            ttl_s => clock::unix_s() as i64 + i64::from(ttl_s),
        };
        self.value.clear();
        texts.values.write(index, &mut self.value);
        let statement = match op {
            Op::Insert => &mut self.insert,
            _ => &mut self.set,
        };
        statement.raw_bind_parameter(1, texts.keys.get(index))?;
        statement.raw_bind_parameter(2, self.value.as_slice())?;
        statement.raw_bind_parameter(3, expires)?;
        Ok(match statement.raw_execute()? {
            0 => Outcome::Error(ErrorKind::NotStored),
            _ => Outcome::Stored,
        })
    }

    #[inline]
    fn change(&mut self, op: Op, index: u64, texts: &mut Texts) -> rusqlite::Result<Outcome> {
        let statement = match op {
            Op::Delete => &mut self.delete,
            _ => &mut self.incr,
        };
        statement.raw_bind_parameter(1, texts.keys.get(index))?;
        statement.raw_bind_parameter(2, clock::unix_s() as i64)?;
        Ok(match statement.raw_execute()? {
            0 => Outcome::NotFound,
            _ => Outcome::Done,
        })
    }

    #[inline]
    fn do_it(&mut self, op: Op, index: u64, texts: &mut Texts) -> rusqlite::Result<Outcome> {
        match op {
            Op::Get | Op::GetMany | Op::ReadAside => self.read(index, texts),
            Op::Set | Op::Insert => self.write(op, index, texts),
            Op::Delete | Op::Incr => self.change(op, index, texts),
            Op::ReadModifyWrite => match self.read(index, texts)? {
                Outcome::Hit => {
                    texts.values.added += self.task.add;
                    self.write(Op::Set, index, texts)
                }
                Outcome::Miss => Ok(Outcome::NotFound),
                other => Ok(other),
            },
            Op::Scan => self.scan(index, texts),
            // No stream has a mix as the op of an operation, and `describe` names none of the others.
            Op::Mix | Op::Join | Op::SetSeen => Ok(Outcome::Error(ErrorKind::Refused)),
        }
    }
}

impl Call for Sqlite<'_> {
    #[inline]
    fn call(&mut self, op: Op, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError> {
        let done = self.do_it(op, index, texts);
        Ok(done.unwrap_or_else(|e| Outcome::Error(kind(&e))))
    }

    fn span(&mut self, keys: u32) {
        self.span = keys;
    }

    fn call_many(
        &mut self,
        indexes: &[u64],
        texts: &mut Texts,
        out: &mut Vec<u8>,
    ) -> Result<(), WorkerError> {
        let first = out.len();
        if let Err(e) = self.read_many(indexes, texts, out) {
            out.truncate(first);
            out.resize(first + indexes.len(), Outcome::Error(kind(&e)).code());
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Tally, WorkerError> {
        if self.task.prepare {
            self.connection.execute_batch("COMMIT").map_err(failed)?;
        }
        Ok(Tally::default())
    }
}

/// The statement that reads so many keys.
fn in_list(count: usize) -> String {
    let marks = vec!["?"; count].join(",");
    format!(
        "SELECT key, value FROM kv WHERE key IN ({marks}) AND (expires = 0 OR expires > ?{})",
        count + 1
    )
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
