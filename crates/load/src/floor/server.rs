//! The floor as a whole: where it listens, and which way its bytes travel.

use super::answer::Service;
use super::options::{FloorOptions, IoChoice};
use super::socket::Listener;
use super::{epoll, uring};
use roundtrip_model::{Kind, Problem, Result};
use std::fmt::Display;

/// A server that listens.
#[derive(Debug)]
pub struct Floor {
    listener: Listener,
    address: String,
    options: FloorOptions,
    io: Way,
}

/// How bytes travel, as it was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Epoll,
    Uring,
}

impl Way {
    /// `epoll` for whoever wants faults, or has a kernel that refuses the other.
    fn decided(options: &FloorOptions) -> Result<Way> {
        let refused = || {
            let because = "with --io io_uring the floor does nothing late or wrong".to_owned();
            let faulty = options.asks_for_faults().then_some(because);
            faulty.or_else(uring::refusal)
        };
        match options.io {
            IoChoice::Epoll => Ok(Way::Epoll),
            IoChoice::Auto if refused().is_some() => Ok(Way::Epoll),
            IoChoice::Auto => Ok(Way::Uring),
            IoChoice::Uring => match refused() {
                None => Ok(Way::Uring),
                Some(because) => {
                    Err(Problem::new(Kind::Refused, because).next("take --io auto, or --io epoll"))
                }
            },
        }
    }

    fn name(self) -> &'static str {
        match self {
            Way::Epoll => "epoll",
            Way::Uring => "io_uring",
        }
    }
}

impl Floor {
    /// Listens; connections are taken once it serves.
    pub fn bind(options: FloorOptions) -> Result<Floor> {
        let io = Way::decided(&options)?;
        let (listener, address) = Listener::bind(&options.listen)?;
        Ok(Floor {
            listener,
            address,
            options,
            io,
        })
    }

    /// Where it listens: `127.0.0.1:PORT`, or the path of a socket.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// How its bytes travel: `epoll` or `io_uring`.
    pub fn io(&self) -> &'static str {
        self.io.name()
    }

    /// Serves. Returns only with a problem.
    pub fn serve(self) -> Result<()> {
        let service = Service::new(&self.options, self.io());
        let Floor {
            listener, options, ..
        } = &self;
        match self.io {
            Way::Epoll => epoll::Server::new(listener, options, service)
                .and_then(epoll::Server::serve)
                .map_err(failed),
            Way::Uring => uring::Server::new(listener, options, service)
                .and_then(uring::Server::serve)
                .map_err(failed),
        }
    }
}

fn failed(e: impl Display) -> Problem {
    Problem::new(Kind::Failed, format!("the floor cannot go on: {e}"))
}
