//! Free loopback ports.

use roundtrip_model::{Kind, Problem, Result};
use std::net::{Ipv4Addr, TcpListener};

/// A loopback TCP port that nobody listens on now. Another program may take it before it is used:
/// whoever starts a server on it must be ready to try again.
pub fn free_port() -> Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|e| {
            Problem::new(Kind::Failed, format!("no free loopback port: {e}"))
                .next("close programs that hold many ports open")
        })
}
