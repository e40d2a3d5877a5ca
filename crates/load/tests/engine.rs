//! The engine on real servers: however many connections, threads and ops in flight there are, each
//! op is done once, and the servers' own counters say so.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Done, Event, Open, PhaseCommand};
use roundtrip_model::workload::{Distribution, Pace};
use std::time::Duration;

fn with(mut open: Open, options: &[(&str, &str)]) -> Open {
    for (name, value) in options {
        open.options.insert((*name).to_owned(), (*value).to_owned());
    }
    open
}

/// Connections, threads and places in flight.
const SHAPES: [(u32, u32, u32); 6] = [
    (1, 1, 1),
    (1, 1, 100),
    (3, 2, 1),
    (50, 1, 16),
    (7, 3, 5),
    (200, 2, 2),
];

#[test]
fn each_op_is_done_once_whatever_carries_it() {
    let memcached = Memcached::start();
    let mut done_before = 0;
    for (connections, threads, depth) in SHAPES {
        let mut session = with(
            open("memcached", tcp(&memcached.address)),
            &[("threads", &threads.to_string())],
        );
        session.connections = connections;
        let mut phases = Phases::new();
        let mut all = [
            phases.phase(Op::Set, 3000, 1.0),
            phases.phase(Op::Get, 3000, 0.9),
        ];
        all.iter_mut().for_each(|phase| phase.depth = depth);
        let done = run(&session, &all);
        assert_eq!(done[0].outcomes, counts(&[("stored", 3000)]));
        assert_eq!(done[1].outcomes, counts(&[("hit", 2700), ("miss", 300)]));
        let carried = done[1].carried.clone().unwrap();
        assert_eq!(carried.connections, connections);
        assert_eq!(carried.threads, threads.min(connections));
        assert!(done[1].gaps.is_empty());
        done_before += 1;
        let address = &memcached.address;
        assert_eq!(counter(address, "cmd_set"), 3000 * done_before);
        assert_eq!(counter(address, "get_hits"), 2700 * done_before);
        assert_eq!(counter(address, "get_misses"), 300 * done_before);
        let latencies = latencies(&all[1]);
        assert_eq!(histogram(&latencies.service).count(), 3000);
        assert_eq!(latencies.slices_ns.len(), 30);
    }
}

#[test]
fn redis_is_driven_as_exactly() {
    let redis = Redis::start();
    for (connections, threads, depth) in SHAPES {
        let mut session = with(
            open("redis", tcp(&redis.address)),
            &[("threads", &threads.to_string())],
        );
        session.connections = connections;
        let mut numbers = stream(1000, 1.0, 0);
        numbers.values.recipe = roundtrip_model::workload::ValueRecipe::Zero;
        let mut phases = Phases::new();
        let mut all = [
            phases.phase(Op::Set, 3000, 1.0),
            phases.phase(Op::Get, 3000, 0.9),
            phases.phase(Op::Delete, 3000, 0.9),
            phases.phase_of(Op::Set, &numbers),
            phases.phase_of(Op::Incr, &numbers),
            phases.phase_of(Op::Delete, &numbers),
        ];
        all.iter_mut().for_each(|phase| phase.depth = depth);
        let (hits, misses) = redis.hits_and_misses();
        let done = run(&session, &all);
        let outcomes: Vec<_> = done.iter().map(|done| done.outcomes.clone()).collect();
        assert_eq!(outcomes[0], counts(&[("stored", 3000)]));
        assert_eq!(outcomes[1], counts(&[("hit", 2700), ("miss", 300)]));
        assert_eq!(outcomes[2], counts(&[("done", 2700), ("not_found", 300)]));
        assert_eq!(outcomes[4], counts(&[("done", 1000)]));
        assert_eq!(outcomes[5], counts(&[("done", 1000)]));
        assert_eq!(redis.hits_and_misses(), (hits + 2700, misses + 300));
    }
}

#[test]
fn a_time_to_live_is_set_on_redis_too() {
    let redis = Redis::start();
    let mut phases = Phases::new();
    let mut set = phases.phase(Op::Set, 10, 1.0);
    set.ttl_s = 100;
    run(&open("redis", tcp(&redis.address)), &[set]);
    assert!(redis.ask("INFO keyspace").contains("keys=10,expires=10"));
}

