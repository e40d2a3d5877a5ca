//! Stores that are killed and started again, with the real ones.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{memcached, runs, store_with, tell};
use roundtrip_model::Kind;
use roundtrip_process::PrivateDir;
use roundtrip_stores::{StartOptions, Transport, attach, find, start};

#[test]
fn what_a_redis_acknowledged_with_its_log_on_is_there_again() {
    let manifest = find("redis").unwrap();
    let mut server = store_with("redis", |options| {
        for (name, value) in [("appendonly", "yes"), ("appendfsync", "always")] {
            let args = manifest.option(name, value).unwrap();
            options.extra_args.extend(args);
        }
    });
    let before = server.store.endpoint();
    let first = server.store.pids();
    let keys: Vec<String> = (0..100).map(|i| format!("k{i}")).collect();
    let commands: Vec<[&str; 3]> = keys.iter().map(|key| ["SET", key, "v"]).collect();
    let commands: Vec<&[&str]> = commands.iter().map(|words| words.as_slice()).collect();
    tell(&server, &commands);
    assert_eq!(server.store.counters().unwrap()["keys"], 100);

    server.store.kill().unwrap();
    assert!(first.iter().all(|pid| !runs(*pid)));
    let dead = server.store.is_alive().unwrap();
    assert!(dead.what.contains("was ended by signal 9"), "{dead}");
    server.store.start_again().unwrap();
    assert!(server.store.is_alive().is_none());
    assert_eq!(server.store.endpoint(), before);
    assert_ne!(server.store.pids(), first);
    assert_eq!(server.store.counters().unwrap()["keys"], 100);
    server.store.stop().unwrap();
    assert_eq!(server.dir.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_redis_without_its_log_and_a_memcached_are_empty_again() {
    let mut redis = store_with("redis", |_| {});
    tell(&redis, &[&["SET", "k", "v"]]);
    assert_eq!(redis.store.counters().unwrap()["keys"], 1);
    redis.store.start_again().unwrap();
    assert_eq!(redis.store.counters().unwrap()["keys"], 0);

    let mut cache = memcached();
    cache.raw().set("k", 0, 0, b"v");
    assert_eq!(cache.store.counters().unwrap()["curr_items"], 1);
    cache.store.kill().unwrap();
    cache.store.start_again().unwrap();
    assert_eq!(cache.store.counters().unwrap()["curr_items"], 0);
    // As often as one likes.
    cache.store.start_again().unwrap();
    cache.raw().set("k", 0, 0, b"v");
}

#[test]
fn a_server_on_a_socket_or_with_tls_is_started_again_too() {
    for (name, transport) in [
        ("memcached", Transport::Unix),
        ("redis", Transport::Unix),
        ("redis", Transport::Tls),
    ] {
        let mut server = store_with(name, |options| options.transport = transport);
        let endpoint = server.store.endpoint();
        server.store.start_again().unwrap();
        assert_eq!(server.store.endpoint(), endpoint);
        server.store.counters().unwrap();
    }
}

#[test]
fn every_node_of_a_cluster_is_killed_and_it_joins_again() {
    let mut server = store_with("redis-cluster", |_| {});
    let first = server.store.pids();
    server.store.kill().unwrap();
    assert!(first.iter().all(|pid| !runs(*pid)));
    server.store.start_again().unwrap();
    assert_eq!(server.store.pids().len(), first.len());
    assert_eq!(server.store.counters().unwrap()["keys"], 0);
}

#[test]
fn what_is_not_ours_or_no_server_is_not_killed() {
    let server = memcached();
    let mut attached = attach(&server.url(), false).unwrap();
    let problem = attached.kill().unwrap_err();
    assert_eq!(problem.kind, Kind::Usage);
    assert!(attached.start_again().is_err());
    assert!(runs(server.store.pids()[0]));

    let dir = PrivateDir::new().unwrap();
    let options = StartOptions::new("/no/self", &dir);
    let mut file = start(find("sqlite").unwrap(), &options).unwrap();
    assert!(file.kill().unwrap_err().what.contains("sqlite"));
}
