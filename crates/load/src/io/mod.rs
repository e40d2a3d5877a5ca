//! Bytes over many connections of one thread. How they travel (a blocking socket, `epoll`,
//! `io_uring`, TLS over any of them) and what they mean (a protocol) know nothing of each other:
//! the loop is written once and compiled for each pair.

mod blocking;
mod carry;
mod epoll;
mod hello;
mod loopback;
mod outgoing;
mod socket;
mod tls;
#[cfg(test)]
mod trial;
mod uring;

pub(crate) use blocking::Blocking;
pub(crate) use carry::Carry;
pub(crate) use epoll::Epoll;
pub(crate) use hello::Hello;
pub(crate) use loopback::Loopback;
pub(crate) use socket::{CONNECT_TIMEOUT, LinkOptions, connect};
pub(crate) use tls::{Tls, Trust};
pub(crate) use uring::{Buffers, GROUP, Uring, own_ring, passing};

use crate::outcome::ErrorKind;
use std::io;
use std::os::fd::OwnedFd;

/// How much one read brings at most. One such buffer serves all connections of a thread.
const CHUNK: usize = 64 << 10;

/// Carries bytes over the connections of one thread, each named by its slot, counted from 0 in the
/// order in which they were added.
///
/// Nothing is allocated for a message once the buffers have grown to what the phase needs.
pub(crate) trait Io {
    /// What it is called in a result: `blocking`, `epoll`, `io_uring`.
    fn name(&self) -> &'static str;

    /// The clock that moments are counted on: the machine's, except where a test makes up both the
    /// time and the server, so that what the loop measures has a known answer.
    #[inline]
    fn now_ns(&self) -> u64 {
        crate::clock::now_ns()
    }

    /// Is told by a thread that it alone uses this from now on, before it does. What the kernel
    /// keeps for a thread is made here.
    fn take_up(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Is told by that thread that it has done its part: another one may take this up. What comes
    /// meanwhile is not lost.
    fn lay_down(&mut self) {}

    /// Takes a connected socket, and gives its slot.
    fn add(&mut self, socket: OwnedFd) -> io::Result<usize>;

    /// Puts a new socket in the place of one that was lost. What was still to be sent or read on
    /// the old one is forgotten.
    fn replace(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()>;

    /// What is put here is sent by the next [`Io::flush`] of the slot.
    fn output(&mut self, slot: usize) -> &mut Vec<u8>;

    /// Has the output of a slot sent, now or at the beginning of the next [`Io::wait`]. What the
    /// kernel does not take at once goes out later, while replies are still read: two sides that
    /// both only write would wait for ever.
    fn flush(&mut self, slot: usize);

    /// Waits until something happens on any connection, or until the moment (on the clock of
    /// [`Io::now_ns`]), and tells the sink all that happened. A moment that has passed
    /// (0 always has) makes it look without waiting. It may return early with nothing to tell; and
    /// without a moment it returns after a second or two, so that the loop sees to replies that
    /// never come.
    fn wait(&mut self, until_ns: Option<u64>, sink: &mut impl Sink) -> io::Result<()>;
}

/// Who is told what happens on connections.
pub(crate) trait Sink {
    /// Bytes came: all that were not consumed before, and new ones behind them. `at_ns` is when
    /// the read that brought the last of them returned: one reading of the clock serves all the
    /// messages that came with it. What is put into `output` is sent as if it had been put into
    /// [`Io::output`] and flushed. Gives how many bytes were consumed, or why the connection can
    /// no longer be understood: it is then lost, and [`Sink::lost`] is not called.
    fn arrived(
        &mut self,
        slot: usize,
        bytes: &[u8],
        at_ns: u64,
        output: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind>;

    /// The connection broke, or its other side closed it. Nothing more comes from it until it is
    /// replaced.
    fn lost(&mut self, slot: usize, kind: ErrorKind);
}
