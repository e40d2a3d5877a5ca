//! What a MySQL or a MariaDB tells of itself: its global status, and the rows of its tables.
//!
//! What the probe itself reads counts in the server's numbers too. It therefore tells how many rows
//! it has read by counting them (`counted_rows`) and by how many statements (`probe_selects`), so that a witness can leave them out, and finds
//! the names of tables once.

use super::{Asked, Identity, Probe, in_words};
use crate::manifest::Rows;
use mysql::prelude::Queryable;
use mysql::{Conn, Error, OptsBuilder, Params, Value};
use roundtrip_model::contract::{Endpoint, Login};
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use std::collections::BTreeMap;
use std::time::Duration;

/// Where it stands who the user of a server is that is there already.
pub const USER_VARIABLE: &str = "ROUNDTRIP_MYSQL_USER";
/// And his password.
pub const PASSWORD_VARIABLE: &str = "ROUNDTRIP_MYSQL_PASSWORD";
/// And which database he uses.
pub const DATABASE_VARIABLE: &str = "ROUNDTRIP_MYSQL_DATABASE";
/// How many keys one statement deletes.
const DELETED_AT_ONCE: usize = 500;
/// The most tables whose rows are counted.
const MOST_TABLES: usize = 64;
/// Codes of refusals: the password, the database, a table that is not there, rights on a table.
const WRONG_PASSWORD: u16 = 1045;
const NO_RIGHTS: [u16; 3] = [1044, 1142, 1698];
const NO_DATABASE: u16 = 1049;
const NO_TABLE: u16 = 1146;

/// The probe of a MySQL.
pub struct MysqlProbe {
    endpoint: Endpoint,
    login: Option<Login>,
    rows: Option<Rows>,
    answer_within: Duration,
    connection: Option<Conn>,
    tables: Option<Vec<String>>,
    counted_rows: u64,
    selects: u64,
}

impl MysqlProbe {
    /// A probe that connects at its first question.
    pub fn new(endpoint: &Endpoint, asked: &Asked, answer_within: Duration) -> MysqlProbe {
        MysqlProbe {
            endpoint: endpoint.clone(),
            login: asked.login.clone(),
            rows: asked.rows.clone(),
            answer_within,
            connection: None,
            tables: None,
            counted_rows: 0,
            selects: 0,
        }
    }

