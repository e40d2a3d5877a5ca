//! The native client on a real Redis Cluster of three nodes.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Done, Open, PhaseCommand};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::Pace;
use roundtrip_wire::resp::hash_slot;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

fn with(mut open: Open, options: &[(&str, &str)]) -> Open {
    for (name, value) in options {
        open.options.insert((*name).to_owned(), (*value).to_owned());
    }
    open
}

fn session(cluster: &RedisCluster, options: &[(&str, &str)]) -> Open {
    with(open("redis-cluster", tcp(cluster.address())), options)
}

fn deep(mut phase: PhaseCommand, depth: u32) -> PhaseCommand {
    phase.depth = depth;
    phase
}

fn sum(of: Vec<u64>) -> u64 {
    of.iter().sum()
}

#[test]
fn each_op_goes_to_the_node_that_has_its_slot() {
    let cluster = RedisCluster::start();
    let mut gets = 0;
    for (io, threads, depth) in [("auto", "1", 1), ("epoll", "2", 16), ("io_uring", "2", 5)] {
        let options = [("io", io), ("threads", threads), ("connections", "3")];
        let mut phases = Phases::new();
        let set = deep(phases.phase(Op::Set, 3000, 1.0), depth);
        let get = deep(phases.phase(Op::Get, 3000, 0.9), depth);
        let insert = phases.phase(Op::ReadModifyWrite, 100, 1.0);
        let delete = deep(phases.phase(Op::Delete, 100, 1.0), depth);
        let done = run(&session(&cluster, &options), &[set, get, insert, delete]);
        assert_eq!(done[0].outcomes, counts(&[("stored", 3000)]), "{io}");
        assert_eq!(done[1].outcomes, counts(&[("hit", 2700), ("miss", 300)]));
        assert_eq!(done[2].outcomes, counts(&[("stored", 100)]));
        assert_eq!(done[3].outcomes, counts(&[("done", 100)]));
        gets += 3000 + 100;
        // What the nodes counted together is what was done, and each had its share.
        let told = cluster.calls("get");
        assert!(told.iter().all(|calls| *calls > gets / 5), "{told:?}");
        assert_eq!(sum(told), gets);
        assert_eq!(sum(cluster.keys()), 2900);
        assert!(done.iter().all(|done| done.redirects.are_none()));
        let carried = done[1].carried.clone().unwrap();
        assert_eq!((carried.connections, done[1].gaps.len()), (9, 0));
    }
}

/// The slot of the first key of a stream, whose node then gives it away.
fn slot_of(stream: &Stream) -> u16 {
    hash_slot(&stream.key_maker().make(stream.first))
}

fn owner(cluster: &RedisCluster, slot: u16) -> usize {
    let is_after = |number: &usize| cluster.first(*number) <= usize::from(slot);
    (0..3).rev().find(is_after).unwrap()
}

#[test]
fn a_slot_half_moved_is_asked_for_and_one_that_has_moved_is_learned() {
    let cluster = RedisCluster::start();
    // Every op is on one of a few keys, all of the first slot that has any.
    let few = Stream {
        keyspace: 1,
        ..stream(2000, 1.0, 100)
    };
    let slot = slot_of(&few);
    let (from, to) = (owner(&cluster, slot), (owner(&cluster, slot) + 1) % 3);
    let mut phases = Phases::new();
    let session = session(&cluster, &[("connections", "2")]);
    let set = phases.phase_of(Op::Set, &few);
    let get = deep(phases.phase_of(Op::Get, &few), 8);
    let write = deep(phases.phase_of(Op::ReadModifyWrite, &few), 8);
    run(&session, &[set]);
    cluster.begin_move(slot, from, to);
    assert_eq!(cluster.move_keys(slot, from, to, 10), 1);
    // The key is no longer where the slot still is.
    let done = run(&session, &[get.clone(), write]);
    assert_eq!(done[0].outcomes, counts(&[("hit", 2000)]));
    assert_eq!(
        (done[0].redirects.asked, done[0].redirects.moved),
        (2000, 0)
    );
    assert_eq!(done[1].outcomes, counts(&[("stored", 2000)]));
    assert_eq!(done[1].redirects.asked, 4000);
    // The client asks for the map when it opens, so the move is ended under its eyes.
    let moved = run_while(&session, &[get.clone(), get], || cluster.end_move(slot, to));
    assert_eq!(moved.outcomes, counts(&[("hit", 2000)]));
    assert!(moved.redirects.moved > 0, "{:?}", moved.redirects);
    assert!(moved.redirects.moved <= 16, "{:?}", moved.redirects);
}

