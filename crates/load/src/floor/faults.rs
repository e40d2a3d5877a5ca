//! What the floor does wrong on purpose, by request number, so that it can be foretold exactly,
//! and the account of what it truly did.

use super::options::{Delay, FloorOptions, Stall};
use roundtrip_model::histogram::Histogram;

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fate {
    /// When it is answered, on the monotonic clock.
    pub(super) due_ns: u64,
    /// Whether its connection is closed in the place of an answer.
    pub(super) drop: bool,
    /// Whether its answer is given twice.
    pub(super) double: bool,
}

#[derive(Debug)]
pub(super) struct Faults {
    delay: Option<Delay>,
    stall: Option<Stall>,
    garble: Option<u64>,
    drop: Option<u64>,
    double: Option<u64>,
    started_ns: u64,
    requests: u64,
    values: u64,
    /// Due times of what was answered since it was last said when answers went out.
    answered: Vec<u64>,
    pub(super) done: Done,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Done {
    pub(super) dropped: u64,
    pub(super) garbled: u64,
    pub(super) doubled: u64,
    pub(super) stalled: u64,
    /// From the moment at which an answer was due to the one at which the kernel had it.
    pub(super) delay_error: Histogram,
}

impl Faults {
    pub(super) fn new(options: &FloorOptions, started_ns: u64) -> Faults {
        let every = |n: Option<u64>| n.filter(|n| *n > 0);
        Faults {
            delay: options.delay,
            stall: options.stall,
            garble: every(options.garble),
            drop: every(options.drop),
            double: every(options.double),
            started_ns,
            requests: 0,
            values: 0,
            answered: Vec::new(),
            done: Done::default(),
        }
    }

    /// Whether nothing is done wrong: a plain floor asks nothing more than this.
    pub(super) fn are_none(&self) -> bool {
        !self.concern_requests() && self.garble.is_none()
    }

    /// Whether requests have a fate at all.
    #[inline]
    pub(super) fn concern_requests(&self) -> bool {
        self.are_late() || self.drop.is_some() || self.double.is_some()
    }

    fn are_late(&self) -> bool {
        self.delay.is_some() || self.stall.is_some()
    }

    /// The fate of the next request, whose turn comes at `start_ns`.
    pub(super) fn next_request(&mut self, start_ns: u64) -> Fate {
        let number = self.requests;
        self.requests += 1;
        let delay = self.delay.map_or(0, |delay| delay.of(number).as_nanos());
        let mut due_ns = start_ns + delay as u64;
        if let Some(stall) = self.stall {
            let asked_ns = due_ns;
            due_ns = self.started_ns + stall.postponed(due_ns.saturating_sub(self.started_ns));
            self.done.stalled += u64::from(due_ns > asked_ns);
        }
        Fate {
            due_ns,
            drop: is_nth(self.drop, self.requests),
            double: is_nth(self.double, self.requests),
        }
    }

    /// Notes that a request was answered that was due at this moment.
    pub(super) fn answered(&mut self, due_ns: u64) {
        if self.are_late() {
            self.answered.push(due_ns);
        }
    }

    /// Notes that all that was answered has gone out. The clock is read only when it matters.
    #[inline]
    pub(super) fn gone_out(&mut self, now_ns: impl Fn() -> u64) {
        if self.answered.is_empty() {
            return;
        }
        let now_ns = now_ns();
        for due_ns in self.answered.drain(..) {
            self.done.delay_error.record(now_ns.saturating_sub(due_ns));
        }
    }

    /// Changes a byte of a value that was just written, and the end of its line, when it is its
    /// turn.
    #[inline]
    pub(super) fn garble(&mut self, out: &mut [u8], value_bytes: usize) {
        if self.garble.is_none() || value_bytes == 0 {
            return;
        }
        self.values += 1;
        if is_nth(self.garble, self.values) {
            let first = out.len() - b"\r\n".len() - value_bytes;
            out[first] ^= 1;
            self.done.garbled += 1;
        }
    }
}

impl Done {
    /// All of it, each under its name. Of the error of delays only what is known.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let error = &self.delay_error;
        let known = [
            ("delay_error_p50_ns", error.quantile(0.5)),
            ("delay_error_p99_ns", error.quantile(0.99)),
            ("delay_error_max_ns", error.max()),
        ];
        [
            ("dropped", self.dropped),
            ("garbled", self.garbled),
            ("doubled", self.doubled),
            ("stalled", self.stalled),
            ("delayed", error.count()),
        ]
        .into_iter()
        .chain(known.into_iter().filter_map(|(name, ns)| Some((name, ns?))))
    }
}

fn is_nth(every: Option<u64>, number: u64) -> bool {
    every.is_some_and(|every| number.is_multiple_of(every))
}
