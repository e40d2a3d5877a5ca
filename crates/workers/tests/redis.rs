//! The PHP worker with phpredis and Predis against real Redis servers: every way of sending ops
//! has exact outcomes.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::redis::{CLIENTS, KINDS, Servers, WAYS, Way, numbers, texts};
use common::{GOES_ON, LONG, outcomes};
use roundtrip_model::contract::{LatencyForm, PhaseCommand};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::Distribution;
use roundtrip_model::{Kind, Op};
use roundtrip_stores::Transport;
use roundtrip_workers::read_latencies;
use std::fs;

/// Whether a library can send ops of one key so.
fn can(client: &str, kind: &str, (depth, transaction): Way) -> bool {
    match (client, kind) {
        (_, "redis") => true,
        ("phpredis", "redis-shards") => depth == 1 && !transaction,
        ("phpredis", _) => depth == 1,
        _ => !transaction,
    }
}

#[test]
fn every_op_has_exact_outcomes_in_every_way() {
    for kind in KINDS {
        let mut servers = Servers::start(kind);
        for (client, way) in CLIENTS.iter().flat_map(|c| WAYS.map(|way| (*c, way))) {
            let case = format!("{client} {kind} {way:?}");
            let mut worker = servers.opened(client, way);
            if !can(client, kind, way) {
                let refused = worker.ready(servers.phase(Op::Set, &texts(9), way.0));
                let problem = refused.unwrap_err();
                assert_eq!(problem.kind, Kind::Usage, "{case}");
                let names = ["RedisArray", "RedisCluster", "Predis"];
                assert!(names.iter().any(|name| problem.what.contains(name)));
                continue;
            }
            let reads = servers.counter("keyspace_reads");
            let (text, number) = (texts(250), numbers(250));
            let half = Stream {
                hit_ratio: 0.5,
                ..texts(250)
            };
            for (op, stream, expected) in [
                (Op::Set, &text, "stored 250"),
                (Op::Get, &text, "hit 250"),
                (Op::Get, &half, "hit 125, miss 125"),
                (Op::Insert, &text, "error:not_stored 250"),
                (Op::Get, &number, "miss 250"),
                (Op::Insert, &number, "stored 250"),
                (Op::Get, &number, "hit 250"),
                (Op::Incr, &number, "done 250"),
                // The numbers are now one more than was written.
                (Op::Get, &number, "wrong 250"),
                (Op::Incr, &text, "error:value_is_not_an_integer 250"),
                (Op::Delete, &text, "done 250"),
                (Op::Delete, &number, "done 250"),
                (Op::Delete, &number, "not_found 250"),
            ] {
                let told = servers.run(&mut worker, op, stream, way.0);
                assert_eq!(told, expected, "{case} {op}");
            }
            worker.close().unwrap();
            assert_eq!(servers.counter("keys"), 0, "{case}");
            assert_eq!(servers.counter("keyspace_reads") - reads, 5 * 250, "{case}");
        }
    }
}

#[test]
fn sums_of_several_keys_are_exact() {
    for kind in KINDS {
        let mut servers = Servers::start(kind);
        for (client, way) in CLIENTS.iter().flat_map(|c| WAYS.map(|way| (*c, way))) {
            let case = format!("{client} {kind} {way:?}");
            let mut worker = servers.opened(client, way);
            // 100 ops of 3 keys: 300 visits of 250 keys.
            let sum = Stream {
                count: 100,
                keys_per_op: 3,
                add: 5,
                ..numbers(250)
            };
            let last = Stream {
                add: 5,
                records_before: 300,
                ..numbers(250)
            };
            let single = client == "phpredis" && way.1;
            if !can(client, kind, way) || (single && kind == "redis-cluster") {
                let refused = worker.ready(servers.phase(Op::ReadModifyWrite, &sum, way.0));
                assert_eq!(refused.unwrap_err().kind, Kind::Usage, "{case}");
                continue;
            }
            let mut run = |op, stream: &Stream| servers.run(&mut worker, op, stream, way.0);
            assert_eq!(run(Op::Set, &numbers(250)), "stored 250", "{case}");
            assert_eq!(run(Op::ReadModifyWrite, &sum), "stored 300", "{case}");
            assert_eq!(run(Op::Get, &last), "hit 250", "{case}");
            // Now no number is what the plan says, and none is written.
            let again = run(Op::ReadModifyWrite, &Stream { count: 50, ..sum });
            assert_eq!(again, "wrong 150", "{case}");
            assert_eq!(run(Op::Get, &last), "hit 250", "{case}");
            assert_eq!(run(Op::Delete, &last), "done 250", "{case}");
            let gone = run(Op::ReadModifyWrite, &last);
            assert_eq!(gone, "not_found 250", "{case}");
            worker.close().unwrap();
            assert_eq!(servers.counter("keys"), 0, "{case}");
        }
    }
}

