//! The native worker against the floor and against real memcached: exact outcomes, which the
//! server's own counters confirm.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Done, Purpose};
use roundtrip_model::stream;
use roundtrip_model::workload::{Generate, KeyRecipe, ValueRecipe};

/// Runs a test on a floor and on a real memcached.
fn on_both(test: impl Fn(&str, &str)) {
    test("floor", &floor());
    let memcached = Memcached::start();
    test("memcached", &memcached.address);
}

fn outcomes(done: &[Done]) -> Vec<&std::collections::BTreeMap<String, u64>> {
    done.iter().map(|done| &done.outcomes).collect()
}

#[test]
fn a_thousand_sets_then_a_thousand_gets_all_hit() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let set = phases.phase(Op::Set, 1000, 1.0);
        let get = phases.phase(Op::Get, 1000, 1.0);
        let done = run(&open(store, tcp(address)), &[set, get]);
        let expected = [counts(&[("stored", 1000)]), counts(&[("hit", 1000)])];
        assert_eq!(outcomes(&done), expected.iter().collect::<Vec<_>>());
        for (name, count) in [
            ("cmd_set", 1000),
            ("cmd_get", 1000),
            ("get_hits", 1000),
            ("get_misses", 0),
            ("curr_items", 1000),
            ("total_items", 1000),
            ("evictions", 0),
        ] {
            assert_eq!(counter(address, name), count, "{store}: {name}");
        }
    });
}

#[test]
fn a_hit_ratio_of_nine_tenths_gives_exactly_nine_hundred_hits() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let set = phases.phase(Op::Set, 1000, 1.0);
        let get = phases.phase(Op::Get, 1000, 0.9);
        let done = run(&open(store, tcp(address)), &[set, get]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 900), ("miss", 100)]));
        assert_eq!(counter(address, "get_hits"), 900);
        assert_eq!(counter(address, "get_misses"), 100);
    });
}

#[test]
fn a_pipeline_gives_the_outcomes_of_one_by_one() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let mut session = |depth, ratio| {
            let mut all = [
                phases.phase(Op::Set, 1000, 1.0),
                phases.phase(Op::Get, 1000, ratio),
                phases.phase(Op::Delete, 1000, ratio),
            ];
            all.iter_mut().for_each(|phase| phase.depth = depth);
            let done = run(&open(store, tcp(address)), &all);
            let service = histogram(&latencies(&all[1]).service);
            assert_eq!(service.count(), 1000);
            done.into_iter()
                .map(|done| done.outcomes)
                .collect::<Vec<_>>()
        };
        let sequential = session(1, 0.9);
        assert_eq!(sequential[2], counts(&[("done", 900), ("not_found", 100)]));
        // 16 does not divide 1000: the last batch is a short one.
        assert_eq!(session(16, 0.9), sequential);
        assert_eq!(session(5000, 0.9), sequential);
    });
}

#[test]
fn a_deep_pipeline_of_large_values_does_not_block_itself() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let large = stream(3000, 1.0, 10_000);
        let mut set = phases.phase_of(Op::Set, &large);
        let mut get = phases.phase_of(Op::Get, &large);
        (set.depth, get.depth) = (3000, 3000);
        let done = run(&open(store, tcp(address)), &[set, get]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 3000)]));
    });
}

#[test]
fn unix_sockets_serve_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("floor.sock");
    floor_with(|options| options.listen = format!("unix:{}", path.display()).parse().unwrap());
    let (_memcached, memcached) = Memcached::start_unix(directory.path());
    for (store, path) in [("floor", path), ("memcached", memcached)] {
        let mut phases = Phases::new();
        let set = phases.phase(Op::Set, 200, 1.0);
        let get = phases.phase(Op::Get, 200, 0.5);
        let done = run(&open(store, unix(&path)), &[set, get]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 100), ("miss", 100)]));
    }
}

#[test]
fn incr_counts_up_and_says_what_is_not_there() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let numbers = |hit_ratio| {
            let mut stream = stream(100, hit_ratio, 0);
            stream.values.recipe = ValueRecipe::Zero;
            stream
        };
        let set = phases.phase_of(Op::Set, &numbers(1.0));
        let incr = phases.phase_of(Op::Incr, &numbers(0.5));
        let get = phases.phase_of(Op::Get, &numbers(1.0));
        let done = run(&open(store, tcp(address)), &[set, incr, get]);
        assert_eq!(done[1].outcomes, counts(&[("done", 50), ("not_found", 50)]));
        // Those that were counted up are no longer what was written.
        assert_eq!(done[2].outcomes, counts(&[("hit", 50), ("wrong", 50)]));
    });
}

