//! One connection of the floor over `epoll`: its socket, what is said on it, and what it waits
//! for.

use super::answer::Service;
use super::conversation::Conversation;
use crate::clock;
use rustix::event::epoll::EventFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::os::fd::OwnedFd;

/// A slow reader reads so often, as much as its rate then gives.
const SLOW_READS_PER_S: u64 = 100;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    GoesOn,
    Ends,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) socket: OwnedFd,
    conversation: Conversation,
    /// When it reads again, if it reads slowly.
    reads_ns: Option<u64>,
    /// The moment that the clock was last told of.
    pub(super) noted_ns: Option<u64>,
    /// What the poller was last told to look for.
    pub(super) interest: EventFlags,
}

impl Client {
    pub(super) fn new(socket: OwnedFd) -> Client {
        Client {
            socket,
            conversation: Conversation::default(),
            reads_ns: None,
            noted_ns: None,
            interest: EventFlags::IN,
        }
    }

    /// The moment that it waits for, if the clock does not know of it yet.
    pub(super) fn new_moment(&mut self) -> Option<u64> {
        let due_ns = self.conversation.due_ns();
        let moment_ns = due_ns.into_iter().chain(self.reads_ns).min();
        if moment_ns == self.noted_ns {
            return None;
        }
        self.noted_ns = moment_ns;
        moment_ns
    }

    /// What to look for.
    #[inline]
    pub(super) fn wanted(&self) -> EventFlags {
        let mut wanted = EventFlags::empty();
        if self.conversation.wants_input() && self.reads_ns.is_none() {
            wanted |= EventFlags::IN;
        }
        if !self.conversation.unsent().is_empty() {
            wanted |= EventFlags::OUT;
        }
        wanted
    }

    /// Reads what has come and goes on with it; at most so many bytes a second.
    #[inline]
    pub(super) fn read(
        &mut self,
        service: &mut Service,
        chunk: &mut [u8],
        bytes_per_s: Option<u64>,
    ) -> Life {
        let most = bytes_per_s.map_or(chunk.len(), |rate| {
            usize::try_from(rate / SLOW_READS_PER_S)
                .map_or(chunk.len(), |most| most.clamp(1, chunk.len()))
        });
        match recv(&self.socket, &mut chunk[..most], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Life::Ends,
            Ok((_, bytes)) => {
                self.reads_ns = bytes_per_s
                    .map(|rate| clock::now_ns() + bytes as u64 * 1_000_000_000 / rate.max(1));
                self.conversation.receive(&chunk[..bytes], service);
            }
            Err(Errno::AGAIN | Errno::INTR) => return Life::GoesOn,
            Err(_) => return Life::Ends,
        }
        self.send_and_go_on(service)
    }

    /// Answers what is due and reads again if it is time.
    pub(super) fn go_on(&mut self, service: &mut Service) -> Life {
        if self
            .reads_ns
            .is_some_and(|reads_ns| reads_ns <= clock::now_ns())
        {
            self.reads_ns = None;
        }
        self.conversation.go_on(service);
        self.send_and_go_on(service)
    }

    /// Sends what can be sent, and answers what could not be answered before that.
    #[inline]
    fn send_and_go_on(&mut self, service: &mut Service) -> Life {
        loop {
            if self.send(service).is_err() || self.conversation.is_over() {
                return Life::Ends;
            }
            if !self.conversation.is_full() || !self.conversation.unsent().is_empty() {
                return Life::GoesOn;
            }
            self.conversation.go_on(service);
        }
    }

    #[inline]
    fn send(&mut self, service: &mut Service) -> rustix::io::Result<()> {
        loop {
            let unsent = self.conversation.unsent();
            if unsent.is_empty() {
                break;
            }
            match send(
                &self.socket,
                unsent,
                SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            ) {
                Ok(sent) => {
                    self.conversation.was_sent(sent);
                    service.counters.bytes_written += sent as u64;
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(e) => return Err(e),
            }
        }
        service.faults.gone_out(clock::now_ns);
        Ok(())
    }
}
