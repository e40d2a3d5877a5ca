//! Ops of several keys: every key has an outcome, every op one latency, and nothing is sent twice.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Open, PhaseCommand};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Pace, ValueRecipe, Values};

fn many(op: Op, phases: &mut Phases, count: u64, keys: u32, hit_ratio: f64) -> PhaseCommand {
    let stream = Stream {
        keyspace: 60,
        keys_per_op: keys,
        ..stream(count, hit_ratio, 100)
    };
    phases.phase_of(op, &stream)
}

fn latencies_of(phase: &PhaseCommand) -> u64 {
    histogram(&latencies(phase).service).count()
}

fn with(open: &Open, options: &[(&str, &str)]) -> Open {
    let mut open = open.clone();
    for (name, value) in options {
        open.options.insert((*name).to_owned(), (*value).to_owned());
    }
    open
}

/// Every op of several keys, in every way that keys travel.
fn several(session: &Open, what: &str) {
    let is_direct = what == "sqlite";
    let mut phases = Phases::new();
    let set = many(Op::Set, &mut phases, 60, 1, 1.0);
    run(session, &[set]);
    let depths: &[u32] = if is_direct { &[1] } else { &[1, 5, 64] };
    for keys in [2, 5, 60] {
        for depth in depths {
            let get = PhaseCommand {
                depth: *depth,
                ..many(Op::GetMany, &mut phases, 40, keys, 0.9)
            };
            let done = run(session, std::slice::from_ref(&get));
            let hits = 40 * u64::from(keys) * 9 / 10;
            let expected = counts(&[("hit", hits), ("miss", 40 * u64::from(keys) - hits)]);
            assert_eq!(done[0].outcomes, expected, "{what}: {keys} x {depth}");
            assert_eq!(latencies_of(&get), 40, "{what}");
        }
        for depth in [1, keys, 3 * keys]
            .iter()
            .take(if is_direct { 1 } else { 3 })
        {
            let mut change = many(Op::ReadModifyWrite, &mut phases, 40, keys, 1.0);
            change.depth = *depth;
            let mut absent = many(Op::ReadModifyWrite, &mut phases, 10, keys, 0.5);
            absent.depth = *depth;
            let done = run(session, &[change.clone(), absent]);
            let all = 40 * u64::from(keys);
            assert_eq!(done[0].outcomes, counts(&[("stored", all)]), "{what}");
            assert_eq!(latencies_of(&change), 40, "{what}");
            let half = 5 * u64::from(keys);
            let expected = counts(&[("not_found", half), ("stored", half)]);
            assert_eq!(done[1].outcomes, expected, "{what}");
        }
    }
    let mut paced = many(Op::GetMany, &mut phases, 200, 5, 1.0);
    paced.pace = Pace::Poisson { per_s: 20_000.0 };
    let mut change = many(Op::ReadModifyWrite, &mut phases, 200, 5, 1.0);
    change.pace = Pace::Fixed { per_s: 20_000.0 };
    if !is_direct {
        paced.depth = 4;
        change.depth = 10;
    }
    let done = run(session, &[paced.clone(), change]);
    assert_eq!(done[0].outcomes, counts(&[("hit", 1000)]), "{what}");
    assert_eq!(done[1].outcomes, counts(&[("stored", 1000)]), "{what}");
    let response = latencies(&paced).response.unwrap();
    assert_eq!(histogram(&response).count(), 200);
    add_up(session, what);
}

/// The published loop: read three numbers, add five to each, write them back.
fn add_up(session: &Open, what: &str) {
    let mut phases = Phases::new();
    let numbers = Stream {
        keyspace: 3,
        keys_per_op: 3,
        values: Values::of(ValueRecipe::Zero, 0),
        add: 5,
        ..stream(100, 1.0, 0)
    };
    let set = Stream {
        add: 0,
        count: 3,
        keys_per_op: 1,
        ..numbers.clone()
    };
    let check = Stream {
        count: 3,
        keys_per_op: 1,
        records_before: 300,
        ..numbers.clone()
    };
    let depths: &[u32] = if what == "sqlite" {
        &[1]
    } else {
        &[1, 3, 10_000]
    };
    for depth in depths {
        let set = phases.phase_of(Op::Set, &set);
        let mut add = phases.phase_of(Op::ReadModifyWrite, &numbers);
        add.depth = *depth;
        let check = phases.phase_of(Op::Get, &check);
        let done = run(session, &[set, add, check]);
        assert_eq!(done[1].outcomes, counts(&[("stored", 300)]), "{what}");
        assert_eq!(done[2].outcomes, counts(&[("hit", 3)]), "{what} {depth}");
    }
}

