//! Real Redis servers: one, three with keys spread by the client, and a cluster of three.

use super::{host, outcomes, phase, published, run};
use roundtrip_model::Op;
use roundtrip_model::contract::{Endpoint, Open, PhaseCommand};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{KeyRecipe, ValueRecipe};
use roundtrip_process::{PrivateDir, Settings};
use roundtrip_stores::{StartOptions, Store, find, start};
use roundtrip_workers::{Host, Worker};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

pub const CLIENTS: [&str; 2] = ["phpredis", "predis"];
pub const KINDS: [&str; 3] = ["redis", "redis-shards", "redis-cluster"];

/// How ops are sent: a depth, and whether in transactions.
pub type Way = (u32, bool);
pub const WAYS: [Way; 5] = [
    (1, false),
    (10, false),
    (1000, false),
    (1, true),
    (10, true),
];

/// Servers of one kind, and where a test keeps its files.
pub struct Servers {
    pub kind: &'static str,
    pub stores: Vec<Store>,
    pub host: Host,
    pub dir: PrivateDir,
}

impl Servers {
    pub fn start(kind: &'static str) -> Servers {
        Servers::with(kind, |_| {})
    }

    pub fn with(kind: &'static str, change: impl Fn(&mut StartOptions)) -> Servers {
        let dir = PrivateDir::new().unwrap();
        let (name, count) = match kind {
            "redis-shards" => ("redis", 3),
            _ => (kind, 1),
        };
        let stores = (0..count)
            .map(|_| {
                let mut options = StartOptions::new("/no/self", &dir);
                change(&mut options);
                start(find(name).unwrap(), &options).unwrap()
            })
            .collect();
        let host = host(&dir);
        Servers {
            kind,
            stores,
            host,
            dir,
        }
    }

    pub fn nodes(&self) -> Vec<Endpoint> {
        match self.stores.as_slice() {
            [one] => one.nodes(),
            several => several.iter().map(Store::endpoint).collect(),
        }
    }

    pub fn command(&self, client: &str, options: &[(&str, &str)]) -> Open {
        let endpoint = self.stores[0].endpoint();
        Open {
            store: self.kind.to_owned(),
            nodes: self.nodes(),
            ..super::open(client, &endpoint, options)
        }
    }

    pub fn open(&self, client: &str, options: &[(&str, &str)]) -> Worker {
        let mut worker = self.host.spawn("php", &Settings::default()).unwrap();
        worker.open(self.command(client, options)).unwrap();
        worker
    }

    /// A worker that sends ops in one way.
    pub fn opened(&self, client: &str, (_, transaction): Way) -> Worker {
        let transaction = transaction.to_string();
        self.open(client, &[("transaction", transaction.as_str())])
    }

    pub fn phase(&self, op: Op, stream: &Stream, depth: u32) -> PhaseCommand {
        let stream = Stream {
            op,
            ..stream.clone()
        };
        PhaseCommand {
            depth,
            ..phase(op, &stream, self.dir.path())
        }
    }

    /// `hit 90, miss 10` of a phase.
    pub fn run(&self, worker: &mut Worker, op: Op, stream: &Stream, depth: u32) -> String {
        let done = run(worker, self.phase(op, stream, depth));
        let words = outcomes(&done).into_iter().map(|(n, c)| format!("{n} {c}"));
        words.collect::<Vec<_>>().join(", ")
    }

    /// How often a command was called, as the server says: not a witness, and so not among those.
    pub fn counter_of_command(&self, command: &str) -> u64 {
        let Endpoint::Tcp { host, port } = self.stores[0].endpoint() else {
            panic!("it listens on a port");
        };
        let mut socket = TcpStream::connect((host, port)).unwrap();
        socket.write_all(b"INFO commandstats\r\nQUIT\r\n").unwrap();
        let line = format!("cmdstat_{command}:calls=");
        let mut lines = BufReader::new(socket).lines().map_while(Result::ok);
        let calls = lines.find_map(|text| {
            let (calls, _) = text.strip_prefix(&line)?.split_once(',')?;
            calls.parse().ok()
        });
        calls.unwrap_or(0)
    }

    /// The sum of a counter over all servers.
    pub fn counter(&mut self, name: &str) -> u64 {
        let counters = self
            .stores
            .iter_mut()
            .map(|store| store.counters().unwrap());
        counters.map(|counters| counters[name]).sum()
    }
}

/// Keys and texts. An insert is of the same keys.
pub fn texts(count: u64) -> Stream {
    let mut stream = published(count);
    stream.keys.recipe = KeyRecipe::Hex;
    stream.values.recipe = ValueRecipe::Bytes;
    stream.values.bytes = 100;
    stream.insert_first = 0;
    stream
}

/// Keys whose numbers start from 0.
pub fn numbers(count: u64) -> Stream {
    let mut stream = published(count);
    stream.values.recipe = ValueRecipe::Zero;
    stream.insert_first = 0;
    stream
}
