//! Distributions, mixes and rates through the whole lab, on real servers and real libraries.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::Home;
use serde_json::Value;

/// The result of a comparison on one memcached, in one block.
fn compared(home: &Home, args: &[&str]) -> Value {
    let common = [
        "--store",
        "memcached",
        "--blocks",
        "1",
        "--budget",
        "60s",
        "--format",
        "json",
    ];
    // A busy machine may make trials void, which is no failure of what is looked at here.
    let ran = home.run(&[&["compare"], args, &common].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err))
}

fn phases(result: &Value) -> Vec<&Value> {
    let trials = result["trials"].as_array().unwrap();
    trials.iter().map(|trial| &trial["phases"][0]).collect()
}

#[test]
fn a_mix_over_zipf_is_the_same_work_for_every_client_and_the_server_agrees() {
    let home = Home::new();
    let result = compared(
        &home,
        &[
            "native",
            "php/memcached",
            "php/memcache",
            "--mix",
            "get=0.5,set=0.2,insert=0.1,read_modify_write=0.2",
            "--distribution",
            "zipf:0.99",
            "--keys",
            "300",
            "--count",
            "2000",
            "--connections",
            "3",
        ],
    );
    assert_eq!(result["void_trials"], 0, "{result}");
    let phases = phases(&result);
    assert_eq!(phases.len(), 4);
    for phase in &phases {
        assert_eq!(phase["outcomes"], phases[0]["outcomes"]);
        assert_eq!(phase["concurrency"], 3);
        // Exactly a tenth is inserted.
        let items = &phase["witness"]["store"];
        let held = |when: &str| items[when]["curr_items"].as_u64().unwrap();
        assert_eq!(held("after") - held("before"), 200);
    }
}

#[test]
fn a_rate_gives_response_times_and_another_depth_a_warning() {
    let home = Home::new();
    let result = compared(
        &home,
        &[
            "native",
            "native?depth=4",
            "--rate",
            "2000",
            "--arrivals",
            "poisson",
            "--count",
            "1000",
        ],
    );
    for phase in phases(&result) {
        assert_eq!(phase["pace"]["poisson"]["per_s"], 2000.0);
        assert_eq!(phase["response"]["count"], 1000);
        assert_eq!(phase["latency"]["count"], 1000);
        assert!(phase["lateness"]["max_ns"].is_u64());
        assert_eq!(phase["outcomes"]["hit"], 1000);
    }
    let warnings = result["warnings"].as_array().unwrap();
    let unequal = warnings.iter().find(|w| w["kind"] == "unequal_terms");
    assert_eq!(unequal.unwrap()["subject"], "native?depth=4");
}

#[test]
fn a_client_that_keeps_no_pace_is_refused_before_anything_starts() {
    let home = Home::new();
    let refused = home.run(&[
        "compare",
        "native",
        "php/memcached",
        "--store",
        "memcached",
        "--rate",
        "100",
    ]);
    refused.refused(2, &["cannot start the ops of phase `get` at a pace"]);
}
