//! The native client by SQL, against a real MariaDB.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_model::Op;
use roundtrip_model::contract::{Command, Open, PhaseCommand, Purpose};
use roundtrip_model::secret::Secret;
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{KeyRecipe, ValueRecipe, Values};

fn prepare(phases: &mut Phases, stream: &Stream) -> PhaseCommand {
    PhaseCommand {
        purpose: Purpose::Prepare,
        ..phases.phase_of(Op::Set, stream)
    }
}

fn with(open: Open, option: &str, value: &str) -> Open {
    let mut open = open;
    open.options.insert(option.to_owned(), value.to_owned());
    open
}

/// Opens it and runs one phase; the error that this ends with.
fn trouble(open: &Open, phase: &PhaseCommand) -> (String, String) {
    error(&[
        Command::Open(open.clone()),
        Command::Phase(phase.clone()),
        Command::Go,
    ])
}

#[test]
fn every_op_does_what_it_says_on_the_rows() {
    let server = MariaDb::start();
    let mut phases = Phases::new();
    let all = stream(300, 1.0, 100);
    let outcomes = |phase: PhaseCommand| run(&server.open("native"), &[phase])[0].outcomes.clone();
    assert_eq!(
        outcomes(prepare(&mut phases, &all)),
        counts(&[("stored", 300)])
    );
    let rows = "SELECT count(*) FROM test.demo_test; SELECT count(*) FROM test.other;";
    assert_eq!(server.as_root(rows), "300\n300\n");
    // Half of the keys are not there.
    let get = phases.phase(Op::Get, 300, 0.5);
    assert_eq!(outcomes(get), counts(&[("hit", 150), ("miss", 150)]));
    for (op, outcome) in [
        (Op::Set, "stored"),
        (Op::ReadModifyWrite, "stored"),
        (Op::Join, "hit"),
    ] {
        let done = outcomes(phases.phase_of(op, &all));
        assert_eq!(done, counts(&[(outcome, 300)]), "{op}");
    }
    server.as_root("UPDATE test.demo_test SET c2 = 'spoiled' LIMIT 7;");
    let spoiled = outcomes(phases.phase_of(Op::Get, &all));
    assert_eq!(spoiled["wrong"], 7);
    // Keys of an insert are those from `insert_first` on.
    let new = Stream {
        insert_first: 250,
        ..stream(100, 1.0, 100)
    };
    let insert = phases.phase_of(Op::Insert, &new);
    let expected = counts(&[("stored", 50), ("error:not_stored", 50)]);
    assert_eq!(outcomes(insert), expected);
    assert_eq!(
        outcomes(phases.phase_of(Op::Delete, &all)),
        counts(&[("done", 300)])
    );
    assert_eq!(
        outcomes(phases.phase_of(Op::Delete, &all)),
        counts(&[("not_found", 300)])
    );
    // Without its row in the other table a key is not found by a join.
    let set = phases.phase_of(Op::Set, &all);
    let join = phases.phase_of(Op::Join, &all);
    outcomes(set);
    server.as_root("DELETE FROM test.other LIMIT 100;");
    assert_eq!(outcomes(join), counts(&[("hit", 200), ("miss", 100)]));
}

#[test]
fn several_keys_are_read_with_one_statement_and_sums_are_exact() {
    let server = MariaDb::start();
    let mut phases = Phases::new();
    let text = stream(300, 1.0, 100);
    run(&server.open("native"), &[prepare(&mut phases, &text)]);
    let many = Stream {
        keys_per_op: 10,
        count: 30,
        keyspace: 300,
        hit_ratio: 0.9,
        ..text
    };
    let asked = || -> u64 {
        let status = server.as_root("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute';");
        status.trim().rsplit('\t').next().unwrap().parse().unwrap()
    };
    let before = asked();
    let done = run(
        &server.open("native"),
        &[phases.phase_of(Op::GetMany, &many)],
    );
    assert_eq!(done[0].outcomes, counts(&[("hit", 270), ("miss", 30)]));
    assert_eq!(asked() - before, 30);

    let zero = Stream {
        values: Values::of(ValueRecipe::Zero, 0),
        ..stream(30, 1.0, 0)
    };
    let fill = prepare(&mut phases, &zero);
    let add = Stream {
        op: Op::ReadModifyWrite,
        keys_per_op: 3,
        count: 20,
        add: 5,
        ..zero
    };
    let sums = phases.phase_of(Op::ReadModifyWrite, &add);
    let done = run(&server.open("native"), &[fill, sums]);
    assert_eq!(done[1].outcomes, counts(&[("stored", 60)]));
    let sql = "SELECT count(*) FROM test.demo_test WHERE c2 = '10';";
    assert_eq!(server.as_root(sql), "30\n");
}

