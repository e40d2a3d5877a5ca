//! The loop. There is one, composed of small parts that know nothing of each other and compiled
//! for each combination of them:
//!
//! | part | says | file |
//! |---|---|---|
//! | pace | when ops start | `pace` |
//! | ops | what is done, on which key | `ops` |
//! | texts | the bytes of keys and values; requests made ahead | `text`, `ahead` |
//! | lanes | what is in flight where; lost connections | `lane`, `failing`, `mend` |
//! | whole | ops of several keys | `whole` |
//! | spread | what goes to which node of a cluster | `spread` |
//! | replies | what became of what was sent | `replies` |
//! | fence | whether more was said than was asked | `fence` |
//! | protocol | what bytes mean | [`crate::protocol`] |
//! | io | how bytes travel | [`crate::io`] |
//! | record | what is written down | `record`, `counts`, `gaps` |
//!
//! A thread runs one loop over connections of its own; [`crate::worker`] has the threads.

mod ahead;
mod counts;
mod failing;
mod fence;
mod gaps;
mod lane;
mod mend;
mod ops;
mod pace;
#[cfg(test)]
mod proof;
mod record;
mod replies;
mod spread;
mod text;
mod whole;

pub(crate) use counts::Counts;
pub(crate) use fence::Fence;
pub(crate) use mend::Mender;
use ops::Next;
pub(crate) use ops::Ops;
pub(crate) use pace::{Closed, Pace, Plan};
pub(crate) use record::{Record, slices};
pub(crate) use text::Texts;
pub(crate) use whole::Travel;

use crate::io::Io;
use crate::outcome::{ErrorKind, Tally};
use crate::protocol::{Flight, Protocol};
use crate::worker::WorkerError;
use lane::Lane;
use mend::Down;
use roundtrip_model::Op;
use spread::Spread;
use std::collections::VecDeque;
use whole::{Wholes, flight};

/// A reply that does not come within this time is given up, and its connection with it.
pub(crate) const REPLY_TIMEOUT_NS: u64 = 10_000_000_000;
/// How often replies that do not come are looked for.
const LOOK_NS: u64 = 1_000_000_000;
/// Before an op is due its thread stops sleeping and looks without waiting, because a sleep ends
/// some tens of microseconds late.
pub(crate) const SPIN_NS: u64 = 60_000;

/// How a loop is to run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How many ops a connection may have in flight.
    pub(crate) depth: usize,
    /// How many keys each of them has.
    pub(crate) keys: usize,
    /// How these travel.
    pub(crate) travel: Travel,
    /// The most keys that one request may have.
    pub(crate) group: usize,
    /// The number of this thread's first connection.
    pub(crate) first_connection: usize,
    /// How lost connections come back; `None` where there are none to lose.
    pub(crate) mender: Option<Mender>,
}

/// A loop, ready to go.
pub(crate) struct Course<P, C> {
    settings: Settings,
    protocol: P,
    pace: C,
    ops: Ops,
    texts: Texts,
    lanes: Vec<Lane>,
    /// Lanes with a place, where ops wait for their moment.
    free: VecDeque<usize>,
    down: Vec<Down>,
    /// Lanes of which the last wait said that their connections broke.
    lost: Vec<(usize, ErrorKind)>,
    /// Indices of the keys of a request that is being made.
    keys: Vec<u64>,
    touched: Vec<usize>,
    /// What goes to other nodes than it was sent to, and lanes that want ops.
    spread: Spread,
    /// Ops of several keys.
    wholes: Wholes,
    /// The keys of one op, by the node that they are for.
    groups: Vec<Vec<Flight>>,
    pub(crate) record: Record,
}

