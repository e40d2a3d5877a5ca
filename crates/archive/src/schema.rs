//! The tables, as an ordered list of migrations. A migration that was released is never changed.

use rusqlite::{Connection, Result, Transaction, TransactionBehavior};

/// Told to `file(1)` and to us: "RTrp".
pub const APPLICATION_ID: i32 = 0x5254_7270;

/// Migration `i` leads from `user_version` i to i + 1.
pub const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE run (
        id TEXT PRIMARY KEY,
        experiment TEXT NOT NULL,
        state TEXT NOT NULL,
        started_unix_ms INTEGER NOT NULL,
        ended_unix_ms INTEGER,
        record TEXT NOT NULL,
        crc32 INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE trial (
        id INTEGER PRIMARY KEY,
        run TEXT NOT NULL REFERENCES run (id),
        block INTEGER NOT NULL,
        variant TEXT NOT NULL,
        placement TEXT NOT NULL,
        record TEXT NOT NULL,
        crc32 INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX trial_by_run ON trial (run, id);
    CREATE TABLE histogram (
        trial INTEGER NOT NULL REFERENCES trial (id),
        phase INTEGER NOT NULL,
        hdr BLOB NOT NULL,
        crc32 INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX histogram_of_trial ON histogram (trial, phase);
    ",
    // Response times, beside the service times.
    "
    CREATE TABLE response_histogram (
        trial INTEGER NOT NULL REFERENCES trial (id),
        phase INTEGER NOT NULL,
        hdr BLOB NOT NULL,
        crc32 INTEGER NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX response_histogram_of_trial ON response_histogram (trial, phase);
    ",
];

/// The version that this Roundtrip writes.
pub fn current() -> i64 {
    MIGRATIONS.len() as i64
}

/// Which version a file has.
pub fn version(conn: &Connection) -> Result<i64> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a file up to `target`. Another Roundtrip may be doing the same: the version is read
/// again under the lock.
pub fn migrate(conn: &Connection, target: i64) -> Result<()> {
    let change = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    let from = version(&change)?;
    for next in from..target {
        change.execute_batch(MIGRATIONS[next as usize])?;
        change.pragma_update(None, "user_version", next + 1)?;
        change.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    change.commit()
}

/// Everything that a file defines. A file from outside could define views or triggers that run
/// when a table is touched, so a file is trusted only when this equals what we would have made.
pub fn definitions(conn: &Connection) -> Result<Vec<(String, String, Option<String>)>> {
    conn.prepare(
        "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1, 2",
    )?
    .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
    .collect()
}

/// What a file of a version defines.
pub fn expected(version: i64) -> Result<Vec<(String, String, Option<String>)>> {
    let memory = Connection::open_in_memory()?;
    migrate(&memory, version)?;
    definitions(&memory)
}
