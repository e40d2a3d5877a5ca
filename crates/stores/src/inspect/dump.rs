//! Every item of a memcached, streamed. One connection lists the keys (`lru_crawler metadump`),
//! another reads the values, some keys at a time: memory does not grow with the number of items.

use super::connect;
use super::figures::number;
use super::item::{Item, Listed, write_add, write_json};
use crate::probe::link::{MAX_BATCH_BYTES, or_next};
use crate::probe::memcached::Connection;
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_wire::memcached::{MAX_KEY_BYTES, Reply};
use serde::Serialize;
use std::io::{self, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Walks the hash table. Walking the lists of use misses items that move between them on the way:
/// 20 of 400,000 on a server that was idle.
const LISTING: &str = "lru_crawler metadump hash";
/// What servers know that cannot walk the hash table.
const OLDER_LISTING: &str = "lru_crawler metadump all";
/// Both, in a problem.
const CRAWLER: &str = "lru_crawler metadump";
/// The most keys whose values are asked for at once.
const MAX_BATCH_KEYS: usize = 100;
/// How often a crawler that is busy for somebody else is asked again, and how far apart.
const BUSY_ATTEMPTS: u32 = 50;
const BUSY_PAUSE: Duration = Duration::from_millis(100);
/// How long the next key may take: the crawler passes over expired items without a word.
const LISTED_WITHIN: Duration = Duration::from_secs(60);

/// What a dump came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DumpSummary {
    /// Items written.
    pub items: u64,
    /// Bytes of their values.
    pub value_bytes: u64,
    /// Keys that were listed and gone before their value was read.
    pub vanished: u64,
}

/// Writes every item as a command that stores it again: `add KEY FLAGS EXPTIME BYTES` and its
/// value, which can be sent to a memcached as they are. EXPTIME is a moment (seconds since 1970),
/// or 0.
pub fn dump(address: &Endpoint, sink: &mut dyn Write) -> Result<DumpSummary> {
    run(address, sink, write_add)
}

/// Writes every item as a line of JSON: key, flags, time to live, value; what is not text in
/// base64.
pub fn dump_json(address: &Endpoint, sink: &mut dyn Write) -> Result<DumpSummary> {
    run(address, sink, write_json)
}

type WriteItem = fn(&Item, &[u8], &mut dyn Write) -> io::Result<()>;

fn run(address: &Endpoint, sink: &mut dyn Write, write: WriteItem) -> Result<DumpSummary> {
    let mut connection = connect(address)?;
    let mut values = Values {
        clock: Clock::read(&mut connection)?,
        connection,
        request: Vec::new(),
        batch: Vec::new(),
        summary: DumpSummary::default(),
    };
    let (mut keys, mut next) = list_keys(address)?;
    while let Some(listed) = next {
        listed.push_request(&mut values.request);
        values.batch.push(listed);
        if values.is_full() {
            values.read(sink, write)?;
        }
        // The deadline is for the next line, however long the listing is.
        keys.renew_deadline();
        next = keys.reply(CRAWLER, |reply| match reply {
            Reply::Dumped(item) => Listed::of(&item).map(Some),
            Reply::End => Some(None),
            _ => None,
        })?;
    }
    values.read(sink, write)?;
    sink.flush().map_err(|e| cannot_write(&e))?;
    Ok(values.summary)
}

/// What a listing begins with.
enum Beginning {
    Key(Listed),
    /// There are no keys.
    End,
    /// The crawler does something else.
    Busy,
    /// The server does not know what was to be listed.
    Unknown,
}

