//! The life of a Redis Cluster, with real nodes.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{runs, store_with, unix};
use roundtrip_model::contract::Endpoint;
use roundtrip_process::PrivateDir;
use roundtrip_stores::{StartOptions, find, start};
use roundtrip_wire::resp::{hash_slot, write_command};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What the node that clients go to answers.
fn ask(endpoint: &Endpoint, words: &[&[u8]]) -> String {
    let Endpoint::Tcp { host, port } = endpoint else {
        panic!("it listens on a port");
    };
    let mut socket = TcpStream::connect((host.as_str(), *port)).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut request = Vec::new();
    write_command(&mut request, words);
    socket.write_all(&request).unwrap();
    let mut reply = [0; 4096];
    let read = socket.read(&mut reply).unwrap();
    String::from_utf8_lossy(&reply[..read]).into_owned()
}

#[test]
fn three_nodes_are_one_store_and_are_counted_together() {
    let mut server = store_with("redis-cluster", |options| options.memory_mb = 300);
    let pids: BTreeSet<u32> = server.store.pids().into_iter().collect();
    assert_eq!(pids.len(), 3);
    assert!(pids.iter().all(|pid| runs(*pid)));
    // Memory is shared out.
    let memory = server.store.settings()["maxmemory_bytes"].clone();
    assert_eq!(memory, (100 << 20).to_string());
    // A key for each node, set where it belongs.
    let before = server.store.counters().unwrap();
    let first = server.store.endpoint();
    let mut nodes = BTreeSet::new();
    for i in 0..300 {
        let key = format!("key-{i}");
        let set: [&[u8]; 3] = [b"SET", key.as_bytes(), b"v"];
        let told = ask(&first, &set);
        let Some(moved) = told.strip_prefix("-MOVED ") else {
            assert_eq!(told, "+OK\r\n");
            continue;
        };
        let (slot, address) = moved.trim().split_once(' ').unwrap();
        assert_eq!(slot, hash_slot(key.as_bytes()).to_string());
        let (host, port) = address.rsplit_once(':').unwrap();
        let node = Endpoint::Tcp {
            host: host.to_owned(),
            port: port.parse().unwrap(),
        };
        assert_eq!(ask(&node, &set), "+OK\r\n");
        nodes.insert(address.to_owned());
    }
    assert_eq!(nodes.len(), 2);
    let after = server.store.counters().unwrap();
    assert_eq!(after["writes"] - before["writes"], 300);
    assert_eq!(after["keys"], 300);
    assert!(server.store.cpu_ns().unwrap() > 0);
    assert!(server.store.is_alive().is_none());
    server.store.stop().unwrap();
    assert!(!pids.iter().any(|pid| runs(*pid)));
}

#[test]
fn one_node_that_died_is_told_and_the_others_end_too() {
    let mut server = store_with("redis-cluster", |_| {});
    let pids = server.store.pids();
    let victim = rustix_pid(pids[1]);
    rustix::process::kill_process(victim, rustix::process::Signal::KILL).unwrap();
    let start = std::time::Instant::now();
    let problem = loop {
        match server.store.is_alive() {
            Some(problem) => break problem,
            None if start.elapsed() > Duration::from_secs(60) => panic!("it is said to live"),
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(problem.what.contains("redis-cluster"), "{problem}");
    assert!(server.store.counters().is_err());
    server.store.stop().unwrap();
    assert!(!pids.iter().any(|pid| runs(*pid)));
}

fn rustix_pid(pid: u32) -> rustix::process::Pid {
    rustix::process::Pid::from_raw(pid as i32).unwrap()
}

#[test]
fn a_cluster_on_a_unix_socket_is_refused_and_leaves_nothing() {
    let dir = PrivateDir::new().unwrap();
    let mut options = StartOptions::new("/no/self", &dir);
    unix(&mut options);
    let problem = start(find("redis-cluster").unwrap(), &options)
        .err()
        .unwrap();
    assert!(problem.what.contains("transport=unix"), "{problem}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}
