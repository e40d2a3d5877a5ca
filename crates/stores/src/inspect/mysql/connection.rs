//! A connection that asks for names and values.

use crate::inspect::figures::Statistics;
use crate::inspect::target::Target;
use crate::probe::mysql::{PASSWORD_VARIABLE, USER_VARIABLE};
use crate::probe::{ANSWER_WITHIN, in_words};
use mysql::prelude::Queryable;
use mysql::{Conn, Error, OptsBuilder, Row, Value};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use std::env::var;

/// Servers have some 600 names of either kind.
const MAX_NAMES: usize = 5000;
const MAX_VALUE_CHARS: usize = 1024;
/// The largest answer that is taken, in bytes.
const MAX_PACKET_BYTES: usize = 1 << 20;
/// What a server answers that does not know the user, or not with that password, or lets nobody
/// in from there.
const ACCESS_DENIED: [u16; 3] = [1044, 1045, 1698];
const HOST_NOT_ALLOWED: u16 = 1130;
const TOO_MANY_CONNECTIONS: u16 = 1040;

/// An open connection.
pub struct Connection {
    conn: Conn,
    place: String,
}

impl Connection {
    /// Connects as the user that the address names, or the environment.
    pub fn open(target: &Target) -> Result<Connection> {
        let place = in_words(&target.endpoint);
        let user = match &target.user {
            Some(user) => user.clone(),
            None => var(USER_VARIABLE).map_err(|_| {
                let what = "MySQL has to be told who asks";
                Problem::new(Kind::Usage, what).at(&place).next(format!(
                    "write mysql://USER@HOST:PORT, or put the user into the environment variable \
                     {USER_VARIABLE}"
                ))
            })?,
        };
        let password = var(PASSWORD_VARIABLE).ok();
        let opts = OptsBuilder::new()
            .user(Some(user.as_str()))
            .pass(password.as_deref())
            // The connection stays where the address leads.
            .prefer_socket(false)
            .max_allowed_packet(Some(MAX_PACKET_BYTES))
            .tcp_connect_timeout(Some(ANSWER_WITHIN))
            .read_timeout(Some(ANSWER_WITHIN))
            .write_timeout(Some(ANSWER_WITHIN));
        let opts = match &target.endpoint {
            Endpoint::Unix { path } => opts.socket(Some(path.as_str())),
            Endpoint::Tcp { host, port } => {
                opts.ip_or_hostname(Some(host.as_str())).tcp_port(*port)
            }
            Endpoint::Tls { .. } | Endpoint::File { .. } => {
                let what = "MySQL is asked on a port or a socket";
                return Err(Problem::new(Kind::Internal, what).at(place));
            }
        };
        let opened = Conn::new(opts);
        let refused = |e| cannot_connect(&e, &user, password.is_some()).at(&place);
        Ok(Connection {
            conn: opened.map_err(refused)?,
            place,
        })
    }

    /// Rows of a name and a value.
    pub fn pairs(&mut self, question: &str) -> Result<Statistics> {
        let place = self.place.clone();
        let failed = |e: Error| {
            let what = format!("MySQL does not answer `{question}`: {}", in_short(&e));
            Problem::new(Kind::Failed, what)
                .at(&place)
                .next("look whether the user may ask this, and into the log of the server")
        };
        let rows = self.conn.query_iter(question).map_err(failed)?;
        let mut pairs = Statistics::new();
        for row in rows.take(MAX_NAMES) {
            let row = row.map_err(failed)?;
            if let Some((name, value)) = text(&row, 0).zip(text(&row, 1)) {
                pairs.insert(name, value);
            }
        }
        Ok(pairs)
    }
}

fn text(row: &Row, column: usize) -> Option<String> {
    match row.as_ref(column)? {
        Value::Bytes(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let is_plain = |c: &char| !c.is_control();
            Some(
                text.chars()
                    .filter(is_plain)
                    .take(MAX_VALUE_CHARS)
                    .collect(),
            )
        }
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Why there is no connection. What the server says of a refusal names the user and where from,
/// never a password.
fn cannot_connect(error: &Error, user: &str, has_password: bool) -> Problem {
    match error {
        Error::MySqlError(said) if ACCESS_DENIED.contains(&said.code) => {
            let what = match has_password {
                true => {
                    format!("MySQL does not take the password of `{user}`, or has no such user")
                }
                false => format!("MySQL wants a password of `{user}`, or has no such user"),
            };
            Problem::new(Kind::Refused, what).next(format!(
                "put the right one into the environment variable {PASSWORD_VARIABLE}; the user \
                 stands in the address (mysql://USER@HOST) or in {USER_VARIABLE}"
            ))
        }
        Error::MySqlError(said) if said.code == HOST_NOT_ALLOWED => {
            let what = format!("MySQL lets nobody in from here: {}", said.message);
            let step = "connect by its socket (mysql://USER@/PATH/OF.SOCKET), or allow the host";
            Problem::new(Kind::Refused, what).next(step)
        }
        Error::MySqlError(said) if said.code == TOO_MANY_CONNECTIONS => {
            let what = "MySQL takes no more connections (max_connections)";
            let step = "close some, or raise max_connections; an administrator's own connection is \
                        still taken";
            Problem::new(Kind::Failed, what).next(step)
        }
        Error::MySqlError(said) => {
            let what = format!("MySQL refuses the connection: {}", said.message);
            Problem::new(Kind::Failed, what).next("look into the log of the server")
        }
        other => {
            let what = format!("no connection to MySQL: {}", in_short(other));
            let step = "look whether it runs and listens there, and is a MySQL";
            Problem::new(Kind::Missing, what).next(step)
        }
    }
}

fn in_short(error: &Error) -> String {
    let is_plain = |c: &char| !c.is_control();
    error
        .to_string()
        .chars()
        .filter(is_plain)
        .take(300)
        .collect()
}
