//! The life of a Redis, with the real one.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Server, store_with, tell, unix};
use roundtrip_model::contract::Endpoint;
use roundtrip_stores::{Quantity, StartOptions, Transport, attach};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

fn redis(change: impl FnOnce(&mut StartOptions)) -> Server {
    store_with("redis", change)
}

#[test]
fn counters_are_exact_and_the_probe_bears_no_witness_of_itself() {
    let mut server = redis(|_| {});
    let keys: Vec<String> = (0..30).map(|i| format!("k{i}")).collect();
    let mut commands: Vec<Vec<&str>> = Vec::new();
    for key in &keys[..24] {
        commands.push(vec!["SET", key, "value"]);
    }
    commands.push(vec!["SETEX", &keys[24], "1000", "value"]);
    for key in &keys[20..30] {
        commands.push(vec!["GET", key]);
    }
    commands.push(vec!["MGET", &keys[0], &keys[29]]);
    commands.push(vec!["DEL", &keys[0]]);
    commands.push(vec!["INCR", "n"]);
    commands.push(vec!["INCRBY", "n", "5"]);
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    tell(&server, &commands);

    let names = server.store.manifest().clone();
    // Whoever asks often must not change what is counted.
    for _ in 0..5 {
        let counters = server.store.counters().unwrap();
        let counted = |quantity| counters[names.counter(quantity).unwrap()];
        assert_eq!(counted(Quantity::Set), 25);
        assert_eq!(counted(Quantity::Get), 12);
        assert_eq!(counted(Quantity::Hits), 6);
        assert_eq!(counted(Quantity::Misses), 6);
        assert_eq!(counted(Quantity::IncrHits), 2);
        assert_eq!(counted(Quantity::Items), 25);
        assert_eq!(counted(Quantity::Evictions), 0);
        assert_eq!(counters.len(), names.witness.len());
    }
}

#[test]
fn settings_are_read_from_the_running_server() {
    let server = redis(|options| {
        options.memory_mb = 100;
        let manifest = roundtrip_stores::find("redis").unwrap();
        for (name, value) in [
            ("io-threads", "2"),
            ("appendonly", "yes"),
            ("maxmemory-policy", "noeviction"),
        ] {
            options
                .extra_args
                .extend(manifest.option(name, value).unwrap());
        }
    });
    let settings = server.store.settings();
    for (name, value) in [
        ("maxmemory_bytes", "104857600"),
        ("maxmemory_policy", "noeviction"),
        ("io_threads", "2"),
        ("appendonly", "yes"),
        ("save", ""),
    ] {
        assert_eq!(
            settings.get(name).map(String::as_str),
            Some(value),
            "{name}"
        );
    }
}

#[test]
fn only_named_keys_are_deleted() {
    let mut server = redis(|_| {});
    tell(&server, &[&["MSET", "a", "1", "b", "2", "c", "3"]]);
    let long = "x".repeat(20_000);
    let keys = ["a", "missing", "c\r\nFLUSHALL", &long, "c"];
    let keys = keys.into_iter().map(|key| key.as_bytes().to_vec());
    assert_eq!(server.store.delete_keys(keys).unwrap(), 2);
    assert_eq!(
        tell(&server, &[&["KEYS", "*"], &["EXISTS", "b"]]),
        "Integer(1)"
    );
    assert_eq!(server.store.counters().unwrap()["keys"], 1);
}

#[test]
fn it_serves_on_a_private_socket() {
    let mut server = redis(unix);
    let Endpoint::Unix { path } = server.store.endpoint() else {
        panic!("it listens on a socket");
    };
    assert!(Path::new(&path).starts_with(server.dir.path()));
    assert_eq!(server.store.counters().unwrap()["keys"], 0);
}

fn over_tls(port: u16, ca: &str) -> Output {
    let mut command = Command::new("redis-cli");
    command.args([
        "--tls",
        "--cacert",
        ca,
        "-h",
        "127.0.0.1",
        "-p",
        &port.to_string(),
    ]);
    command.args(["SET", "k", "v"]).output().unwrap()
}

