//! What a SQLite file holds. It has no counters of its own, so the witness is its rows.

use super::{ANSWER_WITHIN, Identity, Probe, in_words};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The probe of a SQLite file, which need not be there yet.
pub struct SqliteProbe {
    path: PathBuf,
}

impl SqliteProbe {
    /// A probe of a file.
    pub fn new(endpoint: &Endpoint) -> SqliteProbe {
        SqliteProbe {
            path: in_words(endpoint).into(),
        }
    }

    fn rows(&self) -> rusqlite::Result<u64> {
        // Opened for each question: a connection that stays open would change what the client's
        // own closing does (the last one to close brings the log back into the file).
        let connection = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        connection.busy_timeout(ANSWER_WITHIN)?;
        let tables = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")?
            .query_map([], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        let mut rows = 0;
        for table in tables {
            let quoted = table.replace('"', "\"\"");
            let count = format!("SELECT count(*) FROM \"{quoted}\"");
            let of_table: i64 = connection.query_row(&count, [], |row| row.get(0))?;
            rows += of_table as u64;
        }
        Ok(rows)
    }
}

impl Probe for SqliteProbe {
    fn identify(&mut self) -> Result<Identity> {
        Ok(Identity {
            version: rusqlite::version().to_owned(),
            pid: None,
        })
    }

    fn counters(&mut self) -> Result<Counters> {
        let rows = if self.path.exists() {
            self.rows()
        } else {
            Ok(0)
        };
        rows.map(|rows| Counters::from([("rows".to_owned(), rows)]))
            .map_err(|e| {
                Problem::new(Kind::Failed, format!("the rows cannot be counted: {e}"))
                    .at(self.path.display().to_string())
            })
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        Ok(BTreeMap::new())
    }

    fn delete(&mut self, _keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        let what = "a SQLite file is thrown away whole; nothing is deleted from it";
        Err(Problem::new(Kind::Internal, what))
    }

    fn is_cheap(&self) -> bool {
        // Counting rows reads the whole table.
        false
    }
}
