//! The manifest of a store: everything in which it differs from the others. A manifest is
//! embedded in the binary, so that an installed Roundtrip needs no checkout.
//!
//! Every key is documented here and nowhere else. An unknown key is an error.

use crate::place::check_placeholders;
use roundtrip_model::names::unknown;
use roundtrip_model::{Kind, Problem, Result};
use rust_embed::RustEmbed;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The most servers of one store.
const MOST_NODES: u32 = 16;

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

/// `[life.process]`. Arguments may hold `{port}`, `{socket}`, `{dir}` and `{memory_mb}`, those of
/// `tls` also `{cert}`, `{key}` and `{ca}`, and those of a node of several `{peer_port}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// How many of it make one store, each with ports, a directory and an equal share of the
    /// memory of its own. Its protocol joins them, or else nothing does: clients then spread the
    /// keys, and what the store counts is the sum.
    #[serde(default = "one")]
    pub nodes: u32,
    /// The program.
    pub program: Program,
    /// Who it runs as when Roundtrip runs as root.
    pub as_root: AsRoot,
    /// Its arguments, first.
    #[serde(default)]
    pub args: Vec<String>,
    /// Then these, to listen on a loopback port.
    pub tcp: Vec<String>,
    /// Or these, to listen on a unix socket. Absent: it cannot.
    pub unix: Option<Vec<String>>,
    /// Or these, to speak TLS on a loopback port, and plainly on a unix socket where the probe
    /// asks. Absent: it cannot.
    pub tls: Option<Vec<String>>,
    /// Options of the server that a path may ask for (`native@floor?delay=constant:200us`), each
    /// with the arguments that set it, in which `{value}` stands for what was asked.
    #[serde(default)]
    pub options: BTreeMap<String, Vec<String>>,
    /// How long it may take until it answers.
    pub ready_within_ms: u64,
    /// How long it may take to end when asked to; then it is killed.
    pub stop_grace_ms: u64,
}

/// Which program serves.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// Roundtrip's own executable.
    #[serde(rename = "self")]
    Own,
    /// A program on this machine.
    Installed(InstalledProgram),
}

/// `[life.process.program.installed]`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstalledProgram {
    /// Names to look for, the best first.
    pub search: Vec<String>,
    /// Arguments that make it tell its version.
    pub version_args: Vec<String>,
    /// What it says then, with `{version}` where the version stands.
    pub version: String,
    /// The one command that installs it.
    pub install: String,
}

/// Who a server runs as when Roundtrip runs as root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AsRoot {
    /// The user `nobody`.
    Nobody,
    /// Root, as Roundtrip itself.
    Stay,
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

/// What a witness wants to know of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Reads asked for.
    Get,
    /// Reads that found their key.
    Hits,
    /// Reads that found nothing.
    Misses,
    /// Writes.
    Set,
    /// Removals asked for, where those that found their key are not counted apart: how many keys
    /// are gone then says how many did.
    Deletes,
    /// Removals of a key that was there.
    DeleteHits,
    /// Removals of a key that was not there.
    DeleteMisses,
    /// Increments of a key that was there.
    IncrHits,
    /// Increments of a key that was not there.
    IncrMisses,
    /// Batches of commands that were done as one.
    Transactions,
    /// Keys held now.
    Items,
    /// Bytes held now.
    Bytes,
    /// Items thrown away for want of memory.
    Evictions,
    /// Connections open now.
    Connections,
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

fn one() -> u32 {
    1
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

    fn check(&self) -> std::result::Result<(), String> {
        let Life::Process(process) = &self.life else {
            return Ok(());
        };
        let all = process.args.iter().chain(&process.tcp);
        let others = process.unix.iter().chain(&process.tls).flatten();
        for arg in all.chain(others) {
            check_placeholders(arg)?;
        }
        for arg in process.options.values().flatten() {
            check_placeholders(&arg.replace("{value}", ""))?;
        }
        if !(1..=MOST_NODES).contains(&process.nodes)
            || (process.nodes == 1 && self.protocol.joins())
        {
            return Err("`nodes` is not what its protocol can put together".to_owned());
        }
        let names = |args: &[String], what: &str| args.iter().any(|arg| arg.contains(what));
        if !names(&process.tcp, "{port}") {
            return Err("`tcp` does not say {port}".to_owned());
        }
        if process
            .unix
            .as_ref()
            .is_some_and(|args| !names(args, "{socket}"))
        {
            return Err("`unix` does not say {socket}".to_owned());
        }
        if process.tls.as_ref().is_some_and(|args| {
            ["{port}", "{socket}", "{cert}", "{key}"]
                .iter()
                .any(|what| !names(args, what))
        }) {
            return Err("`tls` does not say {port}, {socket}, {cert} and {key}".to_owned());
        }
        if !self.speaks.is_empty() && !self.speaks.contains(&self.protocol) {
            return Err("`speaks` does not name what the probe speaks".to_owned());
        }
        if let Program::Installed(program) = &process.program
            && (program.search.is_empty() || !program.version.contains("{version}"))
        {
            return Err("`search` is empty, or `version` does not say {version}".to_owned());
        }
        Ok(())
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

    /// The arguments that set an option of the server; `None` where it has no such option.
    pub fn option(&self, name: &str, value: &str) -> Option<Vec<String>> {
        let Life::Process(process) = &self.life else {
            return None;
        };
        let args = process.options.get(name)?;
        Some(
            args.iter()
                .map(|arg| arg.replace("{value}", value))
                .collect(),
        )
    }

    /// The one command that installs it; `None` for what is built in.
    pub fn install(&self) -> Option<&str> {
        match &self.life {
            Life::Process(Process {
                program: Program::Installed(program),
                ..
            }) => Some(&program.install),
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
