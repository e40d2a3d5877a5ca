//! Many connections of one thread on one `epoll`: one wait for many events, one `recv` and one
//! `send` for the whole batch of each connection, no read that finds nothing.

use super::outgoing::Outgoing;
use super::{Carry, Io, Sink};
use crate::clock;
use crate::outcome::ErrorKind;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// Events that one wait brings at most.
const EVENTS: usize = 512;
/// What an event of the timer is marked with: no slot.
const TIMER: u64 = u64::MAX;
const TICK_NS: u64 = 1_000_000_000;

/// Sockets in an `epoll`, level-triggered.
#[derive(Debug)]
pub(crate) struct Epoll {
    epoll: OwnedFd,
    /// Ends a wait at a moment, to the nanosecond on every kernel, and once a second besides. It
    /// is armed only when a moment is waited for.
    timer: OwnedFd,
    slots: Vec<Slot>,
    buffer: Vec<u8>,
    /// Lost outside a wait, and not yet told.
    lost: Vec<(usize, ErrorKind)>,
}

#[derive(Debug)]
struct Slot {
    socket: Option<OwnedFd>,
    output: Outgoing,
    carry: Carry,
    /// Whether the kernel is to say when it takes more output.
    waits_to_send: bool,
}

impl Epoll {
    pub(crate) fn new() -> io::Result<Epoll> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        // Edge-triggered: it need not be read to be heard again.
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), flags)?;
        let epoll = Epoll {
            epoll,
            timer,
            slots: Vec::new(),
            buffer: vec![0; super::CHUNK],
            lost: Vec::new(),
        };
        epoll.arm(clock::now_ns() + TICK_NS)?;
        Ok(epoll)
    }

    /// Has the timer end a wait at a moment, and every second from then on.
    fn arm(&self, at_ns: u64) -> io::Result<()> {
        let spec = |ns: u64| Timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        };
        let when = Itimerspec {
            it_interval: spec(TICK_NS),
            it_value: spec(at_ns),
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &when)?;
        Ok(())
    }

    fn watch(&self, slot: usize, socket: &OwnedFd) -> io::Result<()> {
        let data = EventData::new_u64(slot as u64);
        Ok(epoll::add(&self.epoll, socket, data, EventFlags::IN)?)
    }

    /// Has the kernel say when it takes more, or no longer.
    fn settle(&mut self, slot: usize) {
        let entry = &mut self.slots[slot];
        let waits = !entry.output.is_empty();
        if waits == entry.waits_to_send {
            return;
        }
        let Some(socket) = &entry.socket else { return };
        let mut flags = EventFlags::IN;
        flags.set(EventFlags::OUT, waits);
        let data = EventData::new_u64(slot as u64);
        if epoll::modify(&self.epoll, socket, data, flags).is_ok() {
            entry.waits_to_send = waits;
        } else {
            self.lost.push((slot, ErrorKind::Connection));
        }
    }

    #[inline]
    fn receive(&mut self, slot: usize, sink: &mut impl Sink) {
        let entry = &mut self.slots[slot];
        let Some(socket) = &entry.socket else { return };
        let bytes = match recv(socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
            Ok((_, bytes)) => bytes,
            Err(Errno::AGAIN | Errno::INTR) => return,
            Err(_) => 0,
        };
        if bytes == 0 {
            return self.lose(slot, ErrorKind::Connection, sink);
        }
        let at_ns = clock::now_ns();
        let output = &mut entry.output.bytes;
        let fed = entry.carry.feed(&self.buffer[..bytes], |bytes| {
            sink.arrived(slot, bytes, at_ns, output)
        });
        match fed {
            Ok(()) => self.flush(slot),
            Err(_) => entry.socket = None,
        }
    }

    fn lose(&mut self, slot: usize, kind: ErrorKind, sink: &mut impl Sink) {
        if self.slots[slot].socket.take().is_some() {
            sink.lost(slot, kind);
        }
    }
}

impl Io for Epoll {
    fn name(&self) -> &'static str {
        "epoll"
    }

    fn add(&mut self, socket: OwnedFd) -> io::Result<usize> {
        let slot = self.slots.len();
        self.watch(slot, &socket)?;
        self.slots.push(Slot {
            socket: Some(socket),
            output: Outgoing::default(),
            carry: Carry::default(),
            waits_to_send: false,
        });
        Ok(slot)
    }

    fn replace(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()> {
        self.watch(slot, &socket)?;
        let entry = &mut self.slots[slot];
        // The old one leaves the epoll by being closed.
        entry.socket = Some(socket);
        entry.output.clear();
        entry.carry.clear();
        entry.waits_to_send = false;
        self.lost.retain(|(lost, _)| *lost != slot);
        Ok(())
    }

    #[inline]
    fn output(&mut self, slot: usize) -> &mut Vec<u8> {
        &mut self.slots[slot].output.bytes
    }

    #[inline]
    fn flush(&mut self, slot: usize) {
        let entry = &mut self.slots[slot];
        if entry.output.is_empty() {
            return;
        }
        let Some(socket) = &entry.socket else { return };
        match entry.output.send(socket) {
            Err(kind) => self.lost.push((slot, kind)),
            Ok(()) if entry.output.is_empty() != entry.waits_to_send => {}
            Ok(()) => self.settle(slot),
        }
    }

    #[inline]
    fn wait(&mut self, until_ns: Option<u64>, sink: &mut impl Sink) -> io::Result<()> {
        if !self.lost.is_empty() {
            for (slot, kind) in std::mem::take(&mut self.lost) {
                self.lose(slot, kind, sink);
            }
            return Ok(());
        }
        const AT_ONCE: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let timeout = match until_ns {
            None => None,
            Some(until_ns) if until_ns == 0 || until_ns <= clock::now_ns() => Some(&AT_ONCE),
            Some(until_ns) => {
                self.arm(until_ns)?;
                None
            }
        };
        let mut room = [MaybeUninit::<Event>::uninit(); EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room, timeout) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(e) => return Err(e.into()),
        };
        for event in events {
            let data = event.data.u64();
            if data == TIMER {
                continue;
            }
            let (slot, flags) = (data as usize, event.flags);
            if flags.contains(EventFlags::OUT) {
                self.flush(slot);
            }
            if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR) {
                self.receive(slot, sink);
            }
        }
        Ok(())
    }
}
