//! Ops of several keys. Each key is a flight of its own, with an outcome of its own; the op has its
//! end, and its latency, when the last of them has. What reads and then writes has read all of its
//! keys before it writes any, as a program must whose new values could depend on all of them.

use super::{Course, Next, Pace, Record};
use crate::io::Io;
use crate::outcome::{ErrorKind, Outcome};
use crate::protocol::{Flight, Protocol};
use roundtrip_model::Op;
use std::collections::VecDeque;

/// How the keys of an op travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Travel {
    /// One after another: each step waits for the reply to the one before it.
    Apart,
    /// All at once, each with a request of its own.
    Together,
    /// In one request for each server that has some of them.
    Grouped,
}

/// The ops under way.
#[derive(Debug, Default)]
pub(super) struct Wholes {
    /// By their number.
    table: Vec<Whole>,
    /// Numbers that are free again.
    idle: Vec<u32>,
    /// How many are under way on each lane, by its first connection.
    underway: Vec<usize>,
    /// Steps that may go now.
    due: VecDeque<Flight>,
    is_apart: bool,
}

/// One op.
#[derive(Debug, Default)]
struct Whole {
    /// The first connection of its lane.
    first: usize,
    /// Keys without an end.
    left: usize,
    /// Keys that are to be read before any is written.
    reading: usize,
    sent_ns: u64,
    intended_ns: u64,
    /// Steps that wait for others.
    waiting: VecDeque<Flight>,
}

impl Wholes {
    pub(super) fn new(lanes: usize, travel: Travel) -> Wholes {
        Wholes {
            underway: vec![0; lanes],
            is_apart: travel == Travel::Apart,
            ..Wholes::default()
        }
    }

    /// How many are under way on the lane with this first connection.
    #[inline]
    pub(super) fn underway(&self, first: usize) -> usize {
        self.underway[first]
    }

    /// Whether any step may go now.
    #[inline]
    pub(super) fn has_due(&self) -> bool {
        !self.due.is_empty()
    }

    fn open(&mut self, first: usize, sent_ns: u64, intended_ns: u64) -> u32 {
        self.underway[first] += 1;
        let number = self.idle.pop().unwrap_or_else(|| {
            self.table.push(Whole::default());
            (self.table.len() - 1) as u32
        });
        let whole = &mut self.table[number as usize];
        (whole.first, whole.sent_ns, whole.intended_ns) = (first, sent_ns, intended_ns);
        number
    }

    /// Adds a key whose first step goes as soon as it may.
    fn add(&mut self, flight: Flight) {
        let whole = &mut self.table[flight.whole as usize];
        whole.left += 1;
        whole.reading += usize::from(flight.op == Op::ReadModifyWrite);
        whole.waiting.push_back(flight);
    }

    /// Lets go what need not wait any longer, after an answer.
    fn proceed(&mut self, number: u32) {
        let whole = &mut self.table[number as usize];
        match self.is_apart {
            true => self.due.extend(whole.waiting.pop_front()),
            false if whole.reading == 0 => self.due.append(&mut whole.waiting),
            false => {}
        }
    }

    /// A key goes on to its next step.
    pub(super) fn then(&mut self, next: Flight) {
        let whole = &mut self.table[next.whole as usize];
        whole.reading -= 1;
        whole.waiting.push_back(next);
        self.proceed(next.whole);
    }

    /// A key has its end.
    pub(super) fn end(
        &mut self,
        flight: &Flight,
        outcome: Outcome,
        open: bool,
        at_ns: u64,
        record: &mut Record,
    ) {
        record.tally.add(outcome);
        let whole = &mut self.table[flight.whole as usize];
        whole.left -= 1;
        whole.reading -= usize::from(flight.op == Op::ReadModifyWrite);
        if whole.left > 0 {
            return self.proceed(flight.whole);
        }
        let (sent_ns, intended_ns) = (whole.sent_ns, whole.intended_ns);
        self.underway[whole.first] -= 1;
        self.idle.push(flight.whole);
        record.end_op(open, sent_ns, intended_ns, at_ns);
    }
}

impl<P: Protocol, C: Pace> Course<P, C> {
    /// Whether an op has several keys.
    #[inline]
    pub(super) fn has_wholes(&self) -> bool {
        self.settings.keys > 1
    }

    /// Ends a key, and the op with it where it was the last.
    #[inline]
    pub(super) fn end(&mut self, flight: &Flight, outcome: Outcome, at_ns: u64) {
        if self.has_wholes() {
            let record = &mut self.record;
            return self.wholes.end(flight, outcome, C::OPEN, at_ns, record);
        }
        let (sent_ns, intended_ns) = (flight.sent_ns, flight.intended_ns);
        self.record
            .end(C::OPEN, outcome, sent_ns, intended_ns, at_ns);
    }

