//! TLS over any transport: a session a connection, between the bytes that travel and the bytes that
//! are meant. The handshake is done when a connection is added, before the loop knows of it.

use super::hello::{Hello, Patient};
use super::{Carry, Io, Sink};
use crate::outcome::ErrorKind;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};
use std::fmt;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest file of certificates that is read.
const MAX_CA_BYTES: u64 = 1 << 20;

/// Whom to trust, and who the other side must be.
#[derive(Clone, Debug)]
pub(crate) struct Trust {
    config: Arc<ClientConfig>,
    server: ServerName<'static>,
    hello: Option<Hello>,
}

impl Trust {
    /// The servers at `host`, which show certificates signed by one in the files `cas`.
    pub(crate) fn new<'c>(
        host: &str,
        cas: impl IntoIterator<Item = &'c str>,
    ) -> Result<Trust, String> {
        let server = ServerName::try_from(host.to_owned()).map_err(|e| format!("{host}: {e}"))?;
        let mut roots = RootCertStore::empty();
        for ca in cas {
            add_roots(&mut roots, ca).map_err(|e| format!("{ca}: {e}"))?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| e.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Trust {
            config: Arc::new(config),
            server,
            hello: None,
        })
    }

    /// The same, where something is to be said first on each connection.
    pub(crate) fn saying(self, hello: Option<Hello>) -> Trust {
        Trust { hello, ..self }
    }

    /// Shakes hands over a connected socket, and waits for it.
    fn greet(&self, socket: &OwnedFd) -> io::Result<Session> {
        let refused = |e: rustls::Error| io::Error::other(e.to_string());
        let mut connection =
            ClientConnection::new(self.config.clone(), self.server.clone()).map_err(refused)?;
        let mut patient = Patient::new(socket, HANDSHAKE_TIMEOUT);
        while connection.is_handshaking() {
            connection.complete_io(&mut patient)?;
        }
        if let Some(hello) = &self.hello {
            hello.say(&mut Stream::new(&mut connection, &mut patient))?;
        }
        Ok(Session {
            connection,
            carry: Carry::default(),
            plain: Vec::new(),
        })
    }
}

/// Adds the certificates of a file, which must have one.
fn add_roots(roots: &mut RootCertStore, ca: &str) -> Result<(), String> {
    let mut text = Vec::new();
    std::fs::File::open(ca)
        .and_then(|file| file.take(MAX_CA_BYTES).read_to_end(&mut text))
        .map_err(|e| e.to_string())?;
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|e| e.to_string())?;
        roots.add(certificate).map_err(|e| e.to_string())?;
    }
    match roots.len() == before {
        true => Err("it holds no certificate".to_owned()),
        false => Ok(()),
    }
}

/// One connection's keys, and what is not yet understood or not yet encrypted.
struct Session {
    connection: ClientConnection,
    carry: Carry,
    plain: Vec<u8>,
}

/// Why a session ends.
enum End {
    /// The sink said so.
    Refused(ErrorKind),
    /// The sink is to be told.
    Lost(ErrorKind),
}

impl Session {
    /// Encrypts what there is to send.
    fn seal(&mut self, output: &mut Vec<u8>) -> io::Result<()> {
        let mut rest = &self.plain[..];
        // The session takes so much at a time, and more once that has gone.
        while !rest.is_empty() || self.connection.wants_write() {
            let taken = self.connection.writer().write(rest)?;
            rest = &rest[taken..];
            while self.connection.wants_write() {
                self.connection.write_tls(output)?;
            }
        }
        self.plain.clear();
        Ok(())
    }

    /// Decrypts what came, and hands it on.
    fn open(
        &mut self,
        mut came: &[u8],
        mut hand_on: impl FnMut(&[u8], &mut Vec<u8>) -> Result<usize, ErrorKind>,
    ) -> Result<(), End> {
        let garbled = |_| End::Lost(ErrorKind::Protocol);
        while !came.is_empty() {
            self.connection.read_tls(&mut came).map_err(garbled)?;
            let state = self
                .connection
                .process_new_packets()
                .map_err(|_| End::Lost(ErrorKind::Protocol))?;
            let mut left = state.plaintext_bytes_to_read();
            let mut reader = self.connection.reader();
            while left > 0 {
                let bytes = reader.fill_buf().map_err(garbled)?;
                let (plain, count) = (&mut self.plain, bytes.len());
                self.carry
                    .feed(bytes, |bytes| hand_on(bytes, plain))
                    .map_err(End::Refused)?;
                reader.consume(count);
                left = left.saturating_sub(count.max(1));
            }
            if state.peer_has_closed() {
                return Err(End::Lost(ErrorKind::Connection));
            }
        }
        Ok(())
    }
}