/// A read of many keys is one request, and each key has its own outcome.
fn groups(store: &str, address: &str, garbled: u64) -> Vec<Done> {
    let mut phases = Phases::new();
    let mut reads = stream(3000, 0.7, 100);
    reads.keys.distribution = Distribution::Uniform;
    let mut set = stream(3000, 1.0, 100);
    set.keyspace = 3000;
    let mut get = phases.phase_of(Op::Get, &reads);
    get.depth = 64;
    let session = with(open(store, tcp(address)), &[("multiget", "20")]);
    let done = run(&session, &[phases.phase_of(Op::Set, &set), get.clone()]);
    let mut expected = vec![("hit", 2100 - garbled), ("miss", 900)];
    if garbled > 0 {
        expected.push(("wrong", garbled));
    }
    assert_eq!(done[1].outcomes, counts(&expected));
    assert_eq!(histogram(&latencies(&get).service).count(), 3000);
    done
}

#[test]
fn many_keys_in_one_request_have_an_outcome_each() {
    let memcached = Memcached::start();
    groups("memcached", &memcached.address, 0);
    assert_eq!(counter(&memcached.address, "get_hits"), 2100);
    assert_eq!(counter(&memcached.address, "get_misses"), 900);
    let redis = Redis::start();
    groups("redis", &redis.address, 0);
    assert_eq!(redis.hits_and_misses(), (2100, 900));
    // A batch of 64 is 20, 20, 20 and 4; the last, of 56, is 20, 20 and 16.
    let requests = 46 * 4 + 3;
    let told = redis.ask("INFO commandstats");
    assert!(
        told.contains(&format!("cmdstat_mget:calls={requests},")),
        "{told}"
    );
    let garbling = floor_with(|options| options.garble = Some(7));
    groups("floor", &garbling, 300);
}

#[test]
fn a_request_for_more_keys_than_places_is_refused() {
    let mut phases = Phases::new();
    let get = phases.phase(Op::Get, 10, 1.0);
    let session = with(open("floor", tcp(&floor())), &[("multiget", "20")]);
    let (kind, message) = error(&[Command::Open(session), Command::Phase(get)]);
    assert_eq!(kind, "usage");
    assert!(message.contains("depth=20"), "{message}");
}

#[test]
fn mixes_inserts_and_read_modify_writes_leave_every_key_right() {
    let (memcached, redis) = (Memcached::start(), Redis::start());
    let directory = tempfile::tempdir().unwrap();
    let sqlite = open("sqlite", file(&directory.path().join("kv.sqlite")));
    for session in [
        with(
            open("memcached", tcp(&memcached.address)),
            &[("connections", "5")],
        ),
        with(open("redis", tcp(&redis.address)), &[("connections", "5")]),
        sqlite,
    ] {
        let mut phases = Phases::new();
        let mut mix = stream(1000, 1.0, 100);
        mix.keyspace = 100;
        mix.mix = vec![
            (Op::Get, 0.4),
            (Op::Set, 0.2),
            (Op::Insert, 0.1),
            (Op::ReadModifyWrite, 0.3),
        ];
        let set = phases.phase_of(Op::Set, &stream(100, 1.0, 100));
        let mixed = phases.phase_of(Op::Mix, &mix);
        let again = phases.phase_of(Op::ReadModifyWrite, &stream(100, 0.8, 100));
        let mut new = stream(50, 1.0, 100);
        new.insert_first = 1 << 43;
        let insert = phases.phase_of(Op::Insert, &new);
        let done = run(&session, &[set, mixed, again, insert.clone(), insert]);
        let outcomes = &done[1].outcomes;
        assert_eq!(outcomes["hit"] + outcomes["stored"], 1000, "{outcomes:?}");
        assert_eq!(
            done[2].outcomes,
            counts(&[("not_found", 20), ("stored", 80)])
        );
        // Inserted once, and there already the second time.
        assert_eq!(done[3].outcomes, counts(&[("stored", 50)]));
        assert_eq!(done[4].outcomes, counts(&[("error:not_stored", 50)]));
    }
}

#[test]
fn a_pace_never_skips_and_counts_from_the_intended_moment() {
    // Answers come 5 ms after they were asked for, one after the other: 200 a second.
    let address = floor_with(|options| options.delay = Some("5ms".parse().unwrap()));
    let mut phases = Phases::new();
    for pace in [
        Pace::Fixed { per_s: 2000.0 },
        Pace::Poisson { per_s: 2000.0 },
    ] {
        let mut set = phases.phase(Op::Set, 60, 1.0);
        set.pace = pace;
        let done = run(&open("floor", tcp(&address)), std::slice::from_ref(&set));
        assert_eq!(done[0].outcomes, counts(&[("stored", 60)]));
        let latencies = latencies(&set);
        let response = histogram(&latencies.response.unwrap());
        let service = histogram(&latencies.service);
        assert_eq!((service.count(), response.count()), (60, 60));
        // The last op was to start after some 30 ms, and could after 59 times 5 ms.
        assert!(response.max().unwrap() > 200_000_000);
        assert!(service.min().unwrap() > 4_900_000);
        assert!(done[0].lateness.is_some());
    }
}

