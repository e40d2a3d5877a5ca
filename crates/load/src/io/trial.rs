//! What every transport must do, tried against real servers by the tests of each.

#[path = "../../tests/common/certified.rs"]
mod certified;

pub(super) use certified::Certified;

use super::{Io, Sink};
use crate::clock::now_ns;
use crate::outcome::ErrorKind;
use roundtrip_process::{NOBODY, Owned, Settings, free_port, is_root};
use std::collections::VecDeque;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaks {
    Memcached,
    Redis,
}

/// A real server on a free port, which dies with this value.
pub(super) struct Server {
    child: Owned,
    port: u16,
    speaks: Speaks,
}

impl Server {
    pub(super) fn memcached() -> Server {
        Server::start(Speaks::Memcached, &|port| {
            ["-l", "127.0.0.1", "-U", "0", "-p", port]
                .map(str::to_owned)
                .to_vec()
        })
    }

    pub(super) fn redis() -> Server {
        Server::redis_with(&["--port".to_owned()])
    }

    pub(super) fn redis_over_tls(certified: &Certified) -> Server {
        Server::redis_with(&certified.redis_arguments())
    }

    /// With arguments of which the last one is answered by the port.
    fn redis_with(arguments: &[String]) -> Server {
        Server::start(Speaks::Redis, &|port| {
            let first = ["--save", "", "--bind", "127.0.0.1"].map(str::to_owned);
            [&first[..], arguments, &[port.to_owned()]].concat()
        })
    }

    /// Another program may take a free port first, so it is tried again.
    fn start(speaks: Speaks, arguments: &dyn Fn(&str) -> Vec<String>) -> Server {
        let program = match speaks {
            Speaks::Memcached => "memcached",
            Speaks::Redis => "redis-server",
        };
        let settings = Settings {
            cpus: None,
            run_as: (is_root() && speaks == Speaks::Memcached).then_some(NOBODY),
        };
        for _ in 0..5 {
            let port = free_port().unwrap();
            let mut command = Command::new(program);
            command.args(arguments(&port.to_string()));
            command.current_dir(std::env::temp_dir());
            command
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let mut child = Owned::spawn(&mut command, &settings).unwrap();
            let start = Instant::now();
            while start.elapsed() < PATIENCE && child.try_wait().unwrap().is_none() {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Server {
                        child,
                        port,
                        speaks,
                    };
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        panic!("{program} does not start");
    }

    pub(super) fn connect(&self) -> OwnedFd {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.into()
    }

    pub(super) fn kill(&mut self) {
        self.child.kill();
    }
}

/// A request, and the reply that must come.
#[derive(Clone)]
pub(super) struct Exchange {
    request: Vec<u8>,
    reply: Vec<u8>,
}

fn value(key: usize, bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|i| b'a' + ((key + i / 7) % 26) as u8)
        .collect()
}

impl Server {
    pub(super) fn set(&self, key: usize, bytes: usize) -> Exchange {
        let (head, reply) = match self.speaks {
            Speaks::Memcached => (format!("set {key:08} 0 0 {bytes}"), "STORED"),
            Speaks::Redis => (
                format!("*3\r\n$3\r\nSET\r\n$8\r\n{key:08}\r\n${bytes}"),
                "+OK",
            ),
        };
        Exchange {
            request: [head.as_bytes(), b"\r\n", &value(key, bytes), b"\r\n"].concat(),
            reply: format!("{reply}\r\n").into_bytes(),
        }
    }

    pub(super) fn get(&self, key: usize, bytes: usize) -> Exchange {
        let (request, head, tail): (_, _, &[u8]) = match self.speaks {
            Speaks::Memcached => (
                format!("get {key:08}\r\n"),
                format!("VALUE {key:08} 0 {bytes}\r\n"),
                b"\r\nEND\r\n",
            ),
            Speaks::Redis => (
                format!("*2\r\n$3\r\nGET\r\n$8\r\n{key:08}\r\n"),
                format!("${bytes}\r\n"),
                b"\r\n",
            ),
        };
        Exchange {
            request: request.into_bytes(),
            reply: [head.as_bytes(), &value(key, bytes), tail].concat(),
        }
    }
}

/// Has exchanges done over connections, so many at once on each, and compares every byte.
pub(super) struct Talk {
    exchanges: Vec<Exchange>,
    next: usize,
    pub(super) answered: usize,
    awaited: Vec<VecDeque<usize>>,
    /// How often each slot was lost.
    pub(super) lost: Vec<usize>,
    pub(super) reads: usize,
}

impl Talk {
    pub(super) fn new(slots: usize, exchanges: Vec<Exchange>) -> Talk {
        Talk {
            exchanges,
            next: 0,
            answered: 0,
            awaited: vec![VecDeque::new(); slots],
            lost: vec![0; slots],
            reads: 0,
        }
    }

