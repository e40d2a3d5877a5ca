//! A cluster: a lane holds a connection to each node, side by side. Which node an op goes to is
//! the protocol's to say; a reply may send it to another one.
//!
//! What is sent because of a reply goes out after the wait that brought the reply, since a reply
//! of one node can make work for another.

use super::{Course, Pace, Record};
use crate::io::Io;
use crate::outcome::{ErrorKind, Outcome};
use crate::protocol::{Flight, Protocol, Redirect};

/// An op that is sent from node to node so often goes nowhere.
const MOST_REDIRECTS: u8 = 16;

/// What waits to be sent.
#[derive(Debug, Default)]
pub(super) struct Spread {
    /// Ops that a reply on this connection sent elsewhere.
    resends: Vec<(usize, Flight, Redirect)>,
    /// Connections on which something happened.
    wanting: Vec<usize>,
}

impl Spread {
    /// Takes an op that was sent elsewhere, and counts why.
    pub(super) fn resend(
        &mut self,
        slot: usize,
        flight: Flight,
        redirect: Redirect,
        record: &mut Record,
    ) {
        match redirect.asking {
            true => record.asked += 1,
            false => record.moved += 1,
        }
        self.resends.push((slot, flight, redirect));
    }
}

impl<P: Protocol, C: Pace> Course<P, C> {
    /// The first connection of the lane that a connection belongs to.
    #[inline]
    pub(super) fn first_of(&self, slot: usize) -> usize {
        match P::SPREADS {
            true => slot - slot % self.protocol.nodes(),
            false => slot,
        }
    }

    /// The connections of that lane.
    fn lane_of(&self, slot: usize) -> std::ops::Range<usize> {
        let first = self.first_of(slot);
        first..first + self.protocol.nodes()
    }

    /// How many ops are in flight on the lane of a connection.
    #[inline]
    pub(super) fn in_flight(&self, slot: usize) -> usize {
        match P::SPREADS {
            _ if self.has_wholes() => self.wholes.underway(self.first_of(slot)),
            true => self.lanes[self.lane_of(slot)]
                .iter()
                .map(|lane| lane.flights.len())
                .sum(),
            false => self.lanes[slot].flights.len(),
        }
    }

    /// Whether the lane of a connection can take another op: none of its connections is lost.
    #[inline]
    pub(super) fn has_place(&self, slot: usize) -> bool {
        let is_up = match P::SPREADS {
            true => !self.lanes[self.lane_of(slot)].iter().any(|lane| lane.down),
            false => !self.lanes[slot].down,
        };
        is_up && self.in_flight(slot) < self.settings.depth
    }

    /// Something happened on a connection: its lane may want ops.
    pub(super) fn want(&mut self, slot: usize) {
        self.spread.wanting.push(slot);
    }

    /// A connection was lost: its lane waits for it.
    pub(super) fn withdraw(&mut self, slot: usize) {
        let first = self.first_of(slot);
        if std::mem::take(&mut self.lanes[first].listed) {
            self.free.retain(|listed| *listed != first);
        }
    }

    /// Sends what replies have sent elsewhere, then fills the lanes that want ops.
    pub(super) fn spread(&mut self, io: &mut impl Io) {
        let is_idle = self.spread.resends.is_empty() && self.spread.wanting.is_empty();
        if is_idle && !self.wholes.has_due() {
            return;
        }
        let now_ns = io.now_ns();
        let mut resends = std::mem::take(&mut self.spread.resends);
        for (from, flight, redirect) in resends.drain(..) {
            self.resend(from, flight, redirect, now_ns, io);
        }
        self.spread.resends = resends;
        self.spread_due(now_ns, io);
        for slot in self.touched.drain(..) {
            io.flush(slot);
        }
        let mut wanting = std::mem::take(&mut self.spread.wanting);
        for slot in wanting.drain(..) {
            if C::OPEN {
                let free_ns = self.lanes[slot].free_ns;
                for lane in self.lane_of(slot) {
                    self.lanes[lane].free_ns = self.lanes[lane].free_ns.max(free_ns);
                }
                self.list(slot);
            } else if self.in_flight(slot) == 0 && self.has_place(slot) {
                self.fill_spread(self.first_of(slot), now_ns, self.settings.depth, io);
            }
        }
        self.spread.wanting = wanting;
    }

    fn resend(
        &mut self,
        from: usize,
        mut flight: Flight,
        redirect: Redirect,
        now_ns: u64,
        io: &mut impl Io,
    ) {
        flight.redirects += 1;
        flight.asking = redirect.asking;
        let node = usize::from(redirect.node);
        let slot = self.first_of(from) + node;
        let failed = match (flight.redirects > MOST_REDIRECTS, self.lanes.get(slot)) {
            (true, _) => Some(ErrorKind::Redirect),
            _ if node >= self.protocol.nodes() => Some(ErrorKind::Redirect),
            (_, Some(lane)) if !lane.down => None,
            _ => Some(ErrorKind::Connection),
        };
        if let Some(kind) = failed {
            self.end(&flight, Outcome::Error(kind), now_ns);
            self.record.last_ns = self.record.last_ns.max(now_ns);
            self.want(from);
            return;
        }
        let out = io.output(slot);
        if flight.asking {
            self.protocol.ask(out);
        }
        self.texts.values.added = flight.added;
        self.protocol
            .request(flight.op, flight.index, &mut self.texts, out);
        self.lanes[slot].flights.push_back(flight);
        io.flush(slot);
    }

    /// Makes requests for the lane whose first connection this is, each for the node that it is
    /// for: at most `most`, as many as have a place and are due. Each node gets one pipeline.
    pub(super) fn fill_spread(&mut self, first: usize, now_ns: u64, most: usize, io: &mut impl Io) {
        let room = self.settings.depth.saturating_sub(self.in_flight(first));
        for _ in 0..room.min(most) {
            let Some(next) = self.ops.peek().filter(|_| self.is_due(now_ns)) else {
                break;
            };
            if self.has_wholes() {
                self.start_spread_whole(first, now_ns, io);
                continue;
            }
            let slot = first + self.protocol.node(next.index, &mut self.texts);
            self.texts.values.added = next.added;
            self.protocol
                .request(next.op, next.index, &mut self.texts, io.output(slot));
            self.start(slot, next, now_ns);
        }
        for slot in self.lane_of(first) {
            io.flush(slot);
        }
    }
}
