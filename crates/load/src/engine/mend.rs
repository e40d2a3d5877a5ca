//! Lost connections: when the next try is due, and when it is time to give up.

use crate::io::{Hello, LinkOptions, connect};
use crate::worker::WorkerError;
use roundtrip_model::contract::{Endpoint, Gap};
use roundtrip_model::stream::below;
use std::os::fd::OwnedFd;
use std::time::Duration;

const FIRST_DELAY_NS: u64 = 1_000_000;
const LONGEST_DELAY_NS: u64 = 1_000_000_000;
/// How long one try may take: the other connections of the thread wait meanwhile.
const TRY_TIMEOUT: Duration = Duration::from_secs(1);

/// How connections are made anew.
#[derive(Clone, Debug)]
pub(crate) struct Mender {
    /// Where the connections of a lane lead, one after another.
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) link: LinkOptions,
    /// What is said first on each.
    pub(crate) hello: Option<Hello>,
    /// How long a server may be away.
    pub(crate) patience: Duration,
    pub(crate) seed: u64,
}

/// One lost connection.
#[derive(Debug)]
pub(super) struct Down {
    pub(super) slot: usize,
    since_ns: u64,
    pub(super) next_try_ns: u64,
    delay_ns: u64,
    attempts: u32,
}

impl Down {
    /// Lost at a moment. The first try is made at once where the connection was a good one.
    pub(super) fn new(slot: usize, since_ns: u64, at_once: bool) -> Down {
        Down {
            slot,
            since_ns,
            next_try_ns: since_ns + if at_once { 0 } else { FIRST_DELAY_NS },
            delay_ns: FIRST_DELAY_NS,
            attempts: 0,
        }
    }

    /// Tries to connect. `None` until the next try; an error when it has been too long.
    pub(super) fn try_again(
        &mut self,
        mender: &Mender,
        now_ns: u64,
    ) -> Result<Option<OwnedFd>, WorkerError> {
        self.attempts += 1;
        let endpoint = &mender.endpoints[self.slot % mender.endpoints.len().max(1)];
        match connect(endpoint, mender.link, mender.hello.as_ref(), TRY_TIMEOUT) {
            Ok(socket) => Ok(Some(socket)),
            Err(error) if now_ns - self.since_ns > mender.patience.as_nanos() as u64 => Err(error
                .also(&format!(
                    "the server has been away for {} s",
                    mender.patience.as_secs_f64()
                ))),
            Err(_) => {
                // A jitter of half a delay keeps many connections from coming back in step.
                let draw = mender.seed ^ self.slot as u64;
                let jitter_ns = below(draw, self.attempts.into(), self.delay_ns / 2);
                self.next_try_ns = now_ns + self.delay_ns - jitter_ns;
                self.delay_ns = (self.delay_ns * 2).min(LONGEST_DELAY_NS);
                Ok(None)
            }
        }
    }

    /// The gap, which ends now.
    pub(super) fn gap(&self, first: usize, started_ns: u64, now_ns: u64) -> Gap {
        Gap {
            connection: (first + self.slot) as u32,
            at_ns: self.since_ns.saturating_sub(started_ns),
            lasted_ns: now_ns.saturating_sub(self.since_ns),
            attempts: self.attempts,
        }
    }
}
