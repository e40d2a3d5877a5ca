//! The few commands of Redis that a witness needs: `INFO`, `CONFIG GET` of settings by name, and
//! the removal of named keys.
//!
//! What the probe itself sends counts in the server's own numbers too, but only as `INFO`,
//! `CONFIG`, `AUTH` and `UNLINK`, none of which bears witness to anything that a client does.

mod cluster;
mod info;

use super::link::{Kept, Link, MAX_BATCH_BYTES};
use super::{Identity, Probe};
pub use cluster::{ClusterProbe, join};
use info::Info;
pub use info::{is_database, part};
use roundtrip_model::contract::{Endpoint, Login};
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result, Secret};
use roundtrip_wire::Limits;
use roundtrip_wire::resp::{Reply, write_command};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where the password of a server that wants one stands.
const PASSWORD_VARIABLE: &str = "ROUNDTRIP_REDIS_PASSWORD";
/// Settings that are asked for, by their own names. Not all of them: some are secrets.
const SETTINGS: [&str; 8] = [
    "maxmemory",
    "maxmemory-policy",
    "io-threads",
    "appendonly",
    "appendfsync",
    "save",
    "hash-max-listpack-entries",
    "maxclients",
];
/// The longest answer: `INFO` takes some kilobytes, of which most are calls by command.
const LIMITS: Limits = Limits {
    key_bytes: 0,
    value_bytes: 1 << 20,
    line_bytes: 8 * 1024,
    message_bytes: 2 << 20,
    parts: 1024,
    depth: 4,
};

/// The probe of a Redis, or of what speaks as it.
pub struct RedisProbe {
    endpoint: Endpoint,
    answer_within: Duration,
    connection: Kept<Connection>,
}

impl RedisProbe {
    /// A probe that connects at its first question.
    pub fn new(endpoint: &Endpoint, answer_within: Duration) -> RedisProbe {
        RedisProbe {
            endpoint: endpoint.clone(),
            answer_within,
            connection: Kept::new(answer_within),
        }
    }

    fn open(&self) -> Result<Connection> {
        Connection::open(&self.endpoint, self.answer_within)
    }

    fn ask<T>(&mut self, question: impl Fn(&mut Connection) -> Result<T>) -> Result<T> {
        let (endpoint, within) = (&self.endpoint, self.answer_within);
        self.connection
            .ask(|| Connection::open(endpoint, within), question)
    }
}

impl Probe for RedisProbe {
    fn identify(&mut self) -> Result<Identity> {
        let info = self.ask(|connection| connection.info("all"))?;
        // It answers this while it still reads its log, and refuses everything else.
        if info.text("loading") == Some("1") {
            let what = "redis is still loading what it kept on disk";
            return Err(Problem::new(Kind::Failed, what).next("wait until it has"));
        }
        // What took Redis' place keeps its old version number there for old clients.
        let version = match info.text("valkey_version") {
            Some(version) => format!("valkey-server {version}"),
            None => info.text("redis_version").unwrap_or_default().to_owned(),
        };
        Ok(Identity {
            version,
            pid: info.text("process_id").and_then(|pid| pid.parse().ok()),
        })
    }

    fn counters(&mut self) -> Result<Counters> {
        self.ask(|connection| Ok(connection.info("all")?.counters()))
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        self.ask(Connection::settings)
    }

    fn delete(&mut self, keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        let mut connection = self.open()?;
        let (mut deleted, mut count, mut requests) = (0, 0, Vec::new());
        for key in keys {
            // One command a key: keys of a cluster may not stand together.
            write_command(&mut requests, &[b"UNLINK", &key]);
            count += 1;
            if requests.len() >= MAX_BATCH_BYTES {
                deleted += connection.unlink_batch(&requests, count)?;
                (count, requests) = (0, Vec::new());
            }
        }
        Ok(deleted + connection.unlink_batch(&requests, count)?)
    }

    fn is_cheap(&self) -> bool {
        true
    }
}

/// With what clients have to log in to a Redis; `None` where it asks for nothing.
pub fn login(endpoint: &Endpoint, answer_within: Duration) -> Result<Option<Login>> {
    Connection::log_in(endpoint, answer_within).map(|(_, login)| login)
}

/// A reply of a kind that answers one of the questions here.
enum Answer {
    Text(String),
    Number(i64),
    Texts(Vec<String>),
    Nothing,
    Error(String),
}

impl Answer {
    fn of(reply: &Reply<'_>) -> Answer {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if let Some(error) = reply.error() {
            return Answer::Error(text(error));
        }
        match (reply, reply.text(), reply.items()) {
            (Reply::Integer(number), ..) => Answer::Number(*number),
            (_, Some(bytes), _) => Answer::Text(text(bytes)),
            (.., Some(items)) => {
                Answer::Texts(items.filter_map(|part| part.text().map(text)).collect())
            }
            _ => Answer::Nothing,
        }
    }

    fn shown(&self) -> &str {
        match self {
            Answer::Text(text) | Answer::Error(text) => text,
            Answer::Number(_) => "a number",
            Answer::Texts(_) => "an array",
            Answer::Nothing => "nothing",
        }
    }
}

