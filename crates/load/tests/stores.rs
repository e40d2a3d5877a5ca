//! SQLite, and a cache in front of a store.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Open, PhaseCommand, Purpose, Target};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{ValueRecipe, Values};

fn prepare(mut phase: PhaseCommand, target: Target) -> PhaseCommand {
    phase.op = Op::Set;
    phase.purpose = Purpose::Prepare;
    phase.target = target;
    phase
}

#[test]
fn what_was_set_in_sqlite_is_there_when_it_is_opened_again() {
    for level in ["full", "normal", "off"] {
        let mut phases = Phases::new();
        let path = phases.directory.path().join("kv.sqlite");
        let mut session = open("sqlite", file(&path));
        session
            .options
            .insert("synchronous".to_owned(), level.to_owned());
        let set = phases.phase(Op::Set, 300, 1.0);
        assert_eq!(
            run(&session, &[set])[0].outcomes,
            counts(&[("stored", 300)])
        );
        let get = phases.phase(Op::Get, 300, 0.9);
        let expected = counts(&[("hit", 270), ("miss", 30)]);
        assert_eq!(run(&session, &[get])[0].outcomes, expected);
    }
}

#[test]
fn each_measured_set_is_a_commit_and_a_preparation_is_one() {
    let mut phases = Phases::new();
    let path = phases.directory.path().join("kv.sqlite");
    let set = phases.phase(Op::Set, 50, 1.0);
    let wal = phases.directory.path().join("kv.sqlite-wal");
    let reader = |phase| {
        run_and_look(&open("sqlite", file(&path)), phase, || {
            // Each commit ends with a frame that says so: bytes 4 to 8 of its header are not 0.
            let bytes = std::fs::read(&wal).unwrap();
            let page = u32::from_be_bytes(bytes[8..12].try_into().unwrap()) as usize;
            bytes[32..]
                .chunks_exact(24 + page)
                .filter(|frame| frame[4..8] != [0; 4])
                .count()
        })
    };
    // Making the table is a commit too; the log begins anew when the database is opened again.
    assert_eq!(reader(phases.phase(Op::Get, 1, 1.0)), 1);
    assert_eq!(reader(set), 50);
    // Other values: SQLite does not write a page for a row that is set to what it is already.
    let others = phases.phase_of(Op::Set, &stream(50, 1.0, 99));
    assert_eq!(reader(prepare(others, Target::Store)), 1);
}

/// Looks while the worker still has the database open, since closing it empties the log.
fn run_and_look<T: Send>(
    open: &Open,
    phase: PhaseCommand,
    look: impl Fn() -> T + Send + Sync,
) -> T {
    use std::io::{BufRead, BufReader, Write};
    let (commands, mut command_writer) = std::io::pipe().unwrap();
    let (event_reader, events) = std::io::pipe().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || roundtrip_load::serve_worker(BufReader::new(commands), events));
        for command in [
            Command::Open(open.clone()),
            Command::Phase(phase),
            Command::Go,
        ] {
            let line = serde_json::to_string(&command).unwrap() + "\n";
            command_writer.write_all(line.as_bytes()).unwrap();
        }
        let mut lines = BufReader::new(event_reader).lines();
        assert!(lines.any(|line| line.unwrap().contains("\"written\"")));
        let seen = look();
        drop(command_writer);
        seen
    })
}

#[test]
fn sqlite_counts_up_removes_and_forgets_in_time() {
    let mut phases = Phases::new();
    let session = open("sqlite", file(&phases.directory.path().join("kv.sqlite")));
    let mut numbers = stream(100, 1.0, 0);
    numbers.values.recipe = roundtrip_model::workload::ValueRecipe::Zero;
    let set = phases.phase_of(Op::Set, &numbers);
    numbers.hit_ratio = 0.4;
    let incr = phases.phase_of(Op::Incr, &numbers);
    let delete = phases.phase_of(Op::Delete, &numbers);
    let get = phases.phase_of(Op::Get, &stream(100, 1.0, 0));
    let done = run(&session, &[set.clone(), incr, delete, get]);
    assert_eq!(done[1].outcomes, counts(&[("done", 40), ("not_found", 60)]));
    assert_eq!(done[2].outcomes, counts(&[("done", 40), ("not_found", 60)]));
    assert_eq!(done[3].outcomes, counts(&[("miss", 40), ("wrong", 60)]));
    // A second set of a key is a change, not a failure.
    assert_eq!(
        run(&session, &[set])[0].outcomes,
        counts(&[("stored", 100)])
    );
}