#[test]
fn many_keys_are_read_at_once_and_each_is_checked() {
    for kind in KINDS {
        let mut servers = Servers::start(kind);
        for client in CLIENTS {
            let mut worker = servers.opened(client, (1, false));
            let all = texts(210);
            let set = servers.run(&mut worker, Op::Set, &all, 1);
            assert_eq!(set, "stored 210");
            let half = Stream {
                count: 30,
                keys_per_op: 7,
                hit_ratio: 0.5,
                ..all.clone()
            };
            // Predis sends no MGET to several nodes, RedisArray and RedisCluster no pipeline.
            for depth in [1, 7, 20] {
                let can = match client {
                    "predis" => kind == "redis" || depth > 1,
                    _ => kind == "redis" || depth == 1,
                };
                let mut worker = servers.opened(client, (1, false));
                if !can {
                    let refused = worker.ready(servers.phase(Op::GetMany, &half, depth));
                    assert_eq!(refused.unwrap_err().kind, Kind::Usage);
                    continue;
                }
                let hits = servers.counter("keyspace_hits");
                let told = servers.run(&mut worker, Op::GetMany, &half, depth);
                assert_eq!(told, "hit 105, miss 105", "{client} {kind} {depth}");
                assert_eq!(servers.counter("keyspace_hits") - hits, 105);
                worker.close().unwrap();
            }
            let refused = worker.ready(servers.phase(Op::GetMany, &half, 3));
            let words = "the keys of one op travel one by one or together";
            assert!(refused.unwrap_err().what.starts_with(words));
            let mut worker = servers.opened(client, (1, false));
            assert_eq!(servers.run(&mut worker, Op::Delete, &all, 1), "done 210");
        }
    }
}

#[test]
fn a_batch_is_one_round_trip_and_each_of_its_ops_takes_as_long() {
    let mut servers = Servers::start("redis");
    for client in CLIENTS {
        let mut worker = servers.opened(client, (100, false));
        let command = servers.phase(Op::Set, &texts(250), 100);
        let path = command.latencies.clone().unwrap();
        let done = common::run(&mut worker, command);
        let bytes = fs::read(&path).unwrap();
        let numbers = bytes.chunks_exact(8).map(|b| b.try_into().unwrap());
        let numbers: Vec<u64> = numbers.map(u64::from_le_bytes).collect();
        // Two batches of 100 and one of 50, one after another.
        let batches = [numbers[0], numbers[100], numbers[200]];
        let same = |part: &[u64]| part.iter().all(|ns| *ns == part[0]);
        assert!(numbers.chunks(100).all(same));
        assert_eq!(batches.iter().sum::<u64>(), done.ended_ns - done.started_ns);
        let read = read_latencies(path.as_ref(), LatencyForm::Raw, 250, 30).unwrap();
        assert_eq!(read.histogram.count(), 250);
        worker.close().unwrap();
    }
    assert_eq!(servers.counter("writes"), 500);
}

#[test]
fn a_transaction_is_one_for_each_batch() {
    let servers = Servers::start("redis");
    for client in CLIENTS {
        for (depth, transactions) in [(1, 25), (10, 3), (100, 1)] {
            let before = servers.counter_of_command("exec");
            let mut worker = servers.opened(client, (depth, true));
            let told = servers.run(&mut worker, Op::Set, &texts(25), depth);
            assert_eq!(told, "stored 25");
            worker.close().unwrap();
            let sent = servers.counter_of_command("exec") - before;
            assert_eq!(sent, transactions, "{client} {depth}");
        }
    }
}

