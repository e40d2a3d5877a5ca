//! Opening an archive, and telling apart what can be wrong with it.

use crate::{limits, schema, trouble};
use roundtrip_model::{Kind, Problem, Result};
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another Roundtrip may hold the archive: its longest transaction is one trial.
const PATIENCE: Duration = Duration::from_secs(10);
/// Up to this size every page is looked at on opening (some milliseconds). Beyond it, damage is
/// found by checksums when a record is read.
const CHECKED_WHOLE_BYTES: u64 = 16 << 20;

/// The archive of runs.
#[derive(Debug)]
pub struct Archive {
    pub(crate) conn: Connection,
    pub(crate) path: PathBuf,
}

/// There is nothing to show yet.
pub(crate) fn no_runs(path: &Path) -> Problem {
    Problem::new(Kind::Usage, "there are no runs yet")
        .at(path.display().to_string())
        .next("make one: `roundtrip run quickstart`")
}

impl Archive {
    /// Opens the archive at a path, and makes it and its directories where they are not there.
    pub fn open(path: &Path) -> Result<Archive> {
        if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            std::fs::create_dir_all(parent).map_err(|e| {
                trouble::at(
                    parent,
                    format!("the archive's directory cannot be made: {e}"),
                    "set ROUNDTRIP_HOME to a directory that can be written",
                )
            })?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let archive = Archive::connect(path, flags)?;
        archive.check()?;
        archive.go_wal()?;
        archive.migrate()?;
        Ok(archive)
    }

    /// Opens the archive to look something up: where there is none yet, that is the answer.
    pub fn open_existing(path: &Path) -> Result<Archive> {
        match path.try_exists() {
            Ok(false) => Err(no_runs(path)),
            _ => Archive::open(path),
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn connect(path: &Path, flags: OpenFlags) -> Result<Archive> {
        let opened = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let archive = Archive {
            conn: opened.map_err(|e| trouble::sqlite(path, e))?,
            path: path.to_owned(),
        };
        archive.run(|conn| {
            conn.busy_timeout(PATIENCE)?;
            conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, limits::ROW_BYTES as i32)?;
            conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
            // A trial counts as kept once it is on the disk.
            conn.pragma_update(None, "synchronous", "FULL")?;
            conn.pragma_update(None, "foreign_keys", true)?;
            conn.pragma_update(None, "trusted_schema", false)?;
            conn.pragma_update(None, "cell_size_check", true)
        })?;
        Ok(archive)
    }

    /// Runs statements, with SQLite's errors as problems of this archive.
    pub(crate) fn run<'a, T>(
        &'a self,
        work: impl FnOnce(&'a Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        work(&self.conn).map_err(|e| self.bad(e))
    }

    pub(crate) fn bad(&self, error: rusqlite::Error) -> Problem {
        trouble::sqlite(&self.path, error)
    }

    /// A transaction that holds the write lock from its start, so that it never has to be upgraded
    /// against another Roundtrip's.
    pub(crate) fn change(&self) -> Result<Transaction<'_>> {
        self.run(|conn| Transaction::new_unchecked(conn, TransactionBehavior::Immediate))
    }

    pub(crate) fn migrate(&self) -> Result<()> {
        if self.run(schema::version)? < schema::current() {
            self.run(|conn| schema::migrate(conn, schema::current()))?;
        }
        Ok(())
    }

    /// Whether the file is ours, not newer than us, and whole as far as that is cheap to see.
    pub(crate) fn check(&self) -> Result<()> {
        let (version, application, definitions) = self.run(|conn| {
            // One snapshot: another Roundtrip may be migrating it right now.
            let _snapshot = Transaction::new_unchecked(conn, TransactionBehavior::Deferred)?;
            let application: i32 =
                conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
            Ok((
                schema::version(conn)?,
                application,
                schema::definitions(conn)?,
            ))
        })?;
        let empty = version == 0 && definitions.is_empty();
        if application != schema::APPLICATION_ID && !empty {
            return Err(trouble::at(
                &self.path,
                "this file is a SQLite database, but not an archive of Roundtrip",
                "name another file, or set ROUNDTRIP_HOME to another directory",
            ));
        }
        if version > schema::current() {
            let known = schema::current();
            return Err(trouble::at(
                &self.path,
                format!(
                    "the archive was made by a newer Roundtrip (version {version}; this one knows {known})"
                ),
                "update Roundtrip, or set ROUNDTRIP_HOME to another directory",
            ));
        }
        if version < 0 || definitions != self.run(|_| schema::expected(version))? {
            return Err(trouble::corrupted(
                &self.path,
                "its tables are not those of an archive",
            ));
        }
        self.check_pages()
    }

    fn check_pages(&self) -> Result<()> {
        let bytes = std::fs::metadata(&self.path).map_or(0, |m| m.len());
        if bytes > CHECKED_WHOLE_BYTES {
            return Ok(());
        }
        let verdict: String =
            self.run(|conn| conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)))?;
        match verdict.as_str() {
            "ok" => Ok(()),
            damage => Err(trouble::corrupted(&self.path, damage.replace('\n', "; "))),
        }
    }

    /// Turns write-ahead logging on. SQLite answers "busy" at once here, without the patience it
    /// has elsewhere, when another Roundtrip opens a new archive at the same moment.
    fn go_wal(&self) -> Result<()> {
        let start = Instant::now();
        loop {
            match self.conn.pragma_update(None, "journal_mode", "WAL") {
                Err(rusqlite::Error::SqliteFailure(e, _))
                    if e.code == ErrorCode::DatabaseBusy && start.elapsed() < PATIENCE =>
                {
                    std::thread::sleep(Duration::from_millis(10));
                }
                result => return result.map_err(|e| self.bad(e)),
            }
        }
    }
}