#[test]
fn a_pace_is_kept_over_threads_and_connections() {
    let memcached = Memcached::start();
    let file = tempfile::NamedTempFile::new().unwrap();
    let moments: Vec<String> = (0..300)
        .map(|i| format!("{}\n", f64::from(i) / 2000.0))
        .collect();
    std::fs::write(file.path(), moments.concat()).unwrap();
    let schedule = Pace::Schedule {
        file: file.path().display().to_string(),
    };
    for (pace, connections, threads, io) in [
        (Pace::Fixed { per_s: 2000.0 }, "1", "1", "blocking"),
        (Pace::Fixed { per_s: 2000.0 }, "1", "1", "epoll"),
        (Pace::Poisson { per_s: 2000.0 }, "10", "2", "epoll"),
        (schedule, "3", "1", "auto"),
    ] {
        let session = with(
            open("memcached", tcp(&memcached.address)),
            &[
                ("connections", connections),
                ("threads", threads),
                ("io", io),
            ],
        );
        let mut phases = Phases::new();
        let mut set = phases.phase(Op::Set, 300, 1.0);
        set.pace = pace;
        let done = run(&session, std::slice::from_ref(&set));
        assert_eq!(done[0].outcomes, counts(&[("stored", 300)]));
        // 300 ops at 2000 a second: no schedule ends early.
        assert!(done[0].ended_ns - done[0].started_ns > 100_000_000);
        let latencies = latencies(&set);
        let response = histogram(&latencies.response.unwrap());
        assert!(
            response.max().unwrap() * 1001 / 1000 >= histogram(&latencies.service).max().unwrap()
        );
    }
}

#[test]
fn connections_come_back_when_the_server_does_and_the_gap_is_told() {
    let mut memcached = Memcached::start();
    let address = memcached.address.clone();
    let session = with(
        open("memcached", tcp(&address)),
        &[
            ("connections", "4"),
            ("threads", "2"),
            ("reconnect_s", "60"),
        ],
    );
    let mut phases = Phases::new();
    let mut set = phases.phase(Op::Set, 2000, 1.0);
    // Two seconds of ops, in the middle of which the server is away.
    set.pace = Pace::Fixed { per_s: 1000.0 };
    let conversation = std::thread::spawn(move || {
        converse(&[
            Command::Open(session),
            Command::Phase(set),
            Command::Go,
            Command::Close,
        ])
    });
    while counter(&address, "cmd_set") < 100 {
        std::thread::sleep(Duration::from_millis(5));
    }
    memcached.restart();
    let (code, events) = conversation.join().unwrap();
    assert_eq!(code, 0, "{events:?}");
    let done = events.iter().find_map(|event| match event {
        Event::Done(done) => Some(done),
        _ => None,
    });
    let done = done.unwrap();
    let lost = done.outcomes.get("error:connection").copied().unwrap_or(0);
    assert_eq!(done.outcomes["stored"] + lost, 2000);
    assert!(lost <= 4, "{:?}", done.outcomes);
    let mut connections: Vec<u32> = done.gaps.iter().map(|gap| gap.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    assert_eq!(connections, [0, 1, 2, 3]);
    assert!(done.gaps.iter().all(|gap| gap.attempts > 0));
}

#[test]
fn hundreds_of_connections_on_few_ops_do_what_there_is() {
    let address = floor();
    let mut session = open("floor", tcp(&address));
    session.connections = 300;
    let mut phases = Phases::new();
    let done = run(&session, &[phases.phase(Op::Set, 7, 1.0)]);
    assert_eq!(done[0].outcomes, counts(&[("stored", 7)]));
    let refused = |session: &Open, phase: Option<PhaseCommand>| {
        let commands = [Command::Open(session.clone())];
        error(
            &[
                &commands[..],
                &phase.map(Command::Phase).into_iter().collect::<Vec<_>>(),
            ]
            .concat(),
        )
    };
    session.connections = 10_001;
    assert_eq!(refused(&session, None).0, "usage");
    let blocking = with(
        open("floor", tcp(&address)),
        &[("io", "blocking"), ("connections", "2")],
    );
    assert!(
        refused(&blocking, None)
            .1
            .contains("one connection a thread")
    );
    assert_eq!(
        refused(&with(blocking, &[("threads", "0")]), None).0,
        "usage"
    );
}