    fn open(&self) -> mysql::Result<Conn> {
        let login = self.login.as_ref();
        let database = login.map(|login| &login.database);
        let options = OptsBuilder::new()
            // It would go to the socket that the server names, past the address that is asked for.
            .prefer_socket(false)
            .user(login.map(|login| &login.user))
            .pass(login.map(|login| login.password.reveal()))
            .db_name(database.filter(|name| !name.is_empty()))
            .tcp_connect_timeout(Some(self.answer_within))
            .read_timeout(Some(self.answer_within))
            .write_timeout(Some(self.answer_within));
        let mut connection = Conn::new(match &self.endpoint {
            Endpoint::Tcp { host, port } | Endpoint::Tls { host, port, .. } => {
                options.ip_or_hostname(Some(host)).tcp_port(*port)
            }
            Endpoint::Unix { path } | Endpoint::File { path } => options.socket(Some(path)),
        })?;
        // A batch of another way in is one transaction; its rows are there before it ends.
        connection.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED")?;
        Ok(connection)
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut Conn) -> mysql::Result<T>) -> Result<T> {
        let opened = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.open(),
        };
        let answered = opened.and_then(|mut connection| {
            let answer = question(&mut connection)?;
            Ok((connection, answer))
        });
        let (connection, answer) = answered.map_err(|e| self.problem(&e))?;
        self.connection = Some(connection);
        Ok(answer)
    }

    /// Asks what the server counts as a read.
    fn select<T>(&mut self, question: impl FnOnce(&mut Conn) -> mysql::Result<T>) -> Result<T> {
        self.selects += 1;
        self.ask(question)
    }

    fn problem(&self, error: &Error) -> Problem {
        let at = in_words(&self.endpoint);
        let problem = |kind, what: &str| Problem::new(kind, what).at(at.clone());
        let code = match error {
            Error::MySqlError(said) => said.code,
            _ => 0,
        };
        // What it says of a login is not repeated: it names the user.
        match code {
            WRONG_PASSWORD => problem(Kind::Refused, "mysql does not take the user or his password")
                .next(format!("put the right ones into the environment variables {USER_VARIABLE} and {PASSWORD_VARIABLE}")),
            code if NO_RIGHTS.contains(&code) => problem(Kind::Refused, "mysql gives the user no right to the table of keys")
                .next("give him SELECT, INSERT, UPDATE and DELETE on it"),
            NO_DATABASE => problem(Kind::Missing, "mysql has no such database")
                .next(format!("name one that is there, in the address or in {DATABASE_VARIABLE}")),
            NO_TABLE => self.no_table(),
            _ => problem(Kind::Failed, &format!("mysql did not answer within {:.1} s or not as it should: {error}", self.answer_within.as_secs_f64())),
        }
    }

    fn no_table(&self) -> Problem {
        let (table, create) = match &self.rows {
            Some(rows) => (rows.table.as_str(), rows.create.as_str()),
            None => ("of keys", ""),
        };
        Problem::new(
            Kind::Missing,
            format!("mysql has no table {table} in the database"),
        )
        .at(in_words(&self.endpoint))
        .next(format!("make it with `{create}`"))
    }

    /// The tables whose rows are counted.
    fn tables(&mut self) -> Result<Vec<String>> {
        if let Some(tables) = &self.tables {
            return Ok(tables.clone());
        }
        let tables = match &self.rows {
            Some(rows) => vec![rows.table.clone()],
            None => self.select(|connection| {
                connection.query(
                    "SELECT TABLE_NAME FROM information_schema.TABLES \
                     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1",
                )
            })?,
        };
        if tables.len() > MOST_TABLES {
            let what = format!("the database has more than {MOST_TABLES} tables");
            return Err(Problem::new(Kind::Refused, what).at(in_words(&self.endpoint)));
        }
        self.tables = Some(tables.clone());
        Ok(tables)
    }

    fn table_rows(&mut self) -> Result<u64> {
        let mut rows = 0;
        for table in self.tables()? {
            let count = format!("SELECT COUNT(*) FROM {}", quoted(&table));
            let counted: Option<u64> = self.select(|connection| connection.query_first(count))?;
            rows += counted.unwrap_or(0);
        }
        Ok(rows)
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// How many bytes the binary log has, where there is one.
fn binlog_bytes(connection: &mut Conn) -> mysql::Result<u64> {
    let on: Option<(String, String)> =
        connection.query_first("SHOW GLOBAL VARIABLES LIKE 'log_bin'")?;
    if on.is_none_or(|(_, value)| value != "ON") {
        return Ok(0);
    }
    let logs: Vec<mysql::Row> = match connection.query("SHOW BINARY LOGS") {
        // To tell is a right of its own, which the user of somebody else's server may not have.
        Err(Error::MySqlError(_)) => return Ok(0),
        told => told?,
    };
    let sizes = logs.iter().filter_map(|row| row.get_opt::<u64, _>(1)?.ok());
    Ok(sizes.sum())
}

impl Probe for MysqlProbe {
    fn identify(&mut self) -> Result<Identity> {
        let version: Option<String> = self.select(|c| c.query_first("SELECT VERSION()"))?;
        Ok(Identity {
            version: version.unwrap_or_default(),
            // It tells a file that holds it and not the number.
            pid: None,
        })
    }

    fn counters(&mut self) -> Result<Counters> {
        // Counted first: to open a table is to read from the server's own.
        let rows = self.table_rows()?;
        self.counted_rows += rows;
        let (told, binlog_bytes) = self.ask(|connection| {
            let told: Vec<(String, String)> = connection.query("SHOW GLOBAL STATUS")?;
            Ok((told, binlog_bytes(connection)?))
        })?;
        let numbers = told
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.parse().ok()?)));
        let mut counters: Counters = numbers.collect();
        counters.insert("table_rows".to_owned(), rows);
        counters.insert("counted_rows".to_owned(), self.counted_rows);
        counters.insert("probe_selects".to_owned(), self.selects);
        counters.insert("binlog_bytes".to_owned(), binlog_bytes);
        Ok(counters)
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        let told: Vec<(String, String)> = self.ask(|c| c.query("SHOW GLOBAL VARIABLES"))?;
        Ok(told.into_iter().collect())
    }

    fn delete(&mut self, keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        let Some(Rows { table, key, .. }) = self.rows.clone() else {
            let what = "the store is thrown away whole; nothing is deleted from it";
            return Err(Problem::new(Kind::Internal, what));
        };
        let mut deleted = 0;
        loop {
            let some: Vec<Value> = keys.take(DELETED_AT_ONCE).map(Value::Bytes).collect();
            if some.is_empty() {
                return Ok(deleted);
            }
            let marks = vec!["?"; some.len()].join(", ");
            let statement = format!(
                "DELETE FROM {} WHERE {} IN ({marks})",
                quoted(&table),
                quoted(&key)
            );
            deleted += self.ask(|connection| {
                connection.exec_drop(statement, Params::Positional(some))?;
                Ok(connection.affected_rows())
            })?;
        }
    }

    fn is_cheap(&self) -> bool {
        // Counting rows reads whole tables.
        false
    }
}