/// Starts the listing; gives its connection and its first key.
fn list_keys(address: &Endpoint) -> Result<(Connection, Option<Listed>)> {
    let mut listing = LISTING;
    for _ in 0..BUSY_ATTEMPTS {
        // The server takes nothing else on a connection after this command.
        let mut keys = Connection::open(address, LISTED_WITHIN)?;
        keys.send(format!("{listing}\r\n").as_bytes())?;
        let beginning = keys.reply(listing, |reply| match reply {
            Reply::Dumped(item) => Listed::of(&item).map(Beginning::Key),
            Reply::End => Some(Beginning::End),
            Reply::Busy(_) => Some(Beginning::Busy),
            Reply::BadClass(_) if listing == LISTING => Some(Beginning::Unknown),
            _ => None,
        });
        let needed = "a dump needs memcached 1.5 or later, with its LRU crawler, without -X";
        match beginning.map_err(|problem| or_next(problem, needed))? {
            Beginning::Key(listed) => return Ok((keys, Some(listed))),
            Beginning::End => return Ok((keys, None)),
            Beginning::Busy => sleep(BUSY_PAUSE),
            Beginning::Unknown => listing = OLDER_LISTING,
        }
    }
    let what = "memcached's LRU crawler is busy with something else";
    Err(Problem::new(Kind::Failed, what).next("try again when it has finished"))
}

/// The server's clock, as far as whole seconds tell.
struct Clock {
    server_unix_s: u64,
    read: Instant,
}

impl Clock {
    fn read(connection: &mut Connection) -> Result<Clock> {
        let statistics = connection.stats("")?;
        let server_unix_s = number(&statistics, "time")
            .ok_or_else(|| connection.problem("memcached does not tell its time"))?;
        Ok(Clock {
            server_unix_s,
            read: Instant::now(),
        })
    }

    fn now(&self) -> u64 {
        self.server_unix_s + self.read.elapsed().as_secs()
    }
}

struct Values {
    connection: Connection,
    clock: Clock,
    request: Vec<u8>,
    batch: Vec<Listed>,
    summary: DumpSummary,
}

impl Values {
    fn is_full(&self) -> bool {
        // A key in base64 takes a third more; the rest of a request is shorter than a key.
        self.batch.len() >= MAX_BATCH_KEYS
            || self.request.len() + 3 * MAX_KEY_BYTES > MAX_BATCH_BYTES
    }

    /// Reads the values of the batch and writes the items.
    fn read(&mut self, sink: &mut dyn Write, write: WriteItem) -> Result<()> {
        self.connection.send(&self.request)?;
        self.request.clear();
        let mut now = self.clock.now();
        for listed in self.batch.drain(..) {
            let read = self.connection.reply("mg", |reply| match reply {
                Reply::MetaMiss(_) => Some(None),
                Reply::MetaValue { flags, value } => {
                    Some(Some((listed.item(flags, now)?, value.to_vec())))
                }
                _ => None,
            });
            let needed = "a dump needs memcached 1.6 or later";
            let Some((item, value)) = read.map_err(|problem| or_next(problem, needed))? else {
                self.summary.vanished += 1;
                continue;
            };
            write(&item, &value, sink).map_err(|e| cannot_write(&e))?;
            self.summary.items += 1;
            self.summary.value_bytes += value.len() as u64;
            self.connection.renew_deadline();
            now = self.clock.now();
        }
        Ok(())
    }
}

fn cannot_write(e: &io::Error) -> Problem {
    Problem::new(Kind::Failed, format!("the dump cannot be written: {e}"))
        .next("look whether the disk is full, or the program that reads it has ended")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn an_older_or_busy_server_is_asked_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        };
        let server = thread::spawn(move || {
            [
                "BADCLASS invalid class id",
                "BUSY crawling",
                "key=a exp=-1 la=1 cas=1 fetch=no cls=1 size=60",
            ]
            .map(|answer| {
                let (mut socket, _) = listener.accept().unwrap();
                let mut request = String::new();
                let mut reader = BufReader::new(socket.try_clone().unwrap());
                reader.read_line(&mut request).unwrap();
                socket
                    .write_all(format!("{answer}\r\n").as_bytes())
                    .unwrap();
                request.trim_end().to_owned()
            })
        });
        let (_, first) = list_keys(&address).unwrap();
        assert_eq!(first.unwrap().key, b"a");
        let asked = server.join().unwrap();
        assert_eq!(asked, [LISTING, OLDER_LISTING, OLDER_LISTING]);
    }
}
