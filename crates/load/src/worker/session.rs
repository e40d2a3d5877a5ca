//! What is open between `open` and `close`, and which driver a phase runs on.

use super::WorkerError;
use super::options::{self, CLIENTS, STORES, known};
use super::phase::Ready;
use crate::clock;
use crate::driver::{Driver, Memcached, MemcachedStore, Nothing, ReadAside, Sqlite, SqliteStore};
use crate::outcome::Tally;
use crate::timed::Timing;
use roundtrip_model::Op;
use roundtrip_model::contract::{Done, Endpoint, Open, PhaseCommand, Purpose, Target};

#[derive(Debug)]
pub(super) struct Session {
    store: Store,
    cache: Option<MemcachedStore>,
}

#[derive(Debug)]
enum Store {
    Nothing,
    Memcached(MemcachedStore),
    Sqlite(SqliteStore),
}

/// Which of the session's drivers a phase runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Store,
    Cache,
    Aside,
}

impl Session {
    /// Connects; says how long that took.
    pub(super) fn open(open: &Open) -> Result<(Session, u64), WorkerError> {
        known("client", &open.client, &CLIENTS)?;
        known("store", &open.store, &STORES)?;
        let checked = options::check(&open.options)?;
        let started_ns = clock::now_ns();
        if open.client == "nothing" {
            let (store, cache) = (Store::Nothing, None);
            return Ok((Session { store, cache }, clock::now_ns() - started_ns));
        }
        let store = match (open.store.as_str(), &open.endpoint) {
            ("sqlite", Endpoint::File { path }) => {
                Store::Sqlite(SqliteStore::open(path, checked.synchronous)?)
            }
            (_, Endpoint::Tls { .. }) => {
                return Err(WorkerError::usage("this client does not speak TLS"));
            }
            ("sqlite", _) => return Err(WorkerError::usage("sqlite is reached by a file")),
            (_, endpoint) => Store::Memcached(MemcachedStore::open(endpoint, checked.link)?),
        };
        let cache = match &open.cache {
            None => None,
            Some((kind, endpoint)) => {
                known("cache", kind, &["memcached", "floor"])?;
                Some(MemcachedStore::open(endpoint, checked.link)?)
            }
        };
        Ok((Session { store, cache }, clock::now_ns() - started_ns))
    }

    /// Gets a phase ready, or says why it cannot be.
    pub(super) fn prepare(&self, command: PhaseCommand) -> Result<Ready, WorkerError> {
        let pipelines = match (self.way(&command)?, &self.store) {
            (_, Store::Nothing) => true,
            (Way::Aside, _) => false,
            (Way::Cache, _) | (Way::Store, Store::Memcached(_)) => Memcached::PIPELINES,
            (Way::Store, Store::Sqlite(_)) => Sqlite::PIPELINES,
        };
        if !pipelines && command.depth > 1 && command.purpose != Purpose::Prepare {
            return Err(WorkerError::usage(format!(
                "phase `{}` has depth {}, but {} does one at a time; leave depth out",
                command.name,
                command.depth,
                if self.cache.is_some() {
                    "reading through a cache"
                } else {
                    "sqlite"
                },
            )));
        }
        Ready::new(command)
    }

    /// Runs a phase.
    pub(super) fn run(&mut self, ready: &mut Ready) -> Result<Done, WorkerError> {
        let task = ready.task();
        let way = self.way(&ready.command)?;
        match (way, &mut self.store, &mut self.cache) {
            (_, Store::Nothing, _) => alone(ready, Nothing::new(task)),
            (Way::Store, Store::Memcached(store), _) => alone(ready, Memcached::new(store, task)),
            (Way::Store, Store::Sqlite(store), _) => alone(ready, Sqlite::new(store, task)?),
            (Way::Cache, _, Some(cache)) => alone(ready, Memcached::new(cache, task)),
            (Way::Aside, Store::Memcached(store), Some(cache)) => {
                let store = Memcached::new(store, task);
                aside(ready, ReadAside::new(Memcached::new(cache, task), store))
            }
            (Way::Aside, Store::Sqlite(store), Some(cache)) => {
                let store = Sqlite::new(store, task)?;
                aside(ready, ReadAside::new(Memcached::new(cache, task), store))
            }
            (Way::Cache | Way::Aside, _, None) => Err(no_cache()),
        }
    }

    fn way(&self, command: &PhaseCommand) -> Result<Way, WorkerError> {
        match (command.target, command.op, &self.cache) {
            _ if matches!(self.store, Store::Nothing) => Ok(Way::Store),
            (Target::Cache, _, Some(_)) => Ok(Way::Cache),
            (Target::Cache, _, None) => Err(no_cache()),
            (Target::Store, Op::ReadAside, Some(_)) => Ok(Way::Aside),
            (Target::Store, _, _) => Ok(Way::Store),
        }
    }
}

fn no_cache() -> WorkerError {
    WorkerError::usage("a phase concerns the cache, but `open` named none")
}

fn alone(ready: &mut Ready, mut driver: impl Driver) -> Result<Done, WorkerError> {
    Ok(done(ready.run(&mut driver)?, Tally::default()))
}

fn aside<C, S>(ready: &mut Ready, mut driver: ReadAside<C, S>) -> Result<Done, WorkerError>
where
    ReadAside<C, S>: Driver,
{
    let timing = ready.run(&mut driver)?;
    Ok(done(timing, driver.cache_outcomes))
}

fn done(timing: Timing, cache_outcomes: Tally) -> Done {
    Done {
        started_ns: timing.started_ns,
        ended_ns: timing.ended_ns,
        user_ns: timing.after.user_ns.saturating_sub(timing.before.user_ns),
        sys_ns: timing.after.sys_ns.saturating_sub(timing.before.sys_ns),
        outcomes: timing.outcomes.by_name(),
        cache_outcomes: cache_outcomes.by_name(),
        max_rss_bytes: (timing.after.max_rss_bytes > 0).then_some(timing.after.max_rss_bytes),
        carried: None,
        gaps: Vec::new(),
        lateness: None,
    }
}
