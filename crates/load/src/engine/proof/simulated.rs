//! A server and a time that are made up. Requests and replies are the real bytes of the real
//! protocols; when each reply comes is known beforehand, to the nanosecond.

use crate::io::{Carry, Io, Sink};
use crate::outcome::ErrorKind;
use roundtrip_wire::{Limits, Parsed, memcached, resp};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::os::fd::OwnedFd;

/// What a look that does not wait costs, so that a loop that only looks sees time go by.
pub(super) const LOOK_NS: u64 = 10_000;
/// A wait without a moment ends after so long.
const TICK_NS: u64 = 1_000_000_000;
/// When everything starts. Not 0, which is no moment to a loop.
pub(super) const START_NS: u64 = 1_000_000_000;

/// For whom a request waits before its own time begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    /// For those before it on its connection, as in a server with a thread a connection.
    Connection,
    /// For all that came before it, as in a server with one thread.
    Server,
}

/// What becomes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Honest,
    /// The request is done, and its reply never comes.
    Drop,
    /// The reply comes twice.
    Double,
    /// One byte of the reply is another.
    Garble,
    /// The connection is closed in the place of a reply.
    HangUp,
}

/// How a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speech {
    Memcached,
    Resp,
}

/// What is known of the server.
pub(super) struct Server {
    pub(super) speech: Speech,
    pub(super) queue: Queue,
    /// How long a request takes, by its number on its connection.
    pub(super) takes_ns: fn(u64) -> u64,
    /// For how long nobody is answered, at the end of each period, counted from the start.
    pub(super) stall: Option<(u64, u64)>,
    /// What becomes of a reply, by the number of the request on the server.
    pub(super) fate: fn(u64) -> Fate,
    /// What is stored.
    pub(super) items: HashMap<Vec<u8>, Vec<u8>>,
    /// All but the last byte of a reply come when its time begins, in pieces of so many bytes.
    pub(super) piece_bytes: Option<usize>,
}

/// When what is due at a moment, counted from the start, is answered.
pub(super) fn postponed(due_ns: u64, stall: Option<(u64, u64)>) -> u64 {
    let Some((length_ns, every_ns)) = stall else {
        return due_ns;
    };
    let within = due_ns % every_ns;
    match within >= every_ns - length_ns {
        true => due_ns - within + every_ns,
        false => due_ns,
    }
}

/// An honest reply.
enum Said {
    /// To an op.
    Op(Vec<u8>),
    /// To what is asked behind the last.
    Fence(Vec<u8>),
}

/// What came of a connection.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Bytes(Vec<u8>),
    Closed,
}

/// When, in which order, on which connection of which life, what.
type Coming = (u64, u64, usize, u64, Came);

#[derive(Debug, Default)]
struct Link {
    output: Vec<u8>,
    carry: Carry,
    requests: u64,
    busy_until_ns: u64,
    dead: bool,
    /// Which connection in this place it is: nothing comes from one that was lost.
    life: u64,
}

/// The bytes of all connections, and the clock.
pub(super) struct Simulated {
    now_ns: u64,
    server: Server,
    links: Vec<Link>,
    busy_until_ns: u64,
    coming: BinaryHeap<Reverse<Coming>>,
    put: u64,
    /// What the sending of one request costs the client.
    send_cost_ns: u64,
    /// How many requests the server has done.
    pub(super) counted: u64,
}

impl Simulated {
    pub(super) fn new(server: Server, connections: usize, send_cost_ns: u64) -> Simulated {
        Simulated {
            now_ns: START_NS,
            server,
            links: (0..connections).map(|_| Link::default()).collect(),
            busy_until_ns: 0,
            coming: BinaryHeap::new(),
            put: 0,
            send_cost_ns,
            counted: 0,
        }
    }

    fn put(&mut self, at_ns: u64, slot: usize, came: Came) {
        let life = self.links[slot].life;
        self.coming
            .push(Reverse((at_ns, self.put, slot, life, came)));
        self.put += 1;
    }

    /// The whole time of a request that is sent now.
    fn serve(&mut self, slot: usize, reply: Vec<u8>) {
        let number = self.counted;
        self.counted += 1;
        let link = &mut self.links[slot];
        let free_ns = match self.server.queue {
            Queue::Connection => link.busy_until_ns,
            Queue::Server => self.busy_until_ns,
        };
        let begins_ns = free_ns.max(self.now_ns);
        let asked_ns = begins_ns + (self.server.takes_ns)(link.requests) - START_NS;
        let due_ns = START_NS + postponed(asked_ns, self.server.stall);
        link.requests += 1;
        link.busy_until_ns = due_ns;
        self.busy_until_ns = due_ns;
        match (self.server.fate)(number) {
            Fate::Drop => {}
            Fate::HangUp => self.put(due_ns, slot, Came::Closed),
            Fate::Double => self.reply(begins_ns, due_ns, slot, [&reply[..], &reply].concat()),
            Fate::Honest => self.reply(begins_ns, due_ns, slot, reply),
            Fate::Garble => {
                // The last byte of a value, or of a word.
                let mut reply = reply;
                let text = String::from_utf8_lossy(&reply);
                let end = text.find("\r\nEND\r\n").unwrap_or(reply.len() - 2);
                reply[end - 1] ^= 1;
                self.reply(begins_ns, due_ns, slot, reply);
            }
        }
    }

    fn reply(&mut self, begins_ns: u64, due_ns: u64, slot: usize, mut reply: Vec<u8>) {
        if let Some(bytes) = self.server.piece_bytes {
            let last = reply.split_off(reply.len() - 1);
            for piece in reply.chunks(bytes) {
                self.put(begins_ns, slot, Came::Bytes(piece.to_vec()));
            }
            reply = last;
        }
        self.put(due_ns, slot, Came::Bytes(reply));
    }

