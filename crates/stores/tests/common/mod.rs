//! A real memcached for a test, and a raw connection to it.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::panic)]

pub mod sql;

use roundtrip_model::contract::Endpoint;
use roundtrip_process::PrivateDir;
use roundtrip_stores::{StartOptions, Store, Transport, doctor, find, start};
use roundtrip_wire::resp::{Reply, write_command};
use roundtrip_wire::{Limits, Parsed};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub struct Server {
    pub store: Store,
    pub dir: PrivateDir,
}

pub fn memcached() -> Server {
    memcached_with(|_| {})
}

pub fn memcached_with(change: impl FnOnce(&mut StartOptions)) -> Server {
    store_with("memcached", change)
}

pub fn store_with(name: &str, change: impl FnOnce(&mut StartOptions)) -> Server {
    let dir = PrivateDir::new().unwrap();
    let mut options = StartOptions::new("/no/self", &dir);
    change(&mut options);
    let store = start(find(name).unwrap(), &options).unwrap();
    Server { store, dir }
}

/// Fails with the next step where a store is not there: a test that is passed over proves nothing.
pub fn set_up(name: &str) {
    let installed = doctor(find(name).unwrap(), Path::new("/no/self"));
    if let Some(install) = installed.install {
        panic!("{name} is not there; get it with `{install}`");
    }
}

impl Server {
    pub fn url(&self) -> String {
        match self.store.endpoint() {
            Endpoint::Tcp { host, port } => format!("memcached://{host}:{port}"),
            Endpoint::Unix { path } | Endpoint::File { path } => format!("memcached://{path}"),
            Endpoint::Tls { .. } => panic!("it speaks no TLS"),
        }
    }

    pub fn raw(&self) -> Raw {
        Raw::to(&self.store.endpoint())
    }
}

pub trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

pub struct Raw(BufReader<Box<dyn ReadWrite>>);

impl Raw {
    pub fn to(endpoint: &Endpoint) -> Raw {
        let within = Some(Duration::from_secs(60));
        Raw(BufReader::new(match endpoint {
            Endpoint::Tcp { host, port } => {
                let socket = TcpStream::connect((host.as_str(), *port)).unwrap();
                socket.set_nodelay(true).unwrap();
                socket.set_read_timeout(within).unwrap();
                Box::new(socket)
            }
            Endpoint::Unix { path } => {
                let socket = UnixStream::connect(path).unwrap();
                socket.set_read_timeout(within).unwrap();
                Box::new(socket)
            }
            _ => panic!("it listens on a port or a socket"),
        }))
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end_matches("\r\n").to_owned()
    }

    pub fn ask(&mut self, request: &str) -> String {
        self.send(format!("{request}\r\n").as_bytes());
        self.line()
    }

    pub fn set(&mut self, key: &str, flags: u32, ttl_s: u32, value: &[u8]) {
        let head = format!("set {key} {flags} {ttl_s} {}\r\n", value.len());
        self.send(&[head.as_bytes(), value, b"\r\n"].concat());
        assert_eq!(self.line(), "STORED");
    }

    /// Flags, time left and value; `key` is as `mg` wants it, `b` for base64.
    pub fn get(&mut self, key: &str, b: &str) -> Option<(u32, i64, Vec<u8>)> {
        let head = self.ask(&format!("mg {key} v f t {b}"));
        let mut words = head.split(' ');
        if words.next() != Some("VA") {
            assert_eq!(head, "EN");
            return None;
        }
        let bytes: usize = words.next().unwrap().parse().unwrap();
        let flags = words.next().unwrap()[1..].parse().unwrap();
        let ttl = words.next().unwrap()[1..].parse().unwrap();
        let mut value = vec![0; bytes + 2];
        self.0.read_exact(&mut value).unwrap();
        value.truncate(bytes);
        Some((flags, ttl, value))
    }

    /// Flags and value, by the command of old.
    pub fn text(&mut self, key: &str) -> Option<(u32, Vec<u8>)> {
        let head = self.ask(&format!("get {key}"));
        let mut words = head.split(' ');
        if words.next() != Some("VALUE") {
            assert_eq!(head, "END");
            return None;
        }
        let flags = words.nth(1).unwrap().parse().unwrap();
        let bytes: usize = words.next().unwrap().parse().unwrap();
        let mut value = vec![0; bytes + 2];
        self.0.read_exact(&mut value).unwrap();
        value.truncate(bytes);
        assert_eq!(self.line(), "END");
        Some((flags, value))
    }

    pub fn stats(&mut self, group: &str) -> std::collections::BTreeMap<String, String> {
        let mut line = self.ask(&format!("stats {group}"));
        let mut all = std::collections::BTreeMap::new();
        while line != "END" {
            let mut words = line.splitn(3, ' ').skip(1).map(str::to_owned);
            all.insert(words.next().unwrap(), words.next().unwrap());
            line = self.line();
        }
        all
    }
}

/// Sends commands and says what the last one was answered with.
pub fn tell(server: &Server, commands: &[&[&str]]) -> String {
    let Endpoint::Tcp { host, port } = server.store.endpoint() else {
        panic!("it listens on a port");
    };
    let mut socket = TcpStream::connect((host, port)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut requests = Vec::new();
    for command in commands {
        let words: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
        write_command(&mut requests, &words);
    }
    socket.write_all(&requests).unwrap();
    let (mut held, mut chunk, mut last) = (Vec::new(), [0; 4096], String::new());
    for _ in commands {
        let took = loop {
            match Reply::parse(&held, &Limits::default()) {
                Parsed::Complete(reply, took) => {
                    last = format!("{reply:?}");
                    break took;
                }
                Parsed::NeedMore => {
                    let read = socket.read(&mut chunk).unwrap();
                    assert!(read > 0, "closed");
                    held.extend_from_slice(&chunk[..read]);
                }
                Parsed::Bad(bad) => panic!("{bad:?}"),
            }
        };
        held.drain(..took);
    }
    last
}

/// Whether a process is there and not a zombie.
pub fn runs(pid: u32) -> bool {
    std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline"))
        .is_ok_and(|line| !line.is_empty())
}

pub fn unix(options: &mut StartOptions) {
    options.transport = Transport::Unix;
}
