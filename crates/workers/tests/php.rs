//! The PHP worker with the real libraries against a real memcached.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{EXTENSIONS, Memcached, host, open, opened, outcomes, phase, published, run};
use roundtrip_model::contract::{LatencyForm, Open};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Distribution, Generate, KeyRecipe, ValueRecipe, Values};
use roundtrip_model::{Kind, Op};
use roundtrip_process::{PrivateDir, Settings};
use roundtrip_workers::{Host, read_latencies};

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
    let latencies = read_latencies(path.as_ref(), LatencyForm::Raw, 20_000, 30).unwrap();
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
fn expected_misses_are_counted_exactly_whatever_the_last_reply_is() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    // The last operation of 1000 finds its key, that of 1001 does not.
    for (client, count) in EXTENSIONS.into_iter().flat_map(|c| [(c, 1000), (c, 1001)]) {
        let server = Memcached::tcp();
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        let mut stream = published(count);
        run(&mut worker, phase(Op::Set, &stream, dir.path()));
        stream.hit_ratio = 0.5;
        let misses = count - 500;
        let done = run(&mut worker, phase(Op::Get, &stream, dir.path()));
        assert_eq!(outcomes(&done), [("hit", 500), ("miss", misses)]);
        let done = run(&mut worker, phase(Op::Delete, &stream, dir.path()));
        assert_eq!(outcomes(&done), [("done", 500), ("not_found", misses)]);
        worker.close().unwrap();
        for (counter, expected) in [
            ("get_hits", 500),
            ("get_misses", misses),
            ("delete_hits", 500),
            ("delete_misses", misses),
        ] {
            assert_eq!(server.counter(counter), expected, "{client} {counter}");
        }
    }
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
    // Keys that come again, and one miss, beyond the first that are looked at.
    let mut again = published(300);
    again.keyspace = 200;
    let mut missing = published(300);
    missing.hit_ratio = 0.995;
    for stream in [again, missing] {
        let mut worker = opened(&host, "memcached", &server.endpoint, &[]);
        let mut command = phase(Op::Set, &stream, dir.path());
        command.generate = Generate::InLoop;
        assert_eq!(worker.ready(command).unwrap_err().kind, Kind::Usage);
    }
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
                // Only MySQL has tables; through the door that they speak it is one more memcached.
                let store = if option == "table" {
                    "mysql"
                } else {
                    "memcached"
                };
                let mut worker = host.spawn("php", &Settings::default()).unwrap();
                let command = Open {
                    store: store.to_owned(),
                    ..open(client, &server.endpoint, &options)
                };
                worker.open(command).unwrap();
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

