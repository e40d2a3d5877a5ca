//! The native client on several servers that know nothing of each other.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Open};
use roundtrip_model::stream::Stream;

fn session(store: &str, addresses: &[&str]) -> Open {
    Open {
        nodes: addresses.iter().map(|address| tcp(address)).collect(),
        ..open(store, tcp(addresses[0]))
    }
}

/// Sets, reads one and many, changes and removes; gives how many keys were left.
fn work(session: &Open, what: &str) -> u64 {
    for (io, connections, threads) in [("auto", "1", "1"), ("epoll", "5", "2"), ("auto", "4", "2")]
    {
        let mut session = session.clone();
        for (name, value) in [
            ("io", io),
            ("connections", connections),
            ("threads", threads),
        ] {
            session.options.insert(name.to_owned(), value.to_owned());
        }
        let mut phases = Phases::new();
        let many = Stream {
            keyspace: 300,
            keys_per_op: 20,
            ..stream(400, 0.5, 100)
        };
        let mut get = phases.phase(Op::Get, 300, 0.9);
        get.depth = 7;
        let mut get_many = phases.phase_of(Op::GetMany, &many);
        get_many.depth = 3;
        let phases = [
            phases.phase(Op::Set, 300, 1.0),
            get,
            get_many,
            phases.phase_of(Op::ReadModifyWrite, &many),
            phases.phase(Op::Delete, 100, 1.0),
        ];
        let done = run(&session, &phases);
        let outcomes: Vec<_> = done.iter().map(|done| done.outcomes.clone()).collect();
        let expected = [
            counts(&[("stored", 300)]),
            counts(&[("hit", 270), ("miss", 30)]),
            counts(&[("hit", 4000), ("miss", 4000)]),
            counts(&[("not_found", 4000), ("stored", 4000)]),
            counts(&[("done", 100)]),
        ];
        assert_eq!(outcomes, expected, "{what} over {io}");
        let lanes: u32 = connections.parse().unwrap();
        let carried = done[1].carried.clone().unwrap();
        assert_eq!(carried.connections, 3 * lanes, "{what}");
        assert!(done.iter().all(|done| done.gaps.is_empty()));
    }
    200
}

#[test]
fn three_redis_have_each_a_share_of_the_keys() {
    let servers = [Redis::start(), Redis::start(), Redis::start()];
    let addresses = servers.each_ref().map(|server| server.address.as_str());
    let left = work(&session("redis-shards", &addresses), "redis");
    let keys = |server: &Redis| -> u64 {
        let space = server.ask("INFO keyspace");
        let keys = space.split("keys=").nth(1).unwrap();
        keys.split(',').next().unwrap().parse().unwrap()
    };
    let held = servers.each_ref().map(keys);
    assert_eq!(held.iter().sum::<u64>(), left);
    assert!(held.iter().all(|held| *held > left / 6), "{held:?}");
}

#[test]
fn three_memcached_have_each_a_share_of_the_keys() {
    let servers = [Memcached::start(), Memcached::start(), Memcached::start()];
    let addresses = servers.each_ref().map(|server| server.address.as_str());
    let session = session("memcached-shards", &addresses);
    let left = work(&session, "memcached");
    let held = addresses.map(|address| counter(address, "curr_items"));
    assert_eq!(held.iter().sum::<u64>(), left);
    assert!(held.iter().all(|held| *held > left / 6), "{held:?}");
    let mut meta = session;
    meta.options
        .insert("protocol".to_owned(), "meta".to_owned());
    work(&meta, "memcached over meta");
}

#[test]
fn a_server_that_restarts_fails_what_it_had_and_nothing_else() {
    let mut servers = [Memcached::start(), Memcached::start(), Memcached::start()];
    let addresses = servers.each_ref().map(|server| server.address.clone());
    let addresses = addresses.each_ref().map(String::as_str);
    let mut session = session("memcached-shards", &addresses);
    session.connections = 3;
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 300, 1.0);
    let many = Stream {
        keyspace: 300,
        keys_per_op: 6,
        ..stream(60_000, 1.0, 100)
    };
    run(&session, &[set]);
    let mut get = phases.phase_of(Op::GetMany, &many);
    get.pace = roundtrip_model::workload::Pace::Fixed { per_s: 30_000.0 };
    let address = servers[1].address.clone();
    let done = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&session, std::slice::from_ref(&get)));
        while counter(&address, "get_hits") < 1000 {
            std::thread::yield_now();
        }
        servers[1].restart();
        running.join().unwrap()
    });
    let outcomes = &done[0].outcomes;
    assert_eq!(outcomes.values().sum::<u64>(), 360_000, "{outcomes:?}");
    // What the new server no longer has is a miss; the others have lost nothing.
    assert!(outcomes["hit"] > 200_000, "{outcomes:?}");
    assert!(outcomes["miss"] > 0, "{outcomes:?}");
    assert!(!done[0].gaps.is_empty());
}

#[test]
fn shards_without_their_addresses_and_groups_over_them_are_refused() {
    let floor = floor();
    let (kind, message) = error(&[Command::Open(open("redis-shards", tcp(&floor)))]);
    assert_eq!(kind, "usage");
    assert!(message.contains("several servers"), "{message}");
    let mut session = session("memcached-shards", &[&floor, &floor]);
    session
        .options
        .insert("multiget".to_owned(), "4".to_owned());
    let mut phases = Phases::new();
    let mut get = phases.phase(Op::Get, 100, 1.0);
    get.depth = 4;
    let (kind, message) = error(&[Command::Open(session), Command::Phase(get)]);
    assert_eq!(kind, "usage");
    assert!(message.contains("get_many"), "{message}");
}
