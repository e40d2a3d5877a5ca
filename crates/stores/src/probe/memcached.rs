//! The few commands of memcached's text protocol that a witness and an inspector need, on a
//! [`Link`] and with the codec of `wire`.

mod probe;

pub use probe::MemcachedProbe;

use super::link::{Link, or_next};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Problem, Result};
use roundtrip_wire::Limits;
use roundtrip_wire::memcached::{MAX_KEY_BYTES, Reply, Request};
use std::collections::BTreeMap;
use std::time::Duration;

/// The most lines that an answer to `stats` may have; memcached's longest has about 2,000.
const MAX_STATS: usize = 20_000;
const LIMITS: Limits = Limits {
    key_bytes: MAX_KEY_BYTES,
    // The largest value that memcached can be told to hold.
    value_bytes: 1 << 30,
    // A key of 250 bytes takes 750 when it is percent-encoded.
    line_bytes: 8 * 1024,
    message_bytes: 2 << 30,
    parts: 0,
    depth: 0,
};

/// One connection.
pub struct Connection(Link);

impl Connection {
    /// Connects. Each answer must then come within `answer_within`.
    pub fn open(endpoint: &Endpoint, answer_within: Duration) -> Result<Connection> {
        Link::open("memcached", endpoint, answer_within).map(Connection)
    }

    /// A problem of this connection.
    pub fn problem(&self, what: impl Into<String>) -> Problem {
        self.0.problem(what)
    }

    /// Starts the deadline anew: for an answer whose length is not known before.
    pub fn renew_deadline(&mut self) {
        self.0.renew_deadline();
    }

    /// Sends requests; the deadline of their answers starts.
    pub fn send(&mut self, requests: &[u8]) -> Result<()> {
        self.0.send(requests)
    }

    /// Reads the next reply and takes what the answer to `request` must have; [`None`] makes it an
    /// answer that cannot be.
    pub fn reply<T>(&mut self, request: &str, take: impl Fn(Reply<'_>) -> Option<T>) -> Result<T> {
        let answer = self.0.receive(request, |bytes| {
            let parsed = Reply::parse(bytes, &LIMITS);
            parsed.map(|reply| take(reply).ok_or_else(|| first_line(bytes)))
        })?;
        answer.map_err(|line| self.0.unexpected(request, &line))
    }

    fn ask<T>(
        &mut self,
        request: &Request<'_>,
        take: impl Fn(Reply<'_>) -> Option<T>,
    ) -> Result<T> {
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        self.send(&bytes)?;
        self.reply(&String::from_utf8_lossy(bytes.trim_ascii_end()), take)
    }

    /// `version`
    pub fn version(&mut self) -> Result<String> {
        self.ask(&Request::Version, |reply| match reply {
            Reply::Version(version) => Some(text(version)),
            _ => None,
        })
        .map_err(|p| or_next(p, "look what listens there: it does not speak memcached"))
    }

    /// `stats`, or `stats GROUP`: names and values.
    pub fn stats(&mut self, group: &str) -> Result<BTreeMap<String, String>> {
        let line = |reply: Reply<'_>| match reply {
            Reply::Stat { name, value } => Some(Some((text(name), text(value)))),
            // An empty group is answered with RESET by some versions.
            Reply::End | Reply::Reset => Some(None),
            _ => None,
        };
        let group = Some(group.as_bytes()).filter(|group| !group.is_empty());
        let mut next = self.ask(&Request::Stats(group), line)?;
        let mut stats = BTreeMap::new();
        for _ in 0..MAX_STATS {
            match next {
                Some((name, value)) => stats.insert(name, value),
                None => return Ok(stats),
            };
            next = self.reply("stats", line)?;
        }
        Err(self.problem("memcached does not stop answering `stats`"))
    }

    fn delete_batch(&mut self, requests: &[u8], count: usize) -> Result<u64> {
        self.send(requests)?;
        let mut deleted = 0;
        for _ in 0..count {
            deleted += self.reply("delete", |reply| match reply {
                Reply::Deleted => Some(1),
                Reply::NotFound => Some(0),
                _ => None,
            })?;
        }
        Ok(deleted)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn first_line(bytes: &[u8]) -> Vec<u8> {
    let line = bytes.split(|b| *b == b'\r' || *b == b'\n').next();
    line.unwrap_or(bytes).to_vec()
}

#[cfg(test)]
mod tests;
