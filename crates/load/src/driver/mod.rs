//! The ways of doing an operation, one file a kind of store.

mod link;
mod memcached;
mod nothing;
mod read_aside;
mod sqlite;

pub(crate) use link::LinkOptions;
pub(crate) use memcached::{Memcached, MemcachedStore};
pub(crate) use nothing::Nothing;
pub(crate) use read_aside::ReadAside;
pub(crate) use sqlite::{Sqlite, SqliteStore, Synchronous};

use crate::outcome::Outcome;
use crate::source::Operation;
use crate::worker::WorkerError;
use roundtrip_model::Op;

/// What a phase is to a driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// The op. `read_aside` on one store alone is a plain read.
    pub(crate) op: Op,
    /// Time to live of what is written; 0 for ever.
    pub(crate) ttl_s: u32,
    /// Whether it only brings data into place, in whatever way is quickest.
    pub(crate) prepare: bool,
}

/// Does the operations of one phase on one connection.
///
/// The loop sends some, flushes, and receives as many, with the same operations in the same
/// order. A failure of one operation is its outcome; an `Err` ends the phase. Nothing may be
/// allocated for an operation.
pub(crate) trait Driver {
    /// Whether several operations can be in flight.
    const PIPELINES: bool;

    /// Puts a request into the buffer. Makes the connection anew where it broke before.
    fn send(&mut self, operation: Operation<'_>) -> Result<(), WorkerError>;

    /// Sends the buffer.
    fn flush(&mut self);

    /// Waits for the next reply and checks it: status, length and content.
    fn receive(&mut self, operation: Operation<'_>) -> Outcome;

    /// Ends the phase: what a preparation wrote is in place after it.
    fn finish(&mut self) -> Result<(), WorkerError> {
        Ok(())
    }

    /// One operation from its sending to its reply.
    fn call(&mut self, operation: Operation<'_>) -> Result<Outcome, WorkerError> {
        self.send(operation)?;
        self.flush();
        Ok(self.receive(operation))
    }
}
