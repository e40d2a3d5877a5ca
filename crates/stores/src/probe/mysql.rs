//! What a MySQL or a MariaDB tells of itself: its global status, and the rows of its tables.

use super::{Identity, Probe, in_words};
use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use std::collections::BTreeMap;
use std::time::Duration;

/// The probe of a MySQL.
pub struct MysqlProbe {
    endpoint: Endpoint,
    answer_within: Duration,
    connection: Option<Conn>,
}

impl MysqlProbe {
    /// A probe that connects at its first question.
    pub fn new(endpoint: &Endpoint, answer_within: Duration) -> MysqlProbe {
        MysqlProbe {
            endpoint: endpoint.clone(),
            answer_within,
            connection: None,
        }
    }

    fn open(&self) -> mysql::Result<Conn> {
        let options = OptsBuilder::new()
            .prefer_socket(false)
            .tcp_connect_timeout(Some(self.answer_within))
            .read_timeout(Some(self.answer_within))
            .write_timeout(Some(self.answer_within));
        Conn::new(match &self.endpoint {
            Endpoint::Tcp { host, port } | Endpoint::Tls { host, port, .. } => {
                options.ip_or_hostname(Some(host)).tcp_port(*port)
            }
            Endpoint::Unix { path } | Endpoint::File { path } => options.socket(Some(path)),
        })
    }

    fn ask<T>(&mut self, question: impl Fn(&mut Conn) -> mysql::Result<T>) -> Result<T> {
        let opened = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.open(),
        };
        let answered = opened.and_then(|mut connection| {
            let answer = question(&mut connection)?;
            Ok((connection, answer))
        });
        match answered {
            Ok((connection, answer)) => {
                self.connection = Some(connection);
                Ok(answer)
            }
            Err(e) => Err(
                Problem::new(Kind::Failed, format!("mysql does not answer: {e}"))
                    .at(in_words(&self.endpoint)),
            ),
        }
    }
}

impl Probe for MysqlProbe {
    fn identify(&mut self) -> Result<Identity> {
        let version: Option<String> = self.ask(|c| c.query_first("SELECT VERSION()"))?;
        Ok(Identity {
            version: version.unwrap_or_default(),
            pid: None,
        })
    }

    fn counters(&mut self) -> Result<Counters> {
        let told: Vec<(String, String)> = self.ask(|c| c.query("SHOW GLOBAL STATUS"))?;
        let numbers = told
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.parse().ok()?)));
        Ok(numbers.collect())
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        let told: Vec<(String, String)> = self.ask(|c| c.query("SHOW GLOBAL VARIABLES"))?;
        Ok(told.into_iter().collect())
    }

    fn delete(&mut self, _keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        Ok(0)
    }

    fn is_cheap(&self) -> bool {
        false
    }
}
