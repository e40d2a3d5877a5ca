//! A connection to a server that speaks SQL, its prepared statements, and what its errors mean.

use super::text::{Table, Verb};
use crate::engine::REPLY_TIMEOUT_NS;
use crate::io::{CONNECT_TIMEOUT, LinkOptions};
use crate::outcome::ErrorKind;
use crate::worker::WorkerError;
use mysql::prelude::Queryable;
use mysql::{Conn, Error, Opts, OptsBuilder, QueryResult, SslOpts, Statement, Value};
use roundtrip_model::contract::{Endpoint, Login};
use std::error::Error as _;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A server that is away is tried again so often.
const TRY_EVERY: Duration = Duration::from_millis(20);
/// Larger than any value that there is; asking the server for its own would be one more round trip.
const MOST_PACKET_BYTES: usize = 16 << 20;
/// More than one connection ever has: a cache that is full would close what is still in use.
const STATEMENTS: usize = 64;

/// A server, and the one connection to it that lives as long as it can.
pub(crate) struct MysqlStore {
    opts: Opts,
    pub(super) table: Table,
    patience: Duration,
    open: Option<Opened>,
}

/// A connection with what was prepared on it.
#[derive(Debug)]
struct Opened {
    conn: Conn,
    statements: [Option<Statement>; Verb::COUNT],
    /// The read of several keys, with how many.
    many: Option<(usize, Statement)>,
}

/// Without the options, which have the password among them.
impl fmt::Debug for MysqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MysqlStore")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

impl MysqlStore {
    /// Connects, and prepares a first statement: a table that is missing is told at once.
    pub(crate) fn open(
        endpoint: &Endpoint,
        login: Option<&Login>,
        link: LinkOptions,
        table: Table,
        patience: Duration,
    ) -> Result<MysqlStore, WorkerError> {
        let mut store = MysqlStore {
            opts: opts(endpoint, login, link)?,
            table,
            patience,
            open: None,
        };
        let opened = store.connected().map(|_| ());
        opened
            .and_then(|()| store.prepare(&[Verb::Get]))
            .map_err(|e| WorkerError::connect(in_words(endpoint, &e)))?;
        Ok(store)
    }

    fn connected(&mut self) -> mysql::Result<&mut Opened> {
        let opened = match self.open.take() {
            Some(opened) => opened,
            None => Opened {
                conn: Conn::new(self.opts.clone())?,
                statements: Default::default(),
                many: None,
            },
        };
        Ok(self.open.insert(opened))
    }

    /// Connects anew where the connection broke. While the server is away it is tried for as long
    /// as there is patience; what it says when it is there is the outcome of the op.
    pub(super) fn mend(&mut self) -> Result<Option<ErrorKind>, WorkerError> {
        if self.open.is_some() {
            return Ok(None);
        }
        let started = Instant::now();
        loop {
            match self.connected().map(|_| ()) {
                Ok(()) => return Ok(None),
                Err(Error::MySqlError(e)) => return Ok(Some(kind_of(e.code))),
                Err(e) if started.elapsed() >= self.patience => {
                    let what = format!("the server did not come back: {e}");
                    return Err(WorkerError::connect(what));
                }
                Err(_) => std::thread::sleep(TRY_EVERY),
            }
        }
    }

    /// Prepares statements that are about to be executed.
    pub(super) fn prepare(&mut self, verbs: &[Verb]) -> mysql::Result<()> {
        let table = self.table;
        let opened = self.connected()?;
        verbs.iter().try_for_each(|verb| {
            let place = &mut opened.statements[*verb as usize];
            if place.is_none() {
                *place = Some(opened.conn.prep(table.sql(*verb))?);
            }
            Ok(())
        })
    }

