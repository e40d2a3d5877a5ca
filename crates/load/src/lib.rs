//! The load and the least it can meet: the native client, as a worker of the worker contract, and
//! the floor server.
//!
//! The client is one loop (`engine`) over a protocol (`protocol`) and a way of carrying bytes
//! (`io`), which know nothing of each other; `worker` has its threads, its options and its words
//! with the host.
//!
//! It never knows more of a store than its protocol, holds no statistics and prints
//! nothing: the binary hands it the standard streams.

mod clock;
mod engine;
pub mod floor;
mod io;
mod outcome;
mod protocol;
mod usage;
mod worker;

pub use floor::{
    Delay, FloorOptions, IoChoice, Listen, Protocols, Stall, parse_duration, run_floor,
};
pub use worker::serve_worker;
