//! The life of a MySQL with its memcached plugin and of a MariaDB, with the real ones. Where one is
//! not there, the tests fail and say how to get it.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::sql::{BOTH, connect, server, sql, with};
use common::{Raw, Server};
use mysql::prelude::Queryable;
use roundtrip_model::contract::Endpoint;
use roundtrip_model::record::Counters;
use roundtrip_process::is_root;
use roundtrip_stores::{Quantity, StartOptions, Transport, find};
use std::fs;
use std::path::Path;

fn door(server: &Server) -> Raw {
    Raw::to(&server.store.doors()["memcached"])
}

/// How much each quantity grew while something was done, for who comes in by a door.
fn grew(
    server: &mut Server,
    door: Option<&str>,
    doing: &mut dyn FnMut(),
) -> impl Fn(Quantity) -> i128 + use<> {
    let before = server.store.counters().unwrap();
    doing();
    let after = server.store.counters().unwrap();
    let names = server.store.manifest().witness_of(door);
    move |quantity| {
        let count = |counters: &Counters| i128::from(counters[&names[&quantity]]);
        count(&after) - count(&before)
    }
}

#[test]
fn one_row_is_reached_by_sql_and_by_memcacheds_protocol() {
    let server = server("mysql", |_| {});
    let (mut sql, mut cache) = (sql(&server), door(&server));
    cache.set("k", 5, 0, b"over memcached");
    let row: Option<(String, u32)> = sql
        .exec_first("SELECT c2, c3 FROM demo_test WHERE c1 = ?", ("k",))
        .unwrap();
    assert_eq!(row, Some(("over memcached".to_owned(), 5)));
    sql.exec_drop(
        "INSERT INTO demo_test VALUES (?, 'by SQL', 7, 0, 0), (?, ?, 0, 0, 0)",
        ("l", "k".repeat(250), "v".repeat(16_000)),
    )
    .unwrap();
    assert_eq!(cache.text("l"), Some((7, b"by SQL".to_vec())));
    let long = cache.text(&"k".repeat(250)).unwrap();
    assert_eq!(long.1.len(), 16_000);
    // Keys that differ in case alone are two keys.
    assert_eq!(cache.text("L"), None);

    cache.set("@@numbers.17", 0, 0, b"seventeen");
    cache.set("@@columns.18", 0, 0, b"x|yy|zzz");
    let number: Option<String> = sql
        .query_first("SELECT value FROM numbers WHERE id = 17")
        .unwrap();
    assert_eq!(number.as_deref(), Some("seventeen"));
    let columns: Option<(String, String, String)> = sql
        .query_first("SELECT a, b, c FROM columns WHERE id = 18")
        .unwrap();
    let three = ("x".to_owned(), "yy".to_owned(), "zzz".to_owned());
    assert_eq!(columns, Some(three));

    sql.query_drop("INSERT INTO other VALUES ('k', 'labelled')")
        .unwrap();
    let joined: Option<(String, String)> = sql
        .exec_first(
            "SELECT d.c2, o.label FROM demo_test d JOIN other o ON o.c1 = d.c1 WHERE d.c1 = ?",
            ("k",),
        )
        .unwrap();
    assert_eq!(
        joined,
        Some(("over memcached".to_owned(), "labelled".to_owned()))
    );
}