#[test]
fn inserts_and_read_modify_writes_have_exact_outcomes_and_the_server_agrees() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for client in EXTENSIONS {
        let server = Memcached::tcp();
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        let mut outcome = |op, stream: &Stream| {
            let stream = Stream {
                op,
                ..stream.clone()
            };
            let done = run(&mut worker, phase(op, &stream, dir.path()));
            format!("{:?}", outcomes(&done))
        };
        let stream = published(500);
        let absent = outcome(Op::ReadModifyWrite, &stream);
        assert_eq!(absent, r#"[("not_found", 500)]"#);
        assert_eq!(outcome(Op::Insert, &stream), r#"[("stored", 500)]"#);
        let again = outcome(Op::Insert, &stream);
        assert_eq!(again, r#"[("error:not_stored", 500)]"#);
        outcome(Op::Set, &stream);
        let modified = outcome(Op::ReadModifyWrite, &stream);
        assert_eq!(modified, r#"[("stored", 500)]"#);
        // The numbers are then one more than was written, and so are not written back.
        outcome(Op::Incr, &stream);
        let wrong = outcome(Op::ReadModifyWrite, &stream);
        assert_eq!(wrong, r#"[("wrong", 500)]"#);
        worker.close().unwrap();
        assert_eq!(server.counter("cmd_get"), 3 * 500);
        assert_eq!(server.counter("cmd_set"), 4 * 500);
    }
}

#[test]
fn a_mix_does_each_op_as_often_as_the_stream_has_it() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for client in EXTENSIONS {
        let server = Memcached::tcp();
        let mut worker = opened(&host, client, &server.endpoint, &[]);
        let mut stream = published(300);
        run(&mut worker, phase(Op::Set, &stream, dir.path()));
        stream.count = 1000;
        stream.op = Op::Mix;
        stream.hit_ratio = 0.9;
        stream.keys.distribution = Distribution::Zipf { exponent: 0.99 };
        stream.mix = vec![
            (Op::Get, 0.5),
            (Op::Set, 0.2),
            (Op::Insert, 0.1),
            (Op::ReadModifyWrite, 0.2),
        ];
        let command = phase(Op::Mix, &stream, dir.path());
        let done = run(&mut worker, command);
        worker.close().unwrap();
        let ops = stream.ops();
        let maker = stream.op_maker();
        let reads = (0..1000).map(|i| maker.planned(i));
        let misses = reads.filter(|p| p.op == Op::Get && !p.expect_hit).count() as u64;
        let written = ops[&Op::Set] + ops[&Op::Insert] + ops[&Op::ReadModifyWrite];
        assert!(misses > 0 && ops[&Op::Insert] == 100);
        assert_eq!(
            outcomes(&done),
            [
                ("hit", ops[&Op::Get] - misses),
                ("miss", misses),
                ("stored", written)
            ]
        );
        let read = ops[&Op::Get] + ops[&Op::ReadModifyWrite];
        assert_eq!(server.counter("cmd_get"), read);
        assert_eq!(server.counter("get_misses"), misses);
        assert_eq!(server.counter("cmd_set"), 300 + written);
        assert_eq!(server.counter("curr_items"), 400);
    }
}

#[test]
fn keys_are_spread_over_several_servers_and_read_together() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for client in EXTENSIONS {
        let mut servers = [(); 3].map(|()| Memcached::tcp());
        let nodes = servers.each_ref().map(|server| server.endpoint.clone());
        let shards = || Open {
            store: "memcached-shards".to_owned(),
            nodes: nodes.to_vec(),
            ..open(client, &nodes[0], &[])
        };
        let mut worker = host.spawn("php", &Settings::default()).unwrap();
        worker.open(shards()).unwrap();
        let stream = published(300);
        let done = run(&mut worker, phase(Op::Set, &stream, dir.path()));
        assert_eq!(outcomes(&done), [("stored", 300)]);
        let held = servers.each_ref().map(|s| s.counter("curr_items"));
        assert_eq!(held.iter().sum::<u64>(), 300, "{client}");
        assert!(held.iter().all(|n| *n > 0), "{client} {held:?}");
        let many = Stream {
            op: Op::GetMany,
            count: 20,
            keys_per_op: 15,
            hit_ratio: 0.9,
            ..stream.clone()
        };
        let done = run(&mut worker, phase(Op::GetMany, &many, dir.path()));
        assert_eq!(outcomes(&done), [("hit", 270), ("miss", 30)], "{client}");
        let asked = servers.iter().map(|s| s.counter("get_hits"));
        assert_eq!(asked.sum::<u64>(), 270, "{client}");
        let sum = Stream {
            op: Op::ReadModifyWrite,
            values: Values::of(ValueRecipe::Zero, 0),
            count: 200,
            keys_per_op: 3,
            add: 5,
            ..stream
        };
        let zeros = Stream {
            count: 300,
            keys_per_op: 1,
            add: 0,
            ..sum.clone()
        };
        run(&mut worker, phase(Op::Set, &zeros, dir.path()));
        let done = run(&mut worker, phase(Op::ReadModifyWrite, &sum, dir.path()));
        assert_eq!(outcomes(&done), [("stored", 600)], "{client}");
        let last = Stream {
            op: Op::Get,
            records_before: 600,
            add: 5,
            ..zeros
        };
        let done = run(&mut worker, phase(Op::Get, &last, dir.path()));
        assert_eq!(outcomes(&done), [("hit", 300)], "{client}");

        // One that died takes its keys with it, and no key is then a hit or a miss by mistake.
        servers[1].kill();
        let done = run(&mut worker, phase(Op::GetMany, &many, dir.path()));
        let errors = done
            .outcomes
            .keys()
            .filter(|name| name.starts_with("error:"));
        assert!(errors.count() > 0, "{client}: {:?}", done.outcomes);
        let mut worker = host.spawn("php", &Settings::default()).unwrap();
        assert_eq!(
            worker.open(shards()).unwrap_err().kind,
            Kind::Failed,
            "{client}"
        );
    }
}
