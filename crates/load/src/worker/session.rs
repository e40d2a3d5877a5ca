//! What is open between `open` and `close`, and which of it a phase runs on.

use super::WorkerError;
use super::loops::{aside, in_mysql, in_nothing, in_sqlite, wired};
use super::options::{self, CLIENTS, Checked, STORES, Speech, known};
use super::phase::Ready;
use super::place::{Place, Server, no_door};
use crate::clock;
use crate::protocol::Table;
use roundtrip_model::Op;
use roundtrip_model::contract::{Carried, Done, Open, PhaseCommand, Purpose, Target};

#[derive(Debug)]
pub(super) struct Session {
    checked: Checked,
    /// The table that keys go to by their own name, where the store's plugin is spoken with.
    named_table: Option<Table>,
    store: Place,
    cache: Option<Place>,
}

/// Which of the session's places a phase runs on.
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
        let has_tables = matches!(open.store.as_str(), "mysql" | "mariadb");
        if open.options.contains_key("table") && !has_tables {
            return Err(WorkerError::usage(format!(
                "only mysql and mariadb have tables, and {} has none; leave table out",
                open.store
            )));
        }
        let connections = checked.connections.unwrap_or(open.connections);
        let started_ns = clock::now_ns();
        let (store, cache) = if open.client == "nothing" {
            (Place::nothing(connections)?, None)
        } else {
            let cache = open.cache.as_ref().map(|(kind, endpoint)| {
                known("cache", kind, &["memcached", "floor", "redis"])?;
                Place::open(kind, endpoint, &[], None, connections, &checked)
            });
            let store = Place::of(open, connections, &checked)?;
            (store, cache.transpose()?)
        };
        let is_at_door = has_tables && matches!(store, Place::Server(_));
        let session = Session {
            checked,
            named_table: (is_at_door && checked.table.has_numbers()).then_some(checked.table),
            store,
            cache,
        };
        Ok((session, clock::now_ns() - started_ns))
    }

    /// Gets a phase ready, or says why it cannot be.
    pub(super) fn prepare(&self, mut command: PhaseCommand) -> Result<Ready, WorkerError> {
        let way = self.way(&command)?;
        let place = self.place(way)?;
        let prepares = command.purpose == Purpose::Prepare;
        let (threads, pipelines) = match place {
            Place::Nothing(threads) => (*threads, true),
            _ if way == Way::Aside => (place.connections(), false),
            // Several would only wait for one another's transaction.
            Place::Sqlite(_) if prepares => (1, false),
            Place::Sqlite(stores) => (stores.len(), false),
            Place::Mysql(rows) => (rows.stores.len(), false),
            Place::Server(server) => (server.hands.len(), true),
        };
        if !pipelines && command.depth > 1 && !prepares {
            return Err(WorkerError::usage(format!(
                "phase `{}` has depth {}, but {} does one at a time; leave depth out",
                command.name,
                command.depth,
                match way {
                    Way::Aside => "reading through a cache",
                    Way::Store | Way::Cache => "this store",
                },
            )));
        }
        if scans(&command)
            && !matches!(
                (way, place),
                (_, Place::Nothing(_)) | (Way::Store, Place::Sqlite(_))
            )
        {
            return Err(WorkerError::usage(format!(
                "phase `{}` scans, and of the stores here only sqlite keeps its keys in order",
                command.name
            )));
        }
        self.has_its_rows(&command, place)?;
        let group = self.checked.group;
        let reads = matches!(command.op, Op::Get | Op::Mix);
        if group > 1 && !prepares && !pipelines {
            return Err(WorkerError::usage(
                "multiget asks a server for many keys at once, and here one thing is asked at a \
                 time; leave it out",
            ));
        }
        if reads && !prepares && pipelines && group > command.depth {
            return Err(WorkerError::usage(format!(
                "multiget={group} needs as many places in flight; write depth={group} or more"
            )));
        }
        if let (2.., Place::Server(server)) = (group, place)
            && (server.endpoints.len() > 1 || server.speech == Speech::Meta)
        {
            return Err(WorkerError::usage(
                "multiget asks one server for the keys of many ops at once, but here they are on \
                 several, or a command reads only one; leave it out, or use the op get_many",
            ));
        }
        if let (Way::Store, Some(table), Some(stream)) =
            (way, self.named_table, command.plan.as_mut())
        {
            stream.prefix = format!("@@{}.{}", table.name(), stream.prefix);
        }
        Ready::new(command, threads, place.lanes(), pipelines)
    }

    /// Runs a phase.
    pub(super) fn run(&mut self, ready: &mut Ready) -> Result<Done, WorkerError> {
        let way = self.way(&ready.command)?;
        let checked = self.checked;
        let (parts, carried) = match (way, &mut self.store, &mut self.cache) {
            (Way::Aside, store, Some(Place::Server(cache))) => {
                (aside(ready, &checked, store, cache)?, None)
            }
            (Way::Cache, _, Some(Place::Server(server)))
            | (Way::Store, Place::Server(server), _) => {
                let parts = wired(ready, &checked, server)?;
                (parts, Some(carried(server)))
            }
            (Way::Store, Place::Sqlite(stores), _) => (in_sqlite(ready, stores)?, None),
            (Way::Store, Place::Mysql(rows), _) => (in_mysql(ready, &checked, rows)?, None),
            (Way::Store, Place::Nothing(_), _) => (in_nothing(ready)?, None),
            _ => return Err(no_cache()),
        };
        Ok(Done {
            carried,
            ..ready.done(parts)
        })
    }

    /// Refuses what only tables can do, where there are none, and what these tables cannot.
    fn has_its_rows(&self, command: &PhaseCommand, place: &Place) -> Result<(), WorkerError> {
        let joins = matches!(command.op, Op::Join | Op::SetSeen);
        let table = self.checked.table;
        match place {
            Place::Nothing(_) => Ok(()),
            Place::Mysql(rows) => {
                if joins && table.has_numbers() {
                    return Err(WorkerError::usage(format!(
                        "phase `{}` joins, and only `demo_test` is joined with another table; \
                         leave table out",
                        command.name
                    )));
                }
                has_its_keys(command, table)?;
                match (command.op, &rows.door) {
                    (Op::SetSeen, None) => Err(no_door("server")),
                    _ => Ok(()),
                }
            }
            Place::Server(_) if !joins => self
                .named_table
                .map_or(Ok(()), |table| has_its_keys(command, table)),
            _ if joins => Err(WorkerError::usage(format!(
                "phase `{}` joins two tables, which only mysql and mariadb do by SQL",
                command.name
            ))),
            _ => Ok(()),
        }
    }

    fn way(&self, command: &PhaseCommand) -> Result<Way, WorkerError> {
        match (command.target, command.op, &self.cache) {
            _ if matches!(self.store, Place::Nothing(_)) => Ok(Way::Store),
            (Target::Cache, _, Some(_)) => Ok(Way::Cache),
            (Target::Cache, _, None) => Err(no_cache()),
            (Target::Store, Op::ReadAside, Some(_)) => Ok(Way::Aside),
            (Target::Store, _, _) => Ok(Way::Store),
        }
    }

    fn place(&self, way: Way) -> Result<&Place, WorkerError> {
        match way {
            Way::Store => Ok(&self.store),
            Way::Cache | Way::Aside => self.cache.as_ref().ok_or_else(no_cache),
        }
    }
}