    /// Sends what was put out on a connection.
    fn send(&mut self, slot: usize) {
        let output = std::mem::take(&mut self.links[slot].output);
        if self.links[slot].dead {
            return;
        }
        let mut rest = output.as_slice();
        while !rest.is_empty() {
            let (reply, used) = self.server.answer(rest);
            rest = &rest[used..];
            match reply {
                // Behind all that is under way on the connection.
                Said::Fence(reply) => {
                    let at_ns = self.links[slot].busy_until_ns.max(self.now_ns);
                    self.put(at_ns, slot, Came::Bytes(reply));
                }
                Said::Op(reply) => {
                    self.now_ns += self.send_cost_ns;
                    self.serve(slot, reply);
                }
            }
        }
    }

    fn deliver(&mut self, slot: usize, came: Came, sink: &mut impl Sink) {
        let at_ns = self.now_ns;
        let link = &mut self.links[slot];
        match came {
            Came::Closed => {
                link.dead = true;
                sink.lost(slot, ErrorKind::Connection);
            }
            Came::Bytes(bytes) => {
                let output = &mut link.output;
                let read = |bytes: &[u8]| sink.arrived(slot, bytes, at_ns, output);
                link.dead = link.carry.feed(&bytes, read).is_err();
                self.send(slot);
            }
        }
    }
}

impl Server {
    /// The honest reply to the request at the front of the bytes, and how long that is.
    fn answer(&self, bytes: &[u8]) -> (Said, usize) {
        let limits = Limits::default();
        let mut out = Vec::new();
        let used = match self.speech {
            Speech::Memcached => {
                let Parsed::Complete(request, used) = memcached::Request::parse(bytes, &limits)
                else {
                    panic!(
                        "not one whole request: {:?}",
                        String::from_utf8_lossy(bytes)
                    );
                };
                match request {
                    memcached::Request::Get { keys, .. } => {
                        for key in keys.iter() {
                            if let Some(value) = self.items.get(key) {
                                let (flags, cas) = (0, None);
                                let item = memcached::Reply::Value {
                                    key,
                                    flags,
                                    cas,
                                    value,
                                };
                                item.write(&mut out);
                            }
                        }
                        memcached::Reply::End.write(&mut out);
                    }
                    memcached::Request::Version => {
                        memcached::Reply::Version(b"1").write(&mut out);
                        return (Said::Fence(out), used);
                    }
                    memcached::Request::Store { .. } => memcached::Reply::Stored.write(&mut out),
                    other => panic!("nobody asks this: {other:?}"),
                }
                used
            }
            Speech::Resp => {
                let Parsed::Complete(request, used) = resp::Request::parse(bytes, &limits) else {
                    panic!(
                        "not one whole request: {:?}",
                        String::from_utf8_lossy(bytes)
                    );
                };
                if request.is(b"PING") {
                    resp::Reply::Simple(b"PONG").write(&mut out);
                    return (Said::Fence(out), used);
                }
                let key = request.argument(1).unwrap();
                match (request.is(b"GET"), self.items.get(key)) {
                    (true, Some(value)) => resp::Reply::Bulk(value).write(&mut out),
                    (true, None) => resp::Reply::Null(resp::NullForm::Bulk).write(&mut out),
                    _ => resp::Reply::Simple(b"OK").write(&mut out),
                }
                used
            }
        };
        (Said::Op(out), used)
    }
}

impl Io for Simulated {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn add(&mut self, _: OwnedFd) -> io::Result<usize> {
        Err(io::Error::other("all connections are there"))
    }

    fn replace(&mut self, slot: usize, _: OwnedFd) -> io::Result<()> {
        let link = &mut self.links[slot];
        *link = Link {
            life: link.life + 1,
            requests: link.requests,
            ..Link::default()
        };
        Ok(())
    }

    fn output(&mut self, slot: usize) -> &mut Vec<u8> {
        &mut self.links[slot].output
    }

    fn flush(&mut self, slot: usize) {
        self.send(slot);
    }

    fn wait(&mut self, until_ns: Option<u64>, sink: &mut impl Sink) -> io::Result<()> {
        let until_ns = match until_ns {
            None => self.now_ns + TICK_NS,
            Some(until_ns) => until_ns.max(self.now_ns + LOOK_NS),
        };
        let next_ns = self.coming.peek().map(|Reverse(next)| next.0);
        self.now_ns = next_ns.map_or(until_ns, |next_ns| next_ns.max(self.now_ns).min(until_ns));
        // One wait tells all that is there when it ends; what comes of it is for the next.
        let now_ns = self.now_ns;
        let mut there: Vec<(usize, u64, Came)> = Vec::new();
        while let Some(Reverse((at_ns, ..))) = self.coming.peek()
            && *at_ns <= now_ns
        {
            let Some(Reverse((_, _, slot, life, came))) = self.coming.pop() else {
                break;
            };
            match (there.last_mut(), came) {
                // What follows on the same connection is read with it.
                (Some((last, of, Came::Bytes(bytes))), Came::Bytes(more))
                    if (*last, *of) == (slot, life) =>
                {
                    bytes.extend(more);
                }
                (_, came) => there.push((slot, life, came)),
            }
        }
        for (slot, life, came) in there {
            let link = &self.links[slot];
            if link.life == life && !link.dead {
                self.deliver(slot, came, sink);
            }
        }
        Ok(())
    }
}
