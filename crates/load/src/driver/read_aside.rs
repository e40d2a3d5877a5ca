//! Reading through a cache: look there, on a miss read the store and fill the cache.

use super::Driver;
use crate::outcome::{Outcome, Tally};
use crate::source::Operation;
use crate::worker::WorkerError;

/// A cache: a driver that can write too, whatever its phase is.
pub(crate) trait Cache: Driver {
    /// Writes the value of an operation.
    fn fill(&mut self, operation: Operation<'_>) -> Result<Outcome, WorkerError>;
}

/// A cache and the store behind it.
#[derive(Debug)]
pub(crate) struct ReadAside<C, S> {
    cache: C,
    store: S,
    /// The part that the cache played.
    pub(crate) cache_outcomes: Tally,
    /// Of the operation under way.
    outcome: Outcome,
}

impl<C: Cache, S: Driver> ReadAside<C, S> {
    pub(crate) fn new(cache: C, store: S) -> ReadAside<C, S> {
        ReadAside {
            cache,
            store,
            cache_outcomes: Tally::default(),
            outcome: Outcome::Miss,
        }
    }

    /// A failing cache is passed over: the store still has the value.
    #[inline]
    fn read(&mut self, operation: Operation<'_>) -> Result<Outcome, WorkerError> {
        let looked = self.cache.call(operation)?;
        self.cache_outcomes.add(looked);
        if matches!(looked, Outcome::Hit | Outcome::Wrong) {
            return Ok(looked);
        }
        let found = self.store.call(operation)?;
        if (looked, found) == (Outcome::Miss, Outcome::Hit) {
            // What was found is what the operation holds: it was compared just now.
            let filled = self.cache.fill(operation)?;
            self.cache_outcomes.add(filled);
        }
        Ok(found)
    }
}

impl<C: Cache, S: Driver> Driver for ReadAside<C, S> {
    /// The second step of an operation depends on the first.
    const PIPELINES: bool = false;

    /// Does it all, because only here the end of a phase can be told.
    #[inline]
    fn send(&mut self, operation: Operation<'_>) -> Result<(), WorkerError> {
        self.outcome = self.read(operation)?;
        Ok(())
    }

    #[inline]
    fn flush(&mut self) {}

    #[inline]
    fn receive(&mut self, _: Operation<'_>) -> Outcome {
        self.outcome
    }
}
