//! The JSON against its published schema, and the schema against the types.

use crate::fixture::{bare, document, paced, small};
use crate::study::study;
use roundtrip_model::{Metric, Op, Placement};
use roundtrip_report::{Document, RenderOptions, SCHEMA, format};
use serde_json::{Value, json};

fn json_of(document: &Document) -> Value {
    let bytes = format("json")
        .unwrap()
        .render(document, &RenderOptions::default());
    serde_json::from_slice(&bytes).unwrap()
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn faults(value: &Value) -> Vec<String> {
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    let faults = validator.iter_errors(value);
    faults
        .map(|e| format!("{} at {}", e, e.instance_path()))
        .collect()
}

#[test]
fn the_schema_is_one() {
    assert!(jsonschema::meta::is_valid(&schema()));
}

#[test]
fn every_document_follows_the_schema() {
    let mut hollow = bare();
    hollow.trials.clear();
    hollow.analysis = Default::default();
    let mut odd = document();
    odd.analysis.summaries[0].median = f64::NAN;
    odd.analysis.comparisons[0].interval.ratio = f64::INFINITY;
    odd.run.seed = u64::MAX;
    odd.trials[0].phases[0].ops = 0;
    odd.trials[0].phases[0].wall_ns = 0;
    for document in [document(), small(), bare(), paced(), study(), hollow, odd] {
        assert_eq!(faults(&json_of(&document)), Vec::<String>::new());
    }
}

#[test]
fn what_does_not_follow_the_schema_is_found() {
    for (at, wrong) in [
        ("/summaries/0/metric", json!("speed")),
        ("/comparisons/0/verdict", json!("better")),
        ("/trials/0/phases/0/ops", json!(-1)),
        ("/trials/0/phases/0/metrics", json!({})),
        ("/run/seed", json!("42")),
        ("/warnings/0", json!({"kind": "swap"})),
        ("/experiment", json!(null)),
    ] {
        let mut value = json_of(&small());
        *value.pointer_mut(at).unwrap() = wrong;
        assert!(!faults(&value).is_empty(), "{at}");
    }
    let mut value = json_of(&small());
    value["surprise"] = json!(1);
    assert!(!faults(&value).is_empty());
}

#[test]
fn the_schema_knows_every_name_of_the_types() {
    let schema = schema();
    let names = |at: &str| schema.pointer(at).unwrap().clone();
    let all = |names: Vec<&str>| json!(names);
    assert_eq!(
        names("/$defs/metric/enum"),
        all(Metric::ALL.iter().map(|m| m.name()).collect())
    );
    assert_eq!(
        names("/$defs/op/enum"),
        all(Op::ALL.iter().map(|o| o.name()).collect())
    );
    assert_eq!(
        names("/$defs/placement/enum"),
        all(Placement::ALL.iter().map(|p| p.name()).collect())
    );
}

#[test]
fn the_figures_that_are_asked_for_are_there() {
    let value = json_of(&document());
    assert_eq!(value["run"]["id"], "20261120-114502-k3f9");
    assert_eq!(value["run"]["environment"]["cpus"], 2);
    assert_eq!(value["trials"].as_array().unwrap().len(), 50);
    let comparison = &value["comparisons"][6];
    assert_eq!(comparison["variant"], "php/memcached");
    assert_eq!(comparison["ratio"], 1.118);
    assert_eq!(comparison["ci_low"], 1.091);
    assert_eq!(comparison["control"]["ci_high"], 1.021);
    assert_eq!(comparison["verdict"], "faster");
    let unequal = &value["warnings"][0];
    assert_eq!(unequal["kind"], "unequal_terms");
    assert_eq!(
        unequal["remedy"],
        "Do not read the ratio as one of equal work."
    );
    let native = value["trials"]
        .as_array()
        .unwrap()
        .iter()
        .find(|t| t["variant"] == "native")
        .unwrap();
    assert_eq!(
        native["phases"][0]["metrics"]["process_real_s"],
        Value::Null
    );
    assert!(native["phases"][0]["latency"]["quantiles"]["p99"].is_u64());
    assert_eq!(
        native["phases"][0]["latency"]["quantiles"]["p99.9"],
        Value::Null
    );
}

#[test]
fn a_single_block_has_no_upper_end() {
    let value = json_of(&bare());
    assert_eq!(value["comparisons"][0]["ci_high"], Value::Null);
    assert_eq!(value["comparisons"][0]["control"], Value::Null);
}