#[test]
fn every_count_is_exact_for_who_comes_in_by_sql() {
    for name in BOTH {
        let mut server = server(name, |_| {});
        let mut sql = sql(&server);
        let insert =
            "INSERT INTO demo_test VALUES (?, ?, 0, 0, 0) ON DUPLICATE KEY UPDATE c2 = VALUES(c2)";
        let mut each = |count: u32, from: u32, statement: &str, value: Option<&str>| {
            for i in from..from + count {
                let key = format!("key-{i}");
                match value {
                    Some(value) => sql.exec_drop(statement, (key, value)).unwrap(),
                    None => drop(sql.exec::<mysql::Row, _, _>(statement, (key,)).unwrap()),
                }
            }
        };
        let count = grew(&mut server, None, &mut || each(30, 0, insert, Some("1")));
        let [set, items, rows] =
            [Quantity::Set, Quantity::Items, Quantity::RowsInserted].map(&count);
        assert_eq!([set, items, rows], [30, 30, 30], "{name}");
        // The same value again, and another one.
        let count = grew(&mut server, None, &mut || {
            each(10, 0, insert, Some("1"));
            each(10, 10, insert, Some("2"));
        });
        let of = [
            Quantity::Set,
            Quantity::Items,
            Quantity::Get,
            Quantity::Hits,
        ];
        assert_eq!(of.map(&count), [20, 0, 0, 0], "{name}");

        let select = "SELECT c2 FROM demo_test WHERE c1 = ?";
        let count = grew(&mut server, None, &mut || each(25, 20, select, None));
        assert_eq!(
            [Quantity::Get, Quantity::Hits].map(&count),
            [25, 10],
            "{name}"
        );

        let add = "UPDATE demo_test SET c2 = c2 + 5 WHERE c1 = ?";
        let count = grew(&mut server, None, &mut || each(7, 25, add, None));
        let of = [Quantity::IncrHits, Quantity::IncrMisses];
        assert_eq!(of.map(&count), [5, 2], "{name}");

        let count = grew(&mut server, None, &mut || {
            each(5, 0, select, None);
            let change = "UPDATE demo_test SET c2 = 'changed' WHERE c1 = ?";
            each(5, 0, change, None);
        });
        let of = [Quantity::Get, Quantity::Hits, Quantity::Set];
        assert_eq!(of.map(&count), [5, 5, 5], "{name}");

        let count = grew(&mut server, None, &mut || {
            each(
                3,
                0,
                "SELECT c2 FROM demo_test WHERE c1 IN (?, 'key-1', 'key-1', 'none')",
                None,
            );
        });
        assert_eq!(count(Quantity::ManyReads), 3, "{name}");

        let delete = "DELETE FROM demo_test WHERE c1 = ?";
        let count = grew(&mut server, None, &mut || each(12, 20, delete, None));
        let of = [
            Quantity::DeleteHits,
            Quantity::DeleteMisses,
            Quantity::Items,
        ];
        assert_eq!(of.map(&count), [10, 2, -10], "{name}");
        // Whoever asks often changes nothing that is counted.
        let count = grew(&mut server, None, &mut || {});
        let of = [
            Quantity::Get,
            Quantity::Hits,
            Quantity::Set,
            Quantity::RowsRead,
        ];
        assert_eq!(of.map(&count), [0; 4], "{name}");
    }
}

#[test]
fn every_count_is_exact_for_who_comes_in_by_memcacheds_protocol() {
    let mut server = server("mysql", |_| {});
    let mut cache = door(&server);
    let count = grew(&mut server, Some("memcached"), &mut || {
        (0..30).for_each(|i| cache.set(&format!("k{i}"), 0, 0, b"1"));
        (0..10).for_each(|i| cache.set(&format!("k{i}"), 0, 0, b"2"));
    });
    let of = [Quantity::Set, Quantity::Items, Quantity::RowsInserted];
    assert_eq!(of.map(&count), [40, 30, 30]);
    // Each was written through, and the log has at least what it says.
    assert!(count(Quantity::Fsyncs) >= 30, "{}", count(Quantity::Fsyncs));
    assert!(
        count(Quantity::LogBytes) > 40 * 30,
        "{}",
        count(Quantity::LogBytes)
    );
    let count = grew(&mut server, Some("memcached"), &mut || {
        (20..45).for_each(|i| drop(cache.text(&format!("k{i}"))));
        (28..32).for_each(|i| drop(cache.ask(&format!("incr k{i} 5"))));
        (25..32).for_each(|i| drop(cache.ask(&format!("delete k{i}"))));
    });
    for (quantity, counted) in [
        (Quantity::Get, 25),
        (Quantity::Hits, 10),
        (Quantity::Misses, 15),
        (Quantity::IncrHits, 2),
        (Quantity::IncrMisses, 2),
        (Quantity::DeleteHits, 5),
        (Quantity::DeleteMisses, 2),
        (Quantity::Items, -5),
        (Quantity::RowsDeleted, 5),
    ] {
        assert_eq!(count(quantity), counted, "{quantity:?}");
    }
    // The plugin reads rows without counting them: how many is not known, and not 0.
    let names = server.store.manifest().witness_of(Some("memcached"));
    assert_eq!(names.get(&Quantity::RowsRead), None);
}

#[test]
fn it_does_not_run_as_root_and_leaves_nothing() {
    for name in BOTH {
        let server = server(name, |_| {});
        let pid = server.store.pids()[0];
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let uid = status
            .lines()
            .find(|line| line.starts_with("Uid:"))
            .unwrap();
        let wanted = match is_root() {
            true => roundtrip_process::NOBODY,
            false => rustix::process::getuid().as_raw(),
        };
        assert_eq!(
            uid.split_whitespace().nth(1),
            Some(wanted.to_string().as_str())
        );
        server.store.stop().unwrap();
        assert!(!common::runs(pid));
        assert_eq!(
            fs::read_dir(server.dir.path()).unwrap().count(),
            0,
            "{name}"
        );
    }
}

#[test]
fn it_serves_on_private_sockets() {
    let mut server = server("mysql", common::unix);
    let mut sql = sql(&server);
    let mut cache = door(&server);
    for endpoint in server
        .store
        .doors()
        .values()
        .chain([&server.store.endpoint()])
    {
        let Endpoint::Unix { path } = endpoint else {
            panic!("it listens on a socket: {endpoint:?}");
        };
        assert!(Path::new(path).starts_with(server.dir.path()));
    }
    cache.set("k", 0, 0, b"v");
    let found: Option<String> = sql.query_first("SELECT c2 FROM demo_test").unwrap();
    assert_eq!(found.as_deref(), Some("v"));
    assert_eq!(server.store.counters().unwrap()["memcached.cmd_set"], 1);
}

