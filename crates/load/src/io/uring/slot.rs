//! One connection's side of the ring.

use crate::io::Carry;
use rustix::net::{Shutdown, shutdown};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// What a completion is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The standing request for all that comes.
    Receive,
    /// A send that must be over when it is submitted, told of only when it is not.
    Send,
    /// The rest of such a send, which waits for room.
    Continue,
    /// The clock of the ring, which is no connection's.
    Tick,
}

/// Names a request: which connection, in which of its lives, and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) slot: u32,
    /// Lives begin with a new socket. What completes of an older one is nobody's.
    pub(super) life: u32,
    pub(super) request: Request,
}

impl Tag {
    const LIFE_BITS: u32 = 30;

    pub(super) fn pack(self) -> u64 {
        let life = u64::from(self.life & ((1 << Tag::LIFE_BITS) - 1));
        u64::from(self.slot) << 32 | life << 2 | self.request as u64
    }

    pub(super) fn unpack(packed: u64) -> Tag {
        Tag {
            slot: (packed >> 32) as u32,
            life: (packed as u32) >> 2,
            request: match packed & 3 {
                0 => Request::Receive,
                1 => Request::Send,
                2 => Request::Continue,
                _ => Request::Tick,
            },
        }
    }
}

/// How far the sending of a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// Nothing is with the kernel.
    Idle,
    /// A send is queued; it is over once the kernel has taken the queue.
    Queued,
    /// The kernel holds on to the bytes until it says that they are sent.
    Waiting,
}

/// A connection.
#[derive(Debug)]
pub(super) struct Slot {
    socket: OwnedFd,
    pub(super) life: u32,
    pub(super) carry: Carry,
    /// What is being put together.
    pub(super) output: Vec<u8>,
    /// What is with the kernel, and how much of it is sent.
    pub(super) departing: Vec<u8>,
    pub(super) sent: usize,
    pub(super) sending: Sending,
    pub(super) lost: bool,
}

impl Slot {
    pub(super) fn new(socket: OwnedFd) -> Slot {
        Slot {
            socket,
            life: 0,
            carry: Carry::default(),
            output: Vec::new(),
            departing: Vec::new(),
            sent: 0,
            sending: Sending::Idle,
            lost: false,
        }
    }

    pub(super) fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// The name of a request of this life.
    pub(super) fn tag(&self, slot: usize, request: Request) -> Tag {
        Tag {
            slot: slot as u32,
            life: self.life,
            request,
        }
    }

    /// Ends this life: what completes of it from now on is nobody's. Gives the bytes that the
    /// kernel may still read.
    pub(super) fn end_life(&mut self) -> Option<Vec<u8>> {
        // A closed descriptor would leave the requests standing; a shut socket completes them.
        let _ = shutdown(&self.socket, Shutdown::Both);
        self.lost = true;
        self.life = (self.life + 1) & ((1 << Tag::LIFE_BITS) - 1);
        self.carry.clear();
        self.output.clear();
        self.sent = 0;
        let held = self.sending != Sending::Idle;
        self.sending = Sending::Idle;
        let departing = std::mem::take(&mut self.departing);
        held.then_some(departing)
    }

    /// Begins a life with another socket.
    pub(super) fn begin_life(&mut self, socket: OwnedFd) {
        self.socket = socket;
        self.output.clear();
        self.lost = false;
    }
}
