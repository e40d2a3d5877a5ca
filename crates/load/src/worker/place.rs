//! Where data is: a server with its connections, a library in this process, or nothing.

use super::WorkerError;
use super::options::{Checked, IoChoice, MOST_CONNECTIONS, Speech};
use crate::engine::Mender;
use crate::io::{Blocking, CONNECT_TIMEOUT, Epoll, Hello, Io, Tls, Trust, Uring, connect};
use crate::protocol::{Map, MysqlStore, SqliteStore, hello};
use roundtrip_model::contract::{Endpoint, Login, Open};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that a process has besides its connections.
const OTHER_FILES: u64 = 64;
/// Each connection to a library in this process has a thread of its own.
const MOST_IN_PROCESS: u32 = 256;
/// The name of the door at which a store speaks memcached's protocol.
const MEMCACHED: &str = "memcached";

/// One place.
#[derive(Debug)]
pub(super) enum Place {
    /// What does nothing: only the loop is there. So many threads do it.
    Nothing(usize),
    /// One connection a thread.
    Sqlite(Vec<SqliteStore>),
    /// The same, of a server that speaks SQL.
    Mysql(Rows),
    Server(Server),
}

/// A server that speaks SQL.
#[derive(Debug)]
pub(super) struct Rows {
    /// One for each thread.
    pub(super) stores: Vec<MysqlStore>,
    /// Where it speaks memcached's protocol about the same rows, if it does.
    pub(super) door: Option<Endpoint>,
}

/// A server and the connections to it.
#[derive(Debug)]
pub(super) struct Server {
    /// Where the connections of a lane lead: those of a cluster or of shards to a node each.
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) speech: Speech,
    /// What is said first on each of them.
    pub(super) hello: Option<Hello>,
    /// Which node of a cluster has what.
    pub(super) map: Option<Map>,
    /// One for each thread.
    pub(super) hands: Vec<Hand>,
}

/// The connections of one thread.
#[derive(Debug)]
pub(super) struct Hand {
    pub(super) carrier: Carrier,
    /// Which of them are lost.
    pub(super) down: Vec<bool>,
    /// The number of the first.
    pub(super) first: usize,
}

/// How the bytes of a thread travel.
#[derive(Debug)]
pub(super) enum Carrier {
    Blocking(Blocking),
    Epoll(Epoll),
    Uring(Uring),
    TlsBlocking(Tls<Blocking>),
    TlsEpoll(Tls<Epoll>),
    TlsUring(Tls<Uring>),
}

/// Does something with the transport of a carrier, compiled for each.
macro_rules! carried {
    ($carrier:expr, $io:ident => $what:expr) => {
        match $carrier {
            Carrier::Blocking($io) => $what,
            Carrier::Epoll($io) => $what,
            Carrier::Uring($io) => $what,
            Carrier::TlsBlocking($io) => $what,
            Carrier::TlsEpoll($io) => $what,
            Carrier::TlsUring($io) => $what,
        }
    };
}
pub(super) use carried;

impl Carrier {
    /// The one that was asked for, or the best one that there is.
    fn new(choice: IoChoice, connections: usize) -> Result<Carrier, WorkerError> {
        let epoll = || {
            let made = Epoll::new().map(Carrier::Epoll);
            made.map_err(|e| WorkerError::io(format!("epoll: {e}")))
        };
        match (choice, connections) {
            (IoChoice::Auto | IoChoice::Blocking, 1) => Ok(Carrier::Blocking(Blocking::new())),
            (IoChoice::Auto, _) => {
                Uring::new(connections).map_or_else(|_| epoll(), |io| Ok(Carrier::Uring(io)))
            }
            (IoChoice::Epoll, _) => epoll(),
            (IoChoice::Uring, _) => Uring::new(connections)
                .map(Carrier::Uring)
                .map_err(|why| WorkerError::usage(format!("{why}; leave io out, or use epoll"))),
            (IoChoice::Blocking, _) => Err(WorkerError::usage(format!(
                "io=blocking carries one connection a thread, and a thread has {connections}; \
                 leave io out, or set threads to the number of connections"
            ))),
        }
    }

