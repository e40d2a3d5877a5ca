//! Stores that have done an op when a call returns: a library in this process, or a server that is
//! asked one thing at a time. They go through the same loop as all others: the call is made where
//! others write a request, and its outcome comes back as a byte over a [`crate::io::Loopback`].

use super::{Answer, Flight, Protocol};
use crate::clock;
use crate::engine::{REPLY_TIMEOUT_NS, Texts};
use crate::io::{Blocking, CONNECT_TIMEOUT, Hello, Io, LinkOptions, Sink, connect};
use crate::outcome::{ErrorKind, Outcome, Tally};
use crate::worker::WorkerError;
use roundtrip_model::Op;
use roundtrip_model::contract::Endpoint;

/// Does one op while its caller waits.
pub(crate) trait Call {
    /// Does it. A failure of the op is its outcome; an `Err` ends the phase.
    fn call(&mut self, op: Op, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError>;

    /// The op that follows reads so many keys in a row.
    fn span(&mut self, _keys: u32) {}

    /// When the part of the last op that counts began, where that is not its sending.
    fn began_ns(&self) -> Option<u64> {
        None
    }

    /// Reads several keys at once; appends what became of each, in order, as its number.
    fn call_many(
        &mut self,
        indexes: &[u64],
        texts: &mut Texts,
        out: &mut Vec<u8>,
    ) -> Result<(), WorkerError> {
        for index in indexes {
            out.push(self.call(Op::GetMany, *index, texts)?.code());
        }
        Ok(())
    }

    /// Ends the phase; gives the part that a cache played.
    fn finish(&mut self) -> Result<Tally, WorkerError> {
        Ok(Tally::default())
    }
}

/// Calls as a protocol.
#[derive(Debug)]
pub(crate) struct Direct<C> {
    store: C,
    /// The keys of a request that is being made.
    group: Vec<u64>,
    trouble: Option<WorkerError>,
}

impl<C> Direct<C> {
    pub(crate) fn new(store: C) -> Direct<C> {
        Direct {
            store,
            group: Vec::new(),
            trouble: None,
        }
    }
}

impl<C: Call> Protocol for Direct<C> {
    const GROUPS: bool = true;

    #[inline]
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        let outcome = self.store.call(op, index, texts).unwrap_or_else(|error| {
            self.trouble.get_or_insert(error);
            Outcome::Error(ErrorKind::Connection)
        });
        out.push(outcome.code());
    }

    fn span(&mut self, keys: u32) {
        self.store.span(keys);
    }

    #[inline]
    fn group_key(&mut self, index: u64, _: &mut Texts, _: &mut Vec<u8>) {
        self.group.push(index);
    }

    fn close_group(&mut self, texts: &mut Texts, out: &mut Vec<u8>) {
        let before = out.len();
        if let Err(error) = self.store.call_many(&self.group, texts, out) {
            self.trouble.get_or_insert(error);
            out.truncate(before);
            let failed = Outcome::Error(ErrorKind::Connection).code();
            out.resize(before + self.group.len(), failed);
        }
        self.group.clear();
    }

    #[inline]
    fn reply(&mut self, bytes: &[u8], _: &Flight, _: &mut Texts) -> Answer {
        match bytes.first().map(|code| Outcome::of_code(*code)) {
            Some(Some(outcome)) => Answer::Ended(outcome, 1),
            Some(None) => Answer::Lost(ErrorKind::Protocol),
            None => Answer::NeedMore,
        }
    }

    #[inline]
    fn trouble(&mut self) -> Option<WorkerError> {
        self.trouble.take()
    }

    #[inline]
    fn began_ns(&self) -> Option<u64> {
        self.store.began_ns()
    }

    fn finish(&mut self) -> Result<Tally, WorkerError> {
        self.store.finish()
    }
}

/// A server that is asked one thing at a time, on a connection that is made anew when it broke.
#[derive(Debug)]
pub(crate) struct Caller<P> {
    io: Blocking,
    endpoint: Endpoint,
    link: LinkOptions,
    hello: Option<Hello>,
    protocol: P,
    broken: bool,
}

impl<P: Protocol> Caller<P> {
    pub(crate) fn connect(
        endpoint: &Endpoint,
        link: LinkOptions,
        protocol: P,
    ) -> Result<Caller<P>, WorkerError> {
        Caller::greet(endpoint, link, None, protocol)
    }

    /// The same, where something may have to be said first.
    pub(crate) fn greet(
        endpoint: &Endpoint,
        link: LinkOptions,
        hello: Option<Hello>,
        protocol: P,
    ) -> Result<Caller<P>, WorkerError> {
        let mut caller = Caller {
            io: Blocking::new(),
            endpoint: endpoint.clone(),
            link,
            hello,
            protocol,
            broken: true,
        };
        caller.mend()?;
        Ok(caller)
    }

    pub(crate) fn protocol(&self) -> &P {
        &self.protocol
    }

    #[inline]
    fn mend(&mut self) -> Result<(), WorkerError> {
        if self.broken {
            let hello = self.hello.as_ref();
            let socket = connect(&self.endpoint, self.link, hello, CONNECT_TIMEOUT)?;
            self.io.replace(0, socket).map_err(failed)?;
            self.broken = false;
        }
        Ok(())
    }
}

fn failed(e: std::io::Error) -> WorkerError {
    WorkerError::io(format!("blocking: {e}"))
}

impl<P: Protocol> Call for Caller<P> {
    #[inline]
    fn call(&mut self, op: Op, index: u64, texts: &mut Texts) -> Result<Outcome, WorkerError> {
        self.mend()?;
        self.protocol.request(op, index, texts, self.io.output(0));
        self.io.flush(0);
        let sent_ns = clock::now_ns();
        let mut one = One {
            protocol: &mut self.protocol,
            flight: Flight {
                index,
                sent_ns,
                intended_ns: sent_ns,
                added: texts.values.added,
                whole: 0,
                op,
                opens: 1,
                behind: 0,
                redirects: 0,
                asking: false,
            },
            texts,
            outcome: None,
            broken: false,
        };
        loop {
            self.io.wait(None, &mut one).map_err(failed)?;
            if let Some(outcome) = one.outcome {
                self.broken = one.broken;
                return Ok(outcome);
            }
            if clock::now_ns() - sent_ns > REPLY_TIMEOUT_NS {
                self.broken = true;
                return Ok(Outcome::Error(ErrorKind::Timeout));
            }
        }
    }
}

/// The one op under way.
struct One<'a, P> {
    protocol: &'a mut P,
    flight: Flight,
    texts: &'a mut Texts,
    outcome: Option<Outcome>,
    broken: bool,
}

impl<P: Protocol> Sink for One<'_, P> {
    #[inline]
    fn arrived(
        &mut self,
        slot: usize,
        bytes: &[u8],
        _: u64,
        _: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind> {
        let lost = match self.protocol.reply(bytes, &self.flight, self.texts) {
            Answer::Ended(outcome, used) if used == bytes.len() => {
                self.outcome = Some(outcome);
                return Ok(used);
            }
            Answer::NeedMore => return Ok(0),
            Answer::Lost(kind) => kind,
            // More than was asked for.
            Answer::Ended(..) | Answer::Then(..) | Answer::Elsewhere(..) => ErrorKind::Protocol,
        };
        self.lost(slot, lost);
        Err(lost)
    }

    fn lost(&mut self, _: usize, kind: ErrorKind) {
        self.outcome = Some(Outcome::Error(kind));
        self.broken = true;
    }
}
