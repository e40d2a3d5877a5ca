//! The floor over `io_uring`: all answers go to the kernel in the very call that waits for the
//! next requests. It is late for nobody: whoever asks for faults gets `epoll`, which keeps moments.
//!
//! - Receiving is one standing (multishot) request a connection, into buffers that the kernel picks.
//! - A send is over when the call that submits it returns, unless a completion says otherwise; the
//!   rest then waits in the kernel, which holds on to the bytes (`docs/decisions/0009`).
//! - A connection keeps its number until the kernel holds nothing of it, so that whatever completes
//!   is that connection's.

// Requests point to memory, and only whoever submits them knows that it stays. Each place says why.
#![allow(unsafe_code)]

use super::answer::Service;
use super::clients::Clients;
use super::conversation::Conversation;
use super::counters::Counters;
use super::options::FloorOptions;
use super::socket::Listener;
use crate::clock;
use crate::io::{Buffers, GROUP, Uring, own_ring, passing};
use io_uring::types::Fd;
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::net::{Shutdown, shutdown};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

/// So many connections the ring is sized for; more are served, with more calls.
const USUAL_CONNECTIONS: usize = 128;

/// Buffers besides one for each connection.
const SPARE_BUFFERS: usize = 4;

/// What completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Accept,
    Receive,
    Send,
    Cancel,
}

fn tag(slot: usize, request: Request) -> u64 {
    (slot as u64) << 2 | request as u64
}

fn untag(tag: u64) -> (usize, Request) {
    let request = match tag & 3 {
        0 => Request::Accept,
        1 => Request::Receive,
        2 => Request::Send,
        _ => Request::Cancel,
    };
    ((tag >> 2) as usize, request)
}

/// How far a send is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// Nothing is with the kernel.
    Idle,
    /// It is queued, and over once the kernel has taken the queue.
    Queued,
    /// The kernel holds on to the bytes until it says that they are sent.
    Waiting,
}

/// How far the standing request for what comes is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receiving {
    Off,
    On,
    /// It was asked to end, and has not said that it did.
    Ending,
}

#[derive(Debug)]
struct Client {
    socket: OwnedFd,
    conversation: Conversation,
    receiving: Receiving,
    sending: Sending,
    /// What is with the kernel, and how much of it is sent.
    departing: Vec<u8>,
    sent: usize,
    /// Whether nothing more comes: what there is to say is said, and that is all.
    finished: bool,
    /// Whether it is only kept until the kernel holds nothing of it.
    lost: bool,
}

impl Client {
    fn new(socket: OwnedFd) -> Client {
        Client {
            socket,
            conversation: Conversation::default(),
            receiving: Receiving::Off,
            sending: Sending::Idle,
            departing: Vec::new(),
            sent: 0,
            finished: false,
            lost: false,
        }
    }

    fn fd(&self) -> Fd {
        Fd(self.socket.as_raw_fd())
    }

    /// Ends it, which is counted before the other side can know. A shut socket completes what the
    /// kernel holds of it.
    fn lose(&mut self, counters: &mut Counters) {
        if std::mem::replace(&mut self.lost, true) {
            return;
        }
        counters.curr_connections -= 1;
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}

pub(super) struct Server<'a> {
    listener: &'a Listener,
    ring: IoUring,
    buffers: Buffers,
    clients: Clients<Client>,
    /// Connections that anything happened to, which are attended to after all was looked at.
    touched: Vec<usize>,
    /// Connections with a send in the queue.
    queued: Vec<usize>,
    completions: Vec<cqueue::Entry>,
    /// Buffers that the kernel does not have: it goes through all that it has in a circle, so that
    /// more than are needed would take the room of other things in the processor's caches.
    kept_back: Vec<u16>,
    /// Whether something is to be done once the queue was taken, whatever comes.
    hurried: bool,
    listening: bool,
    service: Service,
}

