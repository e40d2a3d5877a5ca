//! Several baselines in one experiment: each comparison has its own baseline and its own control.

mod common;

use common::{experiment, get, near};
use roundtrip_model::Metric;
use roundtrip_model::analysis::{Analysis, Comparison, Verdict};
use roundtrip_model::record::TrialRecord;
use roundtrip_stats::analyse;

/// Two baselines, each with two variants that are compared with it; one that is compared with the
/// experiment's baseline, because it says nothing.
const FOUR: &str = r#"
name = "four"
baseline = "single"
[[phase]]
op = "get"
count = 1000
[[variant]]
name = "single"
client = "php/predis"
store = "redis"
[[variant]]
name = "single pipe"
client = "php/predis"
store = "redis"
[[variant]]
name = "shards"
against = "shards"
client = "php/predis"
store = "redis-shards"
[[variant]]
name = "shards pipe"
against = "shards"
client = "php/predis"
store = "redis-shards"
[[published]]
phase = "get"
variant = "single"
rounds = { loop_real_s = [4.0, 4.2, 3.8] }
[[published]]
phase = "get"
variant = "single pipe"
figures = { loop_real_s = 2.0 }
[[published]]
phase = "get"
variant = "shards"
figures = { loop_real_s = 9.0 }
[[published]]
phase = "get"
variant = "shards pipe"
rounds = { loop_real_s = [3.0, 2.0, 4.0] }
"#;

/// `single` takes 1 s and its control swings by 30%; `shards` takes 10 s and its control is quiet.
/// Both variants take 0.9 of the time of their own baseline.
fn trials() -> Vec<TrialRecord> {
    let swing = [1300, 700, 1290, 720, 1000, 1010];
    let mut trials = Vec::new();
    for (block, swung) in swing.into_iter().enumerate() {
        let (block, wobble) = (block as u32, block as u64 % 2);
        for (name, ms) in [
            ("single", 1000),
            ("single (control)", swung),
            ("single pipe", 900 + wobble),
            ("shards", 10_000),
            ("shards (control)", 10_000 + wobble),
            ("shards pipe", 9_000 + wobble),
        ] {
            trials.push(get(block, name, ms * 1_000_000));
        }
    }
    trials
}

fn of<'a>(analysis: &'a Analysis, variant: &str) -> &'a Comparison {
    let mut found = analysis.comparisons.iter();
    found.find(|c| c.variant == variant).expect("is compared")
}

#[test]
fn each_comparison_has_its_own_baseline_and_its_own_control() {
    let analysis = analyse(&experiment(FOUR), &trials(), &[6], true);
    let names: Vec<_> = analysis
        .comparisons
        .iter()
        .map(|c| (c.variant.as_str(), c.baseline.as_str()))
        .collect();
    assert_eq!(
        names,
        [("single pipe", "single"), ("shards pipe", "shards")],
        "a baseline that is compared with nothing has no comparison"
    );
    assert_eq!(analysis.blocks, 6);
    let (single, shards) = (of(&analysis, "single pipe"), of(&analysis, "shards pipe"));
    // Operations a second: 1 / 0.9 of either.
    assert!((single.interval.ratio - 1.111).abs() < 0.001);
    assert!((shards.interval.ratio - 1.111).abs() < 0.001);
    let (noisy, quiet) = (single.control.unwrap(), shards.control.unwrap());
    assert!(noisy.ci_low < 0.9 && noisy.ci_high > 1.1, "{noisy:?}");
    assert!(quiet.ci_low > 0.999 && quiet.ci_high < 1.001, "{quiet:?}");
    // The same effect: within the reach of the one control, far beyond that of the other.
    assert_eq!(single.verdict, Verdict::Undecided);
    assert_eq!(shards.verdict, Verdict::Faster);
}

#[test]
fn a_baseline_can_be_compared_with_another() {
    let text = FOUR.replace("against = \"shards\"\nclient = \"php/predis\"\nstore = \"redis-shards\"\n[[variant]]\nname = \"shards pipe\"",
        "client = \"php/predis\"\nstore = \"redis-shards\"\n[[variant]]\nname = \"shards pipe\"");
    let e = experiment(&text);
    let analysis = analyse(&e, &trials(), &[6], true);
    let names: Vec<_> = analysis
        .comparisons
        .iter()
        .map(|c| (c.variant.as_str(), c.baseline.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("single pipe", "single"),
            ("shards", "single"),
            ("shards pipe", "shards")
        ]
    );
    let shards = of(&analysis, "shards");
    near(shards.interval.ratio, 0.1);
    assert_eq!(
        shards.control.unwrap(),
        of(&analysis, "single pipe").control.unwrap()
    );
}

#[test]
fn one_control_that_was_not_run_is_missed_by_its_own_comparisons_only() {
    let without: Vec<_> = trials()
        .into_iter()
        .filter(|t| t.variant != "single (control)")
        .collect();
    let analysis = analyse(&experiment(FOUR), &without, &[6], true);
    assert_eq!(analysis.blocks, 6);
    assert_eq!(of(&analysis, "single pipe").control, None);
    assert!(of(&analysis, "shards pipe").control.is_some());
}

#[test]
fn published_speeds_are_those_over_the_variants_own_baseline() {
    let rows = analyse(&experiment(FOUR), &trials(), &[6], true).published;
    let row = |variant: &str| rows.iter().find(|r| r.variant == variant).unwrap();
    let (single, pipe) = (row("single"), row("single pipe"));
    assert_eq!(
        (single.published_speed, single.baseline.as_deref()),
        (None, None)
    );
    assert_eq!(
        (single.published, &single.rounds[..]),
        (4.0, &[4.0, 4.2, 3.8][..])
    );
    assert_eq!(
        (
            single.measured,
            single.measured_min,
            single.measured_max,
            single.trials
        ),
        (Some(1.0), Some(1.0), Some(1.0), 6)
    );
    near(pipe.published_speed.unwrap(), 2.0);
    assert_eq!(pipe.rounds, []);
    let shards = row("shards pipe");
    assert_eq!(shards.metric, Metric::LoopRealS);
    assert_eq!(shards.baseline.as_deref(), Some("shards"));
    near(shards.published_speed.unwrap(), 3.0);
    assert!((shards.measured_speed.unwrap() - 1.111).abs() < 0.001);
    assert_eq!(
        (shards.measured_min, shards.measured_max),
        (Some(9.0), Some(9.001))
    );
    assert_eq!(shards.direction_agrees, Some(true));
}
