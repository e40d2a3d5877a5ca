//! What a loop writes down of every op: what became of it, how long it took, how late it started.

use super::counts::Counts;
use super::gaps::Gaps;
use crate::outcome::{Outcome, Tally};
use roundtrip_model::contract::Lateness;

/// Into how many parts the time of a phase is cut, to see whether its rate was steady.
const SLICES: u64 = 30;

/// The record of one thread's loop.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) tally: Tally,
    /// From the sending of an op to its reply.
    pub(crate) service: Counts,
    /// From the moment at which an op was to start, where a pace is set.
    pub(crate) response: Counts,
    /// How late the generator itself was.
    pub(crate) late: Counts,
    pub(crate) latest_ns: u64,
    /// For how long it looked for the next moment without sleeping and nothing came.
    pub(crate) spun_ns: u64,
    pub(crate) gaps: Gaps,
    /// What a server said when it first refused an op.
    pub(crate) complaint: Option<String>,
    /// How often a node of a cluster said that a slot is another's for good.
    pub(crate) moved: u64,
    /// How often it said so of one op, while a slot was on the move.
    pub(crate) asked: u64,
    /// When each of the equal parts ended, in order.
    pub(crate) slice_ends_ns: Vec<u64>,
    pub(crate) started_ns: u64,
    /// The reading of the clock that came with the last reply.
    pub(crate) last_ns: u64,
    finished: u64,
    slice_end: u64,
    count: u64,
}

impl Record {
    /// Room for `count` ops.
    pub(crate) fn new(count: u64) -> Record {
        Record {
            tally: Tally::default(),
            service: Counts::new(),
            response: Counts::new(),
            late: Counts::new(),
            latest_ns: 0,
            spun_ns: 0,
            gaps: Gaps::default(),
            complaint: None,
            moved: 0,
            asked: 0,
            slice_ends_ns: Vec::with_capacity(SLICES as usize),
            started_ns: 0,
            last_ns: 0,
            finished: 0,
            slice_end: slice_end(0, count),
            count,
        }
    }

    /// Whether every op has its end.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.finished == self.count
    }

    /// How many ops have theirs.
    #[inline]
    pub(crate) fn finished(&self) -> u64 {
        self.finished
    }

    /// Begins.
    pub(crate) fn start(&mut self, at_ns: u64) {
        self.started_ns = at_ns;
        self.last_ns = at_ns;
    }

    /// Writes down the end of an op, which has an intended moment where the loop is `open`.
    #[inline]
    pub(crate) fn end(
        &mut self,
        open: bool,
        outcome: Outcome,
        sent_ns: u64,
        intended_ns: u64,
        at_ns: u64,
    ) {
        self.tally.add(outcome);
        self.end_op(open, sent_ns, intended_ns, at_ns);
    }

    /// Writes down the end of an op of which it is known already what became of it.
    #[inline]
    pub(crate) fn end_op(&mut self, open: bool, sent_ns: u64, intended_ns: u64, at_ns: u64) {
        self.service.add(at_ns.saturating_sub(sent_ns));
        if open {
            self.response.add(at_ns.saturating_sub(intended_ns));
        }
        self.finished += 1;
        if self.finished >= self.slice_end {
            self.end_slice(at_ns);
        }
    }

    /// Writes down how late an op started.
    #[inline]
    pub(crate) fn late(&mut self, late_ns: u64) {
        self.late.add(late_ns);
        self.latest_ns = self.latest_ns.max(late_ns);
    }

    fn end_slice(&mut self, at_ns: u64) {
        self.slice_ends_ns.push(at_ns);
        self.slice_end = slice_end(self.slice_ends_ns.len() as u64, self.count);
    }

    /// Adds the record of another thread of the same phase.
    pub(crate) fn merge(&mut self, other: Record) {
        self.tally.merge(&other.tally);
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.late.merge(&other.late);
        self.latest_ns = self.latest_ns.max(other.latest_ns);
        self.spun_ns += other.spun_ns;
        self.gaps.merge(other.gaps);
        self.complaint = self.complaint.take().or(other.complaint);
        self.moved += other.moved;
        self.asked += other.asked;
        self.last_ns = self.last_ns.max(other.last_ns);
        self.finished += other.finished;
        self.count += other.count;
    }

    /// How late ops started.
    pub(crate) fn lateness(&self) -> Lateness {
        Lateness {
            spun_ns: Some(self.spun_ns),
            max_ns: self.latest_ns,
            p50_ns: Some(self.late.quantile_ns(0.5)),
            p99_ns: self.late.quantile_ns(0.99),
            mean_ns: self.late.mean_ns(),
        }
    }
}

/// At how many ops the slice ends; never, behind the last.
fn slice_end(slice: u64, count: u64) -> u64 {
    let slices = SLICES.min(count);
    match slice < slices {
        true => (u128::from(count) * u128::from(slice + 1) / u128::from(slices)) as u64,
        false => u64::MAX,
    }
}

/// The wall time of the consecutive equal parts of several threads' ops: each part ends when, in
/// the mean of the threads, theirs did.
pub(crate) fn slices(started_ns: u64, ends_ns: &[Vec<u64>]) -> Vec<u64> {
    let longest = ends_ns.iter().map(Vec::len).max().unwrap_or(0);
    let mut before_ns = started_ns;
    (0..longest)
        .map(|slice| {
            let ends = ends_ns.iter().filter_map(|ends| ends.get(slice));
            let since = ends.clone().map(|end| u128::from(end - started_ns));
            let mean = since.sum::<u128>() / ends.count().max(1) as u128;
            let end_ns = (started_ns + mean as u64).max(before_ns);
            let slice_ns = end_ns - before_ns;
            before_ns = end_ns;
            slice_ns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_the_times_of_equal_parts() {
        let mut record = Record::new(90);
        record.start(1000);
        for i in 1..=90 {
            record.end(false, Outcome::Hit, 1000, 0, 1000 + i);
        }
        assert!(record.is_whole());
        assert_eq!(slices(1000, &[record.slice_ends_ns]), [3; 30]);
        let mut few = Record::new(2);
        few.start(0);
        few.end(false, Outcome::Hit, 0, 0, 5);
        few.end(false, Outcome::Hit, 0, 0, 7);
        assert_eq!(slices(0, std::slice::from_ref(&few.slice_ends_ns)), [5, 2]);
        assert_eq!(slices(0, &[few.slice_ends_ns, vec![7, 9]]), [6, 2]);
    }
}
