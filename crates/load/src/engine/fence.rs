//! Behind the last reply: whether a server has said more than it was asked. A reply that came twice
//! may pass for the next one for as long as ops are in flight, where replies carry no key; in the
//! end it is left over. So each connection is asked something that changes nothing, and what
//! comes before its answer is surplus.

use super::{Course, Pace, REPLY_TIMEOUT_NS};
use crate::io::{Io, Sink};
use crate::outcome::{ErrorKind, Outcome};
use crate::protocol::Protocol;
use crate::worker::WorkerError;
use std::io;

/// A request that changes nothing, and how its answer is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    pub(crate) request: &'static [u8],
    /// How the answer begins; its end is the end of the line.
    pub(crate) answer: &'static [u8],
}

impl<P: Protocol, C: Pace> Course<P, C> {
    /// Looks whether any connection has said more than it was asked; each that has is a failure.
    pub(crate) fn fence(&mut self, io: &mut impl Io) -> Result<(), WorkerError> {
        let Some(fence) = P::FENCE else { return Ok(()) };
        let up = |slot: &usize| !self.lanes[*slot].down;
        let slots: Vec<usize> = (0..self.lanes.len()).filter(up).collect();
        let fenced = ask(fence, &slots, self.lanes.len(), io, REPLY_TIMEOUT_NS)
            .map_err(|e| WorkerError::io(format!("{}: {e}", io.name())))?;
        for slot in &fenced.surplus {
            self.lanes[*slot].down = true;
            self.record.tally.add(Outcome::Error(ErrorKind::Surplus));
        }
        for slot in &fenced.lost {
            self.lanes[*slot].down = true;
        }
        Ok(())
    }
}

/// What became of the connections.
#[derive(Debug, Default)]
struct Fenced {
    /// Those that said more than they were asked.
    surplus: Vec<usize>,
    /// Those that were lost, or did not answer in time.
    lost: Vec<usize>,
}

/// The longest line that answers a fence.
const LONGEST_ANSWER: usize = 4096;

struct Watch {
    fence: Fence,
    waiting: Vec<bool>,
    fenced: Fenced,
}

/// Asks the connections in these slots, of so many; waits for their answers until a time limit.
fn ask(
    fence: Fence,
    slots: &[usize],
    of: usize,
    io: &mut impl Io,
    timeout_ns: u64,
) -> io::Result<Fenced> {
    let mut watch = Watch {
        fence,
        waiting: vec![false; of],
        fenced: Fenced::default(),
    };
    for slot in slots {
        watch.waiting[*slot] = true;
        io.output(*slot).extend_from_slice(fence.request);
        io.flush(*slot);
    }
    let limit_ns = io.now_ns() + timeout_ns;
    while watch.waiting.contains(&true) && io.now_ns() < limit_ns {
        io.wait(Some(limit_ns), &mut watch)?;
    }
    let silent = slots.iter().filter(|slot| watch.waiting[**slot]);
    watch.fenced.lost.extend(silent);
    Ok(watch.fenced)
}

impl Sink for Watch {
    fn arrived(
        &mut self,
        slot: usize,
        bytes: &[u8],
        _: u64,
        _: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind> {
        let known = self.fence.answer.len().min(bytes.len());
        let is_answer = bytes[..known] == self.fence.answer[..known] && self.waiting[slot];
        match bytes.iter().position(|byte| *byte == b'\n') {
            None if is_answer && bytes.len() < LONGEST_ANSWER => return Ok(0),
            Some(end) if is_answer && end + 1 == bytes.len() => {
                self.waiting[slot] = false;
                return Ok(bytes.len());
            }
            _ => {}
        }
        self.waiting[slot] = false;
        self.fenced.surplus.push(slot);
        Err(ErrorKind::Surplus)
    }

    fn lost(&mut self, slot: usize, _: ErrorKind) {
        if std::mem::take(&mut self.waiting[slot]) {
            self.fenced.lost.push(slot);
        }
    }
}
