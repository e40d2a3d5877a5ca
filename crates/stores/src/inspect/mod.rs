//! A look into a memcached that is there: its slab classes, its statistics and what they mean,
//! and its items. Only reads; what it reads counts in the server's own `cmd_get`.
//!
//! Values first, text in [`text`]: the same figures serve a screen and JSON.

mod dump;
mod findings;
mod item;
mod slabs;
mod stats;
pub mod text;

pub use dump::{DumpSummary, dump, dump_json};
pub use slabs::{SlabClass, SlabTable, display};
pub use stats::{Meaning, ServerStats, Window, stats};

use crate::probe::ANSWER_WITHIN;
use crate::probe::memcached::Connection;
use roundtrip_model::Result;
use roundtrip_model::contract::Endpoint;

fn connect(address: &Endpoint) -> Result<Connection> {
    Connection::open(address, ANSWER_WITHIN)
}
