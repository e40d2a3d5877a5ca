//! The clients, stores and options that there are: one table, for telling and for checking.

use super::WorkerError;
use crate::io::LinkOptions;
use crate::protocol::{Synchronous, Table};
use roundtrip_model::names::unknown;
use roundtrip_model::path::Options;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The clients.
pub(super) const CLIENTS: [&str; 2] = ["native", "nothing"];
/// The stores that each of them reaches.
pub(super) const STORES: [&str; 9] = [
    "memcached",
    "memcached-shards",
    "floor",
    "redis",
    "redis-shards",
    "redis-cluster",
    "sqlite",
    "mysql",
    "mariadb",
];
/// Those of them that are libraries in this process or speak SQL: a thread waits for each op.
pub(super) const ONE_AT_A_TIME: [&str; 3] = ["sqlite", "mysql", "mariadb"];
/// The options of `native` and what each may be; nothing for anything.
pub(super) const OPTIONS: [(&str, &[&str]); 11] = [
    ("depth", &[]),
    ("transport", &["tcp", "unix", "tls"]),
    ("tcp_nodelay", &["true", "false"]),
    ("synchronous", &["full", "normal", "off"]),
    ("io", &["auto", "blocking", "epoll", "io_uring"]),
    ("protocol", &["memcached", "meta", "resp", "mysql"]),
    ("table", &["demo_test", "numbers", "columns"]),
    ("threads", &[]),
    ("connections", &[]),
    ("multiget", &[]),
    ("reconnect_s", &[]),
];
/// The most connections of one process.
pub(super) const MOST_CONNECTIONS: u32 = 10_000;
const MOST_THREADS: u32 = 256;
/// The most keys of one request, and of one op.
pub(super) const MOST_KEYS: u32 = 1000;
const LONGEST_RECONNECT_S: u32 = 3600;

/// How bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IoChoice {
    /// `blocking` for one connection of a thread, `io_uring` for more, `epoll` where the kernel
    /// refuses that.
    Auto,
    Blocking,
    Epoll,
    Uring,
}

/// What is spoken with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    Memcached,
    /// memcached's meta commands.
    Meta,
    Resp,
    /// RESP with the nodes of a cluster.
    Cluster,
    /// SQL with MySQL or MariaDB.
    Sql,
}

/// Options that were checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    pub(super) link: LinkOptions,
    pub(super) synchronous: Synchronous,
    pub(super) io: IoChoice,
    /// In the place of what the kind of store says.
    pub(super) speech: Option<Speech>,
    pub(super) threads: u32,
    /// In the place of what `open` says.
    pub(super) connections: Option<u32>,
    /// The most keys of one request.
    pub(super) group: u32,
    /// The table of a store that has several.
    pub(super) table: Table,
    /// How long a server may be away.
    pub(super) patience: Duration,
}

/// Checks that a name is one of those that there are.
pub(super) fn known(noun: &str, typed: &str, names: &[&str]) -> Result<(), WorkerError> {
    if names.contains(&typed) {
        return Ok(());
    }
    Err(unknown(noun, typed, names.iter().copied()).into())
}

/// Checks every option. `depth` and `transport` are the host's to act on: the one comes with each
/// phase, the other decides the endpoint.
pub(super) fn check(options: &Options) -> Result<Checked, WorkerError> {
    for (name, value) in options {
        known("option", name, &OPTIONS.map(|(name, _)| name))?;
        let allowed = OPTIONS.iter().find(|(known, _)| known == name);
        let allowed = allowed.map_or(&[][..], |(_, allowed)| allowed);
        if !allowed.is_empty() {
            known(&format!("value of {name}"), value, allowed)?;
        }
    }
    let of = |name: &str| options.get(name).map(String::as_str);
    Ok(Checked {
        link: LinkOptions {
            tcp_nodelay: of("tcp_nodelay") != Some("false"),
        },
        synchronous: of("synchronous")
            .and_then(|text| text.parse().ok())
            .unwrap_or(Synchronous::Full),
        io: match of("io") {
            Some("blocking") => IoChoice::Blocking,
            Some("epoll") => IoChoice::Epoll,
            Some("io_uring") => IoChoice::Uring,
            _ => IoChoice::Auto,
        },
        speech: of("protocol").map(|name| match name {
            "resp" => Speech::Resp,
            "meta" => Speech::Meta,
            "mysql" => Speech::Sql,
            _ => Speech::Memcached,
        }),
        threads: number(options, "threads", 1..=MOST_THREADS)?.unwrap_or(1),
        connections: number(options, "connections", 1..=MOST_CONNECTIONS)?,
        group: number(options, "multiget", 1..=MOST_KEYS)?.unwrap_or(1),
        table: of("table")
            .and_then(|text| text.parse().ok())
            .unwrap_or_default(),
        patience: Duration::from_secs(
            number(options, "reconnect_s", 0..=LONGEST_RECONNECT_S)?
                .unwrap_or(10)
                .into(),
        ),
    })
}

fn number(
    options: &Options,
    name: &str,
    allowed: RangeInclusive<u32>,
) -> Result<Option<u32>, WorkerError> {
    let Some(text) = options.get(name) else {
        return Ok(None);
    };
    let number = text.parse().ok().filter(|number| allowed.contains(number));
    number.map(Some).ok_or_else(|| {
        WorkerError::usage(format!(
            "{name} `{text}` is not a number from {} to {}",
            allowed.start(),
            allowed.end()
        ))
    })
}
