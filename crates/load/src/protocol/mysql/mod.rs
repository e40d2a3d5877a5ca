//! MySQL and MariaDB by SQL: one connection a thread, prepared statements in the binary protocol, a
//! commit an op as the server has it by default; a preparation is made of large transactions.
//!
//! A time to live is written where the memcached plugin looks for it, in Unix time. Reads by SQL do
//! not look at it, as those of an application do not.

mod seen;
mod store;
mod text;

pub(crate) use seen::Seen;
pub(crate) use store::MysqlStore;
pub(crate) use text::Table;

use super::{Call, Task};
use crate::clock;
use crate::engine::Texts;
use crate::outcome::{ErrorKind, Outcome, Tally};
use crate::worker::WorkerError;
use mysql::{Row, Value};
use roundtrip_model::Op;
use std::collections::HashMap;
use text::{LABEL_BYTES, Verb};

/// What stands between the values of several columns, for the plugin and for us.
const SEPARATOR: u8 = b'|';
/// A preparation commits each time it has set so many keys.
const KEYS_OF_A_TRANSACTION: u64 = 10_000;

/// One phase on a server.
#[derive(Debug)]
pub(crate) struct Mysql<'a> {
    store: &'a mut MysqlStore,
    task: Task,
    /// Whether a preparation writes the other table too, which a server may lack.
    labels: bool,
    /// Keys of the transaction under way.
    uncommitted: u64,
    /// The value that was read or is being written.
    value: Vec<u8>,
}

