//! The few commands of memcached's text protocol that a witness and an inspector need. Blocking,
//! and every answer has a deadline and a limit: a server that hangs or speaks garbage gives a
//! problem. The codec of the measured client is `wire`'s, not this.

mod probe;

pub use probe::MemcachedProbe;

use super::in_words;
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The longest line that is read. A key of 250 bytes takes 750 when it is percent-encoded.
const MAX_LINE_BYTES: usize = 8 * 1024;
/// The most lines that an answer to `stats` may have; memcached's longest has about 2,000.
const MAX_STATS: usize = 20_000;
/// The largest value that memcached can be told to hold.
const MAX_VALUE_BYTES: u64 = 1 << 30;
/// Requests that are sent before the replies are read. So few bytes fit in the buffers of the
/// sockets: the server cannot be stuck writing replies while we are stuck writing requests.
pub const MAX_BATCH_BYTES: usize = 16 * 1024;
/// The longest key.
pub const MAX_KEY_BYTES: usize = 250;

#[cfg(not(target_vendor = "apple"))]
const CLOEXEC: SocketFlags = SocketFlags::CLOEXEC;
#[cfg(target_vendor = "apple")]
const CLOEXEC: SocketFlags = SocketFlags::empty();

enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// A socket that gives up at an instant, however slowly the other side drips.
struct Timed {
    socket: Socket,
    until: Instant,
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

/// One connection.
pub struct Connection {
    stream: BufReader<Timed>,
    answer_within: Duration,
    place: String,
}

impl Connection {
    /// Connects. Each answer must then come within `answer_within`.
    pub fn open(endpoint: &Endpoint, answer_within: Duration) -> Result<Connection> {
        let place = in_words(endpoint);
        let socket = connect(endpoint, answer_within).map_err(|e| {
            Problem::new(Kind::Missing, format!("no connection to memcached: {e}"))
                .at(&place)
                .next("look whether it runs and listens there")
        })?;
        Ok(Connection {
            stream: BufReader::with_capacity(
                64 * 1024,
                Timed {
                    socket,
                    until: Instant::now() + answer_within,
                },
            ),
            answer_within,
            place,
        })
    }

    /// A problem of this connection.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        Problem::new(Kind::Failed, what).at(&self.place)
    }

    fn broken(&self, e: &io::Error) -> Problem {
        use io::ErrorKind::{TimedOut, WouldBlock};
        match e.kind() {
            TimedOut | WouldBlock => self
                .problem(format!(
                    "memcached did not answer within {:.1} s",
                    self.answer_within.as_secs_f64()
                ))
                .next("look whether it is stopped, or the machine is overloaded"),
            _ => self.problem(format!("the connection to memcached broke: {e}")),
        }
    }

    /// Starts the deadline anew: for an answer whose length is not known before.
    pub fn renew_deadline(&mut self) {
        self.stream.get_mut().until = Instant::now() + self.answer_within;
    }

    /// Sends a request; the deadline of its answer starts.
    pub fn send(&mut self, request: &[u8]) -> Result<()> {
        self.renew_deadline();
        let sent = self.stream.get_mut().write_all(request);
        sent.map_err(|e| self.broken(&e))
    }

    /// Reads a line, without its end, into a buffer that is emptied first.
    pub fn line(&mut self, line: &mut Vec<u8>) -> Result<()> {
        line.clear();
        let mut limited = (&mut self.stream).take(MAX_LINE_BYTES as u64);
        if let Err(e) = limited.read_until(b'\n', line) {
            return Err(self.broken(&e));
        }
        if line.pop() != Some(b'\n') {
            return Err(self.problem(if line.len() + 1 >= MAX_LINE_BYTES {
                "memcached answered with a line that does not end"
            } else {
                "memcached closed the connection"
            }));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(())
    }

    /// Reads a value of so many bytes, and its end, into a buffer that is emptied first.
    pub fn value(&mut self, bytes: u64, value: &mut Vec<u8>) -> Result<()> {
        value.clear();
        if bytes > MAX_VALUE_BYTES {
            return Err(self.problem(format!("memcached announced a value of {bytes} bytes")));
        }
        // The buffer grows with what comes, not with what was announced.
        let read = (&mut self.stream).take(bytes + 2).read_to_end(value);
        read.map_err(|e| self.broken(&e))?;
        if value.len() as u64 != bytes + 2 || !value.ends_with(b"\r\n") {
            return Err(self.problem("memcached sent a value that does not end where it must"));
        }
        value.truncate(bytes as usize);
        Ok(())
    }

    /// An answer that cannot be, as a problem.
    pub fn unexpected(&self, request: &str, answer: &[u8]) -> Problem {
        let shown: String = String::from_utf8_lossy(answer).chars().take(100).collect();
        self.problem(format!("memcached answered `{request}` with `{shown}`"))
    }

    /// `version`
    pub fn version(&mut self) -> Result<String> {
        let mut line = Vec::new();
        self.send(b"version\r\n")?;
        self.line(&mut line)?;
        match line.strip_prefix(b"VERSION ") {
            Some(version) => Ok(String::from_utf8_lossy(version).into_owned()),
            None => Err(self
                .unexpected("version", &line)
                .next("look what listens there: it does not speak memcached")),
        }
    }

    /// `stats`, or `stats GROUP`: names and values.
    pub fn stats(&mut self, group: &str) -> Result<BTreeMap<String, String>> {
        let request = format!("stats {group}");
        let request = request.trim_end();
        self.send(format!("{request}\r\n").as_bytes())?;
        let mut stats = BTreeMap::new();
        let mut line = Vec::new();
        for _ in 0..MAX_STATS {
            self.line(&mut line)?;
            // An empty group is answered with RESET by some versions, and with END by others.
            if line == b"END" {
                return Ok(stats);
            }
            let text = String::from_utf8_lossy(&line);
            let mut words = text.splitn(3, ' ');
            match (words.next(), words.next(), words.next()) {
                (Some("STAT"), Some(name), value) => {
                    stats.insert(name.to_owned(), value.unwrap_or("").to_owned());
                }
                _ => return Err(self.unexpected(request, &line)),
            }
        }
        Err(self.problem(format!("memcached does not stop answering `{request}`")))
    }

    fn delete_batch(&mut self, requests: &[u8], count: usize) -> Result<u64> {
        self.send(requests)?;
        let mut deleted = 0;
        let mut line = Vec::new();
        for _ in 0..count {
            self.line(&mut line)?;
            match line.as_slice() {
                b"DELETED" => deleted += 1,
                b"NOT_FOUND" => {}
                _ => return Err(self.unexpected("delete", &line)),
            }
        }
        Ok(deleted)
    }
}

fn connect(endpoint: &Endpoint, within: Duration) -> io::Result<Socket> {
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

/// Whether the text protocol can carry a key as it is.
pub fn is_plain_key(key: &[u8]) -> bool {
    (1..=MAX_KEY_BYTES).contains(&key.len()) && !key.iter().any(|b| *b <= b' ' || *b == 0x7f)
}

#[cfg(test)]
mod tests;
