//! The floor: an in-memory server of memcached's protocol and of Redis's that does as little as
//! possible, so that what it costs is what a round trip costs here. On request it answers late, stalls, lies
//! or hangs up, by known amounts, so that the instrument can be held against a known truth.
//!
//! It keeps nothing, evicts nothing and listens on this machine only.

mod answer;
mod answer_meta;
mod changes;
mod client;
mod clients;
mod conversation;
mod counters;
mod epoll;
mod faults;
mod item;
mod memory;
mod options;
mod quick;
mod resp;
mod server;
mod socket;
mod uring;

pub use options::{Delay, FloorOptions, IoChoice, Listen, Protocols, Stall, parse_duration};
pub use server::Floor;

use roundtrip_model::Result;

/// Serves until the process is ended: binds, says that it listens, and answers. Returns only with a problem.
pub fn run_floor(options: FloorOptions, on_ready: impl FnOnce(&Floor)) -> Result<()> {
    let floor = Floor::bind(options)?;
    on_ready(&floor);
    floor.serve()
}
