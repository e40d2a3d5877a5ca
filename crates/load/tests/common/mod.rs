//! Servers and conversations for the tests of this crate.

#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::panic)]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
mod certified;
mod cluster;
mod mariadb;

#[allow(unused_imports)]
pub use certified::Certified;
pub use cluster::RedisCluster;
#[allow(unused_imports)]
pub use mariadb::{MariaDb, PASSWORD, USER};

use roundtrip_load::floor::Floor;
use roundtrip_load::{FloorOptions, IoChoice, Listen, serve_worker};
use roundtrip_model::contract::{
    Command, Done, Endpoint, Event, LatencyHistograms, Open, PhaseCommand, Purpose, Target,
};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Distribution, Generate, KeyRecipe, Keys, ValueRecipe, Values};
use roundtrip_model::{Histogram, Op};
use roundtrip_process::{NOBODY, Owned, Settings, free_port, is_root};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A plain floor in a thread of this process; says where it listens.
pub fn floor() -> String {
    floor_with(|_| {})
}

/// A floor with something asked of it.
pub fn floor_with(ask: impl FnOnce(&mut FloorOptions)) -> String {
    let mut options = FloorOptions::new("127.0.0.1:0".parse::<Listen>().unwrap());
    if module_path!().starts_with("over_epoll") {
        options.io = IoChoice::Epoll;
    }
    ask(&mut options);
    let floor = Floor::bind(options).unwrap();
    let address = floor.address().to_owned();
    // It ends with the process.
    std::thread::spawn(move || floor.serve().unwrap());
    address
}

/// A real memcached, which dies with this value.
pub struct Memcached {
    _child: Owned,
    pub address: String,
}

impl Memcached {
    pub fn start() -> Memcached {
        for _ in 0..5 {
            let port = free_port().unwrap();
            let mut child = memcached(&["-l", "127.0.0.1", "-p", &port.to_string(), "-U", "0"]);
            let address = format!("127.0.0.1:{port}");
            if answers(&mut child, || TcpStream::connect(&address).is_ok()) {
                return Memcached {
                    _child: child,
                    address,
                };
            }
        }
        panic!("memcached does not start");
    }

    /// On a unix socket in a directory.
    pub fn start_unix(directory: &Path) -> (Memcached, PathBuf) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o777)).unwrap();
        let path = directory.join("memcached.sock");
        let mut child = memcached(&["-s", path.to_str().unwrap()]);
        let connects = || std::os::unix::net::UnixStream::connect(&path).is_ok();
        assert!(answers(&mut child, connects));
        let server = Memcached {
            _child: child,
            address: path.display().to_string(),
        };
        (server, path)
    }
}

impl Memcached {
    /// Kills it, and starts another in its place.
    pub fn restart(&mut self) {
        self._child.kill();
        self._child.wait(Duration::from_secs(20)).unwrap();
        let port = self.address.rsplit_once(':').unwrap().1;
        self._child = memcached(&["-l", "127.0.0.1", "-p", port, "-U", "0"]);
        let connects = || TcpStream::connect(&self.address).is_ok();
        assert!(answers(&mut self._child, connects));
    }
}

/// A real Redis, which dies with this value.
pub struct Redis {
    _child: Owned,
    _directory: TempDir,
    pub address: String,
}

impl Redis {
    pub fn start() -> Redis {
        for _ in 0..5 {
            let directory = tempfile::tempdir().unwrap();
            let port = free_port().unwrap();
            let place = directory.path().to_str().unwrap();
            let mut child = server(
                "redis-server",
                &[
                    "--port",
                    &port.to_string(),
                    "--bind",
                    "127.0.0.1",
                    "--save",
                    "",
                    "--dir",
                    place,
                ],
                None,
            );
            let address = format!("127.0.0.1:{port}");
            if answers(&mut child, || TcpStream::connect(&address).is_ok()) {
                return Redis {
                    _child: child,
                    _directory: directory,
                    address,
                };
            }
        }
        panic!("redis does not start");
    }

    /// The text that a command is answered with.
    pub fn ask(&self, command: &str) -> String {
        let stream = TcpStream::connect(&self.address).unwrap();
        (&stream)
            .write_all(format!("{command}\r\n").as_bytes())
            .unwrap();
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        reader.read_line(&mut head).unwrap();
        let length = head.trim().strip_prefix('$').unwrap().parse().unwrap();
        let mut text = vec![0; length];
        reader.read_exact(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    pub fn hits_and_misses(&self) -> (u64, u64) {
        let text = self.ask("INFO stats");
        let of = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name));
            value.unwrap().parse().unwrap()
        };
        (of("keyspace_hits:"), of("keyspace_misses:"))
    }
}

fn memcached(arguments: &[&str]) -> Owned {
    server("memcached", arguments, is_root().then_some(NOBODY))
}

fn server(program: &str, arguments: &[&str], run_as: Option<u32>) -> Owned {
    let mut command = std::process::Command::new(program);
    command
        .stdout(Stdio::null())
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let settings = Settings { cpus: None, run_as };
    Owned::spawn(&mut command, &settings).expect("apt-get install memcached redis-server")
}

