//! The clients of SQL for PHP against a real MariaDB.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

#[path = "../../load/tests/common/certified.rs"]
mod certified;
mod common;
#[path = "../../load/tests/common/mariadb.rs"]
mod mariadb;

use certified::Certified;
use common::{GOES_ON, LONG, host, outcomes, phase, published, run};
use mariadb::MariaDb;
use roundtrip_model::contract::{Done, Open, PhaseCommand, Purpose};
use roundtrip_model::secret::Secret;
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{KeyRecipe, ValueRecipe, Values};
use roundtrip_model::{Kind, Op};
use roundtrip_process::{PrivateDir, Settings};
use roundtrip_workers::{Host, Worker};

/// Every way of PHP to reach it by SQL.
const WAYS: [(&str, &[(&str, &str)]); 4] = [
    ("mysqli", &[]),
    ("mysqli", &[("persistent", "true")]),
    ("pdo", &[("prepare", "native")]),
    ("pdo", &[("prepare", "emulated"), ("persistent", "true")]),
];

fn with(mut open: Open, options: &[(&str, &str)]) -> Open {
    let options = options.iter();
    let options = options.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    open.options.extend(options);
    open
}

fn opened(host: &Host, open: Open) -> Worker {
    let mut worker = host.spawn("php", &Settings::default()).unwrap();
    assert!(worker.open(open).unwrap() > 0);
    worker
}

fn prepare(command: PhaseCommand) -> PhaseCommand {
    PhaseCommand {
        purpose: Purpose::Prepare,
        latencies: None,
        ..command
    }
}

/// Runs a phase of ops of any number of keys.
fn done(worker: &mut Worker, phase: PhaseCommand) -> Done {
    worker.ready(phase).unwrap();
    worker.go().unwrap();
    let done = worker.done(LONG, &GOES_ON).unwrap();
    worker.written().unwrap();
    done
}

fn of(recipe: ValueRecipe, count: u64) -> Stream {
    Stream {
        values: Values::of(recipe, 100),
        ..published(count)
    }
}

