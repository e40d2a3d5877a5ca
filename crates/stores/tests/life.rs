//! The life of a store, with the real memcached and the real SQLite.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{memcached, memcached_with, runs, unix};
use roundtrip_model::contract::Endpoint;
use roundtrip_process::{CpuSet, NOBODY, PrivateDir, cpus, is_root};
use roundtrip_stores::manifest::{Life, Program};
use roundtrip_stores::{Quantity, StartOptions, Transport, doctor, find, registry, start};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

/// Stops a process, and comes back when each of its threads has stopped.
fn freeze(pid: u32) {
    signal(pid, Signal::STOP);
    let frozen = || {
        fs::read_dir(format!("/proc/{pid}/task"))
            .unwrap()
            .all(|task| {
                let stat = fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
                // The state follows the name, which stands in brackets.
                stat.rsplit(')').next().unwrap().trim().starts_with('T')
            })
    };
    let start = Instant::now();
    while !frozen() {
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn every_store_that_is_installed_starts_gets_ready_and_stops() {
    let mut started = Vec::new();
    for manifest in registry() {
        let installed = doctor(manifest, Path::new("/no/self"));
        assert_eq!(installed.is_available(), installed.install.is_none());
        // The floor is the binary, whose own tests start it.
        if matches!(&manifest.life, Life::Process(p) if p.program == Program::Own) {
            assert_eq!(
                installed.version.as_deref(),
                Some(env!("CARGO_PKG_VERSION"))
            );
            continue;
        }
        if !installed.is_available() {
            assert_eq!(installed.install.as_deref(), manifest.install());
            continue;
        }
        for transport in [Transport::Tcp, Transport::Unix] {
            let listens = match &manifest.life {
                Life::Process(process) => process.unix.is_some(),
                Life::Embedded(_) => true,
            };
            if transport == Transport::Unix && !listens {
                continue;
            }
            let dir = PrivateDir::new().unwrap();
            let options = StartOptions {
                transport,
                ..StartOptions::new("/no/self", &dir)
            };
            let mut store = start(manifest, &options).unwrap();
            assert_eq!(Some(store.version()), installed.version.as_deref());
            let items = manifest.counter(Quantity::Items).unwrap();
            assert_eq!(store.counters().unwrap()[items], 0);
            assert!(store.cpu_ns().is_some());
            assert!(store.is_alive().is_none());
            store.stop().unwrap();
            assert_eq!(
                fs::read_dir(dir.path()).unwrap().count(),
                0,
                "something is left"
            );
        }
        started.push(manifest.name.as_str());
    }
    assert!(started.contains(&"sqlite"), "{started:?}");
}

#[test]
fn counters_are_exact() {
    let mut server = memcached();
    let mut raw = server.raw();
    for i in 0..25 {
        raw.set(&format!("k{i}"), 0, 0, b"value");
    }
    for i in 20..30 {
        raw.get(&format!("k{i}"), "");
    }
    assert_eq!(raw.ask("delete k0"), "DELETED");
    let counters = server.store.counters().unwrap();
    let manifest = server.store.manifest().clone();
    let counted = |quantity| counters[manifest.counter(quantity).unwrap()];
    assert_eq!(counted(Quantity::Set), 25);
    assert_eq!(counted(Quantity::Get), 10);
    assert_eq!(counted(Quantity::Hits), 5);
    assert_eq!(counted(Quantity::Misses), 5);
    assert_eq!(counted(Quantity::DeleteHits), 1);
    assert_eq!(counted(Quantity::Items), 24);
    assert_eq!(counters.len(), manifest.witness.len());
}

#[test]
fn settings_are_read_from_the_running_server() {
    let server = memcached_with(|options| {
        options.memory_mb = 100;
        options.extra_args = vec!["-t".to_owned(), "2".to_owned()];
    });
    let settings = server.store.settings();
    assert_eq!(settings["threads"], "2");
    assert_eq!(settings["memory_bytes"], (100 << 20).to_string());
    assert_eq!(settings["max_connections"], "2048");
    assert!(!server.store.is_attached());
    assert_eq!(server.store.foreign_items(), None);
}

#[test]
fn a_unix_socket_is_private_and_serves() {
    let mut server = memcached_with(unix);
    let Endpoint::Unix { path } = server.store.endpoint() else {
        panic!("it listens on a socket");
    };
    assert!(Path::new(&path).starts_with(server.dir.path()));
    assert_eq!(server.store.counters().unwrap()["cmd_set"], 0);
    assert_eq!(server.store.settings()["threads"], "4");
}

#[test]
fn a_server_does_not_run_as_root_and_stays_on_its_processor() {
    let cpu = cpus::available().0[0];
    let server = memcached_with(|options| options.cpus = Some(CpuSet(vec![cpu])));
    let status = fs::read_to_string(format!("/proc/{}/status", server.store.pids()[0])).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(field("Cpus_allowed_list:"), cpu.to_string());
    let uid: u32 = field("Uid:").parse().unwrap();
    let own = rustix::process::getuid().as_raw();
    assert_eq!(uid, if is_root() { NOBODY } else { own });
}

#[test]
fn a_dropped_store_is_gone_with_its_directory() {
    let server = memcached();
    let pid = server.store.pids()[0];
    assert!(runs(pid));
    drop(server.store);
    assert!(!runs(pid));
    assert_eq!(fs::read_dir(server.dir.path()).unwrap().count(), 0);
}

#[test]
fn a_stopped_store_is_gone_even_if_it_does_not_listen_any_more() {
    let server = memcached();
    let pid = server.store.pids()[0];
    freeze(pid);
    server.store.stop().unwrap();
    assert!(!runs(pid));
}

#[test]
fn a_server_killed_in_the_middle_is_told() {
    let mut server = memcached();
    assert!(server.store.is_alive().is_none());
    signal(server.store.pids()[0], Signal::KILL);
    let start = Instant::now();
    let problem = loop {
        if let Some(problem) = server.store.is_alive() {
            break problem;
        }
        assert!(start.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(1));
    };
    assert_eq!(
        problem.what,
        "memcached was ended by signal 9 while it was needed"
    );
    assert_eq!(server.store.counters().unwrap_err().what, problem.what);
    assert_eq!(server.store.cpu_ns(), None);
    server.store.stop().unwrap();
}

#[test]
fn a_hung_server_gives_a_problem() {
    let mut server = memcached();
    freeze(server.store.pids()[0]);
    let problem = server.store.counters().unwrap_err();
    assert!(
        problem.what.starts_with("memcached did not answer within"),
        "{problem}"
    );
    signal(server.store.pids()[0], Signal::CONT);
    assert_eq!(server.store.counters().unwrap()["cmd_set"], 0);
}

#[test]
fn cpu_time_grows_with_work() {
    let server = memcached();
    let before = server.store.cpu_ns().unwrap();
    let mut raw = server.raw();
    (0..1000).for_each(|_| assert_eq!(raw.ask("mn"), "MN"));
    assert!(server.store.cpu_ns().unwrap() > before);
}

#[test]
fn a_sampler_sees_counters_grow_and_survives_the_end_of_the_server() {
    let server = memcached();
    let sampler = server.store.sampler(Duration::from_millis(10));
    let mut raw = server.raw();
    let mut sets = 0;
    // Its own questions show that it is at work.
    while raw.stats("")["total_connections"].parse::<u32>().unwrap() < 4 || sets < 50 {
        raw.set("k", 0, 0, b"v");
        sets += 1;
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(50));
    server.store.stop().unwrap();
    sleep(Duration::from_millis(50));
    let samples = sampler.stop();
    assert!(!samples.is_empty());
    assert!(samples.is_sorted_by_key(|sample| sample.at_ms));
    assert!(samples.is_sorted_by_key(|sample| sample.counters["cmd_set"]));
    assert!(
        samples
            .iter()
            .all(|sample| sample.counters["cmd_set"] <= sets)
    );
}

#[test]
fn sqlite_is_a_file_whose_rows_are_counted() {
    let dir = PrivateDir::new().unwrap();
    let mut store = start(
        find("sqlite").unwrap(),
        &StartOptions::new("/no/self", &dir),
    )
    .unwrap();
    let Endpoint::File { path } = store.endpoint() else {
        panic!("it is a file");
    };
    assert_eq!(store.counters().unwrap()["rows"], 0);
    assert_eq!(store.settings()["synchronous"], "FULL");
    assert_eq!((store.cpu_ns(), store.pids()), (Some(0), vec![]));

    // A client that writes meanwhile, in the mode that the settings name.
    let client = rusqlite::Connection::open(&path).unwrap();
    client.pragma_update(None, "journal_mode", "WAL").unwrap();
    client
        .execute_batch("CREATE TABLE \"a \"\"table\" (k BLOB PRIMARY KEY, v BLOB); CREATE INDEX i ON \"a \"\"table\" (v);")
        .unwrap();
    for i in 0..17 {
        client
            .execute("INSERT INTO \"a \"\"table\" VALUES (?1, 'v')", [i])
            .unwrap();
    }
    client.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(store.counters().unwrap()["rows"], 17);
    // Counting them takes a whole scan, so it is not done while a phase is measured.
    assert_eq!(store.sampler(Duration::from_millis(10)).stop(), []);

    let second = start(
        find("sqlite").unwrap(),
        &StartOptions::new("/no/self", &dir),
    )
    .unwrap();
    assert_ne!(second.endpoint(), store.endpoint());
    store.stop().unwrap();
    assert!(!Path::new(&path).exists());
}

#[test]
fn a_broken_sqlite_file_is_a_problem() {
    let dir = PrivateDir::new().unwrap();
    let mut store = start(
        find("sqlite").unwrap(),
        &StartOptions::new("/no/self", &dir),
    )
    .unwrap();
    let Endpoint::File { path } = store.endpoint() else {
        panic!("it is a file");
    };
    fs::write(&path, "not a database".repeat(100)).unwrap();
    let problem = store.counters().unwrap_err();
    assert_eq!(problem.place, Some(path));
    assert!(problem.what.contains("not a database"), "{problem}");
}
