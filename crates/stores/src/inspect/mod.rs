//! A look into a server that is there: a memcached's slab classes, statistics and what they mean,
//! and items; the statistics of a [`redis`] and a [`mysql`] and what they mean. Only reads; what
//! it reads counts in the server's own numbers (memcached's `cmd_get`).
//!
//! Values first, text in [`text`]: the same figures serve a screen and JSON.

mod dump;
mod figures;
mod findings;
mod item;

pub mod mysql;
pub mod redis;
mod slabs;
mod stats;
mod target;
pub mod text;

pub use dump::{DumpSummary, dump, dump_json};
pub use figures::{Look, Statistics, Window};
pub use slabs::{SlabClass, SlabTable, display};
pub use stats::{Meaning, ServerStats, stats};
pub use target::{Server, Target, locate};

use crate::probe::ANSWER_WITHIN;
use crate::probe::memcached::Connection;
use roundtrip_model::Result;
use roundtrip_model::contract::Endpoint;

fn connect(address: &Endpoint) -> Result<Connection> {
    Connection::open(address, ANSWER_WITHIN)
}