#[test]
fn sqlite_scans_keys_in_their_order_and_knows_a_false_one() {
    let mut phases = Phases::new();
    let path = phases.directory.path().join("kv.sqlite");
    let session = open("sqlite", file(&path));
    let mut plan = stream(500, 1.0, 100);
    let set = phases.phase_of(Op::Set, &plan);
    plan.scan_keys = 100;
    let scan = phases.phase_of(Op::Scan, &plan);
    let mut mixed = plan.clone();
    mixed.mix = vec![(Op::Scan, 0.95), (Op::Insert, 0.05)];
    let mix = phases.phase_of(Op::Mix, &mixed);
    let done = run(&session, &[set, scan.clone(), mix]);
    assert_eq!(done[1].outcomes, counts(&[("hit", 500)]));
    assert_eq!(done[2].outcomes, counts(&[("hit", 475), ("stored", 25)]));
    // Other values than were written, and keys that nobody wrote.
    let other = Stream {
        seed: 43,
        ..plan.clone()
    };
    let false_values = Stream {
        values: Values::of(ValueRecipe::Bytes, 99),
        ..plan
    };
    let absent = phases.phase_of(Op::Scan, &other);
    let wrong = phases.phase_of(Op::Scan, &false_values);
    let done = run(&session, &[absent, wrong]);
    assert_eq!(done[0].outcomes, counts(&[("miss", 500)]));
    assert_eq!(done[1].outcomes, counts(&[("wrong", 500)]));
    // What keeps no order is refused before anything runs.
    let plain = Command::Open(open("floor", tcp(&floor())));
    let (kind, message) = error(&[plain, Command::Phase(scan)]);
    assert_eq!(kind, "usage");
    assert!(message.contains("only sqlite"), "{message}");
}

#[test]
fn sqlite_does_one_at_a_time_and_says_so() {
    let mut phases = Phases::new();
    let path = phases.directory.path().join("kv.sqlite");
    let mut get = phases.phase(Op::Get, 10, 1.0);
    get.depth = 2;
    let session = Command::Open(open("sqlite", file(&path)));
    let (kind, message) = error(&[session, Command::Phase(get)]);
    assert_eq!(kind, "usage");
    assert!(
        message.contains("this store does one at a time"),
        "{message}"
    );
    let (kind, _) = error(&[Command::Open(open("sqlite", tcp("127.0.0.1:1")))]);
    assert_eq!(kind, "usage");
    let nowhere = std::path::Path::new("/nowhere/at/all");
    let (kind, _) = error(&[Command::Open(open("sqlite", file(nowhere)))]);
    assert_eq!(kind, "connect");
}

/// Reads 1000 keys through a cache that holds exactly 900 of them.
fn read_aside(mut session: Open, cache: &str, cache_address: &str) {
    session.cache = Some((cache.to_owned(), tcp(cache_address)));
    let mut phases = Phases::new();
    // All 1000 keys of the reads, hits or misses of the cache, are in the store.
    let reads = stream(1000, 0.9, 100);
    let mut in_cache = stream(900, 1.0, 100);
    in_cache.keyspace = 1000;
    let all = prepare(phases.phase_of(Op::Set, &reads), Target::Store);
    let some = prepare(phases.phase_of(Op::Set, &in_cache), Target::Cache);
    let read = phases.phase_of(Op::ReadAside, &reads);
    let done = run(&session, &[all, some, read.clone(), read]);
    assert_eq!(done[2].outcomes, counts(&[("hit", 1000)]));
    assert_eq!(
        done[2].cache_outcomes,
        counts(&[("hit", 900), ("miss", 100), ("stored", 100)])
    );
    // The second time the cache has everything.
    assert_eq!(done[3].outcomes, counts(&[("hit", 1000)]));
    assert_eq!(done[3].cache_outcomes, counts(&[("hit", 1000)]));
    assert_eq!(counter(cache_address, "get_hits"), 1900);
    assert_eq!(counter(cache_address, "get_misses"), 100);
    assert_eq!(counter(cache_address, "cmd_set"), 900 + 100);
}

#[test]
fn reading_sqlite_through_a_cache_fills_it_with_exactly_what_was_missing() {
    let directory = tempfile::tempdir().unwrap();
    let sqlite = open("sqlite", file(&directory.path().join("kv.sqlite")));
    read_aside(sqlite.clone(), "floor", &floor());
    let memcached = Memcached::start();
    read_aside(sqlite, "memcached", &memcached.address);
}

#[test]
fn reading_one_server_through_another_does_too() {
    let memcached = Memcached::start();
    read_aside(
        open("memcached", tcp(&memcached.address)),
        "floor",
        &floor(),
    );
}

#[test]
fn what_is_in_neither_is_a_miss_and_a_lying_cache_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let mut session = open("sqlite", file(&directory.path().join("kv.sqlite")));
    let cache = floor_with(|options| options.garble = Some(5));
    session.cache = Some(("floor".to_owned(), tcp(&cache)));
    let mut phases = Phases::new();
    let read = phases.phase(Op::ReadAside, 100, 1.0);
    let done = run(&session, std::slice::from_ref(&read));
    assert_eq!(done[0].outcomes, counts(&[("miss", 100)]));
    assert_eq!(done[0].cache_outcomes, counts(&[("miss", 100)]));
    let fill = prepare(read.clone(), Target::Cache);
    let done = run(&session, &[fill, read]);
    assert_eq!(done[1].outcomes, counts(&[("hit", 80), ("wrong", 20)]));
}

#[test]
fn read_aside_without_a_cache_is_a_plain_read() {
    let address = floor();
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 100, 1.0);
    let read = phases.phase(Op::ReadAside, 100, 0.5);
    let done = run(&open("floor", tcp(&address)), &[set, read]);
    assert_eq!(done[1].outcomes, counts(&[("hit", 50), ("miss", 50)]));
    assert!(done[1].cache_outcomes.is_empty());
}