/// A transport whose connections are encrypted.
pub(crate) struct Tls<I> {
    io: I,
    trust: Trust,
    sessions: Vec<Session>,
    /// A session could not encrypt, which the next wait tells: no peer can bring that about.
    failure: Option<io::Error>,
    /// Replaced by a connection that came to nothing, which the next wait tells.
    untold: Vec<usize>,
}

impl<I: Io> Tls<I> {
    pub(crate) fn new(io: I, trust: Trust) -> Tls<I> {
        Tls {
            io,
            trust,
            sessions: Vec::new(),
            failure: None,
            untold: Vec::new(),
        }
    }
}

impl<I: fmt::Debug> fmt::Debug for Tls<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No keys.
        f.debug_tuple("Tls").field(&self.io).finish()
    }
}

impl<I: Io> Io for Tls<I> {
    fn name(&self) -> &'static str {
        match self.io.name() {
            "blocking" => "blocking+tls",
            "epoll" => "epoll+tls",
            "io_uring" => "io_uring+tls",
            _ => "tls",
        }
    }

    fn take_up(&mut self) -> io::Result<()> {
        self.io.take_up()
    }

    fn lay_down(&mut self) {
        self.io.lay_down();
    }

    fn add(&mut self, socket: OwnedFd) -> io::Result<usize> {
        self.sessions.push(self.trust.greet(&socket)?);
        self.io.add(socket)
    }

    fn replace(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()> {
        match self.trust.greet(&socket) {
            Ok(session) => {
                self.sessions[slot] = session;
                self.io.replace(slot, socket)
            }
            // A server that comes and goes, like one that takes a connection and closes it.
            Err(_) => {
                self.untold.push(slot);
                Ok(())
            }
        }
    }

    #[inline]
    fn output(&mut self, slot: usize) -> &mut Vec<u8> {
        &mut self.sessions[slot].plain
    }

    fn flush(&mut self, slot: usize) {
        match self.sessions[slot].seal(self.io.output(slot)) {
            Ok(()) => self.io.flush(slot),
            Err(e) => self.failure = Some(e),
        }
    }

    fn wait(&mut self, until_ns: Option<u64>, sink: &mut impl Sink) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if !self.untold.is_empty() {
            for slot in self.untold.drain(..) {
                sink.lost(slot, ErrorKind::Connection);
            }
            return Ok(());
        }
        let mut between = Between {
            sessions: &mut self.sessions,
            sink,
        };
        self.io.wait(until_ns, &mut between)
    }
}

/// Stands between a transport and the sink.
struct Between<'a, S> {
    sessions: &'a mut [Session],
    sink: &'a mut S,
}

impl<S: Sink> Sink for Between<'_, S> {
    fn arrived(
        &mut self,
        slot: usize,
        bytes: &[u8],
        at_ns: u64,
        output: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind> {
        let (session, sink) = (&mut self.sessions[slot], &mut *self.sink);
        let sealed = session
            .open(bytes, |bytes, plain| {
                sink.arrived(slot, bytes, at_ns, plain)
            })
            .and_then(|()| {
                let sealed = session.seal(output);
                sealed.map_err(|_| End::Lost(ErrorKind::Protocol))
            });
        match sealed {
            Ok(()) => Ok(bytes.len()),
            Err(End::Refused(kind)) => Err(kind),
            Err(End::Lost(kind)) => {
                sink.lost(slot, kind);
                Err(kind)
            }
        }
    }

    fn lost(&mut self, slot: usize, kind: ErrorKind) {
        self.sink.lost(slot, kind);
    }
}

#[cfg(test)]
mod tests;