impl<P: Protocol, C: Pace> Course<P, C> {
    /// A loop over lanes of which some are down from before.
    pub(crate) fn new(
        settings: Settings,
        mut protocol: P,
        pace: C,
        ops: Ops,
        mut texts: Texts,
        lanes_down: &[bool],
    ) -> Course<P, C> {
        ahead::make(&mut protocol, &ops, &mut texts);
        let depth = settings.depth;
        let lane = |down: &bool| Lane {
            down: *down,
            ..Lane::new(depth)
        };
        Course {
            record: Record::new(ops.count()),
            lanes: lanes_down.iter().map(lane).collect(),
            free: VecDeque::with_capacity(lanes_down.len()),
            down: Vec::new(),
            lost: Vec::new(),
            keys: Vec::with_capacity(settings.group),
            touched: Vec::with_capacity(lanes_down.len()),
            spread: Spread::default(),
            wholes: Wholes::new(lanes_down.len(), settings.travel),
            groups: Vec::new(),
            settings,
            protocol,
            pace,
            ops,
            texts,
        }
    }

    /// Runs to the end of its ops, from an agreed moment on.
    pub(crate) fn run(&mut self, io: &mut impl Io, start_ns: u64) -> Result<(), WorkerError> {
        self.record.start(start_ns);
        let mut looked_ns = start_ns;
        for slot in 0..self.lanes.len() {
            if self.lanes[slot].down {
                self.down.push(Down::new(slot, start_ns, true));
            } else {
                self.open_lane(io, slot, start_ns);
            }
        }
        while !self.record.is_whole() {
            if !self.down.is_empty() {
                self.mend(io)?;
            }
            let until_ns = self.launch(io);
            let finished = self.record.finished();
            let spins_from_ns = (C::OPEN && until_ns == Some(0)).then(|| io.now_ns());
            io.wait(until_ns, self)
                .map_err(|e| WorkerError::io(format!("{}: {e}", io.name())))?;
            if let Some(from_ns) = spins_from_ns
                && self.record.finished() == finished
            {
                self.record.spun_ns += io.now_ns().saturating_sub(from_ns);
            }
            while let Some((slot, kind)) = self.lost.pop() {
                self.fail(slot, kind, io.now_ns());
            }
            if let Some(trouble) = self.protocol.trouble() {
                return Err(trouble);
            }
            // Most often a reply has brought the time with it.
            let now_ns = match self.record.finished() == finished {
                true => io.now_ns(),
                false => self.record.last_ns,
            };
            if now_ns.saturating_sub(looked_ns) > LOOK_NS {
                looked_ns = now_ns;
                self.look_for_missing(now_ns);
            }
        }
        let ended_ns = self.record.last_ns;
        for down in std::mem::take(&mut self.down) {
            self.write_gap(&down, ended_ns);
        }
        Ok(())
    }

    /// Which lanes are without a connection now.
    pub(crate) fn lanes_down(&self) -> Vec<bool> {
        self.lanes.iter().map(|lane| lane.down).collect()
    }

    /// Ends the phase.
    pub(crate) fn finish(mut self) -> Result<(Record, Tally), WorkerError> {
        self.record.complaint = self.protocol.complaint();
        let cache = self.protocol.finish()?;
        Ok((self.record, cache))
    }

    /// Puts a connection to use.
    fn open_lane(&mut self, io: &mut impl Io, slot: usize, now_ns: u64) {
        self.lanes[slot].free_ns = now_ns;
        if P::SPREADS {
            self.want(slot);
        } else if C::OPEN {
            self.list(slot);
        } else {
            let sent_ns = io.now_ns().max(now_ns);
            self.fill(slot, sent_ns, self.settings.depth, io.output(slot));
            io.flush(slot);
        }
    }

    /// Starts the ops that are due on lanes that have a place. Gives the moment until which to
    /// wait: the next that brings something to do by itself.
    #[inline]
    fn launch(&mut self, io: &mut impl Io) -> Option<u64> {
        if P::SPREADS {
            self.spread(io);
        }
        let mut until_ns = self.down.iter().map(|down| down.next_try_ns).min();
        if !C::OPEN || self.ops.is_over() || self.free.is_empty() {
            return until_ns;
        }
        let now_ns = io.now_ns();
        while self.is_due(now_ns) && !self.ops.is_over() {
            let Some(slot) = self.free.pop_front() else {
                break;
            };
            self.lanes[slot].listed = false;
            if P::SPREADS {
                self.fill_spread(slot, now_ns, 1, io);
            } else {
                self.fill(slot, now_ns, self.settings.group, io.output(slot));
                self.touched.push(slot);
            }
            self.list(slot);
        }
        for slot in self.touched.drain(..) {
            io.flush(slot);
        }
        if !self.free.is_empty() && !self.ops.is_over() {
            let due_ns = self.record.started_ns + self.pace.due_ns();
            let wake_ns = match due_ns.saturating_sub(SPIN_NS) {
                // So close that it looks without waiting.
                wake_ns if wake_ns <= now_ns => 0,
                wake_ns => wake_ns,
            };
            until_ns = Some(until_ns.map_or(wake_ns, |until_ns| until_ns.min(wake_ns)));
        }
        until_ns
    }

