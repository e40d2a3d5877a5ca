//! Reading through a cache: look there, on a miss read the store and fill the cache.

use super::Call;
use crate::engine::Texts;
use crate::outcome::{Outcome, Tally};
use crate::worker::WorkerError;
use roundtrip_model::Op;

/// A cache and the store behind it.
pub(crate) struct ReadAside<'a> {
    cache: Box<dyn Call + 'a>,
    store: Box<dyn Call + 'a>,
    /// The part that the cache played.
    cache_outcomes: Tally,
}

impl<'a> ReadAside<'a> {
    pub(crate) fn new(cache: Box<dyn Call + 'a>, store: Box<dyn Call + 'a>) -> ReadAside<'a> {
        ReadAside {
            cache,
            store,
            cache_outcomes: Tally::default(),
        }
    }
}

impl Call for ReadAside<'_> {
    /// A failing cache is passed over: the store still has the value.
    #[inline]
    fn call(&mut self, _: Op, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError> {
        let looked = self.cache.call(Op::Get, index, texts)?;
        self.cache_outcomes.add(looked);
        if matches!(looked, Outcome::Hit | Outcome::Wrong) {
            return Ok(looked);
        }
        let found = self.store.call(Op::Get, index, texts)?;
        if (looked, found) == (Outcome::Miss, Outcome::Hit) {
            // What was found is what the op holds: it was compared just now.
            let filled = self.cache.call(Op::Set, index, texts)?;
            self.cache_outcomes.add(filled);
        }
        Ok(found)
    }

    fn finish(&mut self) -> Result<Tally, WorkerError> {
        self.store.finish()?;
        Ok(self.cache_outcomes)
    }
}
