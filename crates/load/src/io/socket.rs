//! Making connections: TCP or a unix socket.

use super::Hello;
use crate::worker::WorkerError;
use roundtrip_model::contract::Endpoint;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long a connection may take to be made.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How a connection is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkOptions {
    /// Whether small packets go out at once.
    pub(crate) tcp_nodelay: bool,
}

/// Connects, and says hello where that is asked for, or says why it cannot.
pub(crate) fn connect(
    endpoint: &Endpoint,
    options: LinkOptions,
    hello: Option<&Hello>,
    timeout: Duration,
) -> Result<OwnedFd, WorkerError> {
    let socket = connect_to(endpoint, options, timeout)?;
    match (hello, endpoint) {
        // Over TLS it is said once hands are shaken, which is the transport's to do.
        (None, _) | (_, Endpoint::Tls { .. }) => {}
        (Some(hello), _) => hello
            .over(&socket, timeout)
            .map_err(|e| WorkerError::connect(e.to_string()))?,
    }
    Ok(socket)
}

fn connect_to(
    endpoint: &Endpoint,
    options: LinkOptions,
    timeout: Duration,
) -> Result<OwnedFd, WorkerError> {
    match endpoint {
        // Over TLS, the handshake is the transport's.
        Endpoint::Tcp { host, port } | Endpoint::Tls { host, port, .. } => {
            connect_tcp(host, *port, options, timeout)
                .map_err(|e| WorkerError::connect(format!("{host}:{port}: {e}")))
        }
        Endpoint::Unix { path } => UnixStream::connect(path)
            .map(OwnedFd::from)
            .map_err(|e| WorkerError::connect(format!("{path}: {e}"))),
        Endpoint::File { path } => Err(WorkerError::usage(format!(
            "a server is reached by tcp or unix, not by the file {path}"
        ))),
    }
}

fn connect_tcp(
    host: &str,
    port: u16,
    options: LinkOptions,
    timeout: Duration,
) -> io::Result<OwnedFd> {
    let mut failure = io::Error::other("the name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(options.tcp_nodelay)?;
                return Ok(stream.into());
            }
            Err(e) => failure = e,
        }
    }
    Err(failure)
}
