//! One client of the floor: its bytes in, its bytes out, and the request whose time has not come.

use super::answer::{Service, refusal};
use super::faults::Fate;
use crate::clock;
use roundtrip_wire::memcached::Request;
use roundtrip_wire::{Limits, Parsed};
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::os::fd::OwnedFd;

/// How much is read at once, at least.
const CHUNK: usize = 64 << 10;
/// With so much unsent nothing more is answered: a client that does not take its replies may not
/// fill our memory.
const UNSENT_LIMIT: usize = 1 << 20;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    GoesOn,
    Ends,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    input: Vec<u8>,
    /// What was read and not answered: `input[start..end]`.
    start: usize,
    end: usize,
    output: Vec<u8>,
    sent: usize,
    /// The fate of the request at the front, once its turn has come.
    pending: Option<Fate>,
    arrived_ns: u64,
    free_at_ns: u64,
    closing: bool,
    /// What the poller was last told to look for.
    pub(super) interest: EventFlags,
}

impl Connection {
    pub(super) fn new(socket: OwnedFd) -> Connection {
        Connection {
            socket,
            input: Vec::new(),
            start: 0,
            end: 0,
            output: Vec::new(),
            sent: 0,
            pending: None,
            arrived_ns: 0,
            free_at_ns: 0,
            closing: false,
            interest: EventFlags::IN,
        }
    }

    /// When the request at the front is due, if it waits for that.
    pub(super) fn due_ns(&self) -> Option<u64> {
        self.pending.map(|fate| fate.due_ns)
    }

    /// What to look for. Nothing to read while a request waits or replies are not taken.
    pub(super) fn wanted(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        if self.pending.is_none() && self.unsent() < UNSENT_LIMIT {
            wanted |= EventFlags::IN;
        }
        if self.unsent() > 0 {
            wanted |= EventFlags::OUT;
        }
        wanted
    }

    fn unsent(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Reads what has come and goes on with it.
    pub(super) fn read(&mut self, service: &mut Service) -> Life {
        self.make_room();
        match recv(
            &self.socket,
            &mut self.input[self.end..],
            RecvFlags::empty(),
        ) {
            Ok((_, 0)) => return Life::Ends,
            Ok((_, bytes)) => {
                self.end += bytes;
                service.counters.bytes_read += bytes as u64;
            }
            Err(Errno::AGAIN | Errno::INTR) => return Life::GoesOn,
            Err(_) => return Life::Ends,
        }
        if service.faults.concern_requests() {
            self.arrived_ns = clock::now_ns();
        }
        self.go_on(service)
    }

    /// Answers what is due and sends what can be sent, until one of the two is at its end.
    pub(super) fn go_on(&mut self, service: &mut Service) -> Life {
        loop {
            let was_full = self.answer(service);
            match self.send() {
                Ok(bytes) => service.counters.bytes_written += bytes,
                Err(_) => return Life::Ends,
            }
            if self.closing && self.unsent() == 0 {
                return Life::Ends;
            }
            if !was_full || self.unsent() >= UNSENT_LIMIT {
                return Life::GoesOn;
            }
        }
    }

    /// Answers requests in order; says whether it stopped because too much is unsent.
    fn answer(&mut self, service: &mut Service) -> bool {
        let limits = Limits::default();
        while !self.closing {
            if self.unsent() >= UNSENT_LIMIT {
                return true;
            }
            match Request::parse(&self.input[self.start..self.end], &limits) {
                Parsed::Complete(Request::Quit, _) => self.closing = true,
                Parsed::Complete(request, bytes) => {
                    if service.faults.concern_requests() && is_of_data(&request) {
                        let turn_ns = self.arrived_ns.max(self.free_at_ns);
                        let fate = *self
                            .pending
                            .get_or_insert_with(|| service.faults.next_request(turn_ns));
                        if fate.due_ns > clock::now_ns() {
                            return false;
                        }
                        self.pending = None;
                        self.free_at_ns = fate.due_ns;
                        if fate.drop {
                            self.closing = true;
                            return false;
                        }
                    }
                    service.answer(&request, &mut self.output);
                    self.start += bytes;
                }
                Parsed::NeedMore => return false,
                Parsed::Bad(bad) => {
                    refusal(bad).write(&mut self.output);
                    match bad.skip {
                        Some(bytes) => self.start += bytes,
                        None => self.closing = true,
                    }
                }
            }
        }
        false
    }

    fn send(&mut self) -> rustix::io::Result<u64> {
        let mut bytes = 0;
        while self.unsent() > 0 {
            match send(&self.socket, &self.output[self.sent..], SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    self.sent += sent;
                    bytes += sent as u64;
                }
                Err(Errno::AGAIN) => return Ok(bytes),
                Err(Errno::INTR) => {}
                Err(e) => return Err(e),
            }
        }
        self.output.clear();
        self.sent = 0;
        Ok(bytes)
    }

    /// Sees to it that something can be read. A message that does not fit doubles the buffer; the
    /// codec's limits end that.
    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 && self.end == self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.input.len() {
            let larger = (self.input.len() * 2).max(CHUNK);
            self.input.resize(larger, 0);
        }
    }
}

/// Whether a request is one that faults concern: those that ask about the server are not, so that
/// a witness can always read its counters.
fn is_of_data(request: &Request<'_>) -> bool {
    !matches!(
        request,
        Request::Stats(_)
            | Request::Version
            | Request::Metadump
            | Request::MetaNoop
            | Request::Administer { .. }
            | Request::Quit
    )
}
