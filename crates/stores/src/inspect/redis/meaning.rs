//! What the statistics of a Redis mean.

use super::cluster::{Cluster, Node};
use super::slow::{LatencyEvent, SlowLog};
use crate::inspect::figures::{Looks, Window, ratio};
use crate::inspect::text::{Told, count, known, of, percent, size, window};
use crate::probe::redis::{is_database, part};
use serde::Serialize;

/// What the statistics mean. `None` where the server does not tell, and for a ratio of nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Meaning {
    /// The server's version.
    pub version: Option<String>,
    /// `master` or `slave`, as the server says it.
    pub role: Option<String>,
    /// Over which time counts are.
    pub window: Window,
    /// Commands a second in the window.
    pub commands_per_s: Option<f64>,
    /// Reads of keys in the window.
    pub reads: Reads,
    /// Memory now.
    pub memory: Memory,
    /// Keys thrown away for want of memory, in the window.
    pub evictions: Option<u64>,
    /// The same a second.
    pub evictions_per_s: Option<f64>,
    /// Keys whose time was over, in the window.
    pub expired: Option<u64>,
    /// Clients connected.
    pub connections: Option<u64>,
    /// Clients that may be.
    pub max_connections: Option<u64>,
    /// Clients turned away because there were as many as there may be, in the window.
    pub rejected_connections: Option<u64>,
    /// The databases that hold keys.
    pub databases: Vec<Database>,
    /// What a restart would keep.
    pub persistence: Persistence,
    /// Commands that took long; absent where that cannot be read.
    pub slow: Option<SlowLog>,
    /// Delays that the server noticed in itself, where it watches for them.
    pub latency_events: Vec<LatencyEvent>,
    /// The cluster that it is in.
    pub cluster: Option<Cluster>,
}

/// Reads of keys.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reads {
    /// How many.
    pub count: Option<u64>,
    /// The share of them that found their key.
    pub hit_ratio: Option<f64>,
}

/// Memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Memory {
    /// Bytes that data and its bookkeeping take.
    pub used_bytes: Option<u64>,
    /// Bytes that it may take; absent: there is no limit.
    pub limit_bytes: Option<u64>,
    /// Used over limit.
    pub used_ratio: Option<f64>,
    /// What becomes of keys at the limit.
    pub policy: Option<String>,
    /// Memory of the process over memory in use.
    pub fragmentation: Option<f64>,
}

/// A database that holds keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Database {
    /// `db0`.
    pub name: String,
    /// Keys that it holds.
    pub keys: u64,
    /// Those of them that have a time to live.
    pub expiring: u64,
}

/// What a restart would keep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Persistence {
    /// Whether every write goes into a file.
    pub append_only_file: Option<bool>,
    /// Whether its last write and its last rewriting went well.
    pub append_only_file_ok: Option<bool>,
    /// When the last snapshot was made, in seconds since 1970; before the first one, when the
    /// server started.
    pub last_save_unix_s: Option<u64>,
    /// Whether it went well.
    pub last_save_ok: Option<bool>,
    /// Changes since.
    pub changes_since_save: Option<u64>,
}

impl Meaning {
    /// What `INFO` says; the rest is left for what else is asked.
    pub fn of(looks: &Looks) -> Meaning {
        let text = |name| looks.text(name).map(str::to_owned);
        Meaning {
            // What took Redis' place keeps its old version number there for old clients.
            version: text("valkey_version").or(text("redis_version")),
            role: text("role"),
            window: looks.window,
            commands_per_s: looks.per_s("total_commands_processed"),
            reads: Reads::of(looks),
            memory: Memory::of(looks),
            evictions: looks.grew("evicted_keys"),
            evictions_per_s: looks.per_s("evicted_keys"),
            expired: looks.grew("expired_keys"),
            connections: looks.number("connected_clients"),
            max_connections: looks.number("maxclients"),
            rejected_connections: looks.grew("rejected_connections"),
            databases: databases(looks),
            persistence: Persistence::of(looks),
            slow: None,
            latency_events: Vec::new(),
            cluster: None,
        }
    }
}

impl Reads {
    fn of(looks: &Looks) -> Reads {
        let hits = looks.grew("keyspace_hits");
        let both = hits.zip(looks.grew("keyspace_misses"));
        let count = both.map(|(hits, misses)| hits.saturating_add(misses));
        Reads {
            count,
            hit_ratio: ratio(hits, count),
        }
    }
}

