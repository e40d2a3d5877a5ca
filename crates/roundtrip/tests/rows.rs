//! What only tables can do, and every pair of a client and a store, through the built binary.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use serde_json::Value;

/// Runs with the archive of a home; gives the result, in which every trial is valid.
fn valid(home: &Home, args: &[&str]) -> Value {
    home.good(args);
    let result = home.good(&["report", "--format", "json"]);
    let result: Value = serde_json::from_str(&result).unwrap();
    let trials = result["trials"].as_array().unwrap();
    assert!(!trials.is_empty(), "{result}");
    for trial in trials {
        assert_eq!(trial["validity"]["state"], "valid", "{trial}");
    }
    result
}

const BESIDE: &str = r#"
name = "beside"
placement = "free"
max_blocks = 1
baseline = "SQL"
[keys]
recipe = "number"
count = 50
[[phase]]
name = "joins, sets beside"
op = "join"
count = 1000
only = ["SQL"]
beside = { client = "php/memcached", op = "set", count = 1 }
[[phase]]
name = "set, alone"
op = "set"
count = 50
only = ["memcached"]
[[phase]]
name = "sets, joins beside"
op = "set"
count = 50
only = ["memcached"]
beside = { client = "native", op = "join", count = 3000 }
[[phase]]
name = "seen"
op = "set_seen"
count = 50
only = ["SQL"]
[[variant]]
name = "SQL"
client = "native"
store = "mysql"
[[variant]]
name = "memcached"
client = "php/memcached"
store = "mysql"
"#;

#[test]
fn joins_and_sets_go_on_beside_one_another_and_what_was_set_is_seen() {
    let home = Home::new();
    let file = home.file("beside.toml", BESIDE);
    let result = valid(&home, &["run", &file]);
    let said = home.good(&["report"]);
    for phase in ["joins, sets beside", "sets, joins beside"] {
        let fact = format!("beside phase {phase}");
        assert!(said.contains(&fact), "{fact}:\n{said}");
    }
    // One set is over long before a thousand joins, and the joins are not.
    let told = result.to_string();
    assert!(told.contains("beside_ended"), "{told}");
    let trials = result["trials"].as_array().unwrap().iter();
    let phases = trials.flat_map(|trial| trial["phases"].as_array().unwrap());
    let outlasted: Vec<(&str, bool)> = phases
        .filter_map(|phase| {
            let outlasted = phase["beside"]["outlasted"].as_bool()?;
            Some((phase["name"].as_str().unwrap(), outlasted))
        })
        .collect();
    assert!(outlasted.contains(&("joins, sets beside", false)));
    assert!(outlasted.contains(&("sets, joins beside", true)));
}

/// Beside the variants of the study, the native client at the plugin's door.
const AT_THE_DOOR: &str = r#"
[[variant]]
name = "native, numbers"
client = "native"
store = "mysql"
against = "SQL, numbers"
options = { table = "numbers", protocol = "memcached" }

[[variant]]
name = "native, columns"
client = "native"
store = "mysql"
against = "SQL, columns"
options = { table = "columns", protocol = "memcached" }
"#;

#[test]
fn tables_with_numbers_and_with_columns_are_reached_by_sql_and_by_the_plugin() {
    let home = Home::new();
    let study = include_str!("../../../experiments/mysql-tables.toml");
    let file = home.file("tables.toml", &format!("{study}{AT_THE_DOOR}"));
    let result = valid(&home, &["run", &file, "--blocks", "1", "--count", "50"]);
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(trial["phases"][0]["outcomes"]["hit"], 50, "{trial}");
    }
}

#[test]
fn a_table_with_numbers_takes_no_other_keys_and_other_stores_have_no_tables() {
    let refused = |path: &str, word: &str| {
        let home = Home::new();
        let args = [
            "compare",
            "native@mysql",
            path,
            "--count",
            "50",
            "--blocks",
            "1",
        ];
        let ran = home.run(&args);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(word), "{path}: {said}");
    };
    refused(
        "native@mysql?protocol=memcached&table=numbers",
        "the keys of table `numbers` are numbers",
    );
    refused("native@memcached?table=numbers", "memcached has none");
}

#[test]
fn every_client_is_compared_on_every_store_that_it_reaches() {
    let families: [(&[&str], &[&str]); 4] = [
        (
            &["native", "php/phpredis", "php/predis"],
            &["redis", "redis-shards", "redis-cluster"],
        ),
        (
            &["native", "php/memcache", "php/memcached"],
            &["memcached", "memcached-shards"],
        ),
        (&["php/memcache", "php/memcached"], &["mysql"]),
        (&["native", "php/mysqli", "php/pdo"], &["mysql", "mariadb"]),
    ];
    let pairs = families.iter().flat_map(|(clients, stores)| {
        let of = |client| stores.iter().map(move |store| format!("{client}@{store}"));
        clients.iter().flat_map(of)
    });
    let pairs: Vec<String> = pairs.collect();
    let mut args = vec!["compare"];
    args.extend(pairs.iter().map(String::as_str));
    args.extend(["--op", "get", "--count", "100", "--blocks", "1"]);
    args.extend(["--placement", "shared"]);
    let result = valid(&Home::new(), &args);
    // All of them, and the control of the first.
    assert_eq!(result["trials"].as_array().unwrap().len(), pairs.len() + 1);
}

#[test]
fn a_door_that_speaks_no_tls_is_not_taken_for_one_that_does() {
    let home = Home::new();
    let paths = [
        "php/memcached@mysql?transport=tls",
        "native@mysql?protocol=memcached&transport=tls",
    ];
    for path in paths {
        let ran = home.run(&["compare", path, "native@mysql", "--op", "get"]);
        ran.refused(2, &["mysql speaks no TLS where it speaks memcached"]);
    }
}

#[test]
fn of_a_store_that_is_there_already_no_table_and_no_transport_is_chosen() {
    let home = Home::new();
    for (path, store) in [
        (
            "php/mysqli@mysql?table=numbers",
            "mysql=mysql://root@127.0.0.1:1/test",
        ),
        ("native@redis?transport=tls", "redis=redis://127.0.0.1:1"),
        ("native@redis?transport=unix", "redis=redis://127.0.0.1:1"),
    ] {
        let twice = format!("{path}&x=1");
        let ran = home.run(&["compare", path, &twice, "--store", store, "--op", "get"]);
        ran.refused(2, &["is there already", "is not to be had there"]);
    }
}
