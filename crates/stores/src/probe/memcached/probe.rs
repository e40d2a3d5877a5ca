//! The probe of a memcached: witnesses, and the removal of named keys.

use super::{Connection, MAX_BATCH_BYTES, MAX_KEY_BYTES, is_plain_key};
use crate::probe::{Identity, Probe};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The probe of a memcached, or of what speaks as it.
pub struct MemcachedProbe {
    endpoint: Endpoint,
    answer_within: Duration,
    connection: Option<Connection>,
}

impl MemcachedProbe {
    /// A probe that connects at its first question.
    pub fn new(endpoint: &Endpoint, answer_within: Duration) -> MemcachedProbe {
        MemcachedProbe {
            endpoint: endpoint.clone(),
            answer_within,
            connection: None,
        }
    }

    /// Asks on the open connection. One that fails is closed: a late answer to this question must
    /// not be taken for the answer to the next.
    fn ask<T>(&mut self, question: impl Fn(&mut Connection) -> Result<T>) -> Result<T> {
        if let Some(open) = &mut self.connection {
            let asked = Instant::now();
            match question(open) {
                Ok(answer) => return Ok(answer),
                // The server may have closed an idle connection; one that hangs stays hung.
                Err(problem) if asked.elapsed() >= self.answer_within => {
                    self.connection = None;
                    return Err(problem);
                }
                Err(_) => self.connection = None,
            }
        }
        let mut fresh = Connection::open(&self.endpoint, self.answer_within)?;
        let answer = question(&mut fresh)?;
        self.connection = Some(fresh);
        Ok(answer)
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
            if !is_plain_key(&key) {
                let what = "a key to delete has bytes that memcached's text protocol cannot carry";
                return Err(Problem::new(Kind::Internal, what));
            }
            requests.extend_from_slice(b"delete ");
            requests.extend_from_slice(&key);
            requests.extend_from_slice(b"\r\n");
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
