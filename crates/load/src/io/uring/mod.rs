//! Connections over `io_uring`: what is to be sent goes to the kernel in the very call that waits
//! for what comes, for all connections at once.
//!
//! - Receiving is one standing (multishot) request a connection, into buffers that the kernel
//!   picks; the bytes are parsed where they are.
//! - A send is asked to end at once, and tells only when it could not. So one that went well costs
//!   no completion, and its bytes are free again when the call that submitted it returns. The rest
//!   of one that did not fit waits in the kernel, which then holds on to the bytes.
//! - `docs/decisions/0009` has what was measured.

// Requests point to memory, and only whoever submits them knows that it stays. Each place says why.
#![allow(unsafe_code)]

mod buffers;
mod face;
mod ring;
mod slot;
#[cfg(test)]
mod tests;

use super::{Io, Sink};
use crate::clock::now_ns;
use crate::outcome::ErrorKind;
pub(crate) use buffers::{Buffers, GROUP};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use ring::Heard;
pub(crate) use ring::{own_ring, passing};
use slot::{Request, Sending, Slot, Tag};
use std::io;
use std::mem::ManuallyDrop;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long the end waits for requests that are still with the kernel.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// A wait without a moment ends after this. One request for it stands in the kernel: a moment given
/// with every wait would set and cancel a timer each time.
static TICK: Timespec = Timespec::new().sec(1);
const TICK_TAG: Tag = Tag {
    slot: u32::MAX,
    life: 0,
    request: Request::Tick,
};

/// Connections of one thread, on a ring of their own.
pub(crate) struct Uring {
    ring: IoUring,
    /// Freed only when the kernel holds no request any more.
    buffers: ManuallyDrop<Buffers>,
    slots: Vec<Slot>,
    /// Slots with a send in the queue.
    queued: Vec<usize>,
    /// Slots that have something to send when all completions were looked at.
    eager: Vec<usize>,
    /// Slots whose standing request ended.
    unarmed: Vec<usize>,
    completions: Vec<cqueue::Entry>,
    /// Bytes of lives that ended, with the request that may still read them.
    held: Vec<(u64, Vec<u8>)>,
    /// Requests that are with the kernel and will complete.
    standing: usize,
    /// Whether a thread has taken this up: the ring is that thread's own.
    taken_up: bool,
    /// Lost while no thread had this, and not yet told.
    untold: Vec<(usize, ErrorKind)>,
    /// Whether the request for the tick is among what the kernel has. It points to no memory of
    /// the ring's, so nobody waits for its end.
    ticking: bool,
}

impl Uring {
    /// A ring for so many connections; a sentence that says why there can be none.
    pub(crate) fn new(connections: usize) -> Result<Uring, String> {
        let mut uring =
            Uring::build(connections).map_err(|e| format!("the kernel refuses io_uring: {e}"))?;
        uring
            .rehearse()
            .map_err(|e| format!("the kernel's io_uring cannot do what is needed: {e}"))?;
        Ok(uring)
    }

    fn build(connections: usize) -> io::Result<Uring> {
        let (ring, buffers) = own_ring(connections, u16::MAX)?;
        Ok(Uring {
            ring,
            buffers: ManuallyDrop::new(buffers),
            slots: Vec::with_capacity(connections),
            queued: Vec::with_capacity(connections),
            eager: Vec::with_capacity(connections),
            unarmed: Vec::with_capacity(connections),
            completions: Vec::with_capacity(connections * 2),
            held: Vec::new(),
            standing: 0,
            taken_up: false,
            untold: Vec::new(),
            ticking: false,
        })
    }

