//! The PHP worker with the real libraries against a real memcached.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{LONG, Memcached, host, open, outcomes, phase, published, run};
use roundtrip_model::contract::{Check, CheckMode, CheckRow, Endpoint};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Generate, KeyRecipe, ValueRecipe};
use roundtrip_model::{Kind, Op};
use roundtrip_process::{PrivateDir, Settings};
use roundtrip_workers::{Host, Worker, read_latencies};

const EXTENSIONS: [&str; 2] = ["memcache", "memcached"];

fn opened(host: &Host, client: &str, at: &Endpoint, options: &[(&str, &str)]) -> Worker {
    let mut worker = host.spawn("php", &Settings::default()).unwrap();
    assert!(worker.open(open(client, at, options)).unwrap() > 0);
    worker
}

#[test]
fn every_op_has_exact_outcomes_over_tcp_and_unix() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for (server, client) in [
        (Memcached::tcp(), "memcache"),
        (Memcached::unix(&dir), "memcache"),
        (Memcached::tcp(), "memcached"),
        (Memcached::unix(&PrivateDir::new().unwrap()), "memcached"),
    ] {
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        let mut outcome = |op, stream: &Stream| {
            let done = run(&mut worker, phase(op, stream, dir.path()));
            format!("{:?}", outcomes(&done))
        };
        let stream = published(500);
        assert_eq!(outcome(Op::Get, &stream), r#"[("miss", 500)]"#);
        assert_eq!(outcome(Op::Set, &stream), r#"[("stored", 500)]"#);
        assert_eq!(outcome(Op::Get, &stream), r#"[("hit", 500)]"#);
        assert_eq!(outcome(Op::Incr, &stream), r#"[("done", 500)]"#);
        // The numbers are now one more than was written.
        assert_eq!(outcome(Op::Get, &stream), r#"[("wrong", 500)]"#);
        assert_eq!(outcome(Op::Delete, &stream), r#"[("done", 500)]"#);
        assert_eq!(outcome(Op::Delete, &stream), r#"[("not_found", 500)]"#);
        assert_eq!(outcome(Op::Incr, &stream), r#"[("not_found", 500)]"#);
        worker.close().unwrap();
    }
}

#[test]
fn a_hit_ratio_comes_out_exactly_and_the_server_agrees() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for client in EXTENSIONS {
        let server = Memcached::tcp();
        let mut stream = published(1000);
        stream.keys.recipe = KeyRecipe::Hex;
        stream.values.recipe = ValueRecipe::Bytes;
        stream.values.bytes = 100;
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        run(&mut worker, phase(Op::Set, &stream, dir.path()));
        stream.hit_ratio = 0.9;
        let done = run(&mut worker, phase(Op::Get, &stream, dir.path()));
        assert_eq!(outcomes(&done), [("hit", 900), ("miss", 100)]);
        worker.close().unwrap();
        assert_eq!(server.counter("get_hits"), 900);
        assert_eq!(server.counter("get_misses"), 100);
        assert_eq!(server.counter("cmd_set"), 1000);
    }
}

#[test]
fn figures_of_a_loop_agree_with_each_other() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    let mut worker = opened(&host, "memcached", &server.endpoint, &[]);
    let command = phase(Op::Set, &published(20_000), dir.path());
    let path = command.latencies.clone().unwrap();
    let done = run(&mut worker, command);
    let wall_ns = done.ended_ns - done.started_ns;
    let latencies = read_latencies(path.as_ref(), 20_000, 30).unwrap();
    assert_eq!(latencies.slices_ns.len(), 30);
    // Each operation starts where the one before it ended, so nothing is lost between them.
    assert_eq!(latencies.slices_ns.iter().sum::<u64>(), wall_ns);
    assert!(done.user_ns + done.sys_ns > 0);
    // getrusage counts in microseconds, and the loop's two readings are not at one instant.
    assert!(done.user_ns + done.sys_ns <= wall_ns + 20_000_000);
    let exit = worker.close().unwrap();
    assert!(exit.user_ns + exit.sys_ns >= done.user_ns + done.sys_ns);
    assert!(done.max_rss_bytes.unwrap() <= exit.max_rss_bytes);
}

#[test]
fn keys_and_values_can_be_made_inside_the_loop() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for client in EXTENSIONS {
        let server = Memcached::tcp();
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        for (op, expected) in [(Op::Set, "stored"), (Op::Get, "hit")] {
            let mut command = phase(op, &published(300), dir.path());
            command.generate = Generate::InLoop;
            let done = run(&mut worker, command);
            assert_eq!(outcomes(&done), [(expected, 300)]);
        }
        // What was made inside is what would have been prepared.
        let done = run(&mut worker, phase(Op::Get, &published(300), dir.path()));
        assert_eq!(outcomes(&done), [("hit", 300)]);
        worker.close().unwrap();
        assert_eq!(server.counter("curr_items"), 300);
    }
}

#[test]
fn what_is_made_inside_the_loop_must_be_the_streams() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    let mut worker = opened(&host, "memcached", &server.endpoint, &[]);
    let mut stream = published(10);
    stream.prefix = "rt-4711-".to_owned();
    let mut command = phase(Op::Set, &stream, dir.path());
    command.generate = Generate::InLoop;
    let problem = worker.ready(command).unwrap_err();
    assert_eq!(problem.kind, Kind::Usage);
    assert_eq!(server.counter("cmd_set"), 0);
}

#[test]
fn every_option_of_every_extension_works() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    for client in EXTENSIONS {
        for (option, values) in host.client(&format!("php/{client}")).unwrap().options {
            for value in values {
                let options = [(option.as_str(), value.as_str())];
                let mut worker = opened(&host, client, &server.endpoint, &options);
                for (op, expected) in [(Op::Set, "stored"), (Op::Get, "hit")] {
                    let done = run(&mut worker, phase(op, &published(100), dir.path()));
                    assert_eq!(outcomes(&done), [(expected, 100)], "{client} {options:?}");
                }
                worker.close().unwrap();
            }
        }
    }
}

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

fn checked(
    host: &Host,
    at: &Endpoint,
    client: &str,
    serializer: &str,
    classes: bool,
) -> Vec<CheckRow> {
    let mut rows = Vec::new();
    for mode in [CheckMode::Write, CheckMode::Read] {
        let mut worker = opened(host, client, at, &[("serializer", serializer)]);
        rows = worker
            .check(Check {
                mode,
                vectors: host.vectors().display().to_string(),
                prefix: format!("{client}-{serializer}-"),
                classes,
            })
            .unwrap();
        if mode == CheckMode::Write {
            assert!(rows.iter().all(|row| row.same), "{rows:?}");
        }
        worker.close().unwrap();
    }
    rows
}

fn changed(rows: &[CheckRow]) -> Vec<&str> {
    let changed = rows.iter().filter(|row| !row.same);
    changed.map(|row| row.name.as_str()).collect()
}

fn row<'a>(rows: &'a [CheckRow], name: &str) -> &'a CheckRow {
    rows.iter().find(|row| row.name == name).unwrap()
}