impl<'a> Server<'a> {
    /// A ring; an error where the kernel has none that can do what is needed.
    pub(super) fn new(
        listener: &'a Listener,
        options: &FloorOptions,
        service: Service,
    ) -> io::Result<Server<'a>> {
        let (ring, buffers) = own_ring(USUAL_CONNECTIONS, 0)?;
        Ok(Server {
            listener,
            ring,
            kept_back: (0..buffers.count()).collect(),
            buffers,
            clients: Clients::new(options.connections),
            touched: Vec::new(),
            queued: Vec::new(),
            completions: Vec::new(),
            hurried: false,
            listening: false,
            service,
        })
    }

    /// Serves. Returns only with a problem, and then leaves all memory to the kernel, which may
    /// still write to it.
    pub(super) fn serve(self) -> io::Result<()> {
        let mut server = ManuallyDrop::new(self);
        loop {
            server.turn()?;
        }
    }

    fn turn(&mut self) -> io::Result<()> {
        if !self.listening {
            self.listening = true;
            let fd: RawFd = self.listener.as_fd().as_raw_fd();
            let poll = opcode::PollAdd::new(Fd(fd), libc::POLLIN as u32).multi(true);
            self.push(&poll.build().user_data(tag(0, Request::Accept)));
        }
        let awaited = usize::from(!std::mem::take(&mut self.hurried));
        passing(self.ring.submit_and_wait(awaited))?;
        // Almost never: a call may end before it has taken the whole queue.
        while !self.ring.submission().is_empty() {
            passing(self.ring.submit())?;
        }
        self.service.memory.now_ms = clock::unix_ms();
        self.look()?;
        for slot in self.queued.drain(..) {
            if let Some(client) = self.clients.get(slot)
                && client.sending == Sending::Queued
            {
                client.sending = Sending::Idle;
                if client.finished || !client.conversation.is_at_rest() {
                    self.touched.push(slot);
                }
            }
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.drain(..).for_each(|slot| self.attend(slot));
        self.touched = touched;
        Ok(())
    }

    fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: a send points to the bytes of a connection that are not touched while its state is
        // not `Idle`, and the connection stays until then; nothing else points to memory.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            // A full queue is handed over; what that completes is looked at in the next turn.
            if self.ring.submit().is_err() {
                std::thread::yield_now();
            }
        }
    }

    /// Looks at all that was completed.
    fn look(&mut self) -> io::Result<()> {
        loop {
            let mut completions = std::mem::take(&mut self.completions);
            completions.extend(self.ring.completion());
            for completion in completions.drain(..) {
                self.completed(&completion);
            }
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
    fn completed(&mut self, completion: &cqueue::Entry) {
        let (result, flags) = (completion.result(), completion.flags());
        let (slot, request) = untag(completion.user_data());
        match request {
            Request::Receive => self.received(slot, result, flags),
            Request::Send => self.sent(slot, result),
            Request::Accept => {
                self.listening = cqueue::more(flags);
                self.accept();
            }
            Request::Cancel => {}
        }
    }

    fn accept(&mut self) {
        // What is wrong with one connection, or with their number, is no reason to stop serving.
        while let Ok(socket) = self.listener.accept() {
            let made = self
                .clients
                .add(&mut self.service.counters, |_| Some(Client::new(socket)));
            self.touched.extend(made);
        }
        let circling = usize::from(self.buffers.count()) - self.kept_back.len();
        let wanted = (self.service.counters.curr_connections as usize + SPARE_BUFFERS)
            .saturating_sub(circling);
        let from = self.kept_back.len().saturating_sub(wanted);
        for buffer in self.kept_back.drain(from..) {
            self.buffers.give_back(buffer);
        }
    }

    #[inline]
    fn received(&mut self, slot: usize, result: i32, flags: u32) {
        let buffer = cqueue::buffer_select(flags);
        if let Some(client) = self.clients.get(slot) {
            if let (Some(buffer), 1.., false) = (buffer, result, client.lost) {
                let came = self.buffers.received(buffer, result as usize);
                client.conversation.receive(came, &mut self.service);
            }
            if !cqueue::more(flags) {
                client.receiving = Receiving::Off;
            }
            match result {
                1.. => {}
                // It was told to end, or all buffers were taken, which are free again after this.
                _ if [libc::ECANCELED, libc::ENOBUFS, libc::EINTR].contains(&-result) => {}
                0 => client.finished = true,
                _ => client.lose(&mut self.service.counters),
            }
            self.touched.push(slot);
        }
        if let Some(buffer) = buffer {
            self.buffers.give_back(buffer);
        }
    }

    /// A send that could not end at once, or the rest of one that now has.
    fn sent(&mut self, slot: usize, result: i32) {
        let Some(client) = self.clients.get(slot) else {
            return;
        };
        self.touched.push(slot);
        match result {
            0.. => client.sent += result as usize,
            _ if result == -libc::EAGAIN || result == -libc::EINTR => {}
            _ => client.lose(&mut self.service.counters),
        }
        if client.lost || client.sent >= client.departing.len() {
            client.sending = Sending::Idle;
            return;
        }
        client.sending = Sending::Waiting;
        let rest = &client.departing[client.sent..];
        let entry = opcode::Send::new(client.fd(), rest.as_ptr(), rest.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .user_data(tag(slot, Request::Send));
        self.push(&entry);
    }

    /// After anything happened on a connection: says what there is to say, asks for what comes if
    /// that is wanted, and lets it go once the kernel holds nothing of it.
    #[inline]
    fn attend(&mut self, slot: usize) {
        let Some(client) = self.clients.get(slot) else {
            return;
        };
        let idle = client.sending == Sending::Idle;
        if !client.lost && idle {
            if client.conversation.is_full() && client.conversation.unsent().is_empty() {
                client.conversation.go_on(&mut self.service);
            }
            if !client.conversation.unsent().is_empty() {
                return self.depart(slot);
            }
        }
        let over = client.finished && client.sending != Sending::Queued
            || idle && client.conversation.is_over();
        if over {
            client.lose(&mut self.service.counters);
        }
        if client.lost && idle && client.receiving == Receiving::Off {
            self.clients.free(slot);
            return;
        }
        self.arm_or_not(slot);
    }

    /// Sends what was said.
    #[inline]
    fn depart(&mut self, slot: usize) {
        let Some(client) = self.clients.get(slot) else {
            return;
        };
        client.conversation.take_unsent(&mut client.departing);
        client.sent = 0;
        client.sending = Sending::Queued;
        self.hurried |= client.finished || !client.conversation.is_at_rest();
        let bytes = &client.departing;
        self.service.counters.bytes_written += bytes.len() as u64;
        // To be over at once, whole or not at all done: a send that is not is told of.
        let entry = opcode::Send::new(client.fd(), bytes.as_ptr(), bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(tag(slot, Request::Send));
        self.queued.push(slot);
        self.push(&entry);
        self.arm_or_not(slot);
    }

    /// Asks for all that comes, or no longer.
    #[inline]
    fn arm_or_not(&mut self, slot: usize) {
        let Some(client) = self.clients.get(slot) else {
            return;
        };
        let wanted = client.conversation.wants_input() && !client.finished && !client.lost;
        let entry = match (client.receiving, wanted) {
            (Receiving::Off, true) => {
                client.receiving = Receiving::On;
                opcode::RecvMulti::new(client.fd(), GROUP)
                    .build()
                    .user_data(tag(slot, Request::Receive))
            }
            (Receiving::On, false) if !client.lost => {
                client.receiving = Receiving::Ending;
                opcode::AsyncCancel::new(tag(slot, Request::Receive))
                    .build()
                    .user_data(tag(slot, Request::Cancel))
            }
            _ => return,
        };
        self.push(&entry);
    }
}

/// Why there can be no floor over `io_uring` here, if there cannot.
pub(super) fn refusal() -> Option<String> {
    Uring::new(1).err()
}
