//! A key that is set by the memcached protocol, and asked for by a SQL join until it is seen there.
//!
//! Each set writes a value that no set before it wrote: the number of nanoseconds of the clock, made
//! as long as the value of the stream by that value's own end. What counts is the time from the
//! moment at which the acknowledgement of the set was read to the moment at which the reply of the
//! first join that has it was read: it is no shorter than one join.

use super::super::{Answer, Call, Caller, Flight, Memcached, Protocol, Task};
use super::{Mysql, MysqlStore, store};
use crate::clock;
use crate::engine::{REPLY_TIMEOUT_NS, Texts};
use crate::io::LinkOptions;
use crate::outcome::{ErrorKind, Outcome};
use crate::worker::WorkerError;
use roundtrip_model::Op;
use roundtrip_model::contract::Endpoint;
use roundtrip_model::stream::decimal;

/// A value that a join does not see within this time is given up.
const PATIENCE_NS: u64 = REPLY_TIMEOUT_NS;

/// Both doors of one store.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    door: Caller<Versions>,
    sql: Mysql<'a>,
    acknowledged_ns: u64,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(
        store: &'a mut MysqlStore,
        door: &Endpoint,
        link: LinkOptions,
        task: Task,
    ) -> Result<Seen<'a>, WorkerError> {
        Ok(Seen {
            door: Caller::connect(door, link, Versions::new(task))?,
            sql: Mysql::new(store, task, std::iter::once(Op::Join), 1)?,
            acknowledged_ns: 0,
        })
    }

    fn until_seen(&mut self, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError> {
        let key = texts.keys.get(index).to_vec();
        let value = &self.door.protocol().value;
        loop {
            if let Some(kind) = self.sql.store.mend()? {
                return Ok(Outcome::Error(kind));
            }
            // The value before it is no wrong one: the new one is not seen yet.
            match self.sql.join(&key, |read| read == value.as_slice()) {
                Ok(Outcome::Hit) => return Ok(Outcome::Stored),
                Ok(_) => {}
                Err(e) => return Ok(Outcome::Error(store::kind(&e))),
            }
            if clock::now_ns().saturating_sub(self.acknowledged_ns) > PATIENCE_NS {
                return Ok(Outcome::Error(ErrorKind::NotSeen));
            }
        }
    }
}

impl Call for Seen<'_> {
    fn call(&mut self, _: Op, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError> {
        let set = self.door.call(Op::Set, index, texts)?;
        self.acknowledged_ns = clock::now_ns();
        match set {
            Outcome::Stored => self.until_seen(index, texts),
            failed => Ok(failed),
        }
    }

    fn began_ns(&self) -> Option<u64> {
        Some(self.acknowledged_ns)
    }
}

/// memcached's text protocol, with a value of its own at each set.
#[derive(Debug)]
struct Versions {
    memcached: Memcached,
    value: Vec<u8>,
}

impl Versions {
    fn new(task: Task) -> Versions {
        Versions {
            memcached: Memcached::new(task),
            value: Vec::new(),
        }
    }
}

impl Protocol for Versions {
    fn request(&mut self, _: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        let (digits, start) = decimal(clock::now_ns());
        let version = &digits[start..];
        self.value.clear();
        texts.values.write(index, &mut self.value);
        let own = self.value.len().min(version.len());
        self.value.splice(..own, version.iter().copied());
        self.memcached
            .write_set(texts.keys.get(index), &self.value, out);
    }

    fn reply(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer {
        self.memcached.reply(bytes, flight, texts)
    }
}