impl Memory {
    fn of(looks: &Looks) -> Memory {
        let used_bytes = looks.number("used_memory");
        let limit_bytes = looks.number("maxmemory").filter(|bytes| *bytes > 0);
        Memory {
            used_bytes,
            limit_bytes,
            used_ratio: ratio(used_bytes, limit_bytes),
            policy: looks.text("maxmemory_policy").map(str::to_owned),
            fragmentation: looks
                .text("mem_fragmentation_ratio")
                .and_then(|ratio| ratio.parse().ok())
                .filter(|ratio: &f64| ratio.is_finite()),
        }
    }
}

impl Persistence {
    fn of(looks: &Looks) -> Persistence {
        let is = |name, value: &str| looks.text(name).map(|text| text == value);
        let written = is("aof_last_write_status", "ok");
        let rewritten = is("aof_last_bgrewrite_status", "ok");
        Persistence {
            append_only_file: is("aof_enabled", "1"),
            append_only_file_ok: written.zip(rewritten).map(|(w, r)| w && r),
            last_save_unix_s: looks.number("rdb_last_save_time"),
            last_save_ok: is("rdb_last_bgsave_status", "ok"),
            changes_since_save: looks.number("rdb_changes_since_last_save"),
        }
    }

    fn in_words(&self) -> Option<String> {
        let log = match self.append_only_file? {
            true => "append-only file on",
            false => "append-only file off",
        };
        let changes = self.changes_since_save?;
        Some(format!("{log}; {changes} changes since the last snapshot"))
    }
}

fn databases(looks: &Looks) -> Vec<Database> {
    let database = |(name, value): (&String, &String)| {
        Some(Database {
            name: name.clone(),
            keys: part(value, "keys")?,
            expiring: part(value, "expires").unwrap_or(0),
        })
    };
    looks
        .now
        .iter()
        .filter(|(name, _)| is_database(name))
        .filter_map(database)
        .collect()
}

impl Told for Meaning {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let rate = |rate: Option<f64>| rate.map(|rate| format!("{rate:.1}"));
        let limit = self.memory.limit_bytes.map(size);
        let limit = limit.or(Some("no limit".to_owned()));
        let memory = of(self.memory.used_bytes.map(size), limit);
        let policy = self.memory.policy.clone();
        let memory = memory.map(|m| format!("{m}, {}", known(policy)));
        let reads = self.reads.count.map(|n| format!("{n} reads"));
        let slow = self.slow.as_ref().map(|log| log.entries);
        vec![
            ("version", known(self.version.clone())),
            ("role", known(self.role.clone())),
            ("over", window(self.window)),
            ("commands a second", known(rate(self.commands_per_s))),
            ("hit ratio", known(of(percent(self.reads.hit_ratio), reads))),
            ("memory in use", known(memory)),
            (
                "fragmentation",
                known(self.memory.fragmentation.map(|ratio| format!("{ratio:.2}"))),
            ),
            ("evictions", known(count(self.evictions))),
            ("evictions a second", known(rate(self.evictions_per_s))),
            ("expired", known(count(self.expired))),
            (
                "connections",
                known(of(count(self.connections), count(self.max_connections))),
            ),
            ("turned away", known(count(self.rejected_connections))),
            ("kept on disk", known(self.persistence.in_words())),
            ("slow commands", known(count(slow))),
            (
                "cluster",
                known(self.cluster.as_ref().map(|cluster| cluster.state.clone())),
            ),
        ]
    }

    fn tables(&self) -> Vec<(&'static str, Vec<String>)> {
        let keys = |db: &Database| {
            let (name, keys, expiring) = (&db.name, db.keys, db.expiring);
            format!("{name:<8} {keys:>12} keys, {expiring} of them with a time to live")
        };
        let slow = self.slow.iter().flat_map(|log| &log.slowest);
        let event = |e: &LatencyEvent| {
            let (event, last, max) = (&e.event, e.last_ms, e.max_ms);
            format!("{event:<24} last {last} ms, at most {max} ms")
        };
        let nodes = self.cluster.iter().flat_map(|cluster| &cluster.nodes);
        let tables = [
            ("Keys", self.databases.iter().map(keys).collect()),
            (
                "Slowest commands in the log",
                slow.map(|slow| format!("{:<24} {:>12} us", slow.command, slow.took_us))
                    .collect(),
            ),
            (
                "Delays that it noticed in itself",
                self.latency_events.iter().map(event).collect(),
            ),
            ("Nodes", nodes.map(Node::in_words).collect()),
        ];
        let has_lines = |(_, lines): &(_, Vec<String>)| !lines.is_empty();
        tables.into_iter().filter(has_lines).collect()
    }
}
