//! A blocking connection with its two buffers, over TCP or a unix socket.

use crate::outcome::ErrorKind;
use crate::worker::WorkerError;
use roundtrip_model::contract::Endpoint;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// After so long without a byte a reply is given up. The host has deadlines of its own.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
const CHUNK: usize = 64 << 10;

/// How a connection is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkOptions {
    /// Whether small packets go out at once.
    pub(crate) tcp_nodelay: bool,
}

#[derive(Debug)]
pub(super) struct Link {
    endpoint: Endpoint,
    options: LinkOptions,
    socket: OwnedFd,
    pub(super) output: Vec<u8>,
    input: Vec<u8>,
    /// What came and was not read: `input[start..end]`.
    start: usize,
    end: usize,
    broken: Option<ErrorKind>,
}

impl Link {
    pub(super) fn connect(endpoint: Endpoint, options: LinkOptions) -> Result<Link, WorkerError> {
        Ok(Link {
            socket: connect(&endpoint, options)?,
            endpoint,
            options,
            output: Vec::with_capacity(CHUNK),
            input: vec![0; CHUNK],
            start: 0,
            end: 0,
            broken: None,
        })
    }

    /// Connects anew if the connection broke.
    #[inline]
    pub(super) fn mend(&mut self) -> Result<(), WorkerError> {
        if self.broken.is_some() {
            self.socket = connect(&self.endpoint, self.options)?;
            self.output.clear();
            (self.start, self.end) = (0, 0);
            self.broken = None;
        }
        Ok(())
    }

    /// Gives the connection up: what comes on it can no longer be understood.
    pub(super) fn fail(&mut self, kind: ErrorKind) -> ErrorKind {
        *self.broken.get_or_insert(kind)
    }

    /// Why the connection was given up, if it was.
    pub(super) fn broken(&self) -> Option<ErrorKind> {
        self.broken
    }

    /// What came and was not read.
    #[inline]
    pub(super) fn unread(&self) -> &[u8] {
        &self.input[self.start..self.end]
    }

    /// Leaves out what was read.
    #[inline]
    pub(super) fn advance(&mut self, bytes: usize) {
        self.start += bytes;
    }

    /// Sends the output. While the other side does not take it, replies are read: two sides that
    /// both only write would wait for ever.
    #[inline]
    pub(super) fn flush(&mut self) {
        let mut sent = 0;
        while sent < self.output.len() && self.broken.is_none() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&self.socket, &self.output[sent..], flags) {
                Ok(bytes) => sent += bytes,
                Err(Errno::AGAIN) => self.read_until_writable(),
                Err(Errno::INTR) => {}
                Err(_) => self.broken = Some(ErrorKind::Connection),
            }
        }
        self.output.clear();
    }

    fn read_until_writable(&mut self) {
        let mut fds = [PollFd::new(&self.socket, PollFlags::IN | PollFlags::OUT)];
        let timeout = Timespec {
            tv_sec: REPLY_TIMEOUT.as_secs() as i64,
            tv_nsec: 0,
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => self.broken = Some(ErrorKind::Timeout),
            Ok(_) if fds[0].revents().contains(PollFlags::IN) => {
                self.receive(RecvFlags::DONTWAIT);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => self.broken = Some(ErrorKind::Connection),
        }
    }

    /// Waits for more to read.
    #[inline]
    pub(super) fn fill(&mut self) {
        self.receive(RecvFlags::empty());
    }

    fn receive(&mut self, flags: RecvFlags) {
        self.make_room();
        match recv(&self.socket, &mut self.input[self.end..], flags) {
            Ok((_, 0)) => self.broken = Some(ErrorKind::Connection),
            Ok((_, bytes)) => self.end += bytes,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if flags.contains(RecvFlags::DONTWAIT) => {}
            Err(Errno::AGAIN) => self.broken = Some(ErrorKind::Timeout),
            Err(_) => self.broken = Some(ErrorKind::Connection),
        }
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > 0 && self.end == self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.input.len() {
            self.input.resize(self.input.len() * 2, 0);
        }
    }
}

fn connect(endpoint: &Endpoint, options: LinkOptions) -> Result<OwnedFd, WorkerError> {
    match endpoint {
        Endpoint::Tcp { host, port } => connect_tcp(host, *port, options)
            .map_err(|e| WorkerError::connect(format!("{host}:{port}: {e}"))),
        Endpoint::Unix { path } => UnixStream::connect(path)
            .and_then(|stream| {
                stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
                Ok(stream.into())
            })
            .map_err(|e| WorkerError::connect(format!("{path}: {e}"))),
        Endpoint::Tls { host, port, .. } => Err(WorkerError::usage(format!(
            "{host}:{port} speaks TLS, and this client does not"
        ))),
        Endpoint::File { path } => Err(WorkerError::usage(format!(
            "memcached is reached by tcp or unix, not by the file {path}"
        ))),
    }
}

fn connect_tcp(host: &str, port: u16, options: LinkOptions) -> io::Result<OwnedFd> {
    let mut failure = io::Error::other("the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
            Ok(stream) => {
                stream.set_nodelay(options.tcp_nodelay)?;
                stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
                return Ok(stream.into());
            }
            Err(e) => failure = e,
        }
    }
    Err(failure)
}