impl<'a> Mysql<'a> {
    /// Prepares the statements of the ops of a phase, of which each may have several keys.
    pub(crate) fn new(
        store: &'a mut MysqlStore,
        task: Task,
        ops: impl Iterator<Item = Op>,
        keys_per_op: u32,
    ) -> Result<Mysql<'a>, WorkerError> {
        for op in ops {
            store.prepare(Verb::of(op)).map_err(failed)?;
            if op == Op::GetMany {
                store.prepare_many(keys_per_op as usize).map_err(failed)?;
            }
        }
        let labels =
            task.prepare && !store.table.has_numbers() && store.prepare(&[Verb::Label]).is_ok();
        if task.prepare {
            store.command("SET autocommit = 0").map_err(failed)?;
        }
        Ok(Mysql {
            store,
            task,
            labels,
            uncommitted: 0,
            value: Vec::new(),
        })
    }

    /// A key as its table has it; `None` where that has numbers and this is none.
    #[inline]
    fn key(&self, index: u64, texts: &mut Texts) -> Option<Value> {
        let key = texts.keys.get(index);
        match self.store.table.has_numbers() {
            false => Some(Value::Bytes(key.to_vec())),
            true => std::str::from_utf8(key).ok()?.parse().ok().map(Value::Int),
        }
    }

    /// Key `index` alone.
    fn only_key(&self, index: u64, texts: &mut Texts) -> Option<Vec<Value>> {
        self.key(index, texts).map(|key| vec![key])
    }

    #[inline]
    fn read(&mut self, index: u64, texts: &mut Texts) -> mysql::Result<Outcome> {
        let Some(key) = self.only_key(index, texts) else {
            return Ok(Outcome::Error(ErrorKind::Refused));
        };
        let value = &mut self.value;
        self.store.execute(Verb::Get, key, |rows| {
            let mut outcome = Outcome::Miss;
            for row in rows {
                let is_it = text_of(&row?, 0, value).is_some_and(|v| texts.values.is(index, v));
                // A key is there once.
                outcome = match (outcome, is_it) {
                    (Outcome::Miss, true) => Outcome::Hit,
                    _ => Outcome::Wrong,
                };
            }
            Ok(outcome)
        })
    }

    /// Reads many keys with one statement; appends what became of each, in order.
    fn read_many(
        &mut self,
        indexes: &[u64],
        texts: &mut Texts,
        out: &mut Vec<u8>,
    ) -> mysql::Result<()> {
        let keys: Vec<Option<Value>> = indexes.iter().map(|i| self.key(*i, texts)).collect();
        // Rows come in an order of the table's own, and a key that was asked for twice comes once.
        let mut places: HashMap<Vec<u8>, Vec<usize>> = HashMap::with_capacity(indexes.len());
        for (place, index) in indexes.iter().enumerate() {
            let key = texts.keys.get(*index).to_vec();
            places.entry(key).or_default().push(place);
        }
        let keys: Vec<Value> = keys
            .into_iter()
            .map(|key| key.unwrap_or(Value::NULL))
            .collect();
        let first = out.len();
        out.resize(first + indexes.len(), Outcome::Miss.code());
        let value = &mut self.value;
        self.store.execute_many(keys, |rows| {
            for row in rows {
                let row = row?;
                let found = match row.as_ref(0) {
                    Some(Value::Bytes(key)) => places.get(key),
                    Some(Value::Int(key)) => places.get(key.to_string().as_bytes()),
                    _ => None,
                };
                let read = text_of(&row, 1, value);
                for place in found.into_iter().flatten() {
                    let is_it = read.is_some_and(|read| texts.values.is(indexes[*place], read));
                    out[first + place] = match is_it {
                        true => Outcome::Hit.code(),
                        false => Outcome::Wrong.code(),
                    };
                }
            }
            Ok(())
        })
    }

    /// Whether the row of a key, joined with its row in the other table, holds a value.
    fn join(&mut self, key: &[u8], is_it: impl Fn(&[u8]) -> bool) -> mysql::Result<Outcome> {
        let label = &key[..key.len().min(LABEL_BYTES)];
        let values = vec![Value::Bytes(key.to_vec())];
        self.store.execute(Verb::Join, values, |rows| {
            let mut outcome = Outcome::Miss;
            for row in rows {
                let row = row?;
                let is_right = bytes(&row, 0).is_some_and(&is_it) && bytes(&row, 1) == Some(label);
                outcome = match (outcome, is_right) {
                    (Outcome::Miss, true) => Outcome::Hit,
                    _ => Outcome::Wrong,
                };
            }
            Ok(outcome)
        })
    }

    /// Writes a key: any, or only one that is not there.
    #[inline]
    fn write(&mut self, verb: Verb, index: u64, texts: &mut Texts) -> mysql::Result<Outcome> {
        let Some(key) = self.key(index, texts) else {
            return Ok(Outcome::Error(ErrorKind::Refused));
        };
        let expires = match self.task.ttl_s {
            0 => 0,
            ttl_s => clock::unix_s() as i64 + i64::from(ttl_s),
        };
        self.value.clear();
        texts.values.write(index, &mut self.value);
        let columns = self.store.table.values().len();
        let mut values = Vec::with_capacity(columns + 2);
        values.push(key);
        let mut pieces = self.value.splitn(columns, |byte| match columns {
            1 => false,
            _ => *byte == SEPARATOR,
        });
        values.extend((0..columns).map(|_| {
            let piece = pieces.next();
            piece.map_or(Value::NULL, |piece| Value::Bytes(piece.to_vec()))
        }));
        values.push(Value::Int(expires));
        self.store.execute(verb, values, |_| Ok(Outcome::Stored))
    }

    /// Writes the row that `join` joins a key's with.
    fn label(&mut self, index: u64, texts: &mut Texts) -> mysql::Result<()> {
        let key = texts.keys.get(index);
        let label = &key[..key.len().min(LABEL_BYTES)];
        let values = vec![Value::Bytes(key.to_vec()), Value::Bytes(label.to_vec())];
        self.store.execute(Verb::Label, values, |_| Ok(()))
    }

    #[inline]
    fn change(&mut self, verb: Verb, index: u64, texts: &mut Texts) -> mysql::Result<Outcome> {
        let Some(key) = self.only_key(index, texts) else {
            return Ok(Outcome::Error(ErrorKind::Refused));
        };
        self.store.execute(verb, key, |rows| {
            Ok(match rows.affected_rows() {
                0 => Outcome::NotFound,
                _ => Outcome::Done,
            })
        })
    }

    #[inline]
    fn do_it(&mut self, op: Op, index: u64, texts: &mut Texts) -> mysql::Result<Outcome> {
        match op {
            Op::Get | Op::GetMany | Op::ReadAside => self.read(index, texts),
            Op::Set => self.write(Verb::Set, index, texts),
            Op::Insert => self.write(Verb::Insert, index, texts),
            Op::Delete => self.change(Verb::Delete, index, texts),
            Op::Incr => self.change(Verb::Incr, index, texts),
            Op::ReadModifyWrite => match self.read(index, texts)? {
                Outcome::Hit => {
                    texts.values.added += self.task.add;
                    self.write(Verb::Set, index, texts)
                }
                Outcome::Miss => Ok(Outcome::NotFound),
                other => Ok(other),
            },
            Op::Join => {
                let key = texts.keys.get(index).to_vec();
                self.join(&key, |value| texts.values.is(index, value))
            }
            // No stream has a mix as the op of an operation, a table has no order of its own, and
            // what is set to be seen goes through another door.
            Op::Mix | Op::Scan | Op::SetSeen => Ok(Outcome::Error(ErrorKind::Refused)),
        }
    }

    /// A key of a preparation: one that fails, or a connection that breaks with a transaction open,
    /// takes keys with it that were said to be stored, so it ends the phase.
    fn fill(&mut self, index: u64, texts: &mut Texts) -> mysql::Result<Outcome> {
        let outcome = self.write(Verb::Set, index, texts)?;
        if self.labels {
            self.label(index, texts)?;
        }
        self.uncommitted += 1;
        if self.uncommitted >= KEYS_OF_A_TRANSACTION {
            self.store.command("COMMIT")?;
            self.uncommitted = 0;
        }
        Ok(outcome)
    }
}

