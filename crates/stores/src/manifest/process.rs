//! How a server is started.

use super::Program;
use serde::Deserialize;
use std::collections::BTreeMap;

/// `[life.process]`. Arguments may hold `{port}`, `{socket}`, `{dir}` and `{memory_mb}`, those of
/// `tls` also `{cert}`, `{key}` and `{ca}`, those of nodes that their protocol joins `{peer_port}`, `{data}` with
/// `initialise` and `{login_sql}` with `accounts`.
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
    pub options: BTreeMap<String, ServerOption>,
    /// What is done once to make its data directory. It is kept in the cache, and each start gets a
    /// copy, `{data}` in its arguments. Absent: it starts with an empty directory.
    pub initialise: Option<Initialise>,
    /// The accounts that are made at each start. Absent: it asks nobody who he is.
    pub accounts: Option<Accounts>,
    /// Whether the probe asks on the socket whatever clients use: `tcp` then says `{socket}` too.
    #[serde(default)]
    pub probe_on_socket: bool,
    /// The most that `{memory_mb}` is. Absent: as much as is asked for.
    pub max_memory_mb: Option<u32>,
    /// How long it may take until it answers.
    pub ready_within_ms: u64,
    /// How long it may take to end when asked to; then it is killed.
    pub stop_grace_ms: u64,
}

/// An option of the server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum ServerOption {
    /// Takes any value, which stands for `{value}` in these arguments.
    Any(Vec<String>),
    /// Takes one of these values, each with its arguments.
    OneOf(BTreeMap<String, Vec<String>>),
}

impl ServerOption {
    /// The arguments that set it; none for a value that it does not take.
    pub fn args(&self, value: &str) -> Vec<String> {
        match self {
            ServerOption::Any(args) => args
                .iter()
                .map(|arg| arg.replace("{value}", value))
                .collect(),
            ServerOption::OneOf(values) => values.get(value).cloned().unwrap_or_default(),
        }
    }

    /// The values that it takes; `None` where it takes any.
    pub fn values(&self) -> Option<impl Iterator<Item = &str>> {
        match self {
            ServerOption::Any(_) => None,
            ServerOption::OneOf(values) => Some(values.keys().map(String::as_str)),
        }
    }

    /// Every argument of it, with nothing in the place of a value.
    pub(super) fn every_arg(&self) -> Vec<String> {
        match self {
            ServerOption::Any(_) => self.args(""),
            ServerOption::OneOf(values) => values.values().flatten().cloned().collect(),
        }
    }
}

/// `[life.process.initialise]`. Arguments may hold `{data}`, the directory to make, which is not
/// there yet, `{dir}`, a private directory, and `{sql}`, a file of the statements below.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Initialise {
    /// The program that does it, one of this machine. Absent: the server itself.
    pub program: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Statements, each without its `;` and on one line of the file.
    #[serde(default)]
    pub sql: Vec<String>,
    /// How long it may take.
    pub within_ms: u64,
}

/// `[life.process.accounts]`: who may log in. The passwords are random, made for each start, and
/// given to the server in the file `{login_sql}`, which nobody else can read and which is gone when
/// the server is ready.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accounts {
    /// The user that clients are.
    pub user: String,
    /// The user that the probe is.
    pub probe: String,
    /// The database of both.
    pub database: String,
    /// Statements that make them, each without its `;`, with `{user}`, `{password}`, `{probe}`,
    /// `{probe_password}` and `{database}`. They must do no harm when done again.
    pub sql: Vec<String>,
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

fn one() -> u32 {
    1
}
