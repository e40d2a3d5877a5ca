//! The proofs of the method that have one right answer on any machine, however slow or busy: what
//! is void, and why. The others are run as experiments (`bench/proofs/run.sh`).

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Home;
use serde_json::Value;

/// The exit code of a run of which no trial can be used.
const VOID: i32 = 5;

/// Each trial with its variant and the reason for which it is void.
fn trials(home: &Home) -> Vec<(String, Option<String>)> {
    let text = home.good(&["report", "last", "--format", "json"]);
    let result: Value = serde_json::from_str(&text).unwrap();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let trials = result["trials"].as_array().unwrap().iter();
    trials
        .map(|trial| {
            let validity = &trial["validity"];
            let is_valid = validity["state"] == "valid";
            assert_eq!(is_valid, validity["reason"].is_null(), "{trial}");
            (text(&trial["variant"]).unwrap(), text(&validity["reason"]))
        })
        .collect()
}

#[test]
fn a_dropped_a_garbled_and_a_doubled_reply_void_the_trial_and_an_honest_server_does_not() {
    let home = Home::new();
    home.good(&["run", "proof-witness"]);
    let trials = trials(&home);
    // The baseline takes part twice.
    assert_eq!(trials.len(), 5, "{trials:?}");
    for (variant, reason) in &trials {
        let expected = match variant.as_str() {
            "drops" => "2 operations of phase `get` failed: connection",
            "garbles" => "reads of phase `get` gave a wrong value",
            "doubles" => "2 operations of phase `get` failed: surplus_reply",
            _ => {
                assert_eq!(*reason, None, "{variant}");
                continue;
            }
        };
        let reason = reason.as_deref().unwrap_or("nothing");
        assert!(reason.contains(expected), "{variant}: {reason}");
    }
}

#[test]
fn a_generator_that_cannot_keep_its_rate_voids_every_trial() {
    let home = Home::new();
    let ran = home.run(&["run", "proof-generator"]);
    assert_eq!(ran.code, Some(VOID), "{}\n{}", ran.out, ran.err);
    assert!(
        ran.err
            .contains("the generator of phase `get` was the bottleneck")
    );
    let trials = trials(&home);
    assert!(trials.len() >= 2, "{trials:?}");
    for (variant, reason) in &trials {
        let reason = reason.as_deref().unwrap_or("nothing");
        assert!(reason.contains("was the bottleneck"), "{variant}: {reason}");
    }
}