fn answers(child: &mut Owned, connects: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if connects() {
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// A server's counters.
pub fn counters(address: &str) -> BTreeMap<String, String> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"stats\r\n").unwrap();
    BufReader::new(stream)
        .lines()
        .map(|line| line.unwrap())
        .take_while(|line| line != "END")
        .map(|line| {
            let mut words = line.splitn(3, ' ').skip(1).map(str::to_owned);
            (words.next().unwrap(), words.next().unwrap())
        })
        .collect()
}

/// One counter.
pub fn counter(address: &str, name: &str) -> u64 {
    counters(address)[name].parse().unwrap()
}

pub fn tcp(address: &str) -> Endpoint {
    let (host, port) = address.rsplit_once(':').unwrap();
    Endpoint::Tcp {
        host: host.to_owned(),
        port: port.parse().unwrap(),
    }
}

pub fn unix(path: &Path) -> Endpoint {
    Endpoint::Unix {
        path: path.display().to_string(),
    }
}

pub fn file(path: &Path) -> Endpoint {
    Endpoint::File {
        path: path.display().to_string(),
    }
}

pub fn open(store: &str, endpoint: Endpoint) -> Open {
    Open::to("native", store, endpoint)
}

/// Streams and phases over them, in a directory of their own.
pub struct Phases {
    pub directory: TempDir,
    made: usize,
}

impl Phases {
    pub fn new() -> Phases {
        Phases {
            directory: tempfile::tempdir().unwrap(),
            made: 0,
        }
    }

    /// A phase over keys `0..` with values of 100 bytes.
    pub fn phase(&mut self, op: Op, count: u64, hit_ratio: f64) -> PhaseCommand {
        self.phase_of(op, &stream(count, hit_ratio, 100))
    }

    pub fn phase_of(&mut self, op: Op, stream: &Stream) -> PhaseCommand {
        self.made += 1;
        let latencies = self.directory.path().join(format!("{}.ns", self.made));
        PhaseCommand {
            name: op.name().to_owned(),
            op,
            purpose: Purpose::Measure,
            target: Target::Store,
            count: stream.len(),
            keys_per_op: stream.keys_per_op,
            add: stream.add,
            journal: None,
            stream: String::new(),
            plan: Some(Box::new(Stream {
                op,
                ..stream.clone()
            })),
            latencies: Some(latencies.display().to_string()),
            ttl_s: 0,
            depth: 1,
            pace: roundtrip_model::workload::Pace::Closed,
            generate: Generate::Prepared,
        }
    }
}

pub fn stream(count: u64, hit_ratio: f64, value_bytes: u32) -> Stream {
    Stream {
        op: Op::Get,
        seed: 42,
        keys: Keys {
            recipe: KeyRecipe::Hex,
            bytes: 32,
            distribution: Distribution::Sequential,
            count: None,
        },
        values: Values::of(ValueRecipe::Bytes, value_bytes),
        mix: Vec::new(),
        scan_keys: 0,
        keys_per_op: 1,
        add: 0,
        records_before: 0,
        insert_first: 1 << 42,
        prefix: String::new(),
        count,
        first: 0,
        keyspace: count,
        hit_ratio,
        cold_first: 1 << 32,
        part: (0, 1),
    }
}

pub fn latencies(phase: &PhaseCommand) -> LatencyHistograms {
    let text = std::fs::read(phase.latencies.as_ref().unwrap()).unwrap();
    serde_json::from_slice(&text).unwrap()
}

pub fn histogram(text: &str) -> Histogram {
    Histogram::from_bytes(&STANDARD.decode(text).unwrap()).unwrap()
}

/// Says everything to a worker at once; its exit code, and what it answered.
pub fn converse(commands: &[Command]) -> (u8, Vec<Event>) {
    let lines: Vec<_> = commands
        .iter()
        .map(|command| serde_json::to_string(command).unwrap() + "\n")
        .collect();
    say(&lines.concat())
}

pub fn say(lines: &str) -> (u8, Vec<Event>) {
    let mut out = Vec::new();
    let code = serve_worker(lines.as_bytes(), &mut out);
    let events = out
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    (code, events)
}

/// Runs phases in one session and gives what each loop gave.
pub fn run(open: &Open, phases: &[PhaseCommand]) -> Vec<Done> {
    let mut commands = vec![Command::Open(open.clone())];
    for phase in phases {
        commands.push(Command::Phase(phase.clone()));
        commands.push(Command::Go);
    }
    commands.push(Command::Close);
    let (code, events) = converse(&commands);
    assert_eq!(code, 0, "{events:?}");
    assert_eq!(events.last(), Some(&Event::Closed));
    events
        .into_iter()
        .filter_map(|event| match event {
            Event::Done(done) => Some(done),
            _ => None,
        })
        .collect()
}

/// The kind and message of the error that must end a conversation.
pub fn error(commands: &[Command]) -> (String, String) {
    let (code, events) = converse(commands);
    assert_eq!(code, 1);
    match events.last() {
        Some(Event::Error { kind, message }) => (kind.clone(), message.clone()),
        other => panic!("{other:?}"),
    }
}

/// Counts by name, as a worker gives them.
pub fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}
