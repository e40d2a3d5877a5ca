//! What the worker says when something is wrong: with the server, the host, or what is asked.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Check, CheckMode, Command, Event};
use std::io::Read;
use std::net::TcpListener;

#[test]
fn a_server_that_changes_values_is_found_out() {
    let address = floor_with(|options| options.garble = Some(7));
    for depth in [1, 16] {
        let mut phases = Phases::new();
        let set = phases.phase(Op::Set, 700, 1.0);
        let mut get = phases.phase(Op::Get, 700, 1.0);
        get.depth = depth;
        let done = run(&open("floor", tcp(&address)), &[set, get]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 600), ("wrong", 100)]));
    }
}

#[test]
fn a_server_that_hangs_up_costs_the_ops_it_left_unanswered() {
    let address = floor_with(|options| options.drop = Some(10));
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 1000, 1.0);
    let done = run(&open("floor", tcp(&address)), &[set]);
    let expected = counts(&[("error:connection", 100), ("stored", 900)]);
    assert_eq!(done[0].outcomes, expected);
    assert_eq!(counter(&address, "cmd_set"), 900);
    // The first connection, one more after each loss but the last, and the two of `counter`.
    assert_eq!(counter(&address, "total_connections"), 1 + 99 + 2);
}

#[test]
fn in_a_pipeline_all_behind_a_lost_reply_are_lost_with_it() {
    let address = floor_with(|options| options.drop = Some(10));
    let mut phases = Phases::new();
    let mut set = phases.phase(Op::Set, 40, 1.0);
    set.depth = 40;
    let done = run(&open("floor", tcp(&address)), &[set]);
    let expected = counts(&[("error:connection", 31), ("stored", 9)]);
    assert_eq!(done[0].outcomes, expected);
}

#[test]
fn a_server_without_room_is_no_success() {
    let address = floor_with(|options| options.limit_bytes = 10_000);
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 100, 1.0);
    let done = run(&open("floor", tcp(&address)), &[set]);
    // An item takes 32 + 100 + 56 bytes.
    assert_eq!(
        done[0].outcomes,
        counts(&[("error:server", 47), ("stored", 53)])
    );
    assert_eq!(counter(&address, "curr_items"), 53);
}

#[test]
fn a_server_that_speaks_something_else_is_a_protocol_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            use std::io::Write;
            let mut stream = stream.unwrap();
            let mut byte = [0; 1];
            let _ = stream.read_exact(&mut byte);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let mut phases = Phases::new();
    let get = phases.phase(Op::Get, 5, 1.0);
    let done = run(&open("memcached", tcp(&address)), &[get]);
    assert_eq!(done[0].outcomes, counts(&[("error:protocol", 5)]));
}

#[test]
fn a_server_that_is_gone_ends_the_phase() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // Nobody listens any more before the client can come back.
        drop(listener);
        let _ = stream.read_exact(&mut [0; 1]);
    });
    let mut phases = Phases::new();
    let get = phases.phase(Op::Get, 5, 1.0);
    let mut session = open("memcached", tcp(&address));
    session
        .options
        .insert("reconnect_s".to_owned(), "0".to_owned());
    let (kind, message) = error(&[Command::Open(session), Command::Phase(get), Command::Go]);
    assert_eq!(kind, "connect");
    assert!(message.contains("away for 0 s"), "{message}");
    assert!(message.contains(&address), "{message}");
}

