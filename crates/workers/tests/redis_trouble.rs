//! The PHP worker with phpredis and Predis where a Redis is missing, refuses, is full or dies.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::redis::{CLIENTS, KINDS, Servers, numbers, texts};
use common::{GOES_ON, LONG, host, open};
use roundtrip_model::contract::{Check, CheckMode, Endpoint, Login, Open, PhaseCommand};
use roundtrip_model::stream::Stream;
use roundtrip_model::{Kind, Op, Secret};
use roundtrip_process::{PrivateDir, Settings, free_port};
use roundtrip_stores::find;
use std::fs;

/// What a server that died left of a phase: errors alone, or right outcomes and errors.
fn only_errors(outcomes: &str) -> bool {
    outcomes.split(", ").all(|one| one.starts_with("error:"))
}

#[test]
fn a_server_that_is_dead_makes_errors_and_nothing_else() {
    for kind in KINDS {
        for client in CLIENTS {
            let depths: &[u32] = match (client, kind) {
                ("phpredis", "redis-shards" | "redis-cluster") => &[1],
                _ => &[1, 10],
            };
            let mut servers = Servers::start(kind);
            let mut workers = Vec::new();
            for depth in depths {
                let mut worker = servers.opened(client, (*depth, false));
                servers.run(&mut worker, Op::Set, &texts(100), *depth);
                workers.push((*depth, worker));
            }
            for store in servers.stores.drain(..) {
                store.stop().unwrap();
            }
            let half = Stream {
                hit_ratio: 0.5,
                ..texts(100)
            };
            let sum = Stream {
                keys_per_op: 4,
                count: 25,
                add: 1,
                ..numbers(100)
            };
            for (depth, mut worker) in workers {
                for (op, stream) in [
                    (Op::Get, &half),
                    (Op::Set, &half),
                    (Op::ReadModifyWrite, &sum),
                    (Op::Delete, &half),
                ] {
                    let told = servers.run(&mut worker, op, stream, depth);
                    let case = format!("{client} {kind} {depth} {op}: {told}");
                    assert!(only_errors(&told), "{case}");
                    let counts = told.split([' ', ',']).filter_map(|n| n.parse::<u64>().ok());
                    assert_eq!(counts.sum::<u64>(), 100, "{case}");
                    assert!(told.contains("error:connection_lost"), "{case}");
                }
            }
        }
    }
}

#[test]
fn a_server_that_is_killed_in_the_middle_acknowledges_no_more_than_it_did() {
    for client in CLIENTS {
        for (depth, transaction, count) in [
            (1, false, 50_000),
            (100, false, 200_000),
            (100, true, 200_000),
        ] {
            let mut servers = Servers::start("redis");
            let journal = servers.dir.path().join("journal");
            let mut worker = servers.opened(client, (depth, transaction));
            let command = PhaseCommand {
                journal: Some(journal.display().to_string()),
                ..servers.phase(Op::Set, &texts(count), depth)
            };
            worker.ready(command).unwrap();
            worker.go().unwrap();
            // Seconds of writes are still to come.
            while servers.counter("writes") == 0 {}
            let pid = servers.stores[0].pids()[0];
            let killed = std::process::Command::new("kill")
                .args(["-9", &pid.to_string()])
                .status();
            assert!(killed.unwrap().success());
            let done = worker.done(LONG, &GOES_ON).unwrap();
            worker.written().unwrap();
            let case = format!("{client} {depth} {transaction}: {:?}", done.outcomes);
            let of = |name: &str| done.outcomes.get(name).copied().unwrap_or(0);
            // phpredis: the connection ended in the middle of the reply to EXEC.
            let lost = of("error:connection_lost") + of("error:protocol_error");
            let stored = of("stored");
            assert_eq!(stored + lost, count, "{case}");
            assert!(lost > 0, "{case}");
            let bytes = fs::read(&journal).unwrap();
            let numbers = bytes.chunks_exact(8).map(|b| b.try_into().unwrap());
            let numbers: Vec<u64> = numbers.map(u64::from_le_bytes).collect();
            assert_eq!(numbers, [count, stored], "{case}");
        }
    }
}

