//! What a crash loses, by the binary against a real Redis: every kind of fault, the arithmetic of
//! the counts, and what happens when it is stopped or misused.

#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{Home, Running, children, runs, soon, trials};
use rustix::process::Signal;
use serde_json::Value;

const VARIANTS: &str = "\
[[faults.variant]]
name = \"one by one\"
client = \"php/phpredis\"
store = \"redis\"

[[faults.variant]]
name = \"pipeline\"
client = \"php/predis\"
store = \"redis\"
options = { depth = 50 }

[[faults.variant]]
name = \"transaction\"
client = \"php/phpredis\"
store = \"redis\"
options = { depth = 50, transaction = true }

[[faults.variant]]
name = \"logged transaction\"
client = \"php/predis\"
store = \"redis\"
options = { depth = 50, transaction = true, appendonly = \"yes\", appendfsync = \"always\" }
kinds = [\"server\"]
";

fn experiment(trials: u32) -> String {
    format!("name = \"small\"\n[faults]\nop = \"set\"\ncount = 2000\ntrials = {trials}\n{VARIANTS}")
}

fn number(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap()
}

/// What must hold of any trial, whatever was lost.
fn the_counts_add_up(trial: &Value) {
    let fault = &trial["fault"];
    let (sent, acknowledged) = (number(fault, "sent"), number(fault, "acknowledged"));
    let (applied, lost) = (number(fault, "applied"), number(fault, "acknowledged_lost"));
    let untold = number(&fault["found"], "unacknowledged");
    assert!(sent > number(fault, "after_ops") && sent <= 2000, "{trial}");
    assert!(acknowledged <= sent && applied <= sent, "{trial}");
    assert_eq!(applied, acknowledged - lost + untold, "{trial}");
    for never in ["beyond", "wrong", "torn"] {
        assert_eq!(number(&fault["found"], never), 0, "{never}: {trial}");
    }
    // Batches are acknowledged whole; of a transaction all is there or none.
    let depth = number(fault, "depth");
    assert_eq!(acknowledged % depth, 0, "{trial}");
    if fault["travel"] == "transaction" {
        assert_eq!(applied % depth, 0, "{trial}");
    }
}

/// What the settings promise.
fn what_is_promised_is_seen(row: &Value) {
    let name = row["variant"].as_str().unwrap();
    let is_logged = name.starts_with("logged");
    let (lost, all) = (number(row, "all_lost"), number(row, "all_acknowledged"));
    match row["kind"].as_str().unwrap() {
        "server" if is_logged => assert_eq!((lost, &row["keeps"]), (0, &"disk".into()), "{row}"),
        "server" => {
            assert_eq!((lost, &row["keeps"]), (all, &"nothing".into()), "{row}");
            assert_eq!(number(row, "all_applied"), 0, "{row}");
        }
        _ => assert_eq!(lost, 0, "{row}"),
    }
    assert_eq!(row["contradictions"], Value::Array(Vec::new()), "{row}");
}

#[test]
fn every_kind_of_fault_is_counted_exactly() {
    let home = Home::new();
    let file = home.file("small.toml", &experiment(3));
    let out = home.good(&["faults", &file, "--seed", "5", "--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    let trials = value["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 30);
    let is_valid = |t: &&Value| t["validity"]["state"] == "valid";
    trials.iter().filter(is_valid).for_each(the_counts_add_up);
    assert!(trials.iter().filter(is_valid).count() >= 25, "{out}");
    let rows = value["faults"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    rows.iter().for_each(what_is_promised_is_seen);

    let report = home.good(&["report"]);
    assert!(report.contains("What a crash loses: small"), "{report}");
    assert!(home.good(&["show"]).contains("Every trial"));
    assert!(home.good(&["runs"]).contains("small (faults)"));
    // It is a run like any other, in one file too.
    let id = value["run"]["id"].as_str().unwrap();
    home.good(&["export", id, "-o", "one.roundtrip"]);
    let other = Home::new();
    let copy = home.path("work/one.roundtrip");
    other.good(&["import", copy.to_str().unwrap()]);
    let json = ["report", "--format", "json"];
    assert!(other.good(&json) == home.good(&json), "the copy differs");
    let refused = home.run(&["diff", id, id]);
    refused.refused(2, &["tried faults", "roundtrip report"]);
}

#[test]
fn a_stop_keeps_what_is_finished_and_resume_goes_on_to_the_same_end() {
    let home = Home::new();
    let file = home.file("small.toml", &experiment(2));
    let args = ["faults", &file, "--seed", "5", "--format", "json"];
    let running = Running::start(&mut home.command(&args));
    soon("three trials are kept", || {
        (trials(&home.archive()) >= 3).then_some(())
    });
    let started: Vec<u32> = children(running.id());
    running.signal(Signal::INT);
    running.end().refused(130, &["stopped", "roundtrip resume"]);
    assert!(started.into_iter().all(|pid| !runs(pid)));
    let kept = trials(&home.archive());
    assert!((3..20).contains(&kept), "{kept}");
    let report = home.good(&["report"]);
    assert!(report.contains("stopped before its end"), "{report}");
    let out = home.good(&["resume", "--format", "json"]);
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["trials"].as_array().unwrap().len(), 20);
    assert_eq!(value["run"]["state"], "finished");
    home.run(&["resume"])
        .refused(2, &["is finished", "--trials"]);
}

#[test]
fn what_cannot_be_tried_is_refused_with_the_next_step() {
    let home = Home::new();
    home.run(&["faults", "redis-pipelin"])
        .refused(2, &["did you mean `redis-pipeline`?"]);
    home.run(&["faults", "quickstart"])
        .refused(2, &["says nothing of faults", "[faults]"]);
    home.run(&["faults", "redis-pipeline", "--trials", "0"])
        .refused(2, &["`trials` of [faults]"]);
    home.run(&["faults", "redis-pipeline", "--format", "pdf"])
        .refused(2, &["no format `pdf`"]);
    let file = home.file("small.toml", &experiment(1));
    home.run(&["run", &file])
        .refused(2, &["nothing to compare", "roundtrip faults"]);
    let with = |client: &str, store: &str, rest: &str| {
        let text = format!(
            "name = \"small\"\n[faults]\nop = \"set\"\ncount = 2000\ntrials = 1\n\
             [[faults.variant]]\nclient = \"{client}\"\nstore = \"{store}\"\n{rest}"
        );
        home.run(&["faults", &home.file("odd.toml", &text)])
    };
    with("native", "redis", "").refused(2, &["keeps no journal", "php/predis"]);
    with("php/predis", "memcached", "").refused(2, &["does not reach", "odd.toml:"]);
    with("php/predis", "redis", "options = { dept = 5 }").refused(2, &["`dept`"]);
    with("php/predis", "redis", "strom = 5").refused(2, &["unknown field", "odd.toml:"]);
    assert_eq!(trials(&home.archive()), 0);
}
