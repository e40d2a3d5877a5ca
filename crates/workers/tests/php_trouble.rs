//! The PHP worker where something is missing, broken or dead.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{EXTENSIONS, GOES_ON, LONG, Memcached, host, open, opened, phase, published, run};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Op};
use roundtrip_process::{PrivateDir, Settings};

#[test]
fn a_server_that_dies_makes_errors_and_no_misses() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for client in EXTENSIONS {
        let mut server = Memcached::tcp();
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        let mut stream = published(200);
        run(&mut worker, phase(Op::Set, &stream, dir.path()));
        server.kill();
        stream.hit_ratio = 0.5;
        let done = run(&mut worker, phase(Op::Get, &stream, dir.path()));
        assert!(
            done.outcomes.keys().all(|name| name.starts_with("error:")),
            "{client}: {:?}",
            done.outcomes
        );
        assert_eq!(done.outcomes.values().sum::<u64>(), 200);
    }
}

#[test]
fn a_server_that_dies_among_expected_misses_leaves_no_miss() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let mut stream = published(200_000);
    stream.hit_ratio = 0.0;
    for client in EXTENSIONS {
        let mut server = Memcached::tcp();
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        worker.ready(phase(Op::Get, &stream, dir.path())).unwrap();
        worker.go().unwrap();
        // Seconds of misses are still to come.
        while server.counter("get_misses") == 0 {}
        server.kill();
        let done = worker.done(LONG, &GOES_ON).unwrap();
        assert!(
            done.outcomes.keys().all(|name| name.starts_with("error:")),
            "{client}: {:?}",
            done.outcomes
        );
        assert_eq!(done.outcomes.values().sum::<u64>(), 200_000);
    }
}

#[test]
fn a_server_that_is_not_there_is_told_at_once() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let endpoint = Endpoint::Tcp {
        host: "127.0.0.1".to_owned(),
        port: roundtrip_process::free_port().unwrap(),
    };
    for client in EXTENSIONS {
        let mut worker = host.spawn("php", &Settings::default()).unwrap();
        let problem = worker.open(open(client, &endpoint, &[])).unwrap_err();
        assert_eq!(problem.kind, Kind::Failed);
        assert!(problem.what.to_lowercase().contains("connect"), "{problem}");
        assert_eq!(problem.place.unwrap(), "the worker of `php`");
    }
}

#[test]
fn an_extension_that_is_missing_is_told_with_its_command() {
    let dir = PrivateDir::new().unwrap();
    let empty = dir.make("empty", None).unwrap();
    let host = host(&dir).env("PHP_INI_SCAN_DIR", empty);
    for client in EXTENSIONS {
        let problem = host.client(&format!("php/{client}")).unwrap_err();
        assert_eq!(problem.kind, Kind::Missing);
        assert_eq!(
            problem.what,
            format!("`php/{client}` cannot be used: the PHP extension {client} is not loaded")
        );
        assert_eq!(
            problem.next_step.unwrap(),
            format!("apt-get install php-{client}")
        );
        let mut worker = host.spawn("php", &Settings::default()).unwrap();
        let endpoint = Endpoint::File { path: "x".into() };
        let problem = worker.open(open(client, &endpoint, &[])).unwrap_err();
        assert_eq!(problem.kind, Kind::Missing);
    }
    assert!(host.client("php/nothing").unwrap().available);
}

#[test]
fn what_the_worker_cannot_do_is_refused() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    let refused = |options: &[(&str, &str)], client: &str| {
        let mut worker = host.spawn("php", &Settings::default()).unwrap();
        let problem = worker.open(open(client, &server.endpoint, options));
        problem.unwrap_err()
    };
    let problem = refused(&[("serializer", "xml")], "memcached");
    assert_eq!(problem.kind, Kind::Usage);
    assert_eq!(problem.what, "the client does not take serializer=xml");
    assert_eq!(refused(&[("x", "y")], "memcache").kind, Kind::Usage);
    assert_eq!(refused(&[], "redis").what, "there is no client redis");

    for (op, depth) in [(Op::ReadAside, 1), (Op::Get, 16)] {
        let mut worker = opened(&host, "memcached", &server.endpoint, &[]);
        let mut command = phase(op, &published(10), dir.path());
        command.depth = depth;
        assert_eq!(worker.ready(command).unwrap_err().kind, Kind::Usage);
    }
}

#[test]
fn a_broken_stream_or_an_unwritable_file_is_told() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    let broken = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut worker = opened(&host, "memcached", &server.endpoint, &[]);
        let command = phase(Op::Get, &published(100), dir.path());
        let mut bytes = std::fs::read(&command.stream).unwrap();
        change(&mut bytes);
        std::fs::write(&command.stream, bytes).unwrap();
        worker.ready(command).unwrap_err()
    };
    let problem = broken(&|bytes| bytes.truncate(1000));
    assert!(problem.what.contains("cut short"), "{problem}");
    let problem = broken(&|bytes| bytes[12] = 99);
    assert!(
        problem.what.contains("holds 99 operations, not 100"),
        "{problem}"
    );
    let problem = broken(&|bytes| bytes[0] = b'X');
    assert!(problem.what.contains("not a stream file"), "{problem}");
    assert_eq!(problem.kind, Kind::Failed);

    let mut worker = opened(&host, "memcached", &server.endpoint, &[]);
    let mut command = phase(Op::Get, &published(100), dir.path());
    command.latencies = Some("/dev/full".to_owned());
    worker.ready(command).unwrap();
    worker.go().unwrap();
    worker.done(LONG, &GOES_ON).unwrap();
    let problem = worker.written().unwrap_err();
    assert!(problem.what.contains("No space left"), "{problem}");
}
