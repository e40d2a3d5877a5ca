use crate::fixture::{bare, document};
use roundtrip_model::{Metric, Placement};
use roundtrip_report::{Document, RenderOptions, diff, diff_json};

/// The same run a day later, on a newer kernel, with `php/memcached` gone faster.
fn later() -> Document {
    let mut later = document();
    later.run.id = "20261121-090000-zzzz".to_owned();
    later.run.started_unix_ms += 86_400_000;
    let environment = &mut later.run.environment;
    environment.kernel = "6.12.0-1-amd64".to_owned();
    environment.load_1m = Some(3.0);
    environment
        .versions
        .insert("memcached".to_owned(), "1.6.39".to_owned());
    environment.settings.remove("sqlite synchronous");
    later.experiment.workload.phases[0].count = 10_000;
    later.analysis.summaries.retain(|s| s.variant != "native");
    for summary in &mut later.analysis.summaries {
        if summary.variant == "php/memcached" && summary.metric == Metric::OpsPerS {
            summary.median *= 2.0;
            summary.min *= 2.0;
            summary.max *= 2.0;
        }
    }
    later
}

#[test]
fn what_changed_comes_before_the_figures() {
    let options = RenderOptions::default();
    let text = String::from_utf8(diff(&document(), &later(), &options)).unwrap();
    let at = |needle: &str| {
        text.find(needle)
            .unwrap_or_else(|| panic!("no {needle} in\n{text}"))
    };
    assert!(at("6.1.0-28-amd64 → 6.12.0-1-amd64") < at("Figures"));
    assert!(at("version memcached: 1.6.18 → 1.6.39") < at("Figures"));
    assert!(at("setting sqlite synchronous: FULL → —") < at("Figures"));
    assert!(at("only in A: native") < at("Figures"));
    assert!(at("no verdict") > at("Figures"));
    assert!(!text.contains("load before"));
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_has_no_difference_to_itself() {
    let options = RenderOptions::default();
    let text = String::from_utf8(diff(&document(), &document(), &options)).unwrap();
    assert!(text.contains("Nothing that is known."));
    assert!(!text.contains("apart"));
}

#[test]
fn the_json_says_which_ranges_overlap() {
    let json: serde_json::Value =
        serde_json::from_slice(&diff_json(&document(), &later())).unwrap();
    let rows = json["figures"].as_array().unwrap();
    let row = |variant: &str| {
        rows.iter()
            .find(|r| {
                r["variant"] == variant
                    && r["metric"] == "ops_per_s"
                    && r["placement"] == Placement::Split.name()
            })
            .unwrap()
    };
    assert_eq!(row("php/memcached")["ratio"], 2.0);
    assert_eq!(row("php/memcached")["ranges_overlap"], false);
    assert_eq!(row("php/memcache")["ranges_overlap"], true);
    assert_eq!(row("php/memcache")["a"]["trials"], 5);
    assert!(json["note"].as_str().unwrap().contains("no verdict"));
    assert!(rows.iter().all(|r| r["variant"] != "native"));
}

#[test]
fn runs_with_nothing_in_common_are_told_apart() {
    let mut other = bare();
    other.analysis.summaries.clear();
    let text = String::from_utf8(diff(&document(), &other, &RenderOptions::default())).unwrap();
    assert!(text.contains("no variant and phase in common"), "{text}");
}