#[test]
fn it_speaks_tls_with_a_certificate_that_only_its_own_authority_vouches_for() {
    let mut server = redis(|options| options.transport = Transport::Tls);
    let mut other = redis(|options| options.transport = Transport::Tls);
    let Endpoint::Tls { port, ca, .. } = server.store.endpoint() else {
        panic!("it speaks TLS");
    };
    let Endpoint::Tls { ca: other_ca, .. } = other.store.endpoint() else {
        panic!("it speaks TLS");
    };
    let done = over_tls(port, &ca);
    assert!(done.stdout.starts_with(b"OK"), "{done:?}");
    assert!(!over_tls(port, &other_ca).stdout.starts_with(b"OK"));
    assert_eq!(server.store.counters().unwrap()["keys"], 1);
    assert_eq!(other.store.counters().unwrap()["keys"], 0);
}

/// Attaches to the server that the environment names, in a process whose environment is its own.
#[test]
#[ignore = "run by the test of passwords"]
fn attach_as_a_child() {
    let url = std::env::var("ATTACH_TO").unwrap();
    let said = match attach(&url, false) {
        Ok(mut store) => format!("attached: {}", store.counters().unwrap()["keys"]),
        Err(problem) => format!("refused: {:?} {problem}", problem.kind),
    };
    writeln!(std::io::stdout(), "{said}").unwrap();
}

fn attach_with(url: &str, password: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "attach_as_a_child", "--ignored", "--nocapture"]);
    command
        .env("ATTACH_TO", url)
        .env_remove("ROUNDTRIP_REDIS_PASSWORD");
    if let Some(password) = password {
        command.env("ROUNDTRIP_REDIS_PASSWORD", password);
    }
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_password_comes_from_the_environment_and_is_never_shown() {
    let server = redis(|_| {});
    let Endpoint::Tcp { host, port } = server.store.endpoint() else {
        panic!("it listens on a port");
    };
    let url = format!("redis://{host}:{port}");
    // One that wants none gets none.
    assert!(attach_with(&url, Some("unused")).contains("attached: 0"));
    tell(
        &server,
        &[
            &["SET", "k", "v"],
            &["CONFIG", "SET", "requirepass", "opensesame"],
        ],
    );
    assert!(attach_with(&url, Some("opensesame")).contains("attached: 1"));
    let without = attach_with(&url, None);
    assert!(
        without.contains("refused: Refused redis wants a password"),
        "{without}"
    );
    assert!(without.contains("ROUNDTRIP_REDIS_PASSWORD"), "{without}");
    let wrong = attach_with(&url, Some("guess"));
    assert!(
        wrong.contains("does not take the password") && !wrong.contains("guess"),
        "{wrong}"
    );
}

#[test]
fn what_it_keeps_on_disk_stays_in_its_private_directory() {
    let manifest = roundtrip_stores::find("redis").unwrap();
    let asked = [
        ("appendonly", "yes"),
        ("appendfsync", "always"),
        ("maxmemory", "3mb"),
        ("maxmemory-policy", "noeviction"),
    ];
    let set = |(name, value): (&str, &str)| manifest.option(name, value).unwrap();
    let arguments: Vec<String> = asked.into_iter().flat_map(set).collect();
    let server = redis(|options| options.extra_args = arguments);
    let settings = server.store.settings();
    // What a path asks for comes after what the manifest says.
    assert_eq!(settings["maxmemory_bytes"], (3 << 20).to_string());
    assert_eq!(settings["maxmemory_policy"], "noeviction");
    assert_eq!(settings["appendonly"], "yes");
    tell(&server, &[&["SET", "key", "kept"]]);
    let held = |dir: &Path| -> Vec<std::path::PathBuf> {
        let entries = std::fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let [own] = held(server.dir.path()).try_into().unwrap();
    let log = held(&own.join("appendonlydir"));
    let text = log.iter().map(|file| std::fs::read(file).unwrap());
    assert!(
        text.flatten()
            .collect::<Vec<u8>>()
            .windows(4)
            .any(|w| w == b"kept")
    );
    server.store.stop().unwrap();
    assert!(held(server.dir.path()).is_empty());
}
