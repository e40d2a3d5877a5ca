//! What ends a worker.

use roundtrip_model::contract::Event;
use roundtrip_model::{Kind, Problem};

/// An error with a kind of the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerError {
    kind: &'static str,
    message: String,
}

impl WorkerError {
    /// What was asked for cannot be.
    pub(crate) fn usage(message: impl Into<String>) -> WorkerError {
        WorkerError::new("usage", message)
    }

    /// The store cannot be reached.
    pub(crate) fn connect(message: impl Into<String>) -> WorkerError {
        WorkerError::new("connect", message)
    }

    /// The host said something out of order.
    pub(crate) fn protocol(message: impl Into<String>) -> WorkerError {
        WorkerError::new("protocol", message)
    }

    /// A file or the store's disk failed.
    pub(crate) fn io(message: impl Into<String>) -> WorkerError {
        WorkerError::new("io", message)
    }

    /// A defect of Roundtrip.
    pub(crate) fn internal(message: impl Into<String>) -> WorkerError {
        WorkerError::new("internal", message)
    }

    fn new(kind: &'static str, message: impl Into<String>) -> WorkerError {
        WorkerError {
            kind,
            message: message.into(),
        }
    }

    /// The same, with more to say.
    pub(crate) fn also(mut self, more: &str) -> WorkerError {
        self.message = format!("{}; {more}", self.message);
        self
    }

    pub(super) fn into_event(self) -> Event {
        Event::Error {
            kind: self.kind.to_owned(),
            message: self.message,
        }
    }
}

impl From<Problem> for WorkerError {
    fn from(problem: Problem) -> WorkerError {
        let kind = match problem.kind {
            Kind::Usage => "usage",
            Kind::Missing => "missing",
            _ => "internal",
        };
        let message = match problem.next_step {
            Some(step) => format!("{}; {step}", problem.what),
            None => problem.what,
        };
        WorkerError::new(kind, message)
    }
}
