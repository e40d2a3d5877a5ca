//! Asking a store whether it is ready and what it counted: one file a protocol.

mod doors;
pub mod link;
pub mod memcached;
pub mod mysql;
pub mod redis;
mod several;
mod socket;
mod sqlite;

use crate::manifest::{Protocol, Rows};
use roundtrip_model::Result;
use roundtrip_model::contract::{Endpoint, Login};
use roundtrip_model::record::Counters;
use several::Several;
use std::collections::BTreeMap;
use std::slice::from_ref;
use std::time::Duration;

/// How long a store may take to answer a question. A healthy one takes well under a millisecond;
/// one that shares its only core with a busy client takes longer.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Who answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its version, in its own words.
    pub version: String,
    /// Its process id, where it says it.
    pub pid: Option<u32>,
}

/// Questions to a store. Every answer comes within the deadline that the probe was made with, or
/// is a problem; a probe whose connection broke makes a new one for the next question.
pub trait Probe: Send {
    /// Who answers. A store that answers this is ready.
    fn identify(&mut self) -> Result<Identity>;

    /// Every counter that is a whole number, by the store's own names.
    fn counters(&mut self) -> Result<Counters>;

    /// Settings, by the store's own names.
    fn settings(&mut self) -> Result<BTreeMap<String, String>>;

    /// Removes these keys and no others; says how many were there.
    fn delete(&mut self, keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64>;

    /// Whether counting costs so little that it may be done while a phase is measured.
    fn is_cheap(&self) -> bool;
}

/// Whom a probe asks, and as whom.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Every server.
    pub endpoints: Vec<Endpoint>,
    /// Who the probe is to it, where it asks.
    pub login: Option<Login>,
    /// The one table that is looked at, where it is not every table of the database.
    pub rows: Option<Rows>,
    /// Its doors, by name: what is spoken there, and where.
    pub doors: Vec<(String, Protocol, Endpoint)>,
}

impl Asked {
    /// One that asks nobody who he is.
    pub fn at(endpoints: &[Endpoint]) -> Asked {
        Asked {
            endpoints: endpoints.to_vec(),
            ..Asked::default()
        }
    }
}

/// The probe of a protocol, for a store of one or several servers, which counts at its doors too.
/// Connects at the first question.
pub fn probe(protocol: Protocol, asked: &Asked, answer_within: Duration) -> Box<dyn Probe> {
    let store = one_way(protocol, asked, answer_within);
    if asked.doors.is_empty() {
        return store;
    }
    let doors = asked.doors.iter().map(|(name, protocol, endpoint)| {
        let asked = Asked::at(std::slice::from_ref(endpoint));
        (name.clone(), one_way(*protocol, &asked, answer_within))
    });
    Box::new(doors::DoorsProbe::new(store, doors.collect()))
}

fn one_way(protocol: Protocol, asked: &Asked, answer_within: Duration) -> Box<dyn Probe> {
    let nowhere = Endpoint::File {
        path: String::new(),
    };
    let endpoints = asked.endpoints.as_slice();
    let endpoint = endpoints.first().unwrap_or(&nowhere);
    if endpoints.len() > 1 && !protocol.joins() {
        let node = |endpoint| one_way(protocol, &Asked::at(from_ref(endpoint)), answer_within);
        return Box::new(Several(endpoints.iter().map(node).collect()));
    }
    match protocol {
        Protocol::Memcached => Box::new(memcached::MemcachedProbe::new(endpoint, answer_within)),
        Protocol::Resp => Box::new(redis::RedisProbe::new(endpoint, answer_within)),
        Protocol::RespCluster => Box::new(redis::ClusterProbe::new(endpoints, answer_within)),
        Protocol::Mysql => Box::new(mysql::MysqlProbe::new(endpoint, asked, answer_within)),
        Protocol::Sqlite => Box::new(sqlite::SqliteProbe::new(endpoint)),
    }
}

/// Makes one store of servers that have just been started.
pub fn join(protocol: Protocol, endpoints: &[Endpoint]) -> Result<()> {
    match protocol {
        Protocol::RespCluster => redis::join(endpoints, ANSWER_WITHIN),
        _ => Ok(()),
    }
}

/// An endpoint in a person's words.
pub fn in_words(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Tcp { host, port } if host.contains(':') => format!("[{host}]:{port}"),
        Endpoint::Tcp { host, port } | Endpoint::Tls { host, port, .. } => format!("{host}:{port}"),
        Endpoint::Unix { path } | Endpoint::File { path } => path.clone(),
    }
}