#[test]
fn nobody_at_the_address_is_told_with_the_address() {
    let (kind, message) = error(&[Command::Open(open("memcached", tcp("127.0.0.1:1")))]);
    assert_eq!(kind, "connect");
    assert!(message.starts_with("127.0.0.1:1: "), "{message}");
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let address = floor();
    let mut phases = Phases::new();
    let good = open("floor", tcp(&address));
    let refused = |change: &dyn Fn(&mut roundtrip_model::contract::Open)| {
        let mut bad = good.clone();
        change(&mut bad);
        error(&[Command::Open(bad)])
    };
    for (kind_and_message, nearest) in [
        (refused(&|open| open.store = "memcache".into()), "memcached"),
        (refused(&|open| open.client = "nativ".into()), "native"),
        (
            refused(&|open| drop(open.options.insert("tcp_nodely".into(), "true".into()))),
            "tcp_nodelay",
        ),
        (
            refused(&|open| drop(open.options.insert("synchronous".into(), "ful".into()))),
            "full",
        ),
        (
            refused(&|open| open.cache = Some(("flor".into(), tcp(&address)))),
            "floor",
        ),
    ] {
        let (kind, message) = kind_and_message;
        assert_eq!(kind, "usage");
        let hint = format!("did you mean `{nearest}`?");
        assert!(message.contains(&hint), "{message}");
    }
    let phase = phases.phase(Op::Get, 1, 1.0);
    let line = serde_json::to_string(&Command::Phase(phase)).unwrap();
    let (code, events) = say(&line.replace("\"op\":\"get\"", "\"op\":\"gte\""));
    let [Event::Error { kind, message }] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!((code, kind.as_str()), (1, "usage"));
    assert!(message.contains("did you mean `get`?"), "{message}");
}

#[test]
fn what_cannot_be_is_refused_before_the_clock_starts() {
    let address = floor();
    let mut phases = Phases::new();
    let session = Command::Open(open("floor", tcp(&address)));
    let good = phases.phase(Op::Get, 10, 1.0);
    let mut none = good.clone();
    none.depth = 0;
    let mut other_count = good.clone();
    other_count.count = 11;
    let mut no_plan = good.clone();
    no_plan.plan = None;
    no_plan.stream = "/some/stream".to_owned();
    let mut no_cache = good.clone();
    no_cache.target = roundtrip_model::contract::Target::Cache;
    for (phase, expected) in [
        (none, "usage"),
        (other_count, "protocol"),
        (no_plan, "protocol"),
        (no_cache, "usage"),
    ] {
        let (kind, _) = error(&[session.clone(), Command::Phase(phase)]);
        assert_eq!(kind, expected);
    }
    let check = Command::Check(Check {
        mode: CheckMode::Write,
        vectors: String::new(),
        prefix: String::new(),
        classes: false,
    });
    assert_eq!(error(&[session.clone(), check]).0, "usage");
    assert_eq!(error(&[session.clone(), Command::Go]).0, "protocol");
    assert_eq!(error(&[Command::Phase(good)]).0, "protocol");
    assert_eq!(error(&[session.clone(), session]).0, "protocol");
}

#[test]
fn latencies_that_cannot_be_written_are_an_error_after_the_loop() {
    let address = floor();
    let mut phases = Phases::new();
    let mut set = phases.phase(Op::Set, 10, 1.0);
    set.latencies = Some("/nowhere/at/all".to_owned());
    let (code, events) = converse(&[
        Command::Open(open("floor", tcp(&address))),
        Command::Phase(set),
        Command::Go,
    ]);
    assert_eq!(code, 1);
    assert!(matches!(
        &events[2..],
        [Event::Done(_), Event::Error { kind, .. }] if kind == "io"
    ));
}

#[test]
fn garbage_from_the_host_ends_with_an_error_and_silence_without() {
    for line in ["\n", "garbage\n", "{}\n", "{\"cmd\":\"fly\"}\n", "\u{0}"] {
        let (code, events) = say(line);
        assert_eq!(code, 1, "{line:?}");
        assert!(matches!(&events[..], [Event::Error { kind, .. }] if kind == "protocol"));
    }
    let (code, events) = say(&"x".repeat(2 << 20));
    assert_eq!((code, events.len()), (1, 1));
    assert_eq!(say(""), (0, vec![]));
    assert_eq!(converse(&[Command::Close]), (0, vec![Event::Closed]));
}

#[test]
fn it_describes_itself() {
    let (_, events) = converse(&[Command::Describe]);
    let [Event::Described(described)] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(described.language, "native");
    assert!(described.runtime.starts_with("roundtrip "));
    let names: Vec<_> = described.clients.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["native", "nothing"]);
    let mut ops = described.clients[0].ops.clone();
    ops.sort_unstable();
    assert_eq!(ops, Op::ALL);
    assert_eq!(
        described.clients[0].options["synchronous"],
        ["full", "normal", "off"]
    );
}