#[test]
fn other_values_than_were_written_are_wrong() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let set = phases.phase_of(Op::Set, &stream(100, 1.0, 100));
        let mut other = stream(100, 1.0, 100);
        other.values.bytes = 101;
        let get = phases.phase_of(Op::Get, &other);
        let done = run(&open(store, tcp(address)), &[set, get]);
        assert_eq!(done[1].outcomes, counts(&[("wrong", 100)]));
    });
}

#[test]
fn keys_and_values_made_in_the_loop_are_the_published_ones() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let mut published = stream(300, 1.0, 0);
        published.keys.recipe = KeyRecipe::Md5;
        published.values.recipe = ValueRecipe::Crc32;
        let mut set = phases.phase_of(Op::Set, &published);
        (set.generate, set.depth, set.ttl_s) = (Generate::InLoop, 7, 1800);
        let prepared = phases.phase_of(Op::Get, &published);
        let mut in_loop = prepared.clone();
        in_loop.generate = Generate::InLoop;
        let done = run(&open(store, tcp(address)), &[set, prepared, in_loop]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 300)]));
        assert_eq!(done[2].outcomes, counts(&[("hit", 300)]));
    });
}

#[test]
fn one_by_one_the_latencies_fill_the_loop_without_gaps() {
    let address = floor();
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 500, 1.0);
    let done = run(&open("floor", tcp(&address)), std::slice::from_ref(&set));
    let latencies = latencies(&set);
    let wall_ns = done[0].ended_ns - done[0].started_ns;
    assert_eq!(latencies.slices_ns.len(), 30);
    assert_eq!(latencies.slices_ns.iter().sum::<u64>(), wall_ns);
    assert_eq!(latencies.response, None);
    let service = histogram(&latencies.service);
    assert_eq!(service.count(), 500);
    // Each latency is counted to one part in a thousand.
    let sum: u64 = service.buckets().map(|(ns, count)| ns * count).sum();
    assert!((sum as f64 / wall_ns as f64 - 1.0).abs() < 0.002);
    assert!(service.min().is_some_and(|ns| ns > 0));
    assert!(done[0].max_rss_bytes.unwrap() > 1_000_000);
}

#[test]
fn cpu_of_the_loop_is_that_of_the_loop() {
    let mut phases = Phases::new();
    let mut large = phases.phase(Op::Get, 200_000, 1.0);
    large.generate = Generate::InLoop;
    let mut nothing = open("floor", tcp("127.0.0.1:1"));
    nothing.client = "nothing".to_owned();
    let done = run(&nothing, &[large]);
    // Two hundred thousand MD5 sums take no less than this anywhere.
    assert!(done[0].user_ns + done[0].sys_ns > 1_000_000);
    assert_eq!(done[0].outcomes, counts(&[("hit", 200_000)]));
}

#[test]
fn a_preparation_brings_all_into_place_whatever_its_depth() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let mut prepare = phases.phase(Op::Set, 1001, 1.0);
        prepare.purpose = Purpose::Prepare;
        prepare.latencies = None;
        let get = phases.phase(Op::Get, 1001, 1.0);
        let done = run(&open(store, tcp(address)), &[prepare, get]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 1001)]));
    });
}

#[test]
fn a_time_to_live_of_more_than_thirty_days_is_one() {
    on_both(|store, address| {
        let mut phases = Phases::new();
        let mut set = phases.phase(Op::Set, 10, 1.0);
        set.ttl_s = 60 * 60 * 24 * 31;
        let get = phases.phase(Op::Get, 10, 1.0);
        let done = run(&open(store, tcp(address)), &[set, get]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 10)]));
    });
}

#[test]
fn values_as_large_as_a_stream_allows_go_through() {
    let address = floor();
    let mut phases = Phases::new();
    let large = stream(3, 1.0, stream::MAX_VALUE_BYTES);
    let set = phases.phase_of(Op::Set, &large);
    let get = phases.phase_of(Op::Get, &large);
    let done = run(&open("floor", tcp(&address)), &[set, get]);
    assert_eq!(done[1].outcomes, counts(&[("hit", 3)]));
}

#[test]
fn a_key_that_would_be_two_requests_is_never_sent() {
    let address = floor();
    let mut phases = Phases::new();
    let mut evil = stream(5, 1.0, 10);
    evil.prefix = "a\r\nflush_all\r\n".to_owned();
    let set = phases.phase_of(Op::Set, &evil);
    let (kind, message) = error(&[
        Command::Open(open("floor", tcp(&address))),
        Command::Phase(set),
    ]);
    assert_eq!(kind, "protocol");
    assert!(message.contains("operation 0"), "{message}");
    assert_eq!(counter(&address, "cmd_set"), 0);
}