    /// The same under TLS.
    fn trusting(self, trust: Trust) -> Carrier {
        match self {
            Carrier::Blocking(io) => Carrier::TlsBlocking(Tls::new(io, trust)),
            Carrier::Epoll(io) => Carrier::TlsEpoll(Tls::new(io, trust)),
            Carrier::Uring(io) => Carrier::TlsUring(Tls::new(io, trust)),
            trusting => trusting,
        }
    }

    pub(super) fn name(&self) -> &'static str {
        carried!(self, io => io.name())
    }
}

impl Place {
    /// Opens a kind of store.
    pub(super) fn open(
        kind: &str,
        endpoint: &Endpoint,
        nodes: &[Endpoint],
        login: Option<&Login>,
        connections: u32,
        checked: &Checked,
    ) -> Result<Place, WorkerError> {
        let speech = match (kind, endpoint) {
            ("sqlite", Endpoint::File { path }) => {
                let count = in_process(connections)?;
                let stores = (0..count).map(|_| SqliteStore::open(path, checked.synchronous));
                return Ok(Place::Sqlite(stores.collect::<Result<_, _>>()?));
            }
            ("sqlite", _) => return Err(WorkerError::usage("sqlite is reached by a file")),
            ("redis-cluster", _) => Speech::Cluster,
            ("redis" | "redis-shards", _) => Speech::Resp,
            _ => Speech::Memcached,
        };
        let speech = match speech {
            Speech::Cluster => speech,
            speech => checked.speech.unwrap_or(speech),
        };
        let is_spread = kind.ends_with("-shards");
        if is_spread && nodes.is_empty() {
            return Err(WorkerError::usage(format!(
                "{kind} is several servers, and `open` names only one"
            )));
        }
        let endpoints = match is_spread {
            true => nodes,
            false => std::slice::from_ref(endpoint),
        };
        let hello = match speech {
            Speech::Resp | Speech::Cluster => login.map(hello),
            Speech::Memcached | Speech::Meta | Speech::Sql => None,
        };
        Server::open(endpoints, speech, hello, connections, checked).map(Place::Server)
    }

    /// Opens the store of a path: one that has several protocols at the door of the one that is
    /// spoken.
    pub(super) fn of(
        open: &Open,
        connections: u32,
        checked: &Checked,
    ) -> Result<Place, WorkerError> {
        let is_sql = matches!(open.store.as_str(), "mysql" | "mariadb");
        match (is_sql, checked.speech) {
            (true, None | Some(Speech::Sql)) => {
                let door = open.doors.get(MEMCACHED).cloned();
                let stores = (0..in_process(connections)?).map(|_| {
                    let login = open.login.as_ref();
                    let (link, patience) = (checked.link, checked.patience);
                    MysqlStore::open(&open.endpoint, login, link, checked.table, patience)
                });
                let stores = stores.collect::<Result<_, _>>()?;
                Ok(Place::Mysql(Rows { stores, door }))
            }
            (true, Some(Speech::Memcached | Speech::Meta)) => match open.doors.get(MEMCACHED) {
                Some(door) => Place::open(MEMCACHED, door, &[], None, connections, checked),
                None => Err(no_door(&open.store)),
            },
            (true, Some(_)) => Err(WorkerError::usage(format!(
                "{} does not speak resp; leave protocol out, or use memcached",
                open.store
            ))),
            (false, Some(Speech::Sql)) => Err(WorkerError::usage(format!(
                "{} does not speak SQL; leave protocol out",
                open.store
            ))),
            (false, _) => Place::open(
                &open.store,
                &open.endpoint,
                &open.nodes,
                open.login.as_ref(),
                connections,
                checked,
            ),
        }
    }

    /// What does nothing, on as many threads as there would be connections.
    pub(super) fn nothing(connections: u32) -> Result<Place, WorkerError> {
        in_process(connections).map(Place::Nothing)
    }

    /// Its connections, whoever has them.
    pub(super) fn connections(&self) -> usize {
        match self {
            Place::Nothing(threads) => *threads,
            Place::Sqlite(stores) => stores.len(),
            Place::Mysql(rows) => rows.stores.len(),
            Place::Server(server) => server.hands.iter().map(|hand| hand.down.len()).sum(),
        }
    }

