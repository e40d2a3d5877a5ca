//! On which terms an op was done: what a store made durable and touched for it. METHOD.md, point 8.

use serde::{Deserialize, Serialize};

/// What a store counts of its own work, whichever protocol asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// Times that a log was written through to the disk.
    Fsyncs,
    /// Bytes written to logs.
    LogBytes,
    /// Rows inserted.
    RowsInserted,
    /// Rows read.
    RowsRead,
    /// Rows deleted.
    RowsDeleted,
}

impl Term {
    /// Every term, in the order of a report.
    pub const ALL: [Term; 5] = [
        Term::Fsyncs,
        Term::LogBytes,
        Term::RowsInserted,
        Term::RowsRead,
        Term::RowsDeleted,
    ];

    /// Its word in manifests and files.
    pub fn name(self) -> &'static str {
        match self {
            Term::Fsyncs => "fsyncs",
            Term::LogBytes => "log_bytes",
            Term::RowsInserted => "rows_inserted",
            Term::RowsRead => "rows_read",
            Term::RowsDeleted => "rows_deleted",
        }
    }

    /// What it is, in a few words.
    pub fn in_words(self) -> &'static str {
        match self {
            Term::Fsyncs => "fsyncs",
            Term::LogBytes => "log bytes",
            Term::RowsInserted => "rows inserted",
            Term::RowsRead => "rows read",
            Term::RowsDeleted => "rows deleted",
        }
    }
}
