//! A lane: one connection and what is in flight on it.

use crate::protocol::Flight;
use std::collections::VecDeque;

/// One connection, as the loop sees it.
#[derive(Debug)]
pub(super) struct Lane {
    /// Sent and not answered, in order.
    pub(super) flights: VecDeque<Flight>,
    /// Since when there is a place for another op.
    pub(super) free_ns: u64,
    /// Whether it waits in the list of lanes that have a place.
    pub(super) listed: bool,
    /// The connection is lost and not back.
    pub(super) down: bool,
    /// Whether a reply came on this connection: a server that only hangs up is not hurried.
    pub(super) answered: bool,
}

impl Lane {
    pub(super) fn new(depth: usize) -> Lane {
        Lane {
            flights: VecDeque::with_capacity(depth),
            free_ns: 0,
            listed: false,
            down: false,
            answered: true,
        }
    }
}
