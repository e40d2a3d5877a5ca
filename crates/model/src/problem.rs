//! One type for everything that can go wrong in front of a person: what, where, and what next.

use std::fmt;

/// A result whose error is fit to be shown.
pub type Result<T> = std::result::Result<T, Problem>;

/// What sort of trouble it is. It decides the exit code, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The command line or an experiment file asks for something that cannot be.
    Usage,
    /// A store, client, library or binary that the work needs is not there.
    Missing,
    /// A store or worker failed while it was needed: it died, hung or spoke garbage.
    Failed,
    /// Trials ran, but none can be used.
    Void,
    /// The archive cannot be opened, read or written.
    Archive,
    /// The person stopped it.
    Interrupted,
    /// The safety rules forbid it.
    Refused,
    /// A defect of Roundtrip itself.
    Internal,
}

impl Kind {
    /// Every kind, for the generated table of exit codes.
    pub const ALL: [Kind; 8] = [
        Kind::Internal,
        Kind::Usage,
        Kind::Missing,
        Kind::Failed,
        Kind::Void,
        Kind::Archive,
        Kind::Refused,
        Kind::Interrupted,
    ];

    /// The exit code of the binary. 2 is also what the argument parser uses.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Internal => 1,
            Kind::Usage => 2,
            Kind::Missing => 3,
            Kind::Failed => 4,
            Kind::Void => 5,
            Kind::Archive => 6,
            Kind::Refused => 7,
            Kind::Interrupted => 130,
        }
    }

    /// A sentence for the table of exit codes.
    pub fn meaning(self) -> &'static str {
        match self {
            Kind::Internal => "A defect of Roundtrip itself. Please report it.",
            Kind::Usage => {
                "The command line or an experiment file asks for something that cannot be."
            }
            Kind::Missing => "A store, client or library that the work needs is not installed.",
            Kind::Failed => "A store or worker died, hung, or answered with garbage.",
            Kind::Void => "Trials ran, but none of them can be used.",
            Kind::Archive => "The archive cannot be opened, read or written.",
            Kind::Refused => "The safety rules forbid it.",
            Kind::Interrupted => "Stopped by the user; finished trials are kept.",
        }
    }
}

/// Something that went wrong, told so that a person can act on it.
///
/// `what` is a sentence without a full stop; `place` names a file with line and column, a store,
/// a worker or a trial; `next_step` is what to type or change; `log` is the tail of a program's
/// own words, shown last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The sort of trouble.
    pub kind: Kind,
    /// What went wrong.
    pub what: String,
    /// Where it went wrong.
    pub place: Option<String>,
    /// What the person can do about it.
    pub next_step: Option<String>,
    /// The last words of the program that failed.
    pub log: Option<String>,
}

impl Problem {
    /// A problem of a kind, with its sentence.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Problem {
            kind,
            what: what.into(),
            place: None,
            next_step: None,
            log: None,
        }
    }

    /// The person stopped it.
    pub fn interrupted() -> Self {
        Problem::new(Kind::Interrupted, "stopped; finished trials are kept")
    }

    /// Says where.
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Says what to do.
    pub fn next(mut self, step: impl Into<String>) -> Self {
        self.next_step = Some(step.into());
        self
    }

    /// Adds the last words of the program that failed; an empty log is no log.
    pub fn with_log(mut self, log: impl Into<String>) -> Self {
        let log = log.into();
        self.log = (!log.trim().is_empty()).then_some(log);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if let Some(place) = &self.place {
            write!(f, "\n  where: {place}")?;
        }
        if let Some(step) = &self.next_step {
            write!(f, "\n  next:  {step}")?;
        }
        if let Some(log) = &self.log {
            write!(f, "\n  its last words:")?;
            for line in log.trim_end().lines() {
                write!(f, "\n    | {line}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
