//! The load and the least it can meet: the native client, as a worker of the worker contract, and
//! the floor server.
//!
//! The client never knows more of a store than its protocol, holds no statistics and prints
//! nothing: the binary hands it the standard streams.

mod clock;
mod driver;
pub mod floor;
#[allow(dead_code)]
mod io;
mod outcome;
mod source;
mod timed;
mod usage;
mod worker;

pub use floor::{Delay, FloorOptions, Listen, Protocols, Stall, parse_duration, run_floor};
pub use worker::serve_worker;
