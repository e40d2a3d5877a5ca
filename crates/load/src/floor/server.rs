//! The floor as a whole: where it listens, and which way its bytes travel.

use super::answer::Service;
use super::epoll;
use super::options::FloorOptions;
use super::socket::Listener;
use roundtrip_model::{Kind, Problem, Result};
use rustix::io::Errno;

/// A server that listens.
#[derive(Debug)]
pub struct Floor {
    listener: Listener,
    address: String,
    options: FloorOptions,
}

impl Floor {
    /// Listens; connections are taken once it serves.
    pub fn bind(options: FloorOptions) -> Result<Floor> {
        let (listener, address) = Listener::bind(&options.listen)?;
        Ok(Floor {
            listener,
            address,
            options,
        })
    }

    /// Where it listens: `127.0.0.1:PORT`, or the path of a socket.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Serves. Returns only with a problem.
    pub fn serve(self) -> Result<()> {
        let service = Service::new(&self.options);
        let server = epoll::Server::new(&self.listener, &self.options, service).map_err(failed)?;
        server.serve().map_err(failed)
    }
}

fn failed(e: Errno) -> Problem {
    Problem::new(Kind::Failed, format!("the floor cannot go on: {e}"))
}