impl Call for Mysql<'_> {
    #[inline]
    fn call(&mut self, op: Op, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError> {
        if self.task.prepare {
            return self.fill(index, texts).map_err(failed);
        }
        if let Some(kind) = self.store.mend()? {
            return Ok(Outcome::Error(kind));
        }
        let done = self.do_it(op, index, texts);
        Ok(done.unwrap_or_else(|e| Outcome::Error(store::kind(&e))))
    }

    fn call_many(
        &mut self,
        indexes: &[u64],
        texts: &mut Texts,
        out: &mut Vec<u8>,
    ) -> Result<(), WorkerError> {
        let first = out.len();
        let failed = match self.store.mend()? {
            Some(kind) => Some(kind),
            None => {
                let read = self.read_many(indexes, texts, out);
                read.err().map(|e| store::kind(&e))
            }
        };
        if let Some(kind) = failed {
            out.truncate(first);
            out.resize(first + indexes.len(), Outcome::Error(kind).code());
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Tally, WorkerError> {
        if self.task.prepare {
            self.store.command("COMMIT").map_err(failed)?;
            self.store.command("SET autocommit = 1").map_err(failed)?;
        }
        Ok(Tally::default())
    }
}

fn failed(e: mysql::Error) -> WorkerError {
    WorkerError::io(format!("SQL: {e}"))
}

fn bytes(row: &Row, column: usize) -> Option<&[u8]> {
    match row.as_ref(column) {
        Some(Value::Bytes(bytes)) => Some(bytes),
        _ => None,
    }
}

/// The value of a row whose value columns begin at one: itself, or several put together again.
fn text_of<'a>(row: &'a Row, first: usize, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if row.len() == first + 1 {
        return bytes(row, first);
    }
    buffer.clear();
    for column in first..row.len() {
        match row.as_ref(column) {
            Some(Value::Bytes(bytes)) => {
                if column > first {
                    buffer.push(SEPARATOR);
                }
                buffer.extend_from_slice(bytes);
            }
            Some(Value::NULL) => {}
            _ => return None,
        }
    }
    Some(buffer)
}
