//! One connection, one `send` and one `recv` for each batch, and nothing else: what a plain
//! blocking client does.

use super::outgoing::Outgoing;
use super::{Carry, Io, Sink};
use crate::clock;
use crate::outcome::ErrorKind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, recv};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A wait without a moment ends after so long.
const TICK: Duration = Duration::from_secs(1);

/// One blocking socket.
#[derive(Debug)]
pub(crate) struct Blocking {
    socket: Option<OwnedFd>,
    output: Outgoing,
    carry: Carry,
    buffer: Vec<u8>,
    lost: Option<ErrorKind>,
}

impl Blocking {
    pub(crate) fn new() -> Blocking {
        Blocking {
            socket: None,
            output: Outgoing::default(),
            carry: Carry::default(),
            buffer: vec![0; super::CHUNK],
            lost: None,
        }
    }

    /// Receives what is there, or waits for it, and has it read.
    #[inline]
    fn receive(&mut self, flags: RecvFlags, sink: &mut impl Sink) {
        let Some(socket) = &self.socket else { return };
        let lost = match recv(socket, &mut self.buffer[..], flags) {
            Ok((_, 0)) => Some(ErrorKind::Connection),
            Ok((_, bytes)) => {
                let at_ns = clock::now_ns();
                let output = &mut self.output.bytes;
                let fed = self.carry.feed(&self.buffer[..bytes], |bytes| {
                    sink.arrived(0, bytes, at_ns, output)
                });
                if fed.is_err() {
                    self.socket = None;
                    return;
                }
                self.output.send(socket).err()
            }
            // The tick, or nothing there.
            Err(Errno::AGAIN | Errno::INTR) => None,
            Err(_) => Some(ErrorKind::Connection),
        };
        if let Some(kind) = lost {
            self.lose(kind, sink);
        }
    }

    fn lose(&mut self, kind: ErrorKind, sink: &mut impl Sink) {
        self.socket = None;
        sink.lost(0, kind);
    }

    /// Sends what the kernel did not take at once, while replies are read.
    fn push(&mut self, sink: &mut impl Sink) {
        let Some(socket) = &self.socket else { return };
        if wait_for(socket, PollFlags::IN | PollFlags::OUT, TICK).contains(PollFlags::IN) {
            self.receive(RecvFlags::DONTWAIT, sink);
        }
        let sent = self.socket.as_ref().map(|socket| self.output.send(socket));
        if let Some(Err(kind)) = sent {
            self.lose(kind, sink);
        }
    }
}

fn wait_for(socket: &OwnedFd, what: PollFlags, patience: Duration) -> PollFlags {
    let mut fds = [PollFd::new(socket, what)];
    let timeout = Timespec {
        tv_sec: patience.as_secs() as i64,
        tv_nsec: patience.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&timeout)) {
        Ok(1..) => fds[0].revents(),
        _ => PollFlags::empty(),
    }
}

impl Io for Blocking {
    fn name(&self) -> &'static str {
        "blocking"
    }

    fn add(&mut self, socket: OwnedFd) -> io::Result<usize> {
        self.replace(0, socket)?;
        Ok(0)
    }

    fn replace(&mut self, _: usize, socket: OwnedFd) -> io::Result<()> {
        set_socket_timeout(&socket, Timeout::Recv, Some(TICK))?;
        self.socket = Some(socket);
        self.output.clear();
        self.carry.clear();
        self.lost = None;
        Ok(())
    }

    #[inline]
    fn output(&mut self, _: usize) -> &mut Vec<u8> {
        &mut self.output.bytes
    }

    #[inline]
    fn flush(&mut self, _: usize) {
        if let Some(socket) = &self.socket {
            self.lost = self.output.send(socket).err();
        }
    }

    #[inline]
    fn wait(&mut self, until_ns: Option<u64>, sink: &mut impl Sink) -> io::Result<()> {
        if let Some(kind) = self.lost.take() {
            self.lose(kind, sink);
            return Ok(());
        }
        if !self.output.is_empty() && self.socket.is_some() {
            self.push(sink);
            return Ok(());
        }
        let Some(until_ns) = until_ns else {
            self.receive(RecvFlags::empty(), sink);
            return Ok(());
        };
        let left_ns = match until_ns {
            0 => 0,
            _ => until_ns.saturating_sub(clock::now_ns()),
        };
        let left = Duration::from_nanos(left_ns);
        match &self.socket {
            None => std::thread::sleep(left),
            Some(socket) if left_ns > 0 && wait_for(socket, PollFlags::IN, left).is_empty() => {}
            Some(_) => self.receive(RecvFlags::DONTWAIT, sink),
        }
        Ok(())
    }
}