    /// Takes the next op for the lane with this first connection: its keys, as flights that wait.
    fn take_whole(&mut self, first: usize, now_ns: u64) -> u32 {
        let intended_ns = self.intended_ns(first, now_ns);
        let number = self.wholes.open(first, now_ns, intended_ns);
        for _ in 0..self.settings.keys {
            let Some(next) = self.ops.peek() else { break };
            let flight = Flight {
                whole: number,
                ..flight(next, now_ns, intended_ns)
            };
            self.wholes.add(flight);
            self.ops.advance();
        }
        self.pace.advance();
        number
    }

    /// Makes the requests of the next op on a connection that is a lane by itself.
    pub(super) fn start_whole(&mut self, slot: usize, now_ns: u64, out: &mut Vec<u8>) {
        let number = self.take_whole(slot, now_ns);
        if self.settings.travel == Travel::Grouped && P::GROUPS {
            let waiting = &mut self.wholes.table[number as usize].waiting;
            let mut group = std::mem::take(waiting);
            self.send_group(slot, group.make_contiguous(), out);
            group.clear();
            self.wholes.table[number as usize].waiting = group;
            return;
        }
        self.begin(number);
        self.send_due(slot, now_ns, out);
    }

    /// Lets the first steps of an op go.
    fn begin(&mut self, number: u32) {
        match self.wholes.is_apart {
            true => self.wholes.proceed(number),
            false => {
                let waiting = &mut self.wholes.table[number as usize].waiting;
                self.wholes.due.append(waiting);
            }
        }
    }

    /// One request for some keys.
    fn send_group(&mut self, slot: usize, group: &mut [Flight], out: &mut Vec<u8>) {
        let size = group.len();
        if let [one] = group {
            self.protocol
                .request(one.op, one.index, &mut self.texts, out);
        } else {
            self.protocol.open_group(size, out);
            for (number, flight) in group.iter_mut().enumerate() {
                flight.behind = (size - 1 - number) as u16;
                flight.opens = if number == 0 { size as u16 } else { 0 };
                self.protocol.group_key(flight.index, &mut self.texts, out);
            }
            self.protocol.close_group(&mut self.texts, out);
        }
        self.lanes[slot].flights.extend(group.iter());
    }

    /// Sends the steps that may go, on a connection that is a lane by itself.
    pub(super) fn send_due(&mut self, slot: usize, now_ns: u64, out: &mut Vec<u8>) {
        while let Some(flight) = self.wholes.due.pop_front() {
            self.send_step(slot, flight, now_ns, out);
        }
    }

    fn send_step(&mut self, slot: usize, mut flight: Flight, now_ns: u64, out: &mut Vec<u8>) {
        flight.sent_ns = now_ns;
        self.texts.values.added = flight.added;
        self.protocol
            .request(flight.op, flight.index, &mut self.texts, out);
        self.lanes[slot].flights.push_back(flight);
    }

    /// Ends the steps that may go, since the only connection that they could go on is lost.
    pub(super) fn fail_due(&mut self, kind: ErrorKind, at_ns: u64) {
        while let Some(flight) = self.wholes.due.pop_front() {
            self.end(&flight, Outcome::Error(kind), at_ns);
        }
    }

    /// Sends the steps that may go, each to the node that it is for. What was sent is not yet
    /// flushed, but noted as touched.
    pub(super) fn spread_due(&mut self, now_ns: u64, io: &mut impl Io) {
        while let Some(flight) = self.wholes.due.pop_front() {
            let first = self.wholes.table[flight.whole as usize].first;
            let slot = first + self.protocol.node(flight.index, &mut self.texts);
            if self.lanes[slot].down {
                self.end(&flight, Outcome::Error(ErrorKind::Connection), now_ns);
                self.record.last_ns = self.record.last_ns.max(now_ns);
                self.want(slot);
                continue;
            }
            self.send_step(slot, flight, now_ns, io.output(slot));
            if self.touched.last() != Some(&slot) {
                self.touched.push(slot);
            }
        }
    }

    /// Makes the requests of the next op, each for the node that has some of its keys.
    pub(super) fn start_spread_whole(&mut self, first: usize, now_ns: u64, io: &mut impl Io) {
        let number = self.take_whole(first, now_ns);
        if self.settings.travel != Travel::Grouped || !P::GROUPS {
            self.begin(number);
            return self.spread_due(now_ns, io);
        }
        let mut keys = std::mem::take(&mut self.wholes.table[number as usize].waiting);
        let mut groups = std::mem::take(&mut self.groups);
        groups.resize_with(self.protocol.nodes(), Vec::new);
        for flight in keys.drain(..) {
            groups[self.protocol.node(flight.index, &mut self.texts)].push(flight);
        }
        self.wholes.table[number as usize].waiting = keys;
        for (node, group) in groups.iter_mut().enumerate() {
            if !group.is_empty() {
                self.send_group(first + node, group, io.output(first + node));
                group.clear();
            }
        }
        self.groups = groups;
    }
}

/// A flight with one key that goes by itself.
#[inline]
pub(super) fn flight(next: Next, sent_ns: u64, intended_ns: u64) -> Flight {
    Flight {
        index: next.index,
        sent_ns,
        intended_ns,
        added: next.added,
        whole: 0,
        op: next.op,
        opens: 1,
        behind: 0,
        redirects: 0,
        asking: false,
    }
}