/// A connection on which a Redis is asked.
pub struct Connection(Link);

impl Connection {
    /// Connects, and shows the password to a server that wants one.
    pub fn open(endpoint: &Endpoint, answer_within: Duration) -> Result<Connection> {
        Connection::log_in(endpoint, answer_within).map(|(connection, _)| connection)
    }

    /// Connects; says with what it had to log in. A server that asks for nothing is told nothing: it
    /// refuses a password that it does not want.
    fn log_in(endpoint: &Endpoint, answer_within: Duration) -> Result<(Connection, Option<Login>)> {
        let mut connection = Connection(Link::open("redis", endpoint, answer_within)?);
        match connection.ask(&["INFO", "server"])? {
            Answer::Error(why) if why.starts_with("NOAUTH") => {
                let login = connection.authenticate()?;
                return Ok((connection, Some(login)));
            }
            Answer::Error(why) if why.contains("max number of clients") => {
                let what = "redis takes no more clients: as many are connected as there may be";
                let step = "raise maxclients, or close connections that nobody needs";
                return Err(connection.0.problem(what).next(step));
            }
            _ => {}
        }
        Ok((connection, None))
    }

    fn authenticate(&mut self) -> Result<Login> {
        let wants = |what: &str| {
            Problem::new(Kind::Refused, format!("redis {what}")).next(format!(
                "put the right one into the environment variable {PASSWORD_VARIABLE}"
            ))
        };
        let Some(password) = std::env::var_os(PASSWORD_VARIABLE) else {
            return Err(wants("wants a password"));
        };
        let password = password
            .into_string()
            .map_err(|_| wants("wants a password, and the one that there is is not text"))?;
        let mut request = Vec::new();
        write_command(&mut request, &[b"AUTH", password.as_bytes()]);
        self.0.send(&request)?;
        match self.answer("AUTH")? {
            Answer::Text(done) if done == "OK" => Ok(Login {
                user: String::new(),
                password: Secret::new(password),
                database: String::new(),
            }),
            // What it says is not repeated: it could hold what was sent.
            _ => Err(wants("does not take the password")),
        }
    }

    fn ask(&mut self, words: &[&str]) -> Result<Answer> {
        self.send(words)?;
        self.answer(words[0])
    }

    fn send(&mut self, words: &[&str]) -> Result<()> {
        let mut request = Vec::new();
        let arguments: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        write_command(&mut request, &arguments);
        self.0.send(&request)
    }

    fn answer(&mut self, request: &str) -> Result<Answer> {
        self.0.receive(request, |bytes| {
            Reply::parse(bytes, &LIMITS).map(|reply| Answer::of(&reply))
        })
    }

    /// What is read from the answer to a question; `None` where the server does not give one: it
    /// is of another version, or the user may not ask.
    pub fn told<T>(&mut self, words: &[&str], read: impl Fn(&Reply<'_>) -> T) -> Result<Option<T>> {
        self.send(words)?;
        self.0.receive(words[0], |bytes| {
            Reply::parse(bytes, &LIMITS).map(|reply| reply.error().is_none().then(|| read(&reply)))
        })
    }

    /// What a question is answered with, where that is a text.
    pub fn text(&mut self, words: &[&str]) -> Result<String> {
        match self.ask(words)? {
            Answer::Text(text) => Ok(text),
            other => Err(self.unexpected(&words.join(" "), &other)),
        }
    }

    /// Has something done.
    fn order(&mut self, words: &[&str]) -> Result<()> {
        match self.ask(words)? {
            Answer::Text(done) if done == "OK" => Ok(()),
            other => Err(self.unexpected(&words.join(" "), &other)),
        }
    }

    fn unexpected(&self, request: &str, answer: &Answer) -> Problem {
        self.0.unexpected(request, answer.shown().as_bytes())
    }

    /// Everything that `INFO` says, by its own names.
    pub fn everything(&mut self) -> Result<BTreeMap<String, String>> {
        Ok(self.info("all")?.into_fields())
    }

    fn info(&mut self, section: &str) -> Result<Info> {
        Ok(Info::parse(&self.text(&["INFO", section])?))
    }

    /// Settings by their own names. One that this version does not have, or does not tell, is
    /// left out.
    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        let mut settings = BTreeMap::new();
        for name in SETTINGS {
            if let Answer::Texts(told) = self.ask(&["CONFIG", "GET", name])?
                && let [name, value] = told.as_slice()
            {
                settings.insert(name.clone(), value.clone());
            }
        }
        Ok(settings)
    }

    fn unlink_batch(&mut self, requests: &[u8], count: usize) -> Result<u64> {
        self.0.send(requests)?;
        let mut deleted = 0;
        for _ in 0..count {
            match self.answer("UNLINK")? {
                Answer::Number(number) => deleted += u64::try_from(number).unwrap_or(0),
                other => return Err(self.unexpected("UNLINK", &other)),
            }
        }
        Ok(deleted)
    }
}

#[cfg(test)]
mod tests;
