//! The manifest of a store: everything in which it differs from the others. A manifest is
//! embedded in the binary, so that an installed Roundtrip needs no checkout.
//!
//! Every key is documented here and nowhere else. An unknown key is an error.

use roundtrip_model::names::unknown;
use roundtrip_model::{Kind, Problem, Result};
use rust_embed::RustEmbed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

mod check;
mod durability;
mod process;
mod program;
mod quantity;
mod sum;

pub use durability::Durability;
pub use process::{Accounts, AsRoot, Initialise, Process, ServerOption};
pub use program::{Artifact, InstalledProgram, Program};
pub use quantity::Quantity;
pub use sum::Sum;

#[derive(RustEmbed)]
#[folder = "../../stores"]
struct Files;

/// A `store.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The word that names it in paths; its folder has the same name.
    pub name: String,
    /// What it is, on one line.
    pub title: String,
    /// How it is asked whether it is ready and what it counted.
    pub protocol: Protocol,
    /// The protocols that its clients may speak, the usual one first. Absent: only that of the
    /// probe.
    #[serde(default)]
    pub speaks: Vec<Protocol>,
    /// How many connections of clients it takes as Roundtrip starts it. Absent: nobody counts.
    pub max_connections: Option<u32>,
    /// How the next trial gets an empty store.
    pub between_trials: BetweenTrials,
    /// How it comes to live: `[life.process]` or `[life.embedded]`.
    pub life: Life,
    /// How one that is already there is named. Absent: only Roundtrip starts it.
    pub attach: Option<Attach>,
    /// Settings that can change a result.
    #[serde(default)]
    pub settings: ReportedSettings,
    /// What its counters are called, by what a witness wants to know.
    #[serde(default)]
    pub witness: BTreeMap<Quantity, String>,
    /// Counters made of others: a name, and names with `+` and `-` between them. Less than 0 is 0.
    #[serde(default)]
    pub derived: BTreeMap<String, Sum>,
    /// Other ways in than its usual one, by the name of the protocol that is spoken there.
    #[serde(default)]
    pub doors: BTreeMap<String, Door>,
    /// The table of a store of tables where a client's keys are rows.
    pub rows: Option<Rows>,
    /// What of an acknowledged write it keeps when it dies. Absent: nobody says.
    #[serde(default)]
    pub durability: Vec<Durability>,
}

/// The protocol that a store speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// memcached's text protocol: `version`, `stats`.
    Memcached,
    /// That of Redis, in either version: `INFO`.
    Resp,
    /// A Redis Cluster: RESP with several nodes, which share the keys.
    RespCluster,
    /// A SQLite file: its rows.
    Sqlite,
    /// That of MySQL and MariaDB: `SHOW GLOBAL STATUS`, and the rows of tables.
    Mysql,
}

/// How the next trial gets an empty store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BetweenTrials {
    /// It is stopped, and a new one is started in a new directory.
    Restart,
}

/// How a store comes to live.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one of these a store, and most are processes"
)]
pub enum Life {
    /// A server that Roundtrip starts.
    Process(Process),
    /// A library inside the client; the store is a file.
    Embedded(Embedded),
}

/// `[life.embedded]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Embedded {
    /// The name of its file.
    pub file: String,
}

/// `[attach]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// What stands before `://` in its address.
    pub scheme: String,
    /// The port of an address without one.
    pub default_port: u16,
}

/// `[doors.NAME]`: another way in. Arguments may hold `{door_port}` and `{door_socket}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Door {
    /// What is spoken there. Its counters stand beside the store's own as `NAME.COUNTER`.
    pub protocol: Protocol,
    /// Arguments of the server that open it on a loopback port.
    pub tcp: Vec<String>,
    /// Arguments of the server that open it on a unix socket, where clients are to use one.
    pub unix: Option<Vec<String>>,
    /// What bears witness for who comes in here, in the place of `[witness]`; an empty name where
    /// nothing does. What does not stand here is as there.
    #[serde(default)]
    pub witness: BTreeMap<Quantity, String>,
}

/// `[rows]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// The table.
    pub table: String,
    /// Its column of keys.
    pub key: String,
    /// The statement that makes it, for a store that is there already and has none.
    pub create: String,
}