#[test]
fn a_mix_and_numbers_and_time_to_live_and_the_socket() {
    let server = MariaDb::start();
    let mut phases = Phases::new();
    let mixed = Stream {
        mix: vec![(Op::Get, 0.7), (Op::Set, 0.2), (Op::Insert, 0.1)],
        insert_first: 500,
        ..stream(500, 1.0, 100)
    };
    let plain = stream(500, 1.0, 100);
    let by_socket = server.open_at("native", unix(&server.socket()));
    let done = run(
        &by_socket,
        &[
            prepare(&mut phases, &plain),
            phases.phase_of(Op::Mix, &mixed),
        ],
    );
    let right = done[1].outcomes["hit"] + done[1].outcomes["stored"];
    assert_eq!((right, done[1].outcomes.len()), (500, 2));

    let numbers = Stream {
        values: Values::of(ValueRecipe::Zero, 0),
        ..stream(20, 1.0, 0)
    };
    let mut set = phases.phase_of(Op::Set, &numbers);
    set.ttl_s = 1000;
    let incr = phases.phase_of(Op::Incr, &numbers);
    let done = run(&server.open("native"), &[set, incr.clone(), incr]);
    assert_eq!(done[2].outcomes, counts(&[("done", 20)]));
    let sql =
        "SELECT count(*), min(c5) > unix_timestamp() + 900 FROM test.demo_test WHERE c2 = '2';";
    assert_eq!(server.as_root(sql), "20\t1\n");
    // Many connections at once, each with a thread of its own.
    let mut many = server.open("native");
    many.connections = 8;
    let many = run(
        &with(many, "threads", "8"),
        &[phases.phase_of(Op::Get, &plain)],
    );
    assert_eq!(many[0].outcomes.values().sum::<u64>(), 500);
}

#[test]
fn tables_with_numbers_and_with_several_columns() {
    let server = MariaDb::start();
    let mut phases = Phases::new();
    let mut numbered = stream(50, 1.0, 100);
    numbered.keys.recipe = KeyRecipe::Number;
    let text = Stream {
        values: Values {
            text: "one|two|three".to_owned(),
            ..Values::of(ValueRecipe::Text, 0)
        },
        ..numbered.clone()
    };
    for (table, stream, first) in [
        (
            "numbers",
            &numbered,
            "SELECT count(*), min(id) FROM test.numbers;",
        ),
        (
            "columns",
            &text,
            "SELECT count(*), min(id) FROM test.columns WHERE b = 'two' AND c = 'three';",
        ),
    ] {
        let open = with(server.open("native"), "table", table);
        let fill = prepare(&mut phases, stream);
        let get = phases.phase_of(Op::Get, stream);
        let delete = phases.phase_of(
            Op::Delete,
            &Stream {
                count: 20,
                ..stream.clone()
            },
        );
        let done = run(&open, &[fill, get]);
        assert_eq!(done[1].outcomes, counts(&[("hit", 50)]), "{table}");
        assert_eq!(server.as_root(first), "50\t1\n", "{table}");
        assert_eq!(run(&open, &[delete])[0].outcomes, counts(&[("done", 20)]));
    }
    let (kind, message) = trouble(
        &with(server.open("native"), "table", "numbers"),
        &phases.phase(Op::Get, 10, 1.0),
    );
    assert_eq!(kind, "usage");
    assert!(
        message.starts_with("the keys of table `numbers` are numbers"),
        "{message}"
    );
    let join = phases.phase_of(Op::Join, &numbered);
    let (kind, message) = trouble(&with(server.open("native"), "table", "numbers"), &join);
    assert_eq!(kind, "usage");
    assert!(message.contains("only `demo_test` is joined"), "{message}");
}

