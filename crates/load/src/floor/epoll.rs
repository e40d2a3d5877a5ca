//! The floor over `epoll`: one thread that waits for sockets and for moments. It does everything
//! that can be asked of a floor.

use super::answer::Service;
use super::client::{Client, Life};
use super::clients::Clients;
use super::options::FloorOptions;
use super::socket::Listener;
use crate::clock;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

const LISTENER: u64 = u64::MAX;
/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// The last of a wait is spent asking, not sleeping, because waking up takes time. How much of it:
/// between these, as waking up was found to take.
const SPIN_NS: std::ops::RangeInclusive<u64> = 30_000..=1_000_000;

pub(super) struct Server<'a> {
    listener: &'a Listener,
    poller: OwnedFd,
    clients: Clients<Client>,
    /// Moments and whose they are. One that is no longer its client's is passed over.
    moments: BinaryHeap<Reverse<(u64, usize)>>,
    spin_ns: u64,
    slow_read: Option<u64>,
    service: Service,
    chunk: Vec<u8>,
}

impl<'a> Server<'a> {
    pub(super) fn new(
        listener: &'a Listener,
        options: &FloorOptions,
        service: Service,
    ) -> rustix::io::Result<Server<'a>> {
        let poller = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let data = epoll::EventData::new_u64(LISTENER);
        epoll::add(&poller, listener, data, epoll::EventFlags::IN)?;
        Ok(Server {
            listener,
            poller,
            clients: Clients::new(options.connections),
            moments: BinaryHeap::new(),
            spin_ns: *SPIN_NS.start(),
            slow_read: options.slow_read,
            service,
            chunk: vec![0; CHUNK],
        })
    }

    /// Serves. Returns only with a problem.
    pub(super) fn serve(mut self) -> rustix::io::Result<()> {
        // By default the kernel may be 50 us late on purpose.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events = Vec::with_capacity(256);
        loop {
            self.wait(&mut events)?;
            self.service.memory.now_ms = clock::unix_ms();
            for event in events.drain(..) {
                match event.data.u64() {
                    LISTENER => self.accept(),
                    token => self.ready(token as usize, event.flags),
                }
            }
            self.meet_moments();
        }
    }

    fn wait(&mut self, events: &mut Vec<epoll::Event>) -> rustix::io::Result<()> {
        let timeout = match self.moments.peek() {
            None => None,
            Some(Reverse((moment_ns, _))) => {
                self.sleep_until(*moment_ns)?;
                Some(timespec(0))
            }
        };
        let waited = epoll::wait(&self.poller, spare_capacity(events), timeout.as_ref());
        unless_interrupted(waited.map(|_| ()))
    }

    /// Sleeps until something happens or a moment is so near that sleeping might miss it.
    fn sleep_until(&mut self, moment_ns: u64) -> rustix::io::Result<()> {
        let left_ns = moment_ns.saturating_sub(clock::now_ns());
        if left_ns <= self.spin_ns {
            return Ok(());
        }
        // epoll counts in milliseconds; poll does not.
        let mut fds = [PollFd::new(&self.poller, PollFlags::IN)];
        let time = timespec(left_ns - self.spin_ns);
        let woken_by_time = matches!(poll(&mut fds, Some(&time)), Ok(0));
        if woken_by_time {
            let late_ns = clock::now_ns().saturating_sub(moment_ns - self.spin_ns);
            // Up at once, down slowly: what was late once will be again.
            self.spin_ns = (late_ns + late_ns / 2)
                .max(self.spin_ns - self.spin_ns / 64)
                .clamp(*SPIN_NS.start(), *SPIN_NS.end());
        }
        Ok(())
    }

    fn accept(&mut self) {
        // What is wrong with one connection, or with their number, is no reason to stop serving.
        while let Ok(socket) = self.listener.accept() {
            let (poller, counters) = (&self.poller, &mut self.service.counters);
            self.clients.add(counters, |token| {
                let data = epoll::EventData::new_u64(token as u64);
                epoll::add(poller, &socket, data, epoll::EventFlags::IN).ok()?;
                Some(Client::new(socket))
            });
        }
    }

    fn ready(&mut self, token: usize, flags: epoll::EventFlags) {
        let Some(client) = self.clients.get(token) else {
            return;
        };
        let trouble = epoll::EventFlags::ERR | epoll::EventFlags::HUP;
        let life = if flags.contains(epoll::EventFlags::IN) {
            client.read(&mut self.service, &mut self.chunk, self.slow_read)
        } else if flags.intersects(trouble) {
            Life::Ends
        } else {
            client.go_on(&mut self.service)
        };
        self.settle(token, life);
    }

    fn meet_moments(&mut self) {
        while let Some(Reverse((moment_ns, token))) = self.moments.peek().copied() {
            if moment_ns > clock::now_ns() {
                return;
            }
            self.moments.pop();
            let client = self.clients.get(token);
            if let Some(client) = client.filter(|client| client.noted_ns == Some(moment_ns)) {
                client.noted_ns = None;
                let life = client.go_on(&mut self.service);
                self.settle(token, life);
            }
        }
    }

    /// After anything happened on a connection: ends it, or tells the poller and the clock what
    /// it waits for now.
    fn settle(&mut self, token: usize, life: Life) {
        let Some(client) = self.clients.get(token) else {
            return;
        };
        if life == Life::GoesOn {
            if let Some(moment_ns) = client.new_moment() {
                self.moments.push(Reverse((moment_ns, token)));
            }
            let wanted = client.wanted();
            if wanted == client.interest {
                return;
            }
            let data = epoll::EventData::new_u64(token as u64);
            if epoll::modify(&self.poller, &client.socket, data, wanted).is_ok() {
                client.interest = wanted;
                return;
            }
        }
        self.clients.remove(token, &mut self.service.counters);
    }
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    }
}

fn unless_interrupted(result: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match result {
        Err(Errno::INTR) => Ok(()),
        other => other,
    }
}