    /// Executes a statement, and has what came of it read.
    #[inline]
    pub(super) fn execute<T>(
        &mut self,
        verb: Verb,
        values: Vec<Value>,
        read: impl FnOnce(QueryResult<'_, '_, '_, mysql::Binary>) -> mysql::Result<T>,
    ) -> mysql::Result<T> {
        let done = self.prepare(&[verb]).and_then(|()| {
            let opened = self.connected()?;
            let Opened {
                conn, statements, ..
            } = opened;
            match &statements[verb as usize] {
                Some(statement) => read(conn.exec_iter(statement, values)?),
                None => Err(Error::server_disconnected()),
            }
        });
        self.keep_or_drop(done)
    }

    /// Reads several keys with one statement.
    pub(super) fn execute_many<T>(
        &mut self,
        keys: Vec<Value>,
        read: impl FnOnce(QueryResult<'_, '_, '_, mysql::Binary>) -> mysql::Result<T>,
    ) -> mysql::Result<T> {
        let done = self.prepare_many(keys.len()).and_then(|()| {
            let Opened { conn, many, .. } = self.connected()?;
            match many {
                Some((_, statement)) => read(conn.exec_iter(&*statement, keys)?),
                None => Err(Error::server_disconnected()),
            }
        });
        self.keep_or_drop(done)
    }

    /// Prepares the read of so many keys.
    pub(super) fn prepare_many(&mut self, keys: usize) -> mysql::Result<()> {
        let table = self.table;
        let opened = self.connected()?;
        match &opened.many {
            Some((prepared, _)) if *prepared == keys => {}
            _ => opened.many = Some((keys, opened.conn.prep(table.many(keys))?)),
        }
        Ok(())
    }

    /// Executes a text that gives nothing.
    pub(super) fn command(&mut self, text: &str) -> mysql::Result<()> {
        let done = self
            .connected()
            .and_then(|opened| opened.conn.query_drop(text));
        self.keep_or_drop(done)
    }

    /// A connection that broke, or of which nobody knows where its replies are, is given up.
    fn keep_or_drop<T>(&mut self, done: mysql::Result<T>) -> mysql::Result<T> {
        match &done {
            Err(Error::MySqlError(e)) if !is_gone(e.code) => {}
            Err(_) => self.open = None,
            Ok(_) => {}
        }
        done
    }
}

fn opts(
    endpoint: &Endpoint,
    login: Option<&Login>,
    link: LinkOptions,
) -> Result<Opts, WorkerError> {
    let patience = Some(Duration::from_nanos(REPLY_TIMEOUT_NS));
    let mut opts = OptsBuilder::new()
        // A TCP endpoint stays one, though the server may name its socket.
        .prefer_socket(false)
        .tcp_nodelay(link.tcp_nodelay)
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        .read_timeout(patience)
        .write_timeout(patience)
        .max_allowed_packet(Some(MOST_PACKET_BYTES))
        .stmt_cache_size(STATEMENTS);
    if let Some(login) = login {
        opts = opts
            .user(Some(&login.user))
            .pass(Some(login.password.reveal()))
            .db_name((!login.database.is_empty()).then_some(&login.database));
    }
    let opts = match endpoint {
        Endpoint::Tcp { host, port } => opts.ip_or_hostname(Some(host)).tcp_port(*port),
        Endpoint::Tls { host, port, ca } => opts
            .ip_or_hostname(Some(host))
            .tcp_port(*port)
            .ssl_opts(SslOpts::default().with_root_cert_path(Some(PathBuf::from(ca)))),
        Endpoint::Unix { path } => opts.socket(Some(path)),
        Endpoint::File { path } => {
            let what = format!("a server is reached by tcp or unix, not by the file {path}");
            return Err(WorkerError::usage(what));
        }
    };
    Ok(opts.into())
}

/// What a server's error is to an op.
pub(super) fn kind(e: &Error) -> ErrorKind {
    match e {
        Error::MySqlError(e) => kind_of(e.code),
        Error::IoError(e) => of_io(Some(e)),
        // The connection may have failed below it.
        Error::CodecError(e) => of_io(e.source().and_then(|e| e.downcast_ref())),
        Error::TlsError(_) => ErrorKind::Connection,
        _ => ErrorKind::Protocol,
    }
}

fn of_io(e: Option<&io::Error>) -> ErrorKind {
    match e.map(io::Error::kind) {
        Some(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => ErrorKind::Timeout,
        Some(_) => ErrorKind::Connection,
        None => ErrorKind::Protocol,
    }
}

fn kind_of(code: u16) -> ErrorKind {
    match code {
        1040 | 1203 => ErrorKind::TooManyConnections,
        1062 => ErrorKind::NotStored,
        1021 | 1114 => ErrorKind::Full,
        1205 | 1213 => ErrorKind::Busy,
        code if is_gone(code) => ErrorKind::Connection,
        _ => ErrorKind::Database,
    }
}

/// Whether the server says that the connection ends: a shutdown, a kill, a lost link.
fn is_gone(code: u16) -> bool {
    matches!(code, 1053 | 1927 | 2006 | 2013 | 3169 | 4031)
}

/// Why a server could not be had, and what to do about it.
pub(super) fn in_words(endpoint: &Endpoint, e: &Error) -> String {
    let place = match endpoint {
        Endpoint::Tcp { host, port } | Endpoint::Tls { host, port, .. } => format!("{host}:{port}"),
        Endpoint::Unix { path } | Endpoint::File { path } => path.clone(),
    };
    let next = match e {
        Error::MySqlError(e) => match e.code {
            1040 | 1203 => "; ask for fewer connections, or raise max_connections",
            1044 | 1045 => {
                "; check ROUNDTRIP_MYSQL_USER, ROUNDTRIP_MYSQL_PASSWORD and what the user may do"
            }
            1046 | 1049 => "; name the database in ROUNDTRIP_MYSQL_DATABASE",
            1146 => "; make the tables that docs/reference names, or name another database",
            _ => "",
        },
        _ => "",
    };
    format!("{place}: {e}{next}")
}
