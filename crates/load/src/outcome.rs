//! What became of operations, counted.

use roundtrip_model::contract::outcome as name;
use std::collections::BTreeMap;

/// What became of one operation. The contract's outcomes, and nothing is ever two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Hit,
    Miss,
    Wrong,
    Stored,
    Done,
    NotFound,
    Error(ErrorKind),
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// The connection broke.
    Connection,
    /// No reply came in time.
    Timeout,
    /// The reply cannot be read, or does not answer the request.
    Protocol,
    /// The server said that it cannot.
    Server,
    /// The server said that the request is wrong.
    Refused,
    /// The database is locked by somebody else.
    Busy,
    /// The disk is full.
    Full,
    /// The database failed in another way.
    Database,
}

impl ErrorKind {
    const ALL: [ErrorKind; 8] = [
        ErrorKind::Connection,
        ErrorKind::Timeout,
        ErrorKind::Protocol,
        ErrorKind::Server,
        ErrorKind::Refused,
        ErrorKind::Busy,
        ErrorKind::Full,
        ErrorKind::Database,
    ];

    fn name(self) -> &'static str {
        match self {
            ErrorKind::Connection => "connection",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Protocol => "protocol",
            ErrorKind::Server => "server",
            ErrorKind::Refused => "refused",
            ErrorKind::Busy => "busy",
            ErrorKind::Full => "full",
            ErrorKind::Database => "database",
        }
    }
}

/// Counts by outcome, in an array so that the loop only adds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    plain: [u64; 6],
    errors: [u64; 8],
}

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Hit => self.plain[0] += 1,
            Outcome::Miss => self.plain[1] += 1,
            Outcome::Wrong => self.plain[2] += 1,
            Outcome::Stored => self.plain[3] += 1,
            Outcome::Done => self.plain[4] += 1,
            Outcome::NotFound => self.plain[5] += 1,
            Outcome::Error(kind) => self.errors[kind as usize] += 1,
        }
    }

    /// By name, as the contract has it; what did not happen is left out.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        let plain = [
            name::HIT,
            name::MISS,
            name::WRONG,
            name::STORED,
            name::DONE,
            name::NOT_FOUND,
        ];
        let plain = plain.map(str::to_owned).into_iter().zip(self.plain);
        let errors = ErrorKind::ALL.map(|kind| format!("{}{}", name::ERROR, kind.name()));
        plain
            .chain(errors.into_iter().zip(self.errors))
            .filter(|(_, count)| *count > 0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_counted_under_its_own_name() {
        let mut tally = Tally::default();
        for (i, kind) in ErrorKind::ALL.into_iter().enumerate() {
            (0..=i).for_each(|_| tally.add(Outcome::Error(kind)));
        }
        tally.add(Outcome::Hit);
        let by_name = tally.by_name();
        assert_eq!(by_name.len(), 9);
        assert_eq!(by_name["hit"], 1);
        for (i, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!(by_name[&format!("error:{}", kind.name())], i as u64 + 1);
        }
    }
}