/// Runs two phases and does something between them; gives what the second did.
fn run_while(open: &Open, phases: &[PhaseCommand; 2], between: impl FnOnce()) -> Done {
    use std::io::{BufRead, BufReader, Write};
    let (commands, mut command_writer) = std::io::pipe().unwrap();
    let (event_reader, events) = std::io::pipe().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || roundtrip_load::serve_worker(BufReader::new(commands), events));
        let mut say = |command: Command| {
            let line = serde_json::to_string(&command).unwrap() + "\n";
            command_writer.write_all(line.as_bytes()).unwrap();
        };
        let mut lines = BufReader::new(event_reader).lines();
        let mut heard = |word: &str| lines.find_map(|l| l.ok().filter(|l| l.contains(word)));
        say(Command::Open(open.clone()));
        say(Command::Phase(phases[0].clone()));
        say(Command::Go);
        heard("\"written\"").unwrap();
        between();
        say(Command::Phase(phases[1].clone()));
        say(Command::Go);
        let done = heard("\"done\"").unwrap();
        say(Command::Close);
        serde_json::from_str(&done).unwrap()
    })
}

#[test]
fn slots_that_move_during_a_run_lose_and_garble_nothing() {
    let cluster = RedisCluster::start();
    let many = stream(60_000, 1.0, 100);
    let mut phases = Phases::new();
    let small = Stream {
        keyspace: 3000,
        ..many
    };
    let session = session(&cluster, &[("connections", "4"), ("threads", "2")]);
    let set = phases.phase_of(
        Op::Set,
        &Stream {
            count: 3000,
            ..small.clone()
        },
    );
    run(&session, &[set]);
    let mut mixed = small;
    mixed.mix = vec![(Op::Get, 0.6), (Op::Set, 0.4)];
    let maker = mixed.key_maker();
    let slots: BTreeSet<u16> = (0..3000).map(|i| hash_slot(&maker.make(i))).collect();
    // Each moves once: of a slot that goes back, the nodes may remember the older owner.
    let slots: Vec<u16> = slots.into_iter().collect();
    let paces = [Pace::Closed, Pace::Fixed { per_s: 30_000.0 }];
    for (pace, slots) in paces.into_iter().zip(slots.chunks(slots.len().div_ceil(2))) {
        let mut get = deep(phases.phase_of(Op::Mix, &mixed), 16);
        get.pace = pace.clone();
        let over = AtomicBool::new(false);
        let done = std::thread::scope(|scope| {
            let (over, cluster) = (&over, &cluster);
            scope.spawn(move || {
                for slot in slots {
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let (from, to) = (owner(cluster, *slot), (owner(cluster, *slot) + 1) % 3);
                    cluster.begin_move(*slot, from, to);
                    while cluster.move_keys(*slot, from, to, 2) > 0 {}
                    cluster.end_move(*slot, to);
                }
            });
            let done = run(&session, std::slice::from_ref(&get));
            over.store(true, Ordering::Relaxed);
            done
        });
        let done = &done[0];
        let outcomes = &done.outcomes;
        assert_eq!(outcomes.keys().collect::<Vec<_>>(), ["hit", "stored"]);
        assert_eq!(outcomes.values().sum::<u64>(), 60_000, "{pace:?}");
        assert!(!done.redirects.are_none(), "{pace:?}");
        assert_eq!(sum(cluster.keys()), 3000);
    }
}

#[test]
fn what_a_cluster_cannot_do_is_refused_before_anything_runs() {
    let redis = Redis::start();
    let plain = Command::Open(open("redis-cluster", tcp(&redis.address)));
    let (kind, message) = error(&[plain]);
    assert_eq!(kind, "connect");
    assert!(message.contains("cluster support disabled"), "{message}");
    let path = std::path::Path::new("/nowhere");
    let (kind, _) = error(&[Command::Open(open("redis-cluster", unix(path)))]);
    assert_eq!(kind, "usage");
    let cluster = RedisCluster::start();
    let mut phases = Phases::new();
    let get = deep(phases.phase(Op::Get, 100, 1.0), 4);
    let many = session(&cluster, &[("multiget", "4")]);
    let (kind, message) = error(&[Command::Open(many), Command::Phase(get)]);
    assert_eq!(kind, "usage");
    assert!(message.contains("multiget"), "{message}");
}
