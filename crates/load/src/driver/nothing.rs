//! A driver that does nothing: what is measured is the loop itself.

use super::{Driver, Task};
use crate::outcome::Outcome;
use crate::source::Operation;
use crate::worker::WorkerError;
use roundtrip_model::Op;

#[derive(Debug)]
pub(crate) struct Nothing(Outcome);

impl Nothing {
    pub(crate) fn new(task: Task) -> Nothing {
        Nothing(match task.op {
            Op::Get | Op::ReadAside => Outcome::Hit,
            Op::Set | Op::Insert | Op::ReadModifyWrite => Outcome::Stored,
            Op::Delete | Op::Incr | Op::Scan | Op::Mix => Outcome::Done,
        })
    }
}

impl Driver for Nothing {
    const PIPELINES: bool = true;

    #[inline]
    fn send(&mut self, _: Operation<'_>) -> Result<(), WorkerError> {
        Ok(())
    }

    #[inline]
    fn flush(&mut self) {}

    #[inline]
    fn receive(&mut self, _: Operation<'_>) -> Outcome {
        self.0
    }
}
