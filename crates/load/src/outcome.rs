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
    /// A reply came that nothing had asked for: no op of its own, and a failure all the same.
    Surplus,
    /// The nodes of a cluster sent an op from one to another too often, or to none that is known.
    Redirect,
    /// A key that was not to be there is.
    NotStored,
    /// The server takes no more connections.
    TooManyConnections,
    /// What one protocol wrote was not seen by another in time.
    NotSeen,
}

impl ErrorKind {
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
            ErrorKind::Surplus => "surplus_reply",
            ErrorKind::Redirect => "redirect",
            ErrorKind::NotStored => "not_stored",
            ErrorKind::TooManyConnections => "too_many_connections",
            ErrorKind::NotSeen => "not_seen",
        }
    }
}

impl Outcome {
    /// Every outcome, in the order of [`Outcome::code`].
    const ALL: [Outcome; 19] = [
        Outcome::Hit,
        Outcome::Miss,
        Outcome::Wrong,
        Outcome::Stored,
        Outcome::Done,
        Outcome::NotFound,
        Outcome::Error(ErrorKind::Connection),
        Outcome::Error(ErrorKind::Timeout),
        Outcome::Error(ErrorKind::Protocol),
        Outcome::Error(ErrorKind::Server),
        Outcome::Error(ErrorKind::Refused),
        Outcome::Error(ErrorKind::Busy),
        Outcome::Error(ErrorKind::Full),
        Outcome::Error(ErrorKind::Database),
        Outcome::Error(ErrorKind::Surplus),
        Outcome::Error(ErrorKind::Redirect),
        Outcome::Error(ErrorKind::NotStored),
        Outcome::Error(ErrorKind::TooManyConnections),
        Outcome::Error(ErrorKind::NotSeen),
    ];

    /// Its number.
    #[inline]
    pub(crate) fn code(self) -> u8 {
        match self {
            Outcome::Hit => 0,
            Outcome::Miss => 1,
            Outcome::Wrong => 2,
            Outcome::Stored => 3,
            Outcome::Done => 4,
            Outcome::NotFound => 5,
            Outcome::Error(kind) => 6 + kind as u8,
        }
    }

    /// The outcome with a number.
    #[inline]
    pub(crate) fn of_code(code: u8) -> Option<Outcome> {
        Outcome::ALL.get(usize::from(code)).copied()
    }

    /// As the contract has it.
    fn name(self) -> String {
        match self {
            Outcome::Hit => name::HIT.to_owned(),
            Outcome::Miss => name::MISS.to_owned(),
            Outcome::Wrong => name::WRONG.to_owned(),
            Outcome::Stored => name::STORED.to_owned(),
            Outcome::Done => name::DONE.to_owned(),
            Outcome::NotFound => name::NOT_FOUND.to_owned(),
            Outcome::Error(kind) => format!("{}{}", name::ERROR, kind.name()),
        }
    }
}

/// Counts by outcome, in an array so that the loop only adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally([u64; Outcome::ALL.len()]);

impl Tally {
    #[inline]
    pub(crate) fn add(&mut self, outcome: Outcome) {
        self.0[usize::from(outcome.code())] += 1;
    }

    /// Adds all of another.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a += b);
    }

    /// By name, as the contract has it; what did not happen is left out.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        Outcome::ALL
            .into_iter()
            .zip(self.0)
            .filter(|(_, count)| *count > 0)
            .map(|(outcome, count)| (outcome.name(), count))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_its_own_number_and_name() {
        let mut tally = Tally::default();
        for (i, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(Outcome::of_code(outcome.code()), Some(outcome));
            (0..=i).for_each(|_| tally.add(outcome));
        }
        let by_name = tally.by_name();
        assert_eq!(by_name.len(), Outcome::ALL.len());
        for (i, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(by_name[&outcome.name()], i as u64 + 1);
        }
        assert_eq!(by_name["error:database"], 14);
        assert_eq!(Outcome::of_code(19), None);
    }
}