    fn ask(&mut self, slot: usize, output: &mut Vec<u8>) {
        if let Some(exchange) = self.exchanges.get(self.next) {
            output.extend_from_slice(&exchange.request);
            self.awaited[slot].push_back(self.next);
            self.next += 1;
        }
    }

    /// Begins on every slot.
    pub(super) fn begin(&mut self, io: &mut impl Io, depth: usize) {
        for slot in 0..self.awaited.len() {
            (0..depth).for_each(|_| self.ask(slot, io.output(slot)));
            io.flush(slot);
        }
    }

    /// Goes on until enough was heard.
    pub(super) fn until(&mut self, io: &mut impl Io, enough: impl Fn(&Talk) -> bool) {
        let start = Instant::now();
        while !enough(self) {
            assert!(start.elapsed() < PATIENCE, "only {} answers", self.answered);
            io.wait(Some(now_ns() + 100_000_000), self).unwrap();
        }
    }

    pub(super) fn finish(&mut self, io: &mut impl Io, depth: usize) {
        self.begin(io, depth);
        let all = self.exchanges.len();
        self.until(io, |talk| talk.answered == all);
    }

    /// What a lost connection owed is asked for again later.
    fn owes_nothing(&mut self, slot: usize) {
        for exchange in std::mem::take(&mut self.awaited[slot]) {
            let again = self.exchanges[exchange].clone();
            self.exchanges.push(again);
            self.answered += 1;
        }
    }
}

impl Sink for Talk {
    fn arrived(
        &mut self,
        slot: usize,
        bytes: &[u8],
        at_ns: u64,
        output: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind> {
        assert!(at_ns <= now_ns());
        self.reads += 1;
        let mut consumed = 0;
        while let Some(exchange) = self.awaited[slot].front() {
            let reply = &self.exchanges[*exchange].reply;
            let came = &bytes[consumed..];
            if came.len() < reply.len() {
                break;
            }
            if !came.starts_with(reply) {
                return Err(ErrorKind::Protocol);
            }
            consumed += reply.len();
            self.awaited[slot].pop_front();
            self.answered += 1;
            self.ask(slot, output);
        }
        Ok(consumed)
    }

    fn lost(&mut self, slot: usize, kind: ErrorKind) {
        assert_eq!(kind, ErrorKind::Connection);
        self.lost[slot] += 1;
        self.owes_nothing(slot);
    }
}

fn add(io: &mut impl Io, server: &Server, slots: usize) {
    io.take_up().unwrap();
    (0..slots).for_each(|slot| assert_eq!(io.add(server.connect()).unwrap(), slot));
}

/// Many connections, each with some requests under way.
pub(super) fn carries_many(io: &mut impl Io, start: &dyn Fn() -> Server) {
    let server = start();
    add(io, &server, 100);
    Talk::new(100, (0..500).map(|key| server.set(key, 100)).collect()).finish(io, 1);
    let gets = (0..20_000).map(|i| server.get(i % 500, 100)).collect();
    let mut talk = Talk::new(100, gets);
    talk.finish(io, 16);
    assert_eq!(talk.lost, [0; 100]);
}

/// Requests and replies that no buffer of a socket holds, both ways at once.
pub(super) fn carries_large(io: &mut impl Io, start: &dyn Fn() -> Server) {
    const BYTES: usize = 3_000_000;
    let server = start();
    add(io, &server, 4);
    Talk::new(4, (0..16).map(|key| server.set(key, BYTES)).collect()).finish(io, 4);
    let both = (0..32).map(|i| match i % 2 {
        0 => server.get(i % 16, BYTES),
        _ => server.set(i % 16, BYTES),
    });
    let mut talk = Talk::new(4, both.collect());
    talk.finish(io, 4);
    assert_eq!(talk.lost, [0; 4]);
    assert!(talk.reads > 16);
}

/// One thread after the other takes it up; what comes in between is for the next.
pub(super) fn goes_from_thread_to_thread(io: &mut (impl Io + Send), start: &dyn Fn() -> Server) {
    let server = start();
    (0..5).for_each(|slot| assert_eq!(io.add(server.connect()).unwrap(), slot));
    let (set, gets) = (server.set(1, 100), vec![server.get(1, 100); 200]);
    let mut late = Talk::new(5, vec![server.get(1, 100); 5]);
    for round in 0..4 {
        let (io, late, set, gets) = (&mut *io, &mut late, set.clone(), gets.clone());
        let talk = move || {
            io.take_up().unwrap();
            if round == 3 {
                late.until(io, |late| late.answered == 5);
            }
            Talk::new(1, vec![set]).finish(io, 1);
            let mut talk = Talk::new(5, gets);
            talk.finish(io, 8);
            assert_eq!(talk.lost, [0; 5]);
            if round == 2 {
                late.begin(io, 1);
                io.wait(Some(0), late).unwrap();
            }
            io.lay_down();
        };
        std::thread::scope(|scope| scope.spawn(talk).join().unwrap());
    }
}

/// A server that dies: each connection is lost once, and another one takes its place.
pub(super) fn tells_of_loss(io: &mut impl Io, start: &dyn Fn() -> Server) {
    const SLOTS: usize = 20;
    let mut server = start();
    add(io, &server, SLOTS);
    Talk::new(1, vec![server.set(1, 100)]).finish(io, 1);
    let mut talk = Talk::new(SLOTS, vec![server.get(1, 100); 1_000_000]);
    talk.begin(io, 2);
    talk.until(io, |talk| talk.answered > 500);
    server.kill();
    talk.until(io, |talk| talk.lost.iter().sum::<usize>() == SLOTS);
    // Nothing more is told of what was lost, though something is still sent on it.
    io.output(0).extend_from_slice(b"PING\r\n");
    io.flush(0);
    (0..3).for_each(|_| io.wait(Some(now_ns() + 10_000_000), &mut talk).unwrap());
    assert_eq!(talk.lost, [1; SLOTS]);
    server = start();
    (0..SLOTS).for_each(|slot| io.replace(slot, server.connect()).unwrap());
    Talk::new(1, vec![server.set(1, 100)]).finish(io, 1);
    let mut talk = Talk::new(SLOTS, vec![server.get(1, 100); 2000]);
    talk.finish(io, 2);
    assert_eq!(talk.lost, [0; SLOTS]);
}

/// A connection that is replaced with replies under way: they are nobody's.
pub(super) fn forgets_what_was_replaced(io: &mut impl Io, start: &dyn Fn() -> Server) {
    let server = start();
    add(io, &server, 1);
    let sets = (0..300).map(|key| server.set(key, 40_000));
    Talk::new(1, sets.collect()).finish(io, 8);
    for round in 0..100 {
        let mut old = Talk::new(1, (0..8).map(|i| server.get(round + i, 40_000)).collect());
        old.begin(io, 8);
        // Now and then the old one has already heard something, or is half-way through.
        if round % 2 == 0 {
            old.until(io, |talk| talk.reads > 0);
        }
        io.replace(0, server.connect()).unwrap();
        let mut new = Talk::new(1, (0..8).map(|i| server.get(200 + i, 40_000)).collect());
        new.finish(io, 4);
        assert_eq!((new.answered, new.lost[0]), (8, 0));
    }
}

/// A reply that is not the one awaited ends the connection; the sink knows, and is not told.
pub(super) fn gives_up_what_is_not_understood(io: &mut impl Io, start: &dyn Fn() -> Server) {
    let server = start();
    add(io, &server, 1);
    let mut wrong = server.get(1, 5);
    wrong.reply = b"+WHAT\r\n".to_vec();
    wrong.request = b"*1\r\n$4\r\nPING\r\n".to_vec();
    let mut talk = Talk::new(1, vec![wrong]);
    talk.begin(io, 1);
    talk.until(io, |talk| talk.reads > 0);
    io.wait(Some(now_ns() + 20_000_000), &mut talk).unwrap();
    assert_eq!((talk.answered, talk.lost[0], talk.reads), (0, 0, 1));
    io.replace(0, server.connect()).unwrap();
    Talk::new(1, vec![server.set(1, 5), server.get(1, 5)]).finish(io, 1);
}

/// A moment ends a wait with nothing to tell, and not before it has come.
pub(super) fn returns_at_its_moment(io: &mut impl Io, start: &dyn Fn() -> Server) {
    let server = start();
    add(io, &server, 2);
    let mut talk = Talk::new(2, Vec::new());
    let until = now_ns() + 30_000_000;
    while now_ns() < until {
        io.wait(Some(until), &mut talk).unwrap();
    }
    io.wait(Some(0), &mut talk).unwrap();
    // A wait without a moment ends too.
    io.wait(None, &mut talk).unwrap();
    assert_eq!((talk.reads, talk.lost[0]), (0, 0));
}