#[test]
fn what_each_serializer_changes_is_found() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    let at = &server.endpoint;
    let rows = checked(&host, at, "memcache", "php", true);
    assert_eq!(rows.len(), 23);
    assert_eq!(changed(&rows), ["null"]);
    let note = Some("this library gives false for a miss too".to_owned());
    assert_eq!(row(&rows, "false").note, note);
    for serializer in ["php", "igbinary", "msgpack"] {
        let rows = checked(&host, at, "memcached", serializer, true);
        assert_eq!(changed(&rows), [""; 0], "{serializer}");
        assert_eq!(row(&rows, "false").note, None);
        assert_eq!(row(&rows, "nan").value, "NAN");
    }
    let rows = checked(&host, at, "memcached", "json", true);
    assert_eq!(changed(&rows), ["map", "nested", "object"]);
    assert_eq!(row(&rows, "map").type_name, "stdClass");
}

#[test]
fn an_object_comes_back_only_to_a_reader_with_its_class() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    for (client, also) in [("memcache", vec!["null"]), ("memcached", vec![])] {
        let rows = checked(&host, &server.endpoint, client, "php", false);
        let object = row(&rows, "object");
        assert_eq!(object.type_name, "__PHP_Incomplete_Class");
        assert_eq!(
            object.note.as_deref(),
            Some("the reader does not declare the class RoundtripPoint")
        );
        assert_eq!(changed(&rows), [also, vec!["object"]].concat());
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
    worker.done(LONG).unwrap();
    let problem = worker.written().unwrap_err();
    assert!(problem.what.contains("No space left"), "{problem}");
}

#[test]
fn a_client_that_lies_is_contradicted_by_the_server() {
    let dir = PrivateDir::new().unwrap();
    let liar = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/liar");
    let host = Host::with_workers("/none".into(), &dir, Some(liar.as_ref())).unwrap();
    assert!(host.client("liar/memcached").unwrap().available);
    let server = Memcached::tcp();
    let mut worker = host.spawn("liar", &Settings::default()).unwrap();
    worker
        .open(open("memcached", &server.endpoint, &[]))
        .unwrap();
    let done = run(&mut worker, phase(Op::Set, &published(1000), dir.path()));
    assert_eq!(outcomes(&done), [("stored", 1000)]);
    assert_eq!(server.counter("cmd_set"), 900);
}
