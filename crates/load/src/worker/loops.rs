//! Which loop a phase is: every pair of a protocol and a way of carrying bytes that there is.

use super::WorkerError;
use super::crew::{self, Part, Start};
use super::options::{Checked, Speech};
use super::phase::Ready;
use super::place::{Carrier, Hand, Place, Rows, Server, carried};
use crate::engine::{Closed, Course, Ops, Pace, Plan, Settings};
use crate::io::{Io, Loopback};
use crate::protocol::{
    Call, Caller, Cluster, Direct, Memcached, Meta, Mysql, MysqlStore, Nothing, Protocol,
    ReadAside, Resp, Seen, Shards, Sqlite, SqliteStore, Task,
};
use crate::usage;
use roundtrip_model::Op;
use roundtrip_model::contract::Endpoint;

type Result<T> = std::result::Result<T, WorkerError>;

/// One thread's loop, before it has a protocol.
struct Loop<'a> {
    ready: &'a Ready,
    number: usize,
    ops: Ops,
    down: Vec<bool>,
    settings: Settings,
}

impl<'a> Loop<'a> {
    /// A loop over a store that needs no connection that could be lost.
    fn direct(ready: &'a Ready, number: usize, ops: Ops) -> Loop<'a> {
        Loop {
            ready,
            number,
            ops,
            down: vec![false],
            settings: Settings {
                depth: ready.depth,
                keys: ready.keys,
                travel: ready.travel,
                group: 1,
                first_connection: number,
                mender: None,
            },
        }
    }

    /// Runs it, at the phase's pace. A protocol that could not be had is told only after all
    /// threads have met.
    fn run<P: Protocol>(
        self,
        io: &mut impl Io,
        protocol: Result<P>,
        start: &Start,
    ) -> Result<Part> {
        match &self.ready.pace {
            Plan::Closed => self.go(io, protocol, Closed, start),
            Plan::Open(timed) => {
                let pace = timed.part(self.number as u64, self.ready.threads as u64);
                self.go(io, protocol, pace, start)
            }
        }
    }

    fn go<P: Protocol, C: Pace>(
        self,
        io: &mut impl Io,
        protocol: Result<P>,
        pace: C,
        start: &Start,
    ) -> Result<Part> {
        let texts = self.ready.texts.clone();
        let course = protocol.map(|protocol| {
            Course::new(self.settings, protocol, pace, self.ops, texts, &self.down)
        });
        let taken_up = io.take_up();
        let start_ns = start.agree();
        let mut course = course?;
        taken_up.map_err(|e| WorkerError::io(format!("{}: {e}", io.name())))?;
        let before = usage::of_this_thread();
        course.run(io, start_ns)?;
        let usage = usage::of_this_thread().since(before);
        course.fence(io)?;
        io.lay_down();
        let down = course.lanes_down();
        let (record, cache) = course.finish()?;
        Ok(Part {
            record,
            usage,
            cache,
            down,
        })
    }
}

/// A phase on the connections to a server.
pub(super) fn wired(
    ready: &mut Ready,
    checked: &Checked,
    server: &mut Server,
) -> Result<Vec<Part>> {
    let mender = server.mender(checked, ready.seed);
    let (speech, map, nodes) = (server.speech, server.map.clone(), server.endpoints.len());
    let ops = std::mem::take(&mut ready.parts);
    let members: Vec<(&mut Hand, Ops)> = server.hands.iter_mut().zip(ops).collect();
    let (task, ready) = (ready.task(), &*ready);
    crew::run(members, |number, (hand, ops), start| {
        let this = Loop {
            down: hand.down.clone(),
            settings: Settings {
                depth: ready.depth,
                keys: ready.keys,
                travel: ready.travel,
                group: checked.group as usize,
                first_connection: hand.first,
                mender: Some(mender.clone()),
            },
            ..Loop::direct(ready, number, ops)
        };
        let part = carried!(&mut hand.carrier, io => match (speech, nodes) {
            (Speech::Sql, _) => Err(WorkerError::internal("SQL goes over no connection of ours")),
            (Speech::Cluster, _) => {
                let map = map.clone().ok_or_else(|| WorkerError::internal("a cluster has no map"));
                this.run(io, map.map(|map| Cluster::new(task, map)), start)
            }
            (Speech::Memcached, 1) => this.run(io, Ok(Memcached::new(task)), start),
            (Speech::Meta, 1) => this.run(io, Ok(Meta::new(task)), start),
            (Speech::Resp, 1) => this.run(io, Ok(Resp::new(task)), start),
            (Speech::Memcached, _) => this.run(io, Ok(Shards::new(Memcached::new(task), nodes)), start),
            (Speech::Meta, _) => this.run(io, Ok(Shards::new(Meta::new(task), nodes)), start),
            (Speech::Resp, _) => this.run(io, Ok(Shards::new(Resp::new(task), nodes)), start),
        })?;
        hand.down.clone_from(&part.down);
        Ok(part)
    })
}

/// A phase on databases in this process, one a thread.
pub(super) fn in_sqlite(ready: &mut Ready, stores: &mut [SqliteStore]) -> Result<Vec<Part>> {
    let ops = std::mem::take(&mut ready.parts);
    let members: Vec<(&mut SqliteStore, Ops)> = stores.iter_mut().zip(ops).collect();
    let (task, ready) = (ready.task(), &*ready);
    crew::run(members, |number, (store, ops), start| {
        let protocol = Sqlite::new(store, task).map(Direct::new);
        Loop::direct(ready, number, ops).run(&mut Loopback::default(), protocol, start)
    })
}

/// A phase on connections to a server that speaks SQL, one a thread.
pub(super) fn in_mysql(ready: &mut Ready, checked: &Checked, rows: &mut Rows) -> Result<Vec<Part>> {
    let parts = std::mem::take(&mut ready.parts);
    let door = &rows.door;
    let members: Vec<(&mut MysqlStore, Ops)> = rows.stores.iter_mut().zip(parts).collect();
    let (task, ready) = (ready.task(), &*ready);
    crew::run(members, |number, (store, ops), start| {
        let this = Loop::direct(ready, number, ops);
        let io = &mut Loopback::default();
        match (ready.command.op, door) {
            (Op::SetSeen, Some(door)) if !task.prepare => {
                let protocol = Seen::new(store, door, checked.link, task).map(Direct::new);
                this.run(io, protocol, start)
            }
            _ => {
                let protocol = Mysql::new(store, task, ready.ops(), ready.command.keys_per_op)
                    .map(Direct::new);
                this.run(io, protocol, start)
            }
        }
    })
}

/// A phase on nothing.
pub(super) fn in_nothing(ready: &mut Ready) -> Result<Vec<Part>> {
    let ops = std::mem::take(&mut ready.parts);
    let ready = &*ready;
    crew::run(ops, |number, ops, start| {
        let protocol = Ok(Direct::new(Nothing));
        Loop::direct(ready, number, ops).run(&mut Loopback::default(), protocol, start)
    })
}

/// What stands behind a cache.
enum Behind<'a> {
    Sqlite(&'a mut SqliteStore),
    Mysql(&'a mut MysqlStore),
    Server(Box<dyn Call + Send>),
}

/// A phase that reads through a cache, on connections of its own that are made before the clock
/// starts.
pub(super) fn aside(
    ready: &mut Ready,
    checked: &Checked,
    store: &mut Place,
    cache: &Server,
) -> Result<Vec<Part>> {
    let task = ready.task();
    let call = |server: &Server| caller(server, checked, task);
    let behind: Vec<Behind<'_>> = match store {
        Place::Sqlite(stores) => stores.iter_mut().map(Behind::Sqlite).collect(),
        Place::Mysql(rows) => rows.stores.iter_mut().map(Behind::Mysql).collect(),
        Place::Server(server) => (0..ready.threads)
            .map(|_| call(server).map(Behind::Server))
            .collect::<Result<_>>()?,
        Place::Nothing(_) => Vec::new(),
    };
    let ops = std::mem::take(&mut ready.parts);
    let members = behind
        .into_iter()
        .zip(ops)
        .map(|(behind, ops)| Ok((call(cache)?, behind, ops)))
        .collect::<Result<Vec<_>>>()?;
    let ready = &*ready;
    crew::run(members, |number, (cache, behind, ops), start| {
        let behind: Result<Box<dyn Call + '_>> = match behind {
            Behind::Sqlite(store) => Sqlite::new(store, task).map(|store| Box::new(store) as _),
            Behind::Mysql(store) => Mysql::new(store, task, ready.ops(), ready.command.keys_per_op)
                .map(|store| Box::new(store) as _),
            Behind::Server(store) => Ok(store),
        };
        let protocol = behind.map(|behind| Direct::new(ReadAside::new(cache, behind)));
        Loop::direct(ready, number, ops).run(&mut Loopback::default(), protocol, start)
    })
}

fn one_at_a_time(over: &str) -> WorkerError {
    WorkerError::usage(format!(
        "reading through a cache does not go over {over}; use plain servers for it"
    ))
}

fn caller(server: &Server, checked: &Checked, task: Task) -> Result<Box<dyn Call + Send>> {
    let link = checked.link;
    let endpoint = match server.endpoints.as_slice() {
        [Endpoint::Tls { .. }] => return Err(one_at_a_time("TLS")),
        [endpoint] => endpoint,
        _ => return Err(one_at_a_time("several servers")),
    };
    Ok(match server.speech {
        Speech::Cluster | Speech::Sql => return Err(one_at_a_time("a cluster")),
        Speech::Memcached => Box::new(Caller::connect(endpoint, link, Memcached::new(task))?),
        Speech::Meta => Box::new(Caller::connect(endpoint, link, Meta::new(task))?),
        Speech::Resp => {
            let hello = server.hello.clone();
            Box::new(Caller::greet(endpoint, link, hello, Resp::new(task))?)
        }
    })
}
