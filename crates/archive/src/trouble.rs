//! What SQLite says, as problems that a person can act on.

use roundtrip_model::{Kind, Problem};
use rusqlite::{Error, ErrorCode};
use std::path::Path;

/// A problem of the archive at a path.
pub fn at(path: &Path, what: impl Into<String>, next: impl Into<String>) -> Problem {
    Problem::new(Kind::Archive, what)
        .at(path.display().to_string())
        .next(next)
}

/// The archive holds something that was not written so.
pub fn corrupted(path: &Path, detail: impl std::fmt::Display) -> Problem {
    at(
        path,
        format!("the archive is damaged: {detail}"),
        "move the file away and import your exports, or try `sqlite3 FILE .recover`; a new \
         archive is made by the next run",
    )
}

/// An error of SQLite, told apart by what helps.
pub fn sqlite(path: &Path, error: Error) -> Problem {
    let detail = error.to_string();
    let code = match &error {
        // The file holds another type, or text that is not UTF-8, where we never wrote any.
        Error::FromSqlConversionFailure(..)
        | Error::InvalidColumnType(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::Utf8Error(..) => return corrupted(path, detail),
        Error::SqliteFailure(failure, _) => Some(failure.code),
        // A statement over a schema that a bad page made unreadable.
        Error::SqlInputError { error, .. } => Some(error.code),
        _ => None,
    };
    match code {
        Some(ErrorCode::NotADatabase) => at(
            path,
            "this file is not an archive of Roundtrip",
            "name another file, or move it away; a new archive is made by the next run",
        ),
        Some(ErrorCode::DatabaseCorrupt) => corrupted(path, detail),
        Some(ErrorCode::TooBig) => corrupted(path, "it holds a row of over 8 MiB"),
        Some(ErrorCode::DiskFull) => at(
            path,
            "the disk that holds the archive is full",
            "free some space, or set ROUNDTRIP_HOME to a directory on another disk; the trials \
             added so far are kept",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => at(
            path,
            "another program has held the archive locked for too long",
            "wait for it to end (another `roundtrip`, a backup, an open SQLite shell), then try again",
        ),
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::SystemIoFailure,
        ) => at(
            path,
            format!("the archive cannot be opened, read or written: {detail}"),
            "make the file and its directory writable, or set ROUNDTRIP_HOME to another directory",
        ),
        _ => Problem::new(Kind::Internal, format!("the archive failed: {detail}"))
            .at(path.display().to_string())
            .next("this is a defect of Roundtrip: please report it"),
    }
}
