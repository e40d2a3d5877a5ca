//! A look into a Redis, alone or a node of a cluster: `INFO`, the log of slow commands by their
//! names, latency events, and what the node knows of its cluster. Nothing of what is stored is read.

mod cluster;
mod findings;
mod meaning;
mod slow;

pub use cluster::{Cluster, Node};
pub use meaning::{Database, Meaning, Memory, Persistence, Reads};
pub use slow::{LatencyEvent, SlowCommand, SlowLog};

use super::figures::{Look, Looks};
use crate::probe::ANSWER_WITHIN;
use crate::probe::redis::Connection;
use roundtrip_model::Result;
use roundtrip_model::contract::Endpoint;
use std::time::Duration;

/// Reads the statistics: once, with rates over the server's life; or twice, `interval` apart, with
/// rates between the two.
pub fn stats(address: &Endpoint, interval: Option<Duration>) -> Result<Look<Meaning>> {
    let mut connection = Connection::open(address, ANSWER_WITHIN)?;
    let looks = Looks::take(interval, "uptime_in_seconds", || connection.everything())?;
    let meaning = Meaning {
        slow: slow::read(&mut connection)?,
        latency_events: slow::latency_events(&mut connection)?,
        cluster: cluster::read(&mut connection, looks.text("cluster_enabled"))?,
        ..Meaning::of(&looks)
    };
    Ok(Look {
        findings: findings::findings(&meaning, &looks),
        notes: findings::notes(&meaning),
        meaning,
        statistics: looks.now,
    })
}