fn several_connections(session: &Open, what: &str) {
    for io in ["epoll", "io_uring"] {
        let options = [("io", io), ("connections", "5"), ("threads", "2")];
        let session = with(session, &options);
        let mut phases = Phases::new();
        let set = many(Op::Set, &mut phases, 60, 1, 1.0);
        let mut get = many(Op::GetMany, &mut phases, 1000, 7, 0.5);
        get.depth = 3;
        let mut change = many(Op::ReadModifyWrite, &mut phases, 1000, 7, 1.0);
        change.depth = 14;
        let done = run(&session, &[set, get, change]);
        let expected = counts(&[("hit", 3500), ("miss", 3500)]);
        assert_eq!(done[1].outcomes, expected, "{what} over {io}");
        assert_eq!(done[2].outcomes, counts(&[("stored", 7000)]), "{what}");
    }
}

#[test]
fn memcached_and_its_meta_commands_take_several_keys() {
    let memcached = Memcached::start();
    let session = open("memcached", tcp(&memcached.address));
    several(&session, "memcached");
    several_connections(&session, "memcached");
    several(&with(&session, &[("protocol", "meta")]), "meta");
}

#[test]
fn redis_takes_several_keys_in_one_command() {
    let redis = Redis::start();
    let session = open("redis", tcp(&redis.address));
    several(&session, "redis");
    several_connections(&session, "redis");
    // One command an op.
    let mut phases = Phases::new();
    let calls = || {
        let stats = redis.ask("INFO commandstats");
        let line = stats
            .lines()
            .find_map(|l| l.strip_prefix("cmdstat_mget:calls="));
        line.map_or(0, |l| l.split(',').next().unwrap().parse().unwrap())
    };
    let before: u64 = calls();
    let hits = redis.hits_and_misses().0;
    run(&session, &[many(Op::GetMany, &mut phases, 100, 10, 1.0)]);
    assert_eq!(calls() - before, 100);
    assert_eq!(redis.hits_and_misses().0 - hits, 1000);
}

#[test]
fn a_cluster_splits_the_keys_of_an_op_over_its_nodes() {
    let cluster = RedisCluster::start();
    let session = open("redis-cluster", tcp(cluster.address()));
    several(&session, "redis-cluster");
    several_connections(&session, "redis-cluster");
}

#[test]
fn the_floor_and_sqlite_take_several_keys() {
    let address = floor();
    let session = open("floor", tcp(&address));
    several(&session, "floor");
    several(&with(&session, &[("protocol", "resp")]), "floor over RESP");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kv.sqlite");
    let session = open("sqlite", file(&path));
    several(&with(&session, &[("synchronous", "off")]), "sqlite");
}

#[test]
fn what_cannot_be_is_refused_before_the_clock_starts() {
    let address = floor();
    let session = open("floor", tcp(&address));
    let mut phases = Phases::new();
    let refused = |phase: PhaseCommand, because: &str| {
        let (kind, message) = error(&[Command::Open(session.clone()), Command::Phase(phase)]);
        assert_eq!(kind, "usage");
        assert!(message.contains(because), "{message}");
    };
    let mut between = many(Op::ReadModifyWrite, &mut phases, 10, 5, 1.0);
    between.depth = 3;
    refused(between, "depth=5");
    refused(many(Op::Get, &mut phases, 10, 5, 1.0), "several keys");
    let mut twice = many(Op::ReadModifyWrite, &mut phases, 10, 5, 1.0);
    twice.add = 1;
    let plan = twice.plan.as_mut().unwrap();
    (plan.add, plan.keyspace) = (1, 3);
    refused(twice, "twice");
}

#[test]
fn a_connection_that_breaks_fails_every_key_of_what_was_in_flight_and_no_other() {
    for (op, depth) in [
        (Op::GetMany, 2),
        (Op::ReadModifyWrite, 1),
        (Op::ReadModifyWrite, 20),
    ] {
        // Each hundredth reply is not sent, and its connection closed.
        let address = floor_with(|options| options.drop = Some(100));
        let session = open("floor", tcp(&address));
        let mut phases = Phases::new();
        let set = many(Op::Set, &mut phases, 60, 1, 1.0);
        run(&session, &[set.clone(), set]);
        let mut phase = many(op, &mut phases, 500, 10, 1.0);
        phase.depth = depth;
        let done = run(&session, std::slice::from_ref(&phase));
        assert_eq!(
            done[0].outcomes.values().sum::<u64>(),
            5000,
            "{op} x {depth}"
        );
        assert!(done[0].outcomes["error:connection"] > 0, "{op} x {depth}");
        assert_eq!(latencies_of(&phase), 500);
    }
}

#[test]
fn what_is_left_of_a_multiget_is_a_read_like_any_other() {
    let redis = Redis::start();
    let session = with(&open("redis", tcp(&redis.address)), &[("multiget", "4")]);
    let mut phases = Phases::new();
    let set = many(Op::Set, &mut phases, 60, 1, 1.0);
    let mut get = many(Op::Get, &mut phases, 41, 1, 1.0);
    get.depth = 4;
    let done = run(&session, &[set, get]);
    assert_eq!(done[1].outcomes, counts(&[("hit", 41)]));
}
