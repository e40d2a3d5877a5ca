//! Stores and transports through the built binary, on real servers.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;

/// Compares two paths on a store in one block; gives the result, in which every trial is valid.
fn compared(store: &str, op: &str, paths: [&str; 2]) -> serde_json::Value {
    let home = Home::new();
    let [first, second] = paths;
    home.good(&[
        "compare", first, second, "--store", store, "--op", op, "--count", "500", "--blocks", "1",
    ]);
    let result = home.good(&["report", "--format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let trials = result["trials"].as_array().unwrap();
    // Both paths and the control of the first.
    assert_eq!(trials.len(), 3);
    for trial in trials {
        assert_eq!(trial["validity"]["state"], "valid", "{trial}");
    }
    result
}

/// What the store counted of something during the phases of every trial.
fn grew(result: &serde_json::Value, counter: &str) -> Vec<u64> {
    let phases = result["trials"].as_array().unwrap().iter();
    let phases = phases.flat_map(|trial| trial["phases"].as_array().unwrap());
    phases
        .map(|phase| {
            let witness = &phase["witness"]["store"];
            let of = |when: &str| witness[when][counter].as_u64().unwrap();
            of("after") - of("before")
        })
        .collect()
}

#[test]
fn a_cluster_is_compared_and_its_nodes_bear_witness_together() {
    let result = compared("redis-cluster", "get", ["native", "native?depth=16"]);
    assert_eq!(grew(&result, "keyspace_hits"), [500; 3]);
}

#[test]
fn tls_is_a_transport_like_another() {
    let result = compared("redis", "set,get", ["native", "native?transport=tls"]);
    let hits = grew(&result, "keyspace_hits");
    assert_eq!(hits.iter().sum::<u64>(), 3 * 500);
    let home = Home::new();
    let ran = home.run(&[
        "compare",
        "native",
        "native?transport=tls",
        "--store",
        "memcached",
    ]);
    ran.refused(2, &["memcached cannot listen with transport=tls"]);
}

#[test]
fn meta_commands_are_witnessed_as_the_plain_ones_are() {
    let result = compared("memcached", "set,get", ["native", "native?protocol=meta"]);
    let hits = grew(&result, "get_hits");
    assert_eq!(hits.iter().sum::<u64>(), 3 * 500);
}

#[test]
fn more_connections_than_a_store_takes_are_refused_before_anything_starts() {
    let home = Home::new();
    home.run(&[
        "compare",
        "native?connections=3000",
        "native",
        "--store",
        "memcached",
    ])
    .refused(2, &["takes at most 2000 connections", "3000"]);
}

#[test]
fn an_option_of_a_server_that_is_there_already_is_refused() {
    let home = Home::new();
    home.run(&[
        "compare",
        "native?server_threads=2",
        "native",
        "--store",
        "memcached=memcached://127.0.0.1:1",
    ])
    .refused(2, &["`server_threads` is not ours to set", "leave"]);
}