/// Whether any op of a phase reads keys in a row.
fn scans(command: &PhaseCommand) -> bool {
    let mix = command.plan.iter().flat_map(|stream| &stream.mix);
    let mut ops = mix.map(|(op, _)| *op).chain([command.op]);
    ops.any(|op| op == Op::Scan)
}

/// Refuses keys that a table with numbers for keys does not take.
fn has_its_keys(command: &PhaseCommand, table: Table) -> Result<(), WorkerError> {
    let key = command
        .plan
        .as_ref()
        .map(|stream| stream.key_maker().make(stream.first));
    let is_number = |key: &Vec<u8>| key.iter().all(u8::is_ascii_digit);
    match table.has_numbers() && !key.as_ref().is_none_or(is_number) {
        false => Ok(()),
        true => Err(WorkerError::usage(format!(
            "the keys of table `{}` are numbers; write the key recipe `number`, on a server that \
             is Roundtrip's own",
            table.name()
        ))),
    }
}

fn no_cache() -> WorkerError {
    WorkerError::usage("a phase concerns the cache, but `open` named none")
}

fn carried(server: &Server) -> Carried {
    Carried {
        io: server
            .hands
            .first()
            .map_or("none", |hand| hand.carrier.name())
            .to_owned(),
        threads: server.hands.len() as u32,
        connections: server.hands.iter().map(|hand| hand.down.len() as u32).sum(),
    }
}
