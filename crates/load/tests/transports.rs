//! Every way to carry bytes through the whole worker, against real servers.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::contract::{Command, Endpoint, Event, Login, Open};
use roundtrip_model::{Op, Secret};
use roundtrip_process::{Owned, Settings, free_port};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

const COUNT: u64 = 5000;

/// What the kernel under this test has to say of `io_uring`.
fn ring() -> String {
    let (_, events) = converse(&[Command::Describe]);
    match events.into_iter().next() {
        Some(Event::Described(described)) => described.settings["io_uring"].clone(),
        other => panic!("{other:?}"),
    }
}

fn with(open: &Open, options: &[(&str, &str)]) -> Open {
    let mut open = open.clone();
    for (name, value) in options {
        open.options.insert((*name).to_owned(), (*value).to_owned());
    }
    open
}

/// Writes and reads everything twice, so that a transport goes from one thread to the next.
fn works(open: &Open, io: &str) {
    let mut phases = Phases::new();
    let mut all = Vec::new();
    for op in [Op::Set, Op::Get, Op::Get] {
        let mut phase = phases.phase(op, COUNT, 1.0);
        phase.depth = 4;
        all.push(phase);
    }
    let done = run(open, &all);
    assert_eq!(done[0].outcomes, counts(&[("stored", COUNT)]));
    for get in &done[1..] {
        assert_eq!(get.outcomes, counts(&[("hit", COUNT)]));
        assert_eq!(get.carried.as_ref().unwrap().io, io);
    }
}

#[test]
fn io_uring_carries_a_phase_or_says_why_it_cannot() {
    let server = Memcached::start();
    let open = with(
        &open("memcached", tcp(&server.address)),
        &[("io", "io_uring"), ("connections", "20"), ("threads", "2")],
    );
    let why = ring();
    if why == "available" {
        works(&open, "io_uring");
    } else {
        let (kind, message) = error(&[Command::Open(open)]);
        assert_eq!(kind, "usage");
        assert!(message.starts_with(&why), "{message}");
    }
}

/// A Redis that speaks TLS.
fn redis_with_tls(certified: &Certified, more: &[&str]) -> (Owned, u16) {
    let port = free_port().unwrap();
    let mut command = std::process::Command::new("redis-server");
    command
        .args(["--save", "", "--bind", "127.0.0.1"])
        .args(certified.redis_arguments())
        .arg(port.to_string())
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let child = Owned::spawn(&mut command, &Settings::default()).unwrap();
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "no redis-server");
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, port)
}

#[test]
fn tls_goes_over_every_transport() {
    let certified = Certified::new();
    let (_redis, port) = redis_with_tls(&certified, &[]);
    let endpoint = Endpoint::Tls {
        host: "localhost".to_owned(),
        port,
        ca: certified.file("ca"),
    };
    let open = open("redis", endpoint);
    works(&with(&open, &[("io", "blocking")]), "blocking+tls");
    let many = with(&open, &[("connections", "8"), ("transport", "tls")]);
    works(&with(&many, &[("io", "epoll")]), "epoll+tls");
    if ring() == "available" {
        works(&with(&many, &[("io", "io_uring")]), "io_uring+tls");
    }
    let stranger = tempfile::NamedTempFile::new().unwrap();
    let mut distrusting = open;
    if let Endpoint::Tls { ca, .. } = &mut distrusting.endpoint {
        *ca = stranger.path().display().to_string();
    }
    let (kind, message) = error(&[Command::Open(distrusting)]);
    assert_eq!(kind, "usage");
    assert!(message.ends_with("it holds no certificate"), "{message}");
}

#[test]
fn a_password_goes_before_everything_else_over_plain_and_over_tls() {
    let certified = Certified::new();
    let plain = free_port().unwrap().to_string();
    // The last port that is named counts.
    let more = ["--requirepass", "opensesame", "--port", &plain];
    let (_redis, port) = redis_with_tls(&certified, &more);
    let tls = Endpoint::Tls {
        host: "localhost".to_owned(),
        port,
        ca: certified.file("ca"),
    };
    let told = |endpoint: &Endpoint, user: &str, password: &str| Open {
        login: Some(Login {
            user: user.to_owned(),
            password: Secret::new(password),
            database: String::new(),
        }),
        ..open("redis", endpoint.clone())
    };
    let plain = tcp(&format!("127.0.0.1:{plain}"));
    for (endpoint, io) in [(&plain, "blocking"), (&tls, "blocking+tls")] {
        works(&told(endpoint, "", "opensesame"), io);
        works(&told(endpoint, "default", "opensesame"), io);
        let (kind, message) = error(&[Command::Open(told(endpoint, "", "guess"))]);
        assert_eq!(kind, "connect");
        for words in ["WRONGPASS", "ROUNDTRIP_REDIS_PASSWORD"] {
            assert!(message.contains(words), "{message}");
        }
        assert!(!message.contains("guess"), "{message}");
    }
    // Also where it stands behind a cache.
    let mut behind = told(&plain, "", "opensesame");
    behind.cache = Some(("floor".to_owned(), tcp(&floor())));
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 100, 1.0);
    let read = phases.phase(Op::ReadAside, 100, 1.0);
    let done = run(&behind, &[set, read]);
    assert_eq!(done[1].outcomes, counts(&[("hit", 100)]));
    let many = [("connections", "8"), ("io", "epoll")];
    works(&with(&told(&plain, "", "opensesame"), &many), "epoll");
    works(&with(&told(&tls, "", "opensesame"), &many), "epoll+tls");
}
