//! memcached, or anything else that speaks its text protocol.

use super::link::{Link, LinkOptions};
use super::read_aside::Cache;
use super::{Driver, Task};
use crate::clock;
use crate::outcome::{ErrorKind, Outcome};
use crate::source::Operation;
use crate::worker::WorkerError;
use roundtrip_model::Op;
use roundtrip_model::contract::Endpoint;
use roundtrip_wire::memcached::{Keys, MAX_RELATIVE_TTL_S, Reply, Request, StoreVerb};
use roundtrip_wire::{Limits, Parsed};

/// A connection, which lives longer than a phase.
#[derive(Debug)]
pub(crate) struct MemcachedStore(Link);

impl MemcachedStore {
    pub(crate) fn open(
        endpoint: &Endpoint,
        options: LinkOptions,
    ) -> Result<MemcachedStore, WorkerError> {
        Link::connect(endpoint.clone(), options).map(MemcachedStore)
    }
}

/// One phase on a connection.
#[derive(Debug)]
pub(crate) struct Memcached<'a> {
    link: &'a mut Link,
    op: Op,
    /// As on the wire.
    expires: i64,
}

impl<'a> Memcached<'a> {
    pub(crate) fn new(store: &'a mut MemcachedStore, task: Task) -> Memcached<'a> {
        let absolute = task.ttl_s > MAX_RELATIVE_TTL_S;
        Memcached {
            link: &mut store.0,
            op: task.op,
            expires: i64::from(task.ttl_s) + if absolute { clock::unix_s() as i64 } else { 0 },
        }
    }

    #[inline]
    fn write_set(&mut self, operation: Operation<'_>) {
        Request::Store {
            verb: StoreVerb::Set,
            key: operation.key,
            flags: 0,
            expires: self.expires,
            value: operation.value,
            noreply: false,
        }
        .write(&mut self.link.output);
    }

    /// Waits for a reply and has it judged: `None` says that it is not one to this request.
    #[inline]
    fn next(&mut self, judge: impl Fn(Reply<'_>) -> Option<Outcome>) -> Outcome {
        let limits = Limits::default();
        loop {
            if let Some(kind) = self.link.broken() {
                return Outcome::Error(kind);
            }
            match Reply::parse(self.link.unread(), &limits) {
                Parsed::Complete(reply, bytes) => {
                    let outcome = judge(reply).or(failure(reply));
                    self.link.advance(bytes);
                    return outcome
                        .unwrap_or_else(|| Outcome::Error(self.link.fail(ErrorKind::Protocol)));
                }
                Parsed::NeedMore => self.link.fill(),
                Parsed::Bad(_) => {
                    self.link.fail(ErrorKind::Protocol);
                }
            }
        }
    }

    #[inline]
    fn receive_get(&mut self, operation: Operation<'_>) -> Outcome {
        let outcome = self.next(|reply| match reply {
            Reply::Value { key, value, .. } if key == operation.key => {
                Some(if value == operation.value {
                    Outcome::Hit
                } else {
                    Outcome::Wrong
                })
            }
            Reply::End => Some(Outcome::Miss),
            _ => None,
        });
        if !matches!(outcome, Outcome::Hit | Outcome::Wrong) {
            return outcome;
        }
        self.next(|reply| (reply == Reply::End).then_some(outcome))
    }

    #[inline]
    fn receive_set(&mut self) -> Outcome {
        let outcome = self.next(|reply| (reply == Reply::Stored).then_some(Outcome::Stored));
        if outcome == Outcome::Error(ErrorKind::Refused) {
            // The server may take the value for a request.
            self.link.fail(ErrorKind::Refused);
        }
        outcome
    }
}

impl Driver for Memcached<'_> {
    const PIPELINES: bool = true;

    #[inline]
    fn send(&mut self, operation: Operation<'_>) -> Result<(), WorkerError> {
        self.link.mend()?;
        match self.op {
            Op::Get | Op::ReadAside => Request::Get {
                keys: Keys::one(operation.key),
                cas: false,
            }
            .write(&mut self.link.output),
            Op::Set => self.write_set(operation),
            Op::Delete => Request::Delete {
                key: operation.key,
                noreply: false,
            }
            .write(&mut self.link.output),
            Op::Incr => Request::Arithmetic {
                decrement: false,
                key: operation.key,
                delta: 1,
                noreply: false,
            }
            .write(&mut self.link.output),
            Op::Insert | Op::ReadModifyWrite | Op::Scan | Op::Mix => {
                return Err(WorkerError::cannot(self.op));
            }
        }
        Ok(())
    }

    #[inline]
    fn flush(&mut self) {
        self.link.flush();
    }

    #[inline]
    fn receive(&mut self, operation: Operation<'_>) -> Outcome {
        match self.op {
            Op::Get | Op::ReadAside => self.receive_get(operation),
            Op::Set => self.receive_set(),
            Op::Delete => self.next(|reply| match reply {
                Reply::Deleted => Some(Outcome::Done),
                Reply::NotFound => Some(Outcome::NotFound),
                _ => None,
            }),
            Op::Incr => self.next(|reply| match reply {
                // Nothing is 0 after one was added to it.
                Reply::Number(0) => Some(Outcome::Wrong),
                Reply::Number(_) => Some(Outcome::Done),
                Reply::NotFound => Some(Outcome::NotFound),
                _ => None,
            }),
            // None of them was sent.
            Op::Insert | Op::ReadModifyWrite | Op::Scan | Op::Mix => {
                Outcome::Error(ErrorKind::Protocol)
            }
        }
    }
}

impl Cache for Memcached<'_> {
    #[inline]
    fn fill(&mut self, operation: Operation<'_>) -> Result<Outcome, WorkerError> {
        self.link.mend()?;
        self.write_set(operation);
        self.link.flush();
        Ok(self.receive_set())
    }
}

/// What a server says instead of any answer.
fn failure(reply: Reply<'_>) -> Option<Outcome> {
    match reply {
        Reply::ServerError(_) | Reply::NotStored => Some(Outcome::Error(ErrorKind::Server)),
        Reply::Error(_) | Reply::ClientError(_) => Some(Outcome::Error(ErrorKind::Refused)),
        _ => None,
    }
}
