//! `roundtrip calibrate` as a user calls it, and the bars on the floor in a real run.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Home, Running, children, soon};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn a_calibration_says_what_the_machine_can_tell_apart() {
    let home = Home::new();
    let text = home.good(&["calibrate", "--budget", "3s", "--format", "json", "--quiet"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    let clients: Vec<&str> = found["floors"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|floor| floor["placement"] == "shared")
        .map(|floor| floor["client"].as_str().unwrap())
        .collect();
    // Every client that is installed where the tests run, by the ordinary bench.
    assert_eq!(
        clients,
        [
            "native",
            "php/memcache",
            "php/memcached",
            "php/phpredis",
            "php/predis"
        ],
        "{}",
        found["warnings"]
    );
    for smallest in found["smallest"].as_array().unwrap() {
        let differences: Vec<f64> = smallest["after"]
            .as_array()
            .unwrap()
            .iter()
            .map(|after| after["difference"].as_f64().unwrap())
            .collect();
        assert_eq!(differences.len(), 4);
        assert!(differences.is_sorted_by(|a, b| a > b), "{differences:?}");
        assert!(smallest["pairs"].as_u64().unwrap() >= 3);
    }
    assert_eq!(found["smallest"].as_array().unwrap().len(), 2);
    let languages: Vec<&Value> = found["loops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cost| &cost["language"])
        .collect();
    assert_eq!(languages, ["native", "php"]);
    assert!(found["clock"]["call_ns"].as_f64().unwrap() > 0.0);
    let cpus = roundtrip_process::cpus::available().0.len();
    assert_eq!(found["gaps"].as_array().unwrap().len(), cpus);
}

#[test]
fn a_format_that_is_none_is_refused_before_a_minute_is_spent() {
    let home = Home::new();
    let ran = home.run(&["calibrate", "--format", "markdwn"]);
    ran.refused(2, &["markdwn", "did you mean `markdown`?"]);
}

#[test]
fn ctrl_c_ends_a_calibration_and_what_it_started() {
    let home = Home::new();
    let run = Running::start(&mut home.command(&["calibrate", "--budget", "40s", "--quiet"]));
    let pid = run.id();
    let servers = soon("a server or a client", || {
        let children = children(pid);
        (!children.is_empty()).then_some(children)
    });
    run.signal(Signal::INT);
    assert_eq!(run.end().code, Some(130));
    assert!(servers.iter().all(|pid| !common::runs(*pid)));
}

/// Every part is measured by its own clock; what does not sum is in doubt, and says so.
#[test]
fn the_parts_of_a_round_trip_sum_and_stand_beside_the_floor() {
    let home = Home::new();
    let text = home.good(&[
        "compare",
        "native",
        "php/memcached",
        "--store",
        "memcached",
        "--op",
        "get",
        "--count",
        "15000",
        "--placement",
        "split,shared",
        "--blocks",
        "2",
        "--format",
        "json",
        "--quiet",
    ]);
    let result: Value = serde_json::from_str(&text).unwrap();
    for trial in result["trials"].as_array().unwrap() {
        let phase = &trial["phases"][0];
        let ns = |name: &str| phase[name].as_f64().unwrap();
        let waiting = phase["metrics"]["waiting_ns_per_op"].as_f64().unwrap() * ns("ops");
        let sum = ns("user_ns") + ns("sys_ns") + ns("server_cpu_ns") + waiting;
        let record = serde_json::from_value(phase.clone()).unwrap();
        let doubt = roundtrip_model::parts::doubt(&record);
        let is_close = (sum / ns("wall_ns") - 1.0).abs() <= 0.03;
        assert!(is_close || doubt.is_some(), "{sum}: {phase}");
        let state = &phase["machine"];
        assert!(
            state["elapsed_ns"].as_f64().unwrap() >= ns("wall_ns"),
            "{state}"
        );
        let shares = state["clients"]["cpus"] == state["servers"]["cpus"];
        let cpus = roundtrip_process::cpus::available().0.len();
        assert_eq!(shares, trial["placement"] == "shared" || cpus == 1);
    }
    // The native client's bar is the least one too.
    let bars = result["run"]["floor_bars"].as_array().unwrap();
    let mut names: Vec<&str> = bars
        .iter()
        .map(|bar| bar["variant"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names,
        ["native", "native@floor", "php/memcached"],
        "{}",
        result["warnings"]
    );
    assert_eq!(bars.len(), 6);
    let page = home.good(&["report", "last", "--format", "markdown"]);
    assert!(page.contains("php/memcached, floor") && page.contains("what the server costs"));
}
