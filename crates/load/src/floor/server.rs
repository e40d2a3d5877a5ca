//! The loop of the floor: one thread that waits for sockets and for due times.

use super::answer::Service;
use super::connection::{Connection, Life};
use super::options::FloorOptions;
use super::socket::Listener;
use crate::clock;
use roundtrip_model::{Kind, Problem, Result};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::io::Errno;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;

const LISTENER: u64 = u64::MAX;
/// The last of a wait is spent asking, not sleeping: waking up takes longer than the error that a
/// due time may have.
const SPIN_NS: u64 = 60_000;

/// A server that listens.
#[derive(Debug)]
pub struct Floor {
    listener: Listener,
    address: String,
    poller: OwnedFd,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    most_connections: usize,
    /// Due times and whose they are. One that is no longer its connection's is passed over.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    service: Service,
}

impl Floor {
    /// Listens; connections are taken once it serves.
    pub fn bind(options: FloorOptions) -> Result<Floor> {
        let (listener, address) = Listener::bind(&options.listen)?;
        let poller = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        let data = epoll::EventData::new_u64(LISTENER);
        epoll::add(&poller, &listener, data, epoll::EventFlags::IN).map_err(failed)?;
        Ok(Floor {
            listener,
            address,
            poller,
            connections: Vec::new(),
            free: Vec::new(),
            most_connections: options.connections,
            due: BinaryHeap::new(),
            service: Service::new(&options),
        })
    }

    /// Where it listens: `127.0.0.1:PORT`, or the path of a socket.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Serves. Returns only with a problem.
    pub fn serve(mut self) -> Result<()> {
        // By default the kernel may be 50 us late on purpose.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events = Vec::with_capacity(256);
        loop {
            self.wait(&mut events).map_err(failed)?;
            self.service.memory.now_s = clock::unix_s();
            for event in events.drain(..) {
                match event.data.u64() {
                    LISTENER => self.accept(),
                    token => self.ready(token as usize, event.flags),
                }
            }
            self.answer_due();
        }
    }

    fn wait(&self, events: &mut Vec<epoll::Event>) -> rustix::io::Result<()> {
        let left_ns = self
            .due
            .peek()
            .map(|Reverse((due_ns, _))| due_ns.saturating_sub(clock::now_ns()));
        let timeout = match left_ns {
            None => None,
            Some(left_ns) => {
                if left_ns > SPIN_NS {
                    // epoll counts in milliseconds; poll does not.
                    let mut fds = [PollFd::new(&self.poller, PollFlags::IN)];
                    let time = timespec(left_ns - SPIN_NS);
                    unless_interrupted(poll(&mut fds, Some(&time)).map(|_| ()))?;
                }
                Some(timespec(0))
            }
        };
        let waited = epoll::wait(&self.poller, spare_capacity(events), timeout.as_ref());
        unless_interrupted(waited.map(|_| ()))
    }

    fn accept(&mut self) {
        // What is wrong with one connection, or with their number, is no reason to stop serving.
        while let Ok(socket) = self.listener.accept() {
            let token = self.free.pop().unwrap_or(self.connections.len());
            let counters = &mut self.service.counters;
            let data = epoll::EventData::new_u64(token as u64);
            if counters.curr_connections >= self.most_connections as u64
                || epoll::add(&self.poller, &socket, data, epoll::EventFlags::IN).is_err()
            {
                counters.rejected_connections += 1;
                if token < self.connections.len() {
                    self.free.push(token);
                }
                continue;
            }
            counters.curr_connections += 1;
            counters.total_connections += 1;
            if token == self.connections.len() {
                self.connections.push(None);
            }
            self.connections[token] = Some(Connection::new(socket));
        }
    }

    fn ready(&mut self, token: usize, flags: epoll::EventFlags) {
        let Some(connection) = self.connections.get_mut(token).and_then(Option::as_mut) else {
            return;
        };
        let trouble = epoll::EventFlags::ERR | epoll::EventFlags::HUP;
        let life = if flags.contains(epoll::EventFlags::IN) {
            connection.read(&mut self.service)
        } else if flags.intersects(trouble) {
            Life::Ends
        } else {
            connection.go_on(&mut self.service)
        };
        self.settle(token, life);
    }

    fn answer_due(&mut self) {
        while let Some(Reverse((due_ns, token))) = self.due.peek().copied() {
            if due_ns > clock::now_ns() {
                return;
            }
            self.due.pop();
            let connection = self.connections.get_mut(token).and_then(Option::as_mut);
            if let Some(connection) = connection.filter(|c| c.due_ns() == Some(due_ns)) {
                let life = connection.go_on(&mut self.service);
                self.settle(token, life);
            }
        }
    }

    /// After anything happened on a connection: ends it, or tells the poller and the clock what
    /// it waits for now.
    fn settle(&mut self, token: usize, life: Life) {
        let Some(connection) = self.connections[token].as_mut() else {
            return;
        };
        if life == Life::GoesOn {
            if let Some(due_ns) = connection.due_ns() {
                self.due.push(Reverse((due_ns, token)));
            }
            let wanted = connection.wanted();
            if wanted == connection.interest {
                return;
            }
            let data = epoll::EventData::new_u64(token as u64);
            if epoll::modify(&self.poller, &connection.socket, data, wanted).is_ok() {
                connection.interest = wanted;
                return;
            }
        }
        self.connections[token] = None;
        self.free.push(token);
        self.service.counters.curr_connections -= 1;
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

fn failed(e: Errno) -> Problem {
    Problem::new(Kind::Failed, format!("the floor cannot go on: {e}"))
}