#[test]
fn every_op_has_exact_outcomes_in_every_way() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = MariaDb::start();
    for (client, options) in WAYS {
        server.as_root("DELETE FROM test.demo_test; DELETE FROM test.other;");
        let open = with(server.open(client), options);
        let mut worker = opened(&host, open);
        let command = |op, stream: &Stream| phase(op, stream, dir.path());
        let text = of(ValueRecipe::Bytes, 300);
        let fill = prepare(command(Op::Set, &text));
        assert_eq!(outcomes(&done(&mut worker, fill)), [("stored", 300)]);
        let rows = "SELECT count(*) FROM test.demo_test; SELECT count(*) FROM test.other;";
        assert_eq!(server.as_root(rows), "300\n300\n");
        let mut outcome = |op, stream: &Stream| {
            let done = run(&mut worker, command(op, stream));
            format!("{client} {options:?} {op}: {:?}", outcomes(&done))
        };
        let mut is = |op, stream: &Stream, expected: &str| {
            assert_eq!(
                outcome(op, stream),
                format!("{client} {options:?} {op}: {expected}")
            );
        };
        let half = Stream {
            hit_ratio: 0.5,
            ..text.clone()
        };
        is(Op::Get, &half, r#"[("hit", 150), ("miss", 150)]"#);
        is(Op::Join, &text, r#"[("hit", 300)]"#);
        is(Op::ReadModifyWrite, &text, r#"[("stored", 300)]"#);
        is(Op::Set, &text, r#"[("stored", 300)]"#);
        let new = Stream {
            op: Op::Insert,
            insert_first: 250,
            ..of(ValueRecipe::Bytes, 100)
        };
        is(
            Op::Insert,
            &new,
            r#"[("error:not_stored", 50), ("stored", 50)]"#,
        );
        server.as_root("DELETE FROM test.demo_test LIMIT 350;");
        let numbers = of(ValueRecipe::Crc32, 300);
        is(Op::Set, &numbers, r#"[("stored", 300)]"#);
        is(Op::Get, &numbers, r#"[("hit", 300)]"#);
        is(Op::Incr, &numbers, r#"[("done", 300)]"#);
        is(Op::Get, &numbers, r#"[("wrong", 300)]"#);
        is(Op::Delete, &numbers, r#"[("done", 300)]"#);
        is(Op::Delete, &numbers, r#"[("not_found", 300)]"#);
        is(Op::Incr, &numbers, r#"[("not_found", 300)]"#);
        worker.close().unwrap();
    }
}

#[test]
fn several_keys_are_read_with_one_statement_and_sums_are_exact() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = MariaDb::start();
    for (client, options) in WAYS {
        let mut worker = opened(&host, with(server.open(client), options));
        let command = |op, stream: &Stream| phase(op, stream, dir.path());
        let text = of(ValueRecipe::Bytes, 300);
        done(&mut worker, prepare(command(Op::Set, &text)));
        let asked = || -> u64 {
            let status = server.as_root("SHOW GLOBAL STATUS LIKE 'Com_select';");
            status.trim().rsplit('\t').next().unwrap().parse().unwrap()
        };
        let many = Stream {
            keys_per_op: 10,
            count: 30,
            keyspace: 300,
            hit_ratio: 0.9,
            ..text
        };
        let before = asked();
        let read = done(&mut worker, command(Op::GetMany, &many));
        assert_eq!(outcomes(&read), [("hit", 270), ("miss", 30)], "{client}");
        assert_eq!(asked() - before, 30, "{client} {options:?}");

        let zero = of(ValueRecipe::Zero, 30);
        done(&mut worker, prepare(command(Op::Set, &zero)));
        let add = Stream {
            keys_per_op: 3,
            count: 20,
            add: 5,
            ..zero
        };
        let sums = done(&mut worker, command(Op::ReadModifyWrite, &add));
        assert_eq!(outcomes(&sums), [("stored", 60)], "{client} {options:?}");
        let sql = "SELECT count(*) FROM test.demo_test WHERE c2 = '10';";
        assert_eq!(server.as_root(sql), "30\n", "{client} {options:?}");
        worker.close().unwrap();
        server.as_root("DELETE FROM test.demo_test;");
    }
}

#[test]
fn other_tables_the_socket_and_tls() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let certified = Certified::new();
    let server = MariaDb::start_with(&certified.mariadb_arguments().each_ref().map(String::as_str));
    for (client, _) in WAYS {
        let mut numbered = of(ValueRecipe::Bytes, 50);
        numbered.keys.recipe = KeyRecipe::Number;
        let mut text = numbered.clone();
        text.values = Values {
            text: "one|two|three".to_owned(),
            ..Values::of(ValueRecipe::Text, 0)
        };
        for (table, stream, sql) in [
            (
                "numbers",
                &numbered,
                "SELECT count(*), min(id) FROM test.numbers;",
            ),
            (
                "columns",
                &text,
                "SELECT count(*), min(id) FROM test.columns WHERE b = 'two';",
            ),
        ] {
            let socket = roundtrip_model::contract::Endpoint::Unix {
                path: server.socket().display().to_string(),
            };
            let mut worker = opened(
                &host,
                with(server.open_at(client, socket), &[("table", table)]),
            );
            done(&mut worker, prepare(phase(Op::Set, stream, dir.path())));
            assert_eq!(server.as_root(sql), "50\t1\n", "{client} {table}");
            let many = Stream {
                keys_per_op: 5,
                count: 10,
                keyspace: 50,
                ..stream.clone()
            };
            for (op, stream) in [(Op::Get, stream), (Op::Set, stream), (Op::GetMany, &many)] {
                let did = done(&mut worker, phase(op, stream, dir.path()));
                let expected = if op == Op::Set { "stored" } else { "hit" };
                assert_eq!(outcomes(&did), [(expected, 50)], "{client} {table} {op}");
            }
            let problem = worker
                .ready(phase(Op::Join, stream, dir.path()))
                .unwrap_err();
            assert!(
                problem.to_string().contains("only `demo_test` is joined"),
                "{problem}"
            );
        }
        let at = |ca| server.open_at(client, server.endpoint_tls(ca));
        let mut worker = opened(&host, at(certified.file("ca")));
        let set = done(
            &mut worker,
            phase(Op::Set, &of(ValueRecipe::Bytes, 20), dir.path()),
        );
        assert_eq!(outcomes(&set), [("stored", 20)]);
        worker.close().unwrap();
        let other = Certified::new();
        let mut worker = host.spawn("php", &Settings::default()).unwrap();
        let problem = worker.open(at(other.file("ca"))).unwrap_err();
        assert!(problem.kind != Kind::Usage, "{problem}");
    }
}

#[test]
fn trouble_is_told_and_counted_and_never_a_success() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for client in ["mysqli", "pdo"] {
        let mut server = MariaDb::start_with(&["--max-connections=10"]);
        let problem = |open| {
            let mut worker = host.spawn("php", &Settings::default()).unwrap();
            worker.open(open).unwrap_err().to_string()
        };
        let mut wrong = server.open(client);
        wrong.login.as_mut().unwrap().password = Secret::new("battery staple");
        let said = problem(wrong);
        assert!(
            said.contains("Access denied") && !said.contains("battery"),
            "{said}"
        );
        let mut workers: Vec<Worker> = (0..10)
            .map(|_| opened(&host, server.open(client)))
            .collect();
        let said = problem(server.open(client));
        assert!(said.contains("Too many connections"), "{said}");

        let mut worker = workers.pop().unwrap();
        drop(workers);
        let stream = of(ValueRecipe::Bytes, 60_000);
        worker.ready(phase(Op::Set, &stream, dir.path())).unwrap();
        worker.go().unwrap();
        let rows = |server: &MariaDb| -> u64 {
            let count = server.as_root("SELECT count(*) FROM test.demo_test;");
            count.trim().parse().unwrap()
        };
        while rows(&server) < 100 {}
        server.kill();
        let did = worker.done(LONG, &GOES_ON).unwrap();
        let (stored, lost) = (
            did.outcomes["stored"],
            did.outcomes["error:connection_lost"],
        );
        assert_eq!(stored + lost, 60_000, "{:?}", did.outcomes);
        server.start_again();
        let rows = rows(&server);
        assert!(
            (stored..=stored + 1).contains(&rows),
            "{rows} rows, {stored} stored"
        );

        server.as_root("DROP TABLE test.demo_test;");
        let said = problem(server.open(client));
        assert!(said.contains("demo_test"), "{said}");
    }
}
