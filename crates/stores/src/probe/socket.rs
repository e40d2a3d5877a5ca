//! A blocking socket with a deadline: a server that hangs, or drips, gives a problem.

use roundtrip_model::contract::Endpoint;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

#[cfg(not(target_vendor = "apple"))]
const CLOEXEC: SocketFlags = SocketFlags::CLOEXEC;
#[cfg(target_vendor = "apple")]
const CLOEXEC: SocketFlags = SocketFlags::empty();

/// What is connected.
pub enum Socket {
    /// A TCP connection.
    Tcp(TcpStream),
    /// A unix socket.
    Unix(UnixStream),
}

/// A socket that gives up at an instant, however slowly the other side drips.
pub struct Timed {
    /// What is read and written.
    pub socket: Socket,
    /// The instant.
    pub until: Instant,
}

impl Timed {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(Some(left))
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.socket {
            Socket::Tcp(s) => s.set_read_timeout(left).and_then(|()| s.read(buffer)),
            Socket::Unix(s) => s.set_read_timeout(left).and_then(|()| s.read(buffer)),
        }
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left()?;
        match &mut self.socket {
            Socket::Tcp(s) => s.set_write_timeout(left).and_then(|()| s.write(bytes)),
            Socket::Unix(s) => s.set_write_timeout(left).and_then(|()| s.write(bytes)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Connects.
pub fn connect(endpoint: &Endpoint, within: Duration) -> io::Result<Socket> {
    match endpoint {
        Endpoint::Tcp { host, port } => {
            let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
            for address in (host.as_str(), *port).to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, within) {
                    Ok(socket) => {
                        socket.set_nodelay(true)?;
                        return Ok(Socket::Tcp(socket));
                    }
                    Err(e) => last = e,
                }
            }
            Err(last)
        }
        Endpoint::Unix { path } => {
            let socket =
                rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, CLOEXEC, None)?;
            let socket = UnixStream::from(socket);
            // A server that has stopped accepting is then an error, not a wait.
            socket.set_nonblocking(true)?;
            rustix::net::connect(&socket, &SocketAddrUnix::new(path.as_str())?)?;
            socket.set_nonblocking(false)?;
            Ok(Socket::Unix(socket))
        }
        Endpoint::Tls { .. } | Endpoint::File { .. } => Err(io::ErrorKind::InvalidInput.into()),
    }
}