    /// Sends and receives once over a pair of sockets: kernels do not list all that they can do.
    fn rehearse(&mut self) -> io::Result<()> {
        let (near, mut far) = UnixStream::pair()?;
        self.taken_up = true;
        let slot = self.add(near.into())?;
        let mut heard = Heard::default();
        self.output(slot).push(b'?');
        self.flush(slot);
        io::Write::write_all(&mut far, b"!")?;
        self.wait(Some(now_ns() + LAST_WAIT.as_nanos() as u64), &mut heard)?;
        let mut asked = [0];
        far.set_nonblocking(true)?;
        io::Read::read_exact(&mut far, &mut asked)?;
        self.end(slot);
        self.settle(&mut heard)?;
        self.slots.clear();
        self.queued.clear();
        self.taken_up = false;
        match heard.bytes {
            1 => Ok(()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Waits until nothing of what ended is with the kernel.
    fn settle(&mut self, sink: &mut impl Sink) -> io::Result<()> {
        let until = now_ns() + LAST_WAIT.as_nanos() as u64;
        while self.standing > 0 {
            if now_ns() > until {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.wait(Some(until), sink)?;
        }
        Ok(())
    }

    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: a receive points to no memory of its own; the tick's is static. A send points to the bytes of a slot
        // that is not touched while its state is not `Idle`, or that is then kept in `held`.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            // A full queue is handed over; what that completes is looked at by the next wait.
            if self.ring.submit().is_err() {
                std::thread::yield_now();
            }
        }
    }

    /// Asks for all that comes on a connection.
    fn arm(&mut self, slot: usize) {
        let it = &self.slots[slot];
        let entry = opcode::RecvMulti::new(Fd(it.fd()), GROUP)
            .build()
            .user_data(it.tag(slot, Request::Receive).pack());
        self.standing += 1;
        self.push(&entry);
    }

    /// Queues what there is to send, unless something of the connection is still on its way.
    #[inline]
    fn depart(&mut self, slot: usize) {
        let it = &mut self.slots[slot];
        if it.sending != Sending::Idle || it.output.is_empty() || it.lost || !self.taken_up {
            return;
        }
        it.departing.clear();
        std::mem::swap(&mut it.output, &mut it.departing);
        it.sent = 0;
        it.sending = Sending::Queued;
        // To be over at once, whole or not at all done: a send that is not is told of.
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL;
        let entry = opcode::Send::new(
            Fd(it.fd()),
            it.departing.as_ptr(),
            it.departing.len() as u32,
        )
        .flags(flags)
        .build()
        .flags(squeue::Flags::SKIP_SUCCESS)
        .user_data(it.tag(slot, Request::Send).pack());
        self.queued.push(slot);
        self.push(&entry);
    }

    /// Has the rest of a send wait for room.
    fn go_on(&mut self, slot: usize) {
        let it = &mut self.slots[slot];
        it.sending = Sending::Waiting;
        let rest = &it.departing[it.sent..];
        let entry = opcode::Send::new(Fd(it.fd()), rest.as_ptr(), rest.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .user_data(it.tag(slot, Request::Continue).pack());
        self.standing += 1;
        self.push(&entry);
    }

    /// Ends the life of a connection. The bytes that the kernel may still read are kept.
    fn end(&mut self, slot: usize) {
        let it = &mut self.slots[slot];
        let request = match it.sending {
            Sending::Waiting => Request::Continue,
            _ => Request::Send,
        };
        let tag = it.tag(slot, request).pack();
        if let Some(bytes) = it.end_life() {
            self.held.push((tag, bytes));
        }
    }

    fn lose(&mut self, slot: usize, kind: ErrorKind, sink: &mut impl Sink) {
        self.end(slot);
        sink.lost(slot, kind);
    }

    /// Hands the queue to the kernel and waits for a completion.
    #[inline]
    fn enter(&mut self, until_ns: Option<u64>) -> io::Result<()> {
        if until_ns.is_none() && !self.ticking {
            self.ticking = true;
            self.push(
                &opcode::Timeout::new(&TICK)
                    .build()
                    .user_data(TICK_TAG.pack()),
            );
        }
        let entered = match until_ns {
            None => self.ring.submit_and_wait(1),
            Some(until_ns) => {
                let left = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
                let timespec = Timespec::from(left);
                self.ring
                    .submitter()
                    .submit_with_args(1, &SubmitArgs::new().timespec(&timespec))
            }
        };
        passing(entered)?;
        // Almost never: a call may end before it has taken the whole queue.
        self.hand_over()
    }

    /// Looks at all that was completed.
    fn look(&mut self, sink: &mut impl Sink) -> io::Result<()> {
        let at_ns = now_ns();
        loop {
            let mut completions = std::mem::take(&mut self.completions);
            completions.extend(self.ring.completion());
            for completion in &completions {
                self.completed(completion, at_ns, sink);
            }
            completions.clear();
            self.completions = completions;
            self.buffers.publish();
            // What did not fit waits in the kernel; sends that failed may be among it.
            if !self.ring.submission().cq_overflow() {
                return Ok(());
            }
            passing(self.ring.submit())?;
        }
    }

    #[inline]
    fn completed(&mut self, completion: &cqueue::Entry, at_ns: u64, sink: &mut impl Sink) {
        let (result, flags) = (completion.result(), completion.flags());
        let tag = Tag::unpack(completion.user_data());
        if tag.request == Request::Tick {
            self.ticking = false;
            return;
        }
        let slot = tag.slot as usize;
        let more = cqueue::more(flags);
        if !more && tag.request != Request::Send {
            self.standing -= 1;
        }
        let alive = self
            .slots
            .get(slot)
            .is_some_and(|it| it.life == tag.life && !it.lost);
        match tag.request {
            Request::Receive => {
                if let Some(buffer) = cqueue::buffer_select(flags) {
                    if alive && result > 0 {
                        self.arrived(slot, buffer, result as usize, at_ns, sink);
                    }
                    self.buffers.give_back(buffer);
                }
                if alive && !self.slots[slot].lost {
                    self.received(slot, result, more, sink);
                }
            }
            _ if alive => self.sent(slot, result, sink),
            _ => self
                .held
                .retain(|(held, _)| *held != completion.user_data()),
        }
    }

    #[inline]
    fn arrived(
        &mut self,
        slot: usize,
        buffer: u16,
        bytes: usize,
        at_ns: u64,
        sink: &mut impl Sink,
    ) {
        let it = &mut self.slots[slot];
        let (output, came) = (&mut it.output, self.buffers.received(buffer, bytes));
        let fed = it
            .carry
            .feed(came, |bytes| sink.arrived(slot, bytes, at_ns, output));
        match fed {
            Ok(()) if it.output.is_empty() => {}
            Ok(()) => self.eager.push(slot),
            // The sink knows: it said so.
            Err(_) => self.end(slot),
        }
    }

    /// What a receive means besides the bytes that it brought.
    fn received(&mut self, slot: usize, result: i32, more: bool, sink: &mut impl Sink) {
        match result {
            1.. if more => {}
            1.. => self.unarmed.push(slot),
            // This thread lays its ring down.
            _ if result == -libc::ECANCELED => {}
            // All buffers were taken: they are free again after this look.
            _ if result == -libc::ENOBUFS || result == -libc::EINTR => self.unarmed.push(slot),
            _ => self.lose(slot, ErrorKind::Connection, sink),
        }
    }

    /// A send that could not end at once, or the rest of one that now has.
    fn sent(&mut self, slot: usize, result: i32, sink: &mut impl Sink) {
        let it = &mut self.slots[slot];
        match result {
            0.. => it.sent += result as usize,
            _ if result == -libc::EAGAIN || result == -libc::EINTR => {}
            _ => {
                // The kernel is done with the bytes.
                it.sending = Sending::Idle;
                return self.lose(slot, ErrorKind::Connection, sink);
            }
        }
        if it.sent < it.departing.len() {
            return self.go_on(slot);
        }
        it.sending = Sending::Idle;
        self.eager.push(slot);
    }

    /// After a look: sends that the kernel has taken and did not complain of are over.
    fn over(&mut self) {
        for slot in self.queued.drain(..) {
            let it = &mut self.slots[slot];
            if it.sending == Sending::Queued {
                it.sending = Sending::Idle;
            }
        }
        self.held
            .retain(|(held, _)| Tag::unpack(*held).request == Request::Continue);
    }

    /// Has the kernel take the queue: what names a socket must be taken before the socket goes.
    fn hand_over(&mut self) -> io::Result<()> {
        while !self.ring.submission().is_empty() {
            passing(self.ring.submit())?;
        }
        Ok(())
    }
}
