//! The replies: what became of what was sent, and what is sent next.

use super::{Course, Pace};
use crate::io::Sink;
use crate::outcome::ErrorKind;
use crate::protocol::{Answer, Flight, Protocol};

impl<P: Protocol, C: Pace> Course<P, C> {
    /// Reads the replies that came on a lane; says how many bytes they took.
    #[inline]
    fn read(
        &mut self,
        slot: usize,
        bytes: &[u8],
        at_ns: u64,
        output: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind> {
        let is_whole = self.has_wholes();
        let lane = &mut self.lanes[slot];
        let mut used = 0;
        while let Some(flight) = lane.flights.front() {
            self.texts.values.added = flight.added;
            match self.protocol.reply(&bytes[used..], flight, &mut self.texts) {
                Answer::Ended(outcome, bytes) if is_whole => {
                    used += bytes;
                    let record = &mut self.record;
                    self.wholes.end(flight, outcome, C::OPEN, at_ns, record);
                    lane.flights.pop_front();
                }
                Answer::Ended(outcome, bytes) => {
                    used += bytes;
                    let (sent_ns, intended_ns) = (flight.sent_ns, flight.intended_ns);
                    let sent_ns = self.protocol.began_ns().unwrap_or(sent_ns);
                    self.record
                        .end(C::OPEN, outcome, sent_ns, intended_ns, at_ns);
                    lane.flights.pop_front();
                }
                Answer::Then(op, bytes) => {
                    used += bytes;
                    let next = Flight {
                        op,
                        added: flight.added + self.ops.add(),
                        asking: false,
                        redirects: 0,
                        ..*flight
                    };
                    lane.flights.pop_front();
                    if is_whole {
                        self.wholes.then(next);
                        continue;
                    }
                    lane.flights.push_back(next);
                    self.texts.values.added = next.added;
                    self.protocol
                        .request(op, next.index, &mut self.texts, output);
                }
                Answer::Elsewhere(redirect, bytes) => {
                    used += bytes;
                    let flight = *flight;
                    lane.flights.pop_front();
                    self.spread.resend(slot, flight, redirect, &mut self.record);
                }
                Answer::NeedMore => return Ok(used),
                Answer::Lost(kind) => return Err(kind),
            }
        }
        match used == bytes.len() {
            true => Ok(used),
            // Nothing was asked that this could answer.
            false => Err(ErrorKind::Surplus),
        }
    }
}

impl<P: Protocol, C: Pace> Sink for Course<P, C> {
    #[inline]
    fn arrived(
        &mut self,
        slot: usize,
        bytes: &[u8],
        at_ns: u64,
        output: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind> {
        if self.lanes[slot].down {
            return Err(ErrorKind::Connection);
        }
        self.record.last_ns = at_ns;
        let was_full = self.in_flight(slot) == self.settings.depth;
        match self.read(slot, bytes, at_ns, output) {
            Ok(used) => {
                if self.has_wholes() && !P::SPREADS {
                    self.send_due(slot, at_ns, output);
                }
                let left = self.in_flight(slot);
                let lane = &mut self.lanes[slot];
                lane.answered = true;
                if P::SPREADS {
                    if was_full && left < self.settings.depth {
                        lane.free_ns = at_ns;
                    }
                    self.want(slot);
                } else if C::OPEN {
                    if was_full && left < self.settings.depth {
                        lane.free_ns = at_ns;
                    }
                    self.fill(slot, at_ns, self.settings.depth, output);
                    self.list(slot);
                } else if left == 0 {
                    self.fill(slot, at_ns, self.settings.depth, output);
                }
                Ok(used)
            }
            Err(kind) => {
                self.fail(slot, kind, at_ns);
                Err(kind)
            }
        }
    }

    fn lost(&mut self, slot: usize, kind: ErrorKind) {
        self.lost.push((slot, kind));
    }
}
