//! What the tests share: a real memcached, and phases.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.
#![allow(dead_code)] // Each test binary uses its own part.

pub mod redis;

use roundtrip_model::Op;
use roundtrip_model::contract::{Done, Endpoint, LatencyForm, Open, PhaseCommand, Purpose, Target};
use roundtrip_model::path::Options;
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Distribution, Generate, KeyRecipe, Keys, ValueRecipe, Values};
use roundtrip_process::{NOBODY, Owned, PrivateDir, Settings, free_port, is_root};
use roundtrip_workers::{Host, Worker, write_stream};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub const EXTENSIONS: [&str; 2] = ["memcache", "memcached"];
pub const LONG: Duration = Duration::from_secs(120);
/// Nobody stops these runs.
pub static GOES_ON: AtomicBool = AtomicBool::new(false);

pub fn host(dir: &PrivateDir) -> Host {
    Host::with_workers(PathBuf::from("/no/roundtrip/here"), dir, None).unwrap()
}

/// A memcached of our own.
pub struct Memcached {
    pub endpoint: Endpoint,
    process: Owned,
}

impl Memcached {
    pub fn tcp() -> Memcached {
        // Another program may take the port before it does.
        for _ in 0..10 {
            let port = free_port().unwrap();
            let host = "127.0.0.1".to_owned();
            let args = ["-l", &host, "-p", &port.to_string(), "-U", "0"];
            if let Some(process) =
                start(&args, || TcpStream::connect((host.as_str(), port)).is_ok())
            {
                let endpoint = Endpoint::Tcp { host, port };
                return Memcached { endpoint, process };
            }
        }
        panic!("memcached does not start");
    }

    pub fn unix(dir: &PrivateDir) -> Memcached {
        let folder = dir.make("memcached", is_root().then_some(NOBODY)).unwrap();
        let path = folder.join("socket");
        let text = path.display().to_string();
        let process = start(&["-s", &text], || UnixStream::connect(&path).is_ok()).unwrap();
        let endpoint = Endpoint::Unix { path: text };
        Memcached { endpoint, process }
    }

    pub fn kill(&mut self) {
        self.process.kill();
        self.process.wait(LONG).unwrap();
    }

    /// One of its own counters. TCP only.
    pub fn counter(&self, name: &str) -> u64 {
        let Endpoint::Tcp { host, port } = &self.endpoint else {
            panic!("no TCP");
        };
        let mut stream = TcpStream::connect((host.as_str(), *port)).unwrap();
        stream.write_all(b"stats\r\nquit\r\n").unwrap();
        BufReader::new(stream)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix(&format!("STAT {name} "))?.parse().ok())
            .unwrap()
    }
}

fn start(args: &[&str], answers: impl Fn() -> bool) -> Option<Owned> {
    let mut command = Command::new("memcached");
    command.args(args).stdin(Stdio::null());
    let settings = Settings {
        cpus: None,
        run_as: is_root().then_some(NOBODY),
    };
    let mut process = Owned::spawn(&mut command, &settings).unwrap();
    for _ in 0..1000 {
        if answers() {
            return Some(process);
        }
        if process.wait(Duration::from_millis(10)).unwrap().is_some() {
            return None;
        }
    }
    None
}

/// A PHP worker with a client that is connected.
pub fn opened(host: &Host, client: &str, at: &Endpoint, options: &[(&str, &str)]) -> Worker {
    let mut worker = host.spawn("php", &Settings::default()).unwrap();
    assert!(worker.open(open(client, at, options)).unwrap() > 0);
    worker
}

pub fn open(client: &str, endpoint: &Endpoint, options: &[(&str, &str)]) -> Open {
    Open {
        options: options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<Options>(),
        ..Open::to(client, "memcached", endpoint.clone())
    }
}

/// The keys and values of study 1.
pub fn published(count: u64) -> Stream {
    Stream {
        op: Op::Get,
        seed: 1,
        keys: Keys {
            recipe: KeyRecipe::Md5,
            bytes: 32,
            distribution: Distribution::Sequential,
            count: None,
        },
        values: Values::of(ValueRecipe::Crc32, 0),
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
        hit_ratio: 1.0,
        cold_first: 1 << 32,
        part: (0, 1),
    }
}

pub fn phase(op: Op, stream: &Stream, folder: &Path) -> PhaseCommand {
    let path = folder.join("stream");
    let written = write_stream(&path, stream).unwrap();
    PhaseCommand {
        name: op.name().to_owned(),
        op,
        purpose: Purpose::Measure,
        target: Target::Store,
        count: written.count,
        keys_per_op: stream.keys_per_op,
        add: stream.add,
        journal: None,
        stream: path.display().to_string(),
        plan: None,
        latencies: Some(folder.join("latencies").display().to_string()),
        ttl_s: 1800,
        depth: 1,
        pace: roundtrip_model::workload::Pace::Closed,
        generate: Generate::Prepared,
    }
}

/// Runs a phase to its end.
pub fn run(worker: &mut Worker, phase: PhaseCommand) -> Done {
    let count = phase.count;
    worker.ready(phase).unwrap();
    worker.go().unwrap();
    let done = worker.done(LONG, &GOES_ON).unwrap();
    assert_eq!(worker.written().unwrap(), (count, LatencyForm::Raw));
    done
}

/// `[("hit", 90), ...]` of what a loop gave.
pub fn outcomes(done: &Done) -> Vec<(&str, u64)> {
    done.outcomes
        .iter()
        .map(|(name, n)| (name.as_str(), *n))
        .collect()
}
