//! A store that does nothing: what is measured is the loop itself.

use super::Call;
use crate::engine::Texts;
use crate::outcome::Outcome;
use crate::worker::WorkerError;
use roundtrip_model::Op;

#[derive(Debug)]
pub(crate) struct Nothing;

impl Call for Nothing {
    #[inline]
    fn call(&mut self, op: Op, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError> {
        // The key is made, as it is for any store.
        std::hint::black_box(texts.keys.get(index));
        Ok(match op {
            Op::Get | Op::GetMany | Op::Join | Op::ReadAside => Outcome::Hit,
            Op::Set | Op::SetSeen | Op::Insert | Op::ReadModifyWrite => Outcome::Stored,
            Op::Delete | Op::Incr | Op::Scan | Op::Mix => Outcome::Done,
        })
    }
}
