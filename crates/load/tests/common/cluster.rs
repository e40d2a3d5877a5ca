//! A real Redis Cluster, put together with the codec.

use super::server;
use roundtrip_process::{Owned, free_port};
use roundtrip_wire::resp::{Reply, SLOTS, write_command};
use roundtrip_wire::{Limits, Parsed};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A raw connection to one node.
pub struct Raw(TcpStream);

impl Raw {
    pub fn to(address: &str) -> std::io::Result<Raw> {
        TcpStream::connect(address).map(Raw)
    }

    /// Sends a command; the reply as text: of one with parts, all of them, one a line.
    pub fn ask(&mut self, words: &[&str]) -> String {
        let mut request = Vec::new();
        let words: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        write_command(&mut request, &words);
        self.0.write_all(&request).unwrap();
        let (mut bytes, mut chunk) = (Vec::new(), [0; 65536]);
        loop {
            let count = self.0.read(&mut chunk).unwrap();
            assert!(count > 0, "the node hung up");
            bytes.extend_from_slice(&chunk[..count]);
            match Reply::parse(&bytes, &Limits::default()) {
                Parsed::Complete(reply, _) => return text(&reply),
                Parsed::NeedMore => {}
                Parsed::Bad(bad) => panic!("{bad:?}"),
            }
        }
    }

    /// The same, which must be done.
    pub fn order(&mut self, words: &[&str]) {
        assert_eq!(self.ask(words), "OK", "{words:?}");
    }
}

fn text(reply: &Reply<'_>) -> String {
    if let Reply::Integer(number) = reply {
        return number.to_string();
    }
    if let Some(items) = reply.items() {
        let lines: Vec<String> = items.map(|item| text(&item)).collect();
        return lines.join("\n");
    }
    let bytes = reply.error().or(reply.text()).unwrap_or_default();
    String::from_utf8_lossy(bytes).into_owned()
}

struct Node {
    _child: Owned,
    _directory: TempDir,
    address: String,
    id: String,
}

/// Three masters, which die with this value.
pub struct RedisCluster {
    nodes: Vec<Node>,
}

impl RedisCluster {
    pub fn start() -> RedisCluster {
        let cluster = RedisCluster {
            nodes: (0..3).map(|_| Node::start()).collect(),
        };
        for (number, node) in cluster.nodes.iter().enumerate() {
            let first = cluster.first(number).to_string();
            let last = (cluster.first(number + 1) - 1).to_string();
            let mut raw = Raw::to(&node.address).unwrap();
            raw.order(&["CLUSTER", "ADDSLOTSRANGE", &first, &last]);
            let (_, port) = cluster.nodes[0].address.split_once(':').unwrap();
            let bus = cluster.nodes[0].bus_port();
            if number > 0 {
                raw.order(&["CLUSTER", "MEET", "127.0.0.1", port, &bus]);
            }
        }
        let start = Instant::now();
        while !(0..3).all(|n| {
            cluster
                .node(n)
                .ask(&["CLUSTER", "INFO"])
                .contains("state:ok")
        }) {
            assert!(start.elapsed() < Duration::from_secs(30), "no cluster");
            std::thread::sleep(Duration::from_millis(20));
        }
        cluster
    }

    /// The first slot of a node.
    pub fn first(&self, number: usize) -> usize {
        usize::from(SLOTS) * number / self.nodes.len()
    }

    pub fn address(&self) -> &str {
        &self.nodes[0].address
    }

    /// A new connection to a node.
    pub fn node(&self, number: usize) -> Raw {
        Raw::to(&self.nodes[number].address).unwrap()
    }

    /// How often a command was called on each node.
    pub fn calls(&self, command: &str) -> Vec<u64> {
        let name = format!("cmdstat_{command}:calls=");
        let of = |number| {
            let info = self.node(number).ask(&["INFO", "commandstats"]);
            let value = info.lines().find_map(|line| line.strip_prefix(&name));
            value.map_or(0, |v| v.split(',').next().unwrap().parse().unwrap())
        };
        (0..self.nodes.len()).map(of).collect()
    }

    /// How many keys there are on each node.
    pub fn keys(&self) -> Vec<u64> {
        let of = |number| self.node(number).ask(&["DBSIZE"]).parse().unwrap();
        (0..self.nodes.len()).map(of).collect()
    }

    /// Begins to move a slot.
    pub fn begin_move(&self, slot: u16, from: usize, to: usize) {
        let slot = slot.to_string();
        let (from_id, to_id) = (&self.nodes[from].id, &self.nodes[to].id);
        let importing = ["CLUSTER", "SETSLOT", &slot, "IMPORTING", from_id];
        self.node(to).order(&importing);
        let migrating = ["CLUSTER", "SETSLOT", &slot, "MIGRATING", to_id];
        self.node(from).order(&migrating);
    }

    /// Moves up to so many keys of it; says how many.
    pub fn move_keys(&self, slot: u16, from: usize, to: usize, most: usize) -> usize {
        let mut raw = self.node(from);
        let (slot, most) = (slot.to_string(), most.to_string());
        let keys = raw.ask(&["CLUSTER", "GETKEYSINSLOT", &slot, &most]);
        let keys: Vec<&str> = keys.lines().collect();
        if keys.is_empty() {
            return 0;
        }
        let (host, port) = self.nodes[to].address.split_once(':').unwrap();
        let mut command = vec!["MIGRATE", host, port, "", "0", "5000", "KEYS"];
        command.extend(&keys);
        raw.order(&command);
        keys.len()
    }

    /// Ends the move: the slot is the other's, which each is told.
    pub fn end_move(&self, slot: u16, to: usize) {
        let slot = slot.to_string();
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|number| *number != to);
        for number in order {
            let command = ["CLUSTER", "SETSLOT", &slot, "NODE", &self.nodes[to].id];
            self.node(number).order(&command);
        }
    }
}

impl Node {
    fn start() -> Node {
        for _ in 0..5 {
            let directory = tempfile::tempdir().unwrap();
            let (port, bus) = (free_port().unwrap(), free_port().unwrap());
            let (port, bus) = (port.to_string(), bus.to_string());
            let place = directory.path().to_str().unwrap();
            let plain = ["--port", &port, "--bind", "127.0.0.1", "--save", ""];
            let mut arguments = plain.to_vec();
            arguments.extend(["--dir", place, "--cluster-enabled", "yes"]);
            arguments.extend(["--cluster-port", &bus]);
            let mut child = server("redis-server", &arguments, None);
            let address = format!("127.0.0.1:{port}");
            if super::answers(&mut child, || Raw::to(&address).is_ok()) {
                let id = Raw::to(&address).unwrap().ask(&["CLUSTER", "MYID"]);
                return Node {
                    _child: child,
                    _directory: directory,
                    address,
                    id,
                };
            }
        }
        panic!("redis does not start");
    }

    fn bus_port(&self) -> String {
        let told = Raw::to(&self.address)
            .unwrap()
            .ask(&["CONFIG", "GET", "cluster-port"]);
        told.lines().nth(1).unwrap().to_owned()
    }
}
