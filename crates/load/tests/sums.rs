//! Numbers that ops add to: what each read must give is known, and so is what is left in the end.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Open, PhaseCommand};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Pace, ValueRecipe, Values};

const KEYS: u64 = 7;

/// So many ops over a few keys that hold numbers, in order.
fn numbers(count: u64) -> Stream {
    Stream {
        keyspace: KEYS,
        values: Values::of(ValueRecipe::Zero, 0),
        ..stream(count, 1.0, 0)
    }
}

/// The read of every key after so many visits, each of which added something.
fn left(phases: &mut Phases, add: i64, records_before: u64) -> PhaseCommand {
    let stream = Stream {
        add,
        records_before,
        ..numbers(KEYS)
    };
    phases.phase_of(Op::Get, &stream)
}

fn add_up(session: &Open, what: &str) {
    let mut phases = Phases::new();
    let set = phases.phase_of(Op::Set, &numbers(KEYS));
    let mut incr = phases.phase_of(Op::Incr, &numbers(100));
    incr.depth = if what == "sqlite" { 1 } else { 8 };
    // 100 visits of 7 keys: two were visited once more than the others.
    let check = left(&mut phases, 1, 100);
    let wrong = left(&mut phases, 1, 98);
    let done = run(session, &[set.clone(), incr, check, wrong]);
    assert_eq!(done[1].outcomes, counts(&[("done", 100)]), "{what}");
    assert_eq!(done[2].outcomes, counts(&[("hit", 7)]), "{what}");
    let expected = counts(&[("hit", 5), ("wrong", 2)]);
    assert_eq!(done[3].outcomes, expected, "{what}");
    let sums = Stream {
        add: 5,
        ..numbers(700)
    };
    let add = phases.phase_of(Op::ReadModifyWrite, &sums);
    // What is deeper than there are keys would read a number before it was written.
    let deep = PhaseCommand {
        depth: if what == "sqlite" { 1 } else { 64 },
        plan: Some(Box::new(Stream {
            records_before: 700,
            op: Op::ReadModifyWrite,
            ..sums.clone()
        })),
        ..add.clone()
    };
    let paced = PhaseCommand {
        pace: Pace::Fixed { per_s: 50_000.0 },
        plan: Some(Box::new(Stream {
            records_before: 1400,
            op: Op::ReadModifyWrite,
            ..sums
        })),
        ..deep.clone()
    };
    let check = left(&mut phases, 5, 2100);
    let done = run(session, &[set, add, deep, paced, check]);
    for done in &done[1..4] {
        assert_eq!(done.outcomes, counts(&[("stored", 700)]), "{what}");
    }
    assert_eq!(done[4].outcomes, counts(&[("hit", 7)]), "{what}");
}

#[test]
fn every_read_of_a_sum_is_checked_on_every_store() {
    let with = |mut open: Open, protocol: &str| {
        open.options
            .insert("protocol".to_owned(), protocol.to_owned());
        open
    };
    let memcached = Memcached::start();
    let session = || open("memcached", tcp(&memcached.address));
    add_up(&session(), "memcached");
    add_up(&with(session(), "meta"), "memcached over meta");
    let redis = Redis::start();
    add_up(&open("redis", tcp(&redis.address)), "redis");
    let cluster = RedisCluster::start();
    add_up(
        &open("redis-cluster", tcp(cluster.address())),
        "redis-cluster",
    );
    let floor = floor();
    let session = open("floor", tcp(&floor));
    for protocol in ["memcached", "meta", "resp"] {
        add_up(
            &with(session.clone(), protocol),
            &format!("floor over {protocol}"),
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("kv.sqlite");
    add_up(&open("sqlite", file(&path)), "sqlite");
}

#[test]
fn several_connections_cannot_add_to_the_same_numbers() {
    let floor = floor();
    let mut session = open("floor", tcp(&floor));
    session.connections = 2;
    let mut phases = Phases::new();
    let sums = Stream {
        add: 5,
        ..numbers(10)
    };
    let add = phases.phase_of(Op::ReadModifyWrite, &sums);
    let (kind, message) = error(&[Command::Open(session), Command::Phase(add)]);
    assert_eq!(kind, "usage");
    assert!(message.contains("one connection"), "{message}");
}