/// `[settings]`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportedSettings {
    /// Settings that always hold: name and value.
    #[serde(default)]
    pub fixed: BTreeMap<String, String>,
    /// Settings that are read from the running store: name, and the store's own name for it.
    #[serde(default)]
    pub read: BTreeMap<String, String>,
}

impl Protocol {
    /// What a server by itself speaks, before it is one of several.
    pub fn of_a_node(self) -> Protocol {
        match self {
            Protocol::RespCluster => Protocol::Resp,
            alone => alone,
        }
    }

    /// Whether servers are put together into one by it, and know of each other.
    pub fn joins(self) -> bool {
        self != self.of_a_node()
    }
}

impl Manifest {
    /// Parses and checks a manifest; `place` is the name of its file.
    pub fn parse(text: &str, place: &str) -> Result<Manifest> {
        let bad = |what: String| Problem::new(Kind::Internal, what).at(place);
        let manifest: Manifest =
            toml::from_str(text).map_err(|e| bad(format!("a store's manifest is wrong: {e}")))?;
        manifest.check().map_err(bad)?;
        Ok(manifest)
    }

    /// The protocols that its clients may speak, the usual one first.
    pub fn protocols(&self) -> &[Protocol] {
        match self.speaks.as_slice() {
            [] => std::slice::from_ref(&self.protocol),
            several => several,
        }
    }

    /// The store's own name for a counter, where it has it.
    pub fn counter(&self, quantity: Quantity) -> Option<&str> {
        self.witness.get(&quantity).map(String::as_str)
    }

    /// The names of the counters that bear witness for who comes in by a door, or by the usual way.
    pub fn witness_of(&self, door: Option<&str>) -> BTreeMap<Quantity, String> {
        let mut names = self.witness.clone();
        if let Some(door) = door.and_then(|name| self.doors.get(name)) {
            names.extend(door.witness.clone());
        }
        names.retain(|_, name| !name.is_empty());
        names
    }

    /// Every counter that bears witness to something.
    pub fn witness_counters(&self) -> impl Iterator<Item = &str> {
        let doors = self.doors.values().flat_map(|door| door.witness.values());
        self.witness.values().chain(doors).map(String::as_str)
    }

    /// The arguments that set an option of the server; `None` where it has no such option.
    pub fn option(&self, name: &str, value: &str) -> Option<Vec<String>> {
        self.server_option(name).map(|option| option.args(value))
    }

    /// An option of the server.
    pub fn server_option(&self, name: &str) -> Option<&ServerOption> {
        match &self.life {
            Life::Process(process) => process.options.get(name),
            Life::Embedded(_) => None,
        }
    }

    /// The one command that installs it; `None` for what is built in.
    pub fn install(&self) -> Option<&str> {
        match &self.life {
            Life::Process(Process {
                program: Program::Installed(InstalledProgram { install, .. }),
                ..
            })
            | Life::Process(Process {
                program: Program::Artifact(Artifact { install, .. }),
                ..
            }) => Some(install),
            _ => None,
        }
    }

    /// Whether it needs nothing that is not inside Roundtrip.
    pub fn is_built_in(&self) -> bool {
        self.install().is_none()
    }

    /// Whether its data lies in a file that the client opens itself.
    pub fn is_embedded(&self) -> bool {
        matches!(self.life, Life::Embedded(_))
    }
}

/// Every store, by name. A test proves that every embedded manifest is in it.
pub fn registry() -> &'static [Manifest] {
    static REGISTRY: LazyLock<Vec<Manifest>> =
        LazyLock::new(|| parse_all().filter_map(Result::ok).collect());
    &REGISTRY
}

/// The store of a name, or a problem that names the nearest one.
pub fn find(name: &str) -> Result<&'static Manifest> {
    registry()
        .iter()
        .find(|manifest| manifest.name == name)
        .ok_or_else(|| unknown("store", name, registry().iter().map(|m| m.name.as_str())))
}

fn parse_all() -> impl Iterator<Item = Result<Manifest>> {
    // The embedded files come sorted by path.
    Files::iter()
        .filter(|path| path.ends_with("/store.toml"))
        .filter_map(|path| Some((Files::get(&path)?, path)))
        .map(|(file, path)| {
            Manifest::parse(
                &String::from_utf8_lossy(&file.data),
                &format!("stores/{path}"),
            )
        })
}

#[cfg(test)]
mod tests;