#[test]
fn a_mix_is_sent_ahead_unless_it_awaits_its_own_reads() {
    let servers = Servers::start("redis");
    for client in CLIENTS {
        for depth in [1, 16] {
            let mut stream = texts(300);
            let mut worker = servers.opened(client, (depth, false));
            servers.run(&mut worker, Op::Set, &stream, depth);
            stream.count = 1000;
            stream.hit_ratio = 0.9;
            stream.keys.distribution = Distribution::Uniform;
            stream.insert_first = (1 << 36) * u64::from(depth + u32::from(client == "predis"));
            stream.mix = vec![(Op::Get, 0.5), (Op::Set, 0.3), (Op::Insert, 0.2)];
            stream.op = Op::Mix;
            let done = common::run(&mut worker, servers.phase(Op::Mix, &stream, depth));
            let maker = stream.op_maker();
            let planned: Vec<_> = (0..1000).map(|i| maker.planned(i)).collect();
            let reads = planned.iter().filter(|p| p.op == Op::Get).count() as u64;
            let is_miss = |p: &&_| {
                matches!(
                    p,
                    roundtrip_model::stream::Planned {
                        op: Op::Get,
                        expect_hit: false,
                        ..
                    }
                )
            };
            let misses = planned.iter().filter(is_miss).count() as u64;
            let expected = [
                ("hit", reads - misses),
                ("miss", misses),
                ("stored", 1000 - reads),
            ];
            assert_eq!(outcomes(&done), expected, "{client} {depth}");
            stream.mix.push((Op::ReadModifyWrite, 0.1));
            let again = worker.ready(servers.phase(Op::Mix, &stream, depth));
            assert_eq!(again.is_ok(), depth == 1, "{client}");
        }
    }
}

#[test]
fn every_option_works_over_every_transport() {
    for transport in [Transport::Tcp, Transport::Unix, Transport::Tls] {
        let servers = Servers::with("redis", |options| options.transport = transport);
        for client in CLIENTS {
            let known = servers.host.client(&format!("php/{client}")).unwrap();
            assert_eq!(known.depth, 1_000_000);
            for (name, values) in known.options {
                for value in values {
                    // A unix socket has no packets to hold back.
                    if name == "tcp_nodelay" && transport == Transport::Unix {
                        continue;
                    }
                    let case = format!("{client} {name}={value} {transport:?}");
                    let mut worker = servers.open(client, &[(name.as_str(), value.as_str())]);
                    for stream in [texts(50), numbers(50)] {
                        for (op, expected) in [(Op::Set, "stored 50"), (Op::Get, "hit 50")] {
                            let told = servers.run(&mut worker, op, &stream, 8);
                            assert_eq!(told, expected, "{case}");
                        }
                    }
                    let sum = Stream {
                        add: 5,
                        ..numbers(50)
                    };
                    let told = servers.run(&mut worker, Op::ReadModifyWrite, &sum, 8);
                    assert_eq!(told, "stored 50", "{case}");
                    worker.close().unwrap();
                }
            }
        }
    }
}

#[test]
fn a_journal_ends_with_what_was_sent_and_acknowledged() {
    let servers = Servers::start("redis");
    let journal = servers.dir.path().join("journal");
    let numbers_of = || -> Vec<u64> {
        let bytes = fs::read(&journal).unwrap();
        let numbers = bytes.chunks_exact(8).map(|b| b.try_into().unwrap());
        numbers.map(u64::from_le_bytes).collect()
    };
    for (client, way) in CLIENTS.iter().flat_map(|c| WAYS.map(|way| (*c, way))) {
        let run = |op, stream: &Stream, outcome: (&str, u64)| {
            let mut worker = servers.opened(client, way);
            let command = PhaseCommand {
                journal: Some(journal.display().to_string()),
                ..servers.phase(op, stream, way.0)
            };
            worker.ready(command).unwrap();
            assert_eq!(numbers_of(), [0, 0]);
            worker.go().unwrap();
            let done = worker.done(LONG, &GOES_ON).unwrap();
            worker.written().unwrap();
            worker.close().unwrap();
            assert_eq!(outcomes(&done), [outcome], "{client} {way:?} {op}");
        };
        run(Op::Set, &numbers(45), ("stored", 45));
        assert_eq!(numbers_of(), [45, 45], "{client} {way:?}");
        let sum = Stream {
            count: 15,
            keys_per_op: 3,
            add: 5,
            ..numbers(45)
        };
        run(Op::ReadModifyWrite, &sum, ("stored", 45));
        assert_eq!(numbers_of(), [15, 15], "{client} {way:?}");
        // What fails was sent, and is not acknowledged.
        run(Op::Insert, &numbers(45), ("error:not_stored", 45));
        assert_eq!(numbers_of(), [45, 0], "{client} {way:?}");
    }
}
