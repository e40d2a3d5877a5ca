//! `roundtrip project` on a run that was really made.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::Home;
use serde_json::Value;

/// SQLite in the client's own process against an in-memory server over TCP. Which of them takes
/// longer, and whether five blocks are enough to tell, is the machine's affair.
const EXPERIMENT: &str = r#"
name = "day"
title = "Two stores a day"
placement = "shared"
max_blocks = 5
budget_s = 60.0
[[phase]]
op = "set"
count = 300
[[variant]]
name = "durable"
client = "native"
store = "sqlite"
[[variant]]
name = "memory"
client = "native"
store = "floor"
[projection]
per_day = 1570000
servers = 5
phase = "set"
unit_ops = 10000
published_saved_s = 10.0
source = "26 minutes of web-server time a day"
"#;

fn close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs(),
        "{found} {expected}"
    );
}

fn problem(home: &Home, args: &[&str], code: i32, words: &[&str]) {
    let ran = home.run(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}{}", ran.out, ran.err);
    for word in words {
        assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
    }
}

#[test]
fn a_run_is_projected_on_a_load() {
    let home = Home::new();
    let file = home.file("day.toml", EXPERIMENT);
    home.good(&["run", &file, "--quiet", "--seed", "7"]);

    let report: Value = serde_json::from_str(&home.good(&["report", "--format", "json"])).unwrap();
    let mean_ns = |variant: &str| {
        let trials = report["trials"].as_array().unwrap().iter();
        let of: Vec<f64> = trials
            .filter(|t| t["variant"] == variant)
            .map(|t| t["phases"][0]["metrics"]["mean_ns"].as_f64().unwrap())
            .collect();
        of.iter().sum::<f64>() / of.len() as f64
    };
    let saved_ns = mean_ns("durable") - mean_ns("memory");

    // The load is that of the experiment's published projection.
    let json: Value =
        serde_json::from_str(&home.good(&["project", "last", "--format", "json"])).unwrap();
    let one = &json["projections"][0];
    assert_eq!(json["projections"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&one["variant"], &one["baseline"]),
        (&"memory".into(), &"durable".into())
    );
    close(
        &one["saved_s_per_day"]["mean"],
        1_570_000.0 * saved_ns / 1e9,
    );
    close(
        &one["saved_s_per_server"]["mean"],
        314_000.0 * saved_ns / 1e9,
    );
    close(&one["published"]["published_saved_s"], 10.0);

    let text = home.good(&["project"]);
    let saved = &one["saved_s_per_day"];
    let answer = match (saved["low"].as_f64(), saved["high"].as_f64()) {
        (Some(low), Some(high)) if low <= 0.0 && high >= 0.0 => "Nothing is saved for certain: ",
        (Some(_), Some(high)) if high < 0.0 => "`memory` loses ",
        (Some(_), Some(_)) => "`memory` saves ",
        ends => panic!("five blocks have an interval: {ends:?}"),
    };
    for words in [
        answer,
        "1,570,000 / 10,000 x 10.0 s = 1,570 s = 26 min 10 s, over 5 servers",
        "26 minutes of web-server time a day",
        "by Student's t over the differences within",
    ] {
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(words), "`{words}` is not in:\n{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );

    let more = home.good(&[
        "project",
        "last",
        "--per-day",
        "1,000,000",
        "--servers",
        "2",
        "--price-per-cpu-hour",
        "0.05",
        "--currency",
        "EUR",
        "--quota-cpu-hours",
        "6.5",
        "--quota-bytes",
        "1e9",
        "--bytes-per-op",
        "400",
        "--format",
        "markdown",
    ]);
    for words in [
        "1,000,000 ops a day over 2 servers",
        "0.0500 EUR",
        "- within the quota of bytes: 1,000,000,000 B / 400 B an op = 2,500,000 ops a day",
        "- within the CPU quota, memory: 6.50 h / ",
    ] {
        assert!(more.contains(words), "`{words}` is not in:\n{more}");
    }

    problem(
        &home,
        &["project", "last", "--variant", "memry"],
        2,
        &["memry", "memory"],
    );
    problem(
        &home,
        &["project", "last", "--phase", "sett"],
        2,
        &["sett", "set"],
    );
    problem(
        &home,
        &["project", "last", "--variant", "durable"],
        2,
        &["it is compared with nothing"],
    );
    problem(
        &home,
        &["project", "last", "--per-day", "0"],
        2,
        &["above 0"],
    );
    problem(
        &home,
        &["project", "last", "--quota-bytes", "5"],
        2,
        &["--bytes-per-op"],
    );
    problem(
        &home,
        &["project", "last", "--format", "html"],
        2,
        &["format"],
    );
}

#[test]
fn a_run_that_compares_nothing_saves_nothing() {
    let home = Home::new();
    let alone = "name = \"alone\"\nplacement = \"shared\"\nmax_blocks = 2\n[[phase]]\nop = \"get\"\n\
                 count = 200\n[[variant]]\nclient = \"native\"\nstore = \"floor\"\n";
    let file = home.file("alone.toml", alone);
    home.good(&["run", &file, "--quiet"]);
    problem(&home, &["project"], 2, &["ops a day", "--per-day"]);
    problem(
        &home,
        &["project", "--per-day", "1000"],
        2,
        &["compares nothing"],
    );
    problem(
        &home,
        &["project", "nosuchrun", "--per-day", "1000"],
        2,
        &["nosuchrun"],
    );
}
