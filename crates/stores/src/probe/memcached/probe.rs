//! The probe of a memcached: witnesses, and the removal of named keys.

use super::Connection;
use crate::probe::link::{Kept, MAX_BATCH_BYTES};
use crate::probe::{Identity, Probe};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_wire::memcached::{MAX_KEY_BYTES, Request, key_is_valid};
use std::collections::BTreeMap;
use std::time::Duration;

/// The probe of a memcached, or of what speaks as it.
pub struct MemcachedProbe {
    endpoint: Endpoint,
    answer_within: Duration,
    connection: Kept<Connection>,
}

impl MemcachedProbe {
    /// A probe that connects at its first question.
    pub fn new(endpoint: &Endpoint, answer_within: Duration) -> MemcachedProbe {
        MemcachedProbe {
            endpoint: endpoint.clone(),
            answer_within,
            connection: Kept::new(answer_within),
        }
    }

    fn ask<T>(&mut self, question: impl Fn(&mut Connection) -> Result<T>) -> Result<T> {
        let (endpoint, within) = (&self.endpoint, self.answer_within);
        self.connection
            .ask(|| Connection::open(endpoint, within), question)
    }
}

impl Probe for MemcachedProbe {
    fn identify(&mut self) -> Result<Identity> {
        self.ask(|connection| {
            Ok(Identity {
                version: connection.version()?,
                pid: connection
                    .stats("")?
                    .get("pid")
                    .and_then(|pid| pid.parse().ok()),
            })
        })
    }

    fn counters(&mut self) -> Result<Counters> {
        let stats = self.ask(|connection| connection.stats(""))?;
        let number = |(name, value): (String, String)| Some((name, value.parse().ok()?));
        Ok(stats.into_iter().filter_map(number).collect())
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        self.ask(|connection| connection.stats("settings"))
    }

    fn delete(&mut self, keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        let mut connection = Connection::open(&self.endpoint, self.answer_within)?;
        let (mut deleted, mut count, mut requests) = (0, 0, Vec::new());
        for key in keys {
            if !key_is_valid(&key) {
                let what = "a key to delete has bytes that memcached's text protocol cannot carry";
                return Err(Problem::new(Kind::Internal, what));
            }
            let delete = Request::Delete {
                key: &key,
                noreply: false,
            };
            delete.write(&mut requests);
            count += 1;
            if requests.len() + MAX_KEY_BYTES >= MAX_BATCH_BYTES {
                deleted += connection.delete_batch(&requests, count)?;
                (count, requests) = (0, Vec::new());
            }
        }
        Ok(deleted + connection.delete_batch(&requests, count)?)
    }

    fn is_cheap(&self) -> bool {
        true
    }
}