    /// The same, where those to the nodes of a cluster are one.
    pub(super) fn lanes(&self) -> usize {
        match self {
            Place::Server(server) => self.connections() / server.endpoints.len().max(1),
            _ => self.connections(),
        }
    }
}

/// A store that has no other protocol than its own.
pub(super) fn no_door(store: &str) -> WorkerError {
    WorkerError::usage(format!(
        "this {store} does not speak memcached's protocol; use a mysql with its memcached plugin"
    ))
}

fn in_process(connections: u32) -> Result<usize, WorkerError> {
    match connections <= MOST_IN_PROCESS {
        true => Ok(connections as usize),
        false => Err(WorkerError::usage(format!(
            "a store that is asked one thing at a time has a thread for each connection, and at most \
             {MOST_IN_PROCESS} of them"
        ))),
    }
}

impl Server {
    fn open(
        endpoints: &[Endpoint],
        speech: Speech,
        hello: Option<Hello>,
        connections: u32,
        checked: &Checked,
    ) -> Result<Server, WorkerError> {
        if !(1..=MOST_CONNECTIONS).contains(&connections) {
            return Err(WorkerError::usage(format!(
                "{connections} connections are not from 1 to {MOST_CONNECTIONS}"
            )));
        }
        let map = match (speech, endpoints) {
            (Speech::Cluster, [first, ..]) => Some(Map::read(first, checked.link, hello.as_ref())?),
            _ => None,
        };
        let endpoints = map
            .as_ref()
            .map_or_else(|| endpoints.to_vec(), Map::endpoints);
        allow_files(u64::from(connections) * endpoints.len() as u64 + OTHER_FILES)?;
        let threads = checked.threads.min(connections) as usize;
        let connections = connections as usize;
        let mut hands = Vec::new();
        for thread in 0..threads {
            let first = connections * thread / threads;
            let end = connections * (thread + 1) / threads;
            hands.push(Hand::open(
                &endpoints,
                hello.as_ref(),
                first,
                end - first,
                checked,
            )?);
        }
        Ok(Server {
            endpoints,
            speech,
            hello,
            map,
            hands,
        })
    }

    /// How its lost connections come back.
    pub(super) fn mender(&self, checked: &Checked, seed: u64) -> Mender {
        Mender {
            endpoints: self.endpoints.clone(),
            link: checked.link,
            hello: self.hello.clone(),
            patience: checked.patience,
            seed,
        }
    }
}

impl Hand {
    /// So many lanes, numbered from the first on, each with a connection to each endpoint.
    fn open(
        endpoints: &[Endpoint],
        hello: Option<&Hello>,
        first: usize,
        lanes: usize,
        checked: &Checked,
    ) -> Result<Hand, WorkerError> {
        let connections = lanes * endpoints.len();
        let mut carrier = Carrier::new(checked.io, connections)?;
        if let Some(Endpoint::Tls { host, .. }) = endpoints.first() {
            let cas = endpoints.iter().filter_map(|endpoint| match endpoint {
                Endpoint::Tls { ca, .. } => Some(ca.as_str()),
                _ => None,
            });
            let trust = Trust::new(host, cas).map_err(WorkerError::usage)?;
            carrier = carrier.trusting(trust.saying(hello.cloned()));
        }
        for endpoint in endpoints.iter().cycle().take(connections) {
            let socket = connect(endpoint, checked.link, hello, CONNECT_TIMEOUT)?;
            carried!(&mut carrier, io => io.add(socket))
                .map_err(|e| WorkerError::connect(format!("a connection: {e}")))?;
        }
        Ok(Hand {
            carrier,
            down: vec![false; connections],
            first: first * endpoints.len(),
        })
    }
}

/// Raises the limit of open files as far as it is needed and allowed.
fn allow_files(needed: u64) -> Result<(), WorkerError> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(limit.maximum.map_or(needed, |maximum| maximum.min(needed))),
        maximum: limit.maximum,
    };
    let refused = limit.maximum.is_some_and(|maximum| maximum < needed);
    if refused || setrlimit(Resource::Nofile, raised).is_err() {
        return Err(WorkerError::usage(format!(
            "so many connections need {needed} open files, and this process may have {}; \
             raise the limit (ulimit -n)",
            limit.maximum.map_or("fewer".to_owned(), |n| n.to_string())
        )));
    }
    Ok(())
}
