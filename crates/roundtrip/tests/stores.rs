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

/// Every op over numbers, one at a time and many at a time, on a store.
fn every_op(store: &str, factor: &str) -> String {
    format!(
        "name = \"every-op\"\nplacement = \"free\"\nmax_blocks = 1\n\
         [keys]\ncount = 60\n[values]\nrecipe = \"zero\"\n\
         [[phase]]\nop = \"set\"\ncount = 60\n\
         [[phase]]\nop = \"get\"\ncount = 100\nhit_ratio = 0.9\n\
         [[phase]]\nop = \"get_many\"\ncount = 30\nkeys_per_op = 10\n\
         [[phase]]\nname = \"change\"\nop = \"read_modify_write\"\ncount = 40\nkeys_per_op = 3\n\
         [[phase]]\nname = \"add\"\nop = \"read_modify_write\"\ncount = 40\nkeys_per_op = 3\nadd = 5\n\
         [[phase]]\nop = \"incr\"\ncount = 100\n\
         [[phase]]\nop = \"delete\"\ncount = 100\n\
         [matrix]\nclient = [\"native\"]\nstore = [\"{store}\"]\n{factor}\n"
    )
}

/// What a line of a list says of a client.
fn named<'a>(client: &'a serde_json::Value, what: &str) -> Vec<&'a str> {
    let mut details = client["details"].as_array().unwrap().iter();
    let found = details.find_map(|line| line.as_str().unwrap().strip_prefix(what));
    found.unwrap().split(", ").collect()
}

#[test]
fn more_ops_at_once_than_a_store_takes_are_refused_before_anything_starts() {
    let paths = ["compare", "native@sqlite", "native@sqlite?depth=30"];
    let words = ["`native` asks sqlite one op at a time", "leave depth out"];
    Home::new().run(&paths).refused(2, &words);
}

#[test]
fn every_op_agrees_with_its_witness_on_every_store() {
    let stores = Home::new().good(&["list", "stores", "--format", "json"]);
    let stores: serde_json::Value = serde_json::from_str(&stores).unwrap();
    let here = stores.as_array().unwrap().iter();
    let here: Vec<&str> = here.filter_map(|store| store["name"].as_str()).collect();
    let native = Home::new().good(&["list", "clients", "--format", "json"]);
    let native: serde_json::Value = serde_json::from_str(&native).unwrap();
    let mut native = native.as_array().unwrap().iter();
    let native = native.find(|client| client["name"] == "native").unwrap();
    let reached = named(native, "stores: ");
    let one_at_a_time = named(native, "one op at a time: ");
    for store in ["memcached-shards", "redis", "redis-shards", "redis-cluster"] {
        assert!(here.contains(&store), "{here:?}");
    }
    let factors = here.iter().filter(|store| reached.contains(store));
    let factors = factors.flat_map(|store| {
        let mut factors = vec![match (*store, one_at_a_time.contains(store)) {
            ("sqlite", _) => "options = { synchronous = [\"normal\", \"off\"] }",
            (_, true) => "options = { protocol = [\"mysql\"] }",
            (_, false) => "options = { depth = [\"1\", \"30\"] }",
        }];
        // At the door of its plugin.
        if *store == "mysql" {
            factors.push("options = { protocol = [\"memcached\"], depth = [\"1\", \"30\"] }");
        }
        factors.into_iter().map(move |factor| (*store, factor))
    });
    for (store, factor) in factors {
        let home = Home::new();
        let file = home.file("every-op.toml", &every_op(store, factor));
        home.good(&["run", &file]);
        let result = home.good(&["report", "--format", "json"]);
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        for trial in result["trials"].as_array().unwrap() {
            assert_eq!(
                trial["validity"]["state"], "valid",
                "{store} {factor}: {trial}"
            );
            assert_eq!(trial["phases"].as_array().unwrap().len(), 7);
        }
    }
}

/// Compares a client on a small Redis with itself on a plain one, in one block; gives the trials of
/// the small one.
fn on_a_small_redis(client: &str, options: &str, args: &[&str]) -> Vec<serde_json::Value> {
    let home = Home::new();
    let small = format!("{client}@redis?{options}");
    let plain = format!("{client}@redis");
    let common = ["compare", &small, &plain, "--blocks", "1"];
    // No block is whole, which is no failure of the tool.
    home.run(&[&common, args].concat());
    let result = home.good(&["report", "--format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let trials = result["trials"].as_array().unwrap().iter();
    let of_small = |trial: &&serde_json::Value| {
        let variant = trial["variant"].as_str().unwrap();
        variant.contains('?')
    };
    let small: Vec<serde_json::Value> = trials.filter(of_small).cloned().collect();
    assert!(!small.is_empty(), "{result}");
    small
}

#[test]
fn a_redis_that_runs_out_of_memory_voids_the_trial_in_its_own_words() {
    let options = "maxmemory=2mb&maxmemory-policy=noeviction";
    let args = ["--op", "set", "--count", "5000", "--value-bytes", "1000"];
    for client in ["native", "php/phpredis", "php/predis"] {
        for trial in on_a_small_redis(client, options, &args) {
            assert_eq!(trial["validity"]["state"], "void", "{trial}");
            let reason = trial["validity"]["reason"].as_str().unwrap();
            let said = "the server said: OOM command not allowed";
            assert!(reason.contains(said), "{client}: {reason}");
            assert!(reason.contains("more memory"), "{client}: {reason}");
        }
    }
}

#[test]
fn a_redis_that_takes_no_more_clients_voids_the_trial_in_its_own_words() {
    for trial in on_a_small_redis(
        "native",
        "maxclients=6&connections=12",
        &["--count", "2000"],
    ) {
        assert_eq!(trial["validity"]["state"], "void", "{trial}");
        let reason = trial["validity"]["reason"].as_str().unwrap();
        assert!(reason.contains("max number of clients"), "{reason}");
        assert!(reason.contains("fewer connections"), "{reason}");
    }
}