#[test]
fn what_the_server_refuses_has_its_own_kind() {
    let manifest = find("redis").unwrap();
    let policy = manifest.option("maxmemory-policy", "noeviction").unwrap();
    for client in CLIENTS {
        for (depth, transaction) in [(1, false), (50, false), (50, true)] {
            let servers = Servers::with("redis", |options| {
                options.extra_args.extend(policy.clone());
                // The last of two counts.
                options
                    .extra_args
                    .extend(["--maxmemory".into(), "1500kb".into()]);
            });
            let mut large = texts(2000);
            large.values.bytes = 2000;
            let mut worker = servers.opened(client, (depth, transaction));
            let told = servers.run(&mut worker, Op::Set, &large, depth);
            let refused = match transaction {
                true => told.contains("error:oom") || told.contains("error:execabort"),
                false => told.contains("error:oom"),
            };
            assert!(refused, "{client} {depth} {transaction}: {told}");
            assert!(!told.contains("connection_lost"), "{client}: {told}");
            worker.close().unwrap();
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_told_at_once() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let nowhere = |port| Endpoint::Tcp {
        host: "127.0.0.1".to_owned(),
        port,
    };
    for client in CLIENTS {
        for kind in KINDS {
            let nodes = [(); 3].map(|()| nowhere(free_port().unwrap()));
            let command = Open {
                store: kind.to_owned(),
                nodes: if kind == "redis" {
                    Vec::new()
                } else {
                    nodes.to_vec()
                },
                ..open(client, &nodes[0], &[])
            };
            let mut worker = host.spawn("php", &Settings::default()).unwrap();
            let problem = worker.open(command).unwrap_err();
            assert_eq!(problem.kind, Kind::Failed, "{client} {kind}");
            let what = problem.what.to_lowercase();
            assert!(
                what.contains("connect") || what.contains("seed"),
                "{problem}"
            );
        }
    }
}

#[test]
fn a_password_is_given_and_a_wrong_one_is_told() {
    let servers = Servers::with("redis", |options| {
        options
            .extra_args
            .extend(["--tls-port", "0"].map(str::to_owned));
    });
    set_password(&servers, "right");
    for client in CLIENTS {
        let with = |password: Option<&str>| {
            let mut worker = servers.host.spawn("php", &Settings::default()).unwrap();
            let login = password.map(|password| Login {
                user: String::new(),
                password: Secret::new(password.to_owned()),
                database: String::new(),
            });
            let command = Open {
                login,
                ..servers.command(client, &[])
            };
            worker.open(command).map(|_| worker)
        };
        let mut worker = with(Some("right")).unwrap();
        let told = servers.run(&mut worker, Op::Set, &texts(9), 3);
        assert_eq!(told, "stored 9");
        for password in [Some("wrong"), None] {
            let problem = with(password).unwrap_err();
            let refused = ["WRONGPASS", "NOAUTH"]
                .iter()
                .any(|code| problem.what.contains(code));
            assert!(refused, "{client} {problem}");
            assert!(!format!("{problem:?}").contains("\"wrong\""), "{problem:?}");
        }
    }
}

fn set_password(servers: &Servers, password: &str) {
    use std::io::{Read, Write};
    let Endpoint::Tcp { host, port } = servers.stores[0].endpoint() else {
        panic!("it listens on a port");
    };
    let mut socket = std::net::TcpStream::connect((host, port)).unwrap();
    let command = format!("CONFIG SET requirepass {password}\r\n");
    socket.write_all(command.as_bytes()).unwrap();
    let mut reply = [0; 5];
    socket.read_exact(&mut reply).unwrap();
    assert_eq!(&reply, b"+OK\r\n");
}

/// Redis keeps text: without a serializer nothing else comes back as it was.
const NO_TEXT: [&str; 16] = [
    "int",
    "negative_int",
    "int_beyond_32_bit",
    "int_of_63_bit",
    "float",
    "float_without_fraction",
    "nan",
    "infinity",
    "true",
    "false",
    "null",
    "list",
    "map",
    "nested",
    "mixed_list",
    "object",
];
/// What JSON has no word for.
const NO_JSON: [&str; 5] = [
    "float_without_fraction",
    "nan",
    "infinity",
    "binary",
    "object",
];

#[test]
fn what_each_serializer_changes_is_found() {
    let servers = Servers::start("redis");
    let no_serializer = [("persistent", "false")];
    for (client, options, changed) in [
        ("phpredis", [("serializer", "none")], &NO_TEXT[..]),
        ("phpredis", [("serializer", "php")], &[][..]),
        ("phpredis", [("serializer", "igbinary")], &[][..]),
        ("phpredis", [("serializer", "json")], &NO_JSON[..]),
        ("predis", no_serializer, &NO_TEXT[..]),
    ] {
        let mut rows = Vec::new();
        for mode in [CheckMode::Write, CheckMode::Read] {
            let mut worker = servers.open(client, &options);
            rows = worker
                .check(Check {
                    mode,
                    vectors: servers.host.vectors().display().to_string(),
                    prefix: format!("{client}-{options:?}-"),
                    classes: true,
                })
                .unwrap();
            worker.close().unwrap();
        }
        assert_eq!(rows.len(), 23);
        let lost = rows.iter().filter(|row| !row.same);
        let lost: Vec<_> = lost.map(|row| row.name.as_str()).collect();
        assert_eq!(lost, changed, "{client} {options:?}");
    }
}

#[test]
fn a_library_that_is_missing_is_told_with_its_command() {
    let dir = PrivateDir::new().unwrap();
    let empty = dir.make("empty", None).unwrap();
    let ini = empty.join("path.ini");
    fs::write(&ini, format!("include_path = \"{}\"\n", empty.display())).unwrap();
    let host = host(&dir).env("PHP_INI_SCAN_DIR", &empty);
    for (client, what, step) in [
        (
            "phpredis",
            "the PHP extension redis is not loaded",
            "apt-get install php-redis",
        ),
        (
            "predis",
            "the PHP library Predis/autoload.php is not on the include path",
            "apt-get install php-nrk-predis",
        ),
    ] {
        let problem = host.client(&format!("php/{client}")).unwrap_err();
        assert_eq!(problem.kind, Kind::Missing);
        assert_eq!(
            problem.what,
            format!("`php/{client}` cannot be used: {what}")
        );
        assert_eq!(problem.next_step.unwrap(), step);
    }
}