#[test]
fn it_speaks_tls_with_a_certificate_that_only_its_own_authority_vouches_for() {
    for name in BOTH {
        let tls = |options: &mut StartOptions| options.transport = Transport::Tls;
        let (mut server, other) = (server(name, tls), server(name, tls));
        let login = server.store.login().unwrap();
        let mut sql = sql(&server);
        let cipher: Option<(String, String)> = sql
            .query_first("SHOW SESSION STATUS LIKE 'Ssl_cipher'")
            .unwrap();
        assert!(
            cipher.is_some_and(|(_, cipher)| !cipher.is_empty()),
            "{name}"
        );
        let Endpoint::Tls { host, port, .. } = server.store.endpoint() else {
            panic!("it speaks TLS");
        };
        let Endpoint::Tls { ca, .. } = other.store.endpoint() else {
            panic!("it speaks TLS");
        };
        assert!(
            connect(&Endpoint::Tls { host, port, ca }, &login).is_err(),
            "{name}"
        );
        assert_eq!(server.store.counters().unwrap()["table_rows"], 0);
    }
}

#[test]
fn options_of_the_server_are_as_asked() {
    let asked = [
        ("flush", "2"),
        ("batch", "100"),
        ("binlog", "on"),
        ("api_binlog", "on"),
    ];
    let mut server = server("mysql", |options| with(options, "mysql", &asked));
    let settings = server.store.settings().clone();
    for (name, value) in [
        ("innodb_flush_log_at_trx_commit", "2"),
        ("daemon_memcached_r_batch_size", "100"),
        ("daemon_memcached_w_batch_size", "100"),
        ("log_bin", "ON"),
        ("innodb_api_enable_binlog", "ON"),
    ] {
        assert_eq!(
            settings.get(name).map(String::as_str),
            Some(value),
            "{name}"
        );
    }
    // A batch that is still open is there already, and the binary log counts as log.
    let mut cache = door(&server);
    let count = grew(&mut server, Some("memcached"), &mut || {
        (0..30).for_each(|i| cache.set(&format!("k{i}"), 0, 0, b"v"));
    });
    assert_eq!([Quantity::Items, Quantity::Set].map(&count), [30, 30]);
    let mut sql = sql(&server);
    let count = grew(&mut server, None, &mut || {
        let value = "v".repeat(10_000);
        let insert = "INSERT INTO demo_test VALUES ('long', ?, 0, 0, 0)";
        sql.exec_drop(insert, (&value,)).unwrap();
    });
    assert!(
        count(Quantity::LogBytes) > 20_000,
        "{}",
        count(Quantity::LogBytes)
    );

    let manifest = find("mysql").unwrap();
    let flush: Vec<&str> = manifest
        .server_option("flush")
        .unwrap()
        .values()
        .unwrap()
        .collect();
    assert_eq!(flush, ["0", "1", "2"]);
    assert!(manifest.server_option("batch").unwrap().values().is_none());
}

#[test]
fn the_binary_log_and_batches_are_off_by_default_and_every_commit_is_flushed() {
    let server = server("mysql", |_| {});
    let settings = server.store.settings();
    for (name, value) in [
        ("innodb_flush_log_at_trx_commit", "1"),
        ("daemon_memcached_r_batch_size", "1"),
        ("daemon_memcached_w_batch_size", "1"),
        ("log_bin", "OFF"),
        ("innodb_api_enable_binlog", "OFF"),
        ("innodb_buffer_pool_size", "67108864"),
    ] {
        assert_eq!(
            settings.get(name).map(String::as_str),
            Some(value),
            "{name}"
        );
    }
}

#[test]
fn what_was_acknowledged_by_either_way_in_is_there_after_a_kill() {
    let mut server = server("mysql", |_| {});
    let (mut sql_client, mut cache) = (sql(&server), door(&server));
    for i in 0..50 {
        cache.set(&format!("m{i}"), 0, 0, b"v");
        let insert = "INSERT INTO demo_test VALUES (?, 'v', 0, 0, 0)";
        sql_client.exec_drop(insert, (format!("s{i}"),)).unwrap();
    }
    let (endpoint, doors) = (server.store.endpoint(), server.store.doors());
    server.store.kill().unwrap();
    server.store.start_again().unwrap();
    assert_eq!(
        (server.store.endpoint(), server.store.doors()),
        (endpoint, doors)
    );
    assert_eq!(server.store.counters().unwrap()["table_rows"], 100);
    assert_eq!(door(&server).text("m49"), Some((0, b"v".to_vec())));
    let left: Option<u32> = sql(&server)
        .query_first("SELECT COUNT(*) FROM demo_test")
        .unwrap();
    assert_eq!(left, Some(100));
}