    #[inline]
    fn is_due(&self, now_ns: u64) -> bool {
        !C::OPEN || self.record.started_ns + self.pace.due_ns() <= now_ns
    }

    /// Lists a lane that has a place, once.
    fn list(&mut self, slot: usize) {
        let slot = self.first_of(slot);
        if !self.lanes[slot].listed && self.has_place(slot) {
            self.lanes[slot].listed = true;
            self.free.push_back(slot);
        }
    }

    /// Makes requests for a lane: at most `most`, as many as have a place and are due.
    #[inline]
    fn fill(&mut self, slot: usize, now_ns: u64, most: usize, out: &mut Vec<u8>) {
        let room = self.settings.depth - self.in_flight(slot);
        let mut left = room.min(most);
        while left > 0 && self.is_due(now_ns) {
            let Some(next) = self.ops.peek() else { break };
            if self.has_wholes() {
                self.start_whole(slot, now_ns, out);
                left -= 1;
                continue;
            }
            if P::GROUPS && self.settings.group > 1 && next.op == Op::Get {
                left -= self.request_group(slot, now_ns, left, out);
                continue;
            }
            if next.op == Op::Scan {
                self.protocol.span(self.ops.scan_keys());
            }
            self.texts.values.added = next.added;
            self.protocol
                .request(next.op, next.index, &mut self.texts, out);
            self.start(slot, next, now_ns);
            left -= 1;
        }
    }

    /// Makes one request of the reads that may go now; says how many.
    fn request_group(&mut self, slot: usize, now_ns: u64, most: usize, out: &mut Vec<u8>) -> usize {
        let most = most.min(self.settings.group);
        self.keys.clear();
        while self.keys.len() < most && self.is_due(now_ns) {
            match self.ops.peek() {
                Some(next) if next.op == Op::Get => {
                    self.keys.push(next.index);
                    self.start(slot, next, now_ns);
                }
                _ => break,
            }
        }
        let size = self.keys.len();
        if let [index] = self.keys[..] {
            // It is answered as any other read, and not as a group.
            self.protocol.request(Op::Get, index, &mut self.texts, out);
            return size;
        }
        let flights = self.lanes[slot].flights.iter_mut().rev().take(size);
        for (behind, flight) in flights.enumerate() {
            flight.behind = behind as u16;
            flight.opens = if behind + 1 == size { size as u16 } else { 0 };
        }
        self.protocol.open_group(size, out);
        for index in &self.keys {
            self.protocol.group_key(*index, &mut self.texts, out);
        }
        self.protocol.close_group(&mut self.texts, out);
        size
    }

    /// Takes the next op for a lane.
    #[inline]
    fn start(&mut self, slot: usize, next: Next, now_ns: u64) {
        let intended_ns = self.intended_ns(slot, now_ns);
        let flight = flight(next, now_ns, intended_ns);
        self.lanes[slot].flights.push_back(flight);
        self.ops.advance();
        self.pace.advance();
    }

    /// When the next op was to start; writes down how late it does.
    #[inline]
    fn intended_ns(&mut self, slot: usize, now_ns: u64) -> u64 {
        if !C::OPEN {
            return now_ns;
        }
        let intended_ns = self.record.started_ns + self.pace.due_ns();
        let free_ns = self.lanes[slot].free_ns;
        self.record
            .late(now_ns.saturating_sub(intended_ns.max(free_ns)));
        intended_ns
    }
}
