//! What the floor does wrong on purpose, by request number, so that it can be foretold exactly.

use super::options::{Delay, FloorOptions, Stall};

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// When it is answered, on the monotonic clock.
    pub(super) due_ns: u64,
    /// Whether its connection is closed in the place of an answer.
    pub(super) drop: bool,
}

#[derive(Debug)]
pub(super) struct Faults {
    delay: Option<Delay>,
    stall: Option<Stall>,
    garble: Option<u64>,
    drop: Option<u64>,
    started_ns: u64,
    requests: u64,
    values: u64,
}

impl Faults {
    pub(super) fn new(options: &FloorOptions, started_ns: u64) -> Faults {
        Faults {
            delay: options.delay,
            stall: options.stall,
            garble: options.garble.filter(|n| *n > 0),
            drop: options.drop.filter(|n| *n > 0),
            started_ns,
            requests: 0,
            values: 0,
        }
    }

    /// Whether requests have a fate at all: a plain floor asks nothing more than this.
    #[inline]
    pub(super) fn concern_requests(&self) -> bool {
        self.delay.is_some() || self.stall.is_some() || self.drop.is_some()
    }

    /// The fate of the next request, whose turn comes at `start_ns`.
    pub(super) fn next_request(&mut self, start_ns: u64) -> Fate {
        let number = self.requests;
        self.requests += 1;
        let delay = self.delay.map_or(0, |delay| delay.of(number).as_nanos());
        let mut due_ns = start_ns + delay as u64;
        if let Some(stall) = self.stall {
            due_ns = self.started_ns + stall.postponed(due_ns.saturating_sub(self.started_ns));
        }
        Fate {
            due_ns,
            drop: is_nth(self.drop, self.requests),
        }
    }

    /// Changes a byte of a value that was just written, when it is its turn. `after` is what was
    /// written behind the value.
    #[inline]
    pub(super) fn garble(&mut self, out: &mut [u8], value_bytes: usize, after: usize) {
        if self.garble.is_none() || value_bytes == 0 {
            return;
        }
        self.values += 1;
        if is_nth(self.garble, self.values) {
            let first = out.len() - after - value_bytes;
            out[first] ^= 1;
        }
    }
}

fn is_nth(every: Option<u64>, number: u64) -> bool {
    every.is_some_and(|every| number.is_multiple_of(every))
}
