//! Listening and accepting, over TCP on this machine or over a unix socket.

use super::options::Listen;
use roundtrip_model::{Kind, Problem, Result};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

/// A listener that does not block. A unix socket's file is removed with it.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Listens, and says where.
    pub(super) fn bind(listen: &Listen) -> Result<(Listener, String)> {
        match listen {
            Listen::Tcp(address) => bind_tcp(*address),
            Listen::Unix(path) => {
                let shown = path.display().to_string();
                let listener = UnixListener::bind(path)
                    .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
                    .map_err(|e| cannot_listen(&shown, &e))?;
                Ok((Listener::Unix(listener, path.clone()), shown))
            }
        }
    }

    /// The next connection, if one waits. Its calls say themselves that they do not wait.
    pub(super) fn accept(&self) -> io::Result<OwnedFd> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                // A reply must not wait for the acknowledgement of the one before.
                stream.set_nodelay(true)?;
                Ok(stream.into())
            }
            Listener::Unix(listener, _) => {
                let (stream, _) = listener.accept()?;
                Ok(stream.into())
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Tcp(listener) => listener.as_fd(),
            Listener::Unix(listener, _) => listener.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn bind_tcp(address: SocketAddr) -> Result<(Listener, String)> {
    if !address.ip().is_loopback() {
        return Err(Problem::new(
            Kind::Refused,
            "the floor listens on this machine only: it asks nobody who they are",
        )
        .at(address.to_string())
        .next("listen on 127.0.0.1:0"));
    }
    let listener = TcpListener::bind(address)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|e| cannot_listen(&address.to_string(), &e))?;
    let bound = listener
        .local_addr()
        .map_err(|e| cannot_listen(&address.to_string(), &e))?;
    Ok((Listener::Tcp(listener), bound.to_string()))
}

fn cannot_listen(place: &str, e: &io::Error) -> Problem {
    Problem::new(Kind::Failed, format!("the floor cannot listen: {e}"))
        .at(place)
        .next("choose another port or path; port 0 takes a free one")
}
