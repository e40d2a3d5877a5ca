//! Connections that are lost, and come back.

use super::mend::Down;
use super::{Course, Pace, REPLY_TIMEOUT_NS};
use crate::io::Io;
use crate::outcome::{ErrorKind, Outcome};
use crate::protocol::Protocol;
use crate::worker::WorkerError;

impl<P: Protocol, C: Pace> Course<P, C> {
    /// Ends all ops in flight on a lane, and the lane's connection.
    pub(super) fn fail(&mut self, slot: usize, kind: ErrorKind, at_ns: u64) {
        let lane = &mut self.lanes[slot];
        if lane.down {
            return;
        }
        lane.down = true;
        let answered = std::mem::take(&mut lane.answered);
        while let Some(flight) = self.lanes[slot].flights.pop_front() {
            self.end(&flight, Outcome::Error(kind), at_ns);
        }
        if !P::SPREADS {
            self.fail_due(kind, at_ns);
        }
        if kind == ErrorKind::Surplus {
            self.record.tally.add(Outcome::Error(kind));
        }
        self.record.last_ns = self.record.last_ns.max(at_ns);
        self.down.push(Down::new(slot, at_ns, answered));
        let lane = &mut self.lanes[slot];
        if lane.listed {
            lane.listed = false;
            self.free.retain(|listed| *listed != slot);
        }
        if P::SPREADS {
            self.withdraw(slot);
        }
    }

    /// Tries to connect the lanes whose time it is.
    pub(super) fn mend(&mut self, io: &mut impl Io) -> Result<(), WorkerError> {
        let Some(mender) = self.settings.mender.clone() else {
            return Err(WorkerError::internal(
                "a store without a connection lost one",
            ));
        };
        let mut now_ns = io.now_ns();
        let mut i = 0;
        while i < self.down.len() {
            if self.down[i].next_try_ns > now_ns {
                i += 1;
                continue;
            }
            let tried = self.down[i].try_again(&mender, now_ns)?;
            now_ns = io.now_ns();
            let Some(socket) = tried else {
                i += 1;
                continue;
            };
            let down = self.down.swap_remove(i);
            io.replace(down.slot, socket)
                .map_err(|e| WorkerError::io(format!("{}: {e}", io.name())))?;
            self.write_gap(&down, now_ns);
            self.lanes[down.slot].down = false;
            self.open_lane(io, down.slot, now_ns);
        }
        Ok(())
    }

    pub(super) fn write_gap(&mut self, down: &Down, now_ns: u64) {
        let first = self.settings.first_connection;
        let gap = down.gap(first, self.record.started_ns, now_ns);
        self.record.gaps.push(gap);
    }

    /// Gives up the connections whose first reply is too late.
    pub(super) fn look_for_missing(&mut self, now_ns: u64) {
        for slot in 0..self.lanes.len() {
            let first = self.lanes[slot].flights.front();
            if first.is_some_and(|first| first.sent_ns + REPLY_TIMEOUT_NS < now_ns) {
                self.fail(slot, ErrorKind::Timeout, now_ns);
            }
        }
    }
}
