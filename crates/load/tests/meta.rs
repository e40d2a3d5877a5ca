//! memcached's meta commands, on a real memcached and on the floor.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Open};
use roundtrip_model::workload::ValueRecipe;

fn session(store: &str, address: &str) -> Open {
    let mut session = open(store, tcp(address));
    session
        .options
        .insert("protocol".to_owned(), "meta".to_owned());
    session.connections = 3;
    session
}

fn every_op(store: &str, address: &str) {
    let mut phases = Phases::new();
    let mut deep = |op, hit_ratio| {
        let mut phase = phases.phase(op, 1000, hit_ratio);
        phase.depth = 16;
        phase
    };
    let mut set = deep(Op::Set, 1.0);
    set.ttl_s = 90 * 24 * 3600;
    let all = [
        set,
        deep(Op::Get, 0.9),
        deep(Op::ReadModifyWrite, 1.0),
        deep(Op::Delete, 0.25),
    ];
    let mut numbers = stream(500, 1.0, 0);
    numbers.values.recipe = ValueRecipe::Zero;
    let zeros = phases.phase_of(Op::Set, &numbers);
    numbers.hit_ratio = 0.4;
    let incr = phases.phase_of(Op::Incr, &numbers);
    let done = run(&session(store, address), &all);
    assert_eq!(done[0].outcomes, counts(&[("stored", 1000)]), "{store}");
    assert_eq!(done[1].outcomes, counts(&[("hit", 900), ("miss", 100)]));
    assert_eq!(done[2].outcomes, counts(&[("stored", 1000)]));
    let removed = counts(&[("done", 250), ("not_found", 750)]);
    assert_eq!(done[3].outcomes, removed, "{store}");
    let done = run(&session(store, address), &[zeros, incr]);
    let added = counts(&[("done", 200), ("not_found", 300)]);
    assert_eq!(done[1].outcomes, added, "{store}");
}

#[test]
fn every_op_is_done_and_counted_by_a_real_memcached() {
    let memcached = Memcached::start();
    every_op("memcached", &memcached.address);
    let of = |name| counter(&memcached.address, name);
    assert_eq!(of("cmd_set"), 1000 + 1000 + 500);
    assert_eq!((of("get_hits"), of("get_misses")), (1900, 100));
    assert_eq!(of("delete_hits"), 250);
    assert_eq!(of("incr_hits"), 200);
    // What is there already is not inserted, and what the plain commands wrote is read.
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 100, 1.0);
    run(&open("memcached", tcp(&memcached.address)), &[set]);
    let mut known = stream(100, 1.0, 100);
    known.insert_first = 0;
    let insert = phases.phase_of(Op::Insert, &known);
    let get = phases.phase(Op::Get, 100, 1.0);
    let done = run(&session("memcached", &memcached.address), &[insert, get]);
    assert_eq!(done[0].outcomes, counts(&[("error:not_stored", 100)]));
    assert_eq!(done[1].outcomes, counts(&[("hit", 100)]));
}

#[test]
fn the_floor_does_the_same_and_its_faults_are_seen() {
    every_op("floor", &floor());
    let garbling = floor_with(|options| options.garble = Some(5));
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 100, 1.0);
    let get = phases.phase(Op::Get, 100, 1.0);
    let mut one = session("floor", &garbling);
    one.connections = 1;
    let done = run(&one, &[set, get]);
    assert_eq!(done[1].outcomes, counts(&[("hit", 80), ("wrong", 20)]));
}

#[test]
fn many_keys_at_once_are_refused() {
    let mut many = session("floor", &floor());
    many.options.insert("multiget".to_owned(), "4".to_owned());
    let mut get = Phases::new().phase(Op::Get, 100, 1.0);
    get.depth = 4;
    let (kind, message) = error(&[Command::Open(many), Command::Phase(get)]);
    assert_eq!(kind, "usage");
    assert!(message.contains("a command reads only one"), "{message}");
}