#[test]
fn over_tls_the_authority_is_checked() {
    let certified = Certified::new();
    let server = MariaDb::start_with(&certified.mariadb_arguments().each_ref().map(String::as_str));
    let at = |ca| server.open_at("native", server.endpoint_tls(ca));
    let mut phases = Phases::new();
    server.as_root("ALTER USER roundtrip@'%' REQUIRE SSL;");
    let set = phases.phase(Op::Set, 20, 1.0);
    let done = run(&at(certified.file("ca")), std::slice::from_ref(&set));
    assert_eq!(done[0].outcomes, counts(&[("stored", 20)]));
    let (kind, _) = trouble(&server.open("native"), &set);
    assert_eq!(kind, "connect");
    let other = Certified::new();
    let (kind, message) = trouble(&at(other.file("ca")), &set);
    assert_eq!(kind, "connect");
    assert!(message.to_lowercase().contains("certificate"), "{message}");
}

#[test]
fn what_cannot_be_opened_says_why_and_what_next() {
    let server = MariaDb::start_with(&["--max-connections=10"]);
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 20, 1.0);
    let mut open = server.open("native");
    open.login.as_mut().unwrap().password = Secret::new("battery staple");
    let (kind, message) = trouble(&open, &set);
    assert_eq!(kind, "connect");
    assert!(
        message.contains("1045") && message.contains("ROUNDTRIP_MYSQL_PASSWORD"),
        "{message}"
    );
    assert!(!message.contains("battery"), "{message}");

    let mut many = server.open("native");
    many.connections = 30;
    let (kind, message) = trouble(&many, &set);
    assert_eq!(kind, "connect");
    assert!(message.contains("ask for fewer connections"), "{message}");

    let (kind, message) = trouble(&with(server.open("native"), "protocol", "memcached"), &set);
    assert_eq!(kind, "usage");
    assert!(message.contains("memcached plugin"), "{message}");
    let set_seen = phases.phase(Op::SetSeen, 20, 1.0);
    assert_eq!(trouble(&server.open("native"), &set_seen).0, "usage");
    let scan = phases.phase(Op::Scan, 20, 1.0);
    assert_eq!(trouble(&server.open("native"), &scan).0, "usage");

    server.as_root("DROP TABLE test.demo_test;");
    let (kind, message) = trouble(&server.open("native"), &set);
    assert_eq!(kind, "connect");
    assert!(
        message.contains("demo_test") && message.contains("make the tables"),
        "{message}"
    );
}

#[test]
fn a_server_that_is_killed_in_the_middle_is_counted_and_nothing_is_stored_falsely() {
    let mut server = MariaDb::start_with(&["--innodb-flush-log-at-trx-commit=1"]);
    let mut phases = Phases::new();
    // A timed loop that sees the server go and come back.
    let inserts = Stream {
        insert_first: 0,
        ..stream(20_000, 1.0, 100)
    };
    let insert = phases.phase_of(Op::Insert, &inserts);
    let open = server.open("native");
    let outcomes = std::thread::scope(|scope| {
        let worker = scope.spawn(|| run(&open, &[insert])[0].outcomes.clone());
        let begun = || {
            server
                .as_root("SELECT count(*) FROM test.demo_test;")
                .trim()
                .parse::<u64>()
        };
        while begun().unwrap() < 100 {}
        server.kill();
        server.start_again();
        worker.join().unwrap()
    });
    let rows: u64 = server
        .as_root("SELECT count(*) FROM test.demo_test;")
        .trim()
        .parse()
        .unwrap();
    assert_eq!(outcomes.values().sum::<u64>(), 20_000, "{outcomes:?}");
    // One may have been stored without an acknowledgement, for each connection that broke.
    let stored = outcomes["stored"];
    let broke = outcomes.get("error:connection").copied().unwrap_or(0);
    assert!(broke >= 1 && stored + broke == 20_000, "{outcomes:?}");
    assert!(
        (stored..=stored + broke).contains(&rows),
        "{rows} rows, {outcomes:?}"
    );

    // A preparation that loses its transaction ends with an error.
    let fill = prepare(&mut phases, &stream(1_000_000, 1.0, 100));
    let open = server.open("native");
    let (kind, message) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| trouble(&open, &fill));
        let held = "SELECT count(*) FROM test.other;";
        while server.as_root(held) == "0\n" {}
        server.kill();
        worker.join().unwrap()
    });
    assert_eq!(kind, "io", "{message}");
}
