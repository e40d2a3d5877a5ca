//! What stands beside a verdict: published figures and warnings, one case each.

mod common;

use common::{TWO, blocks, experiment, get, near, phase, trial};
use roundtrip_model::analysis::{Analysis, PublishedRow};
use roundtrip_model::contract::outcome;
use roundtrip_model::record::{PhaseRecord, ProcessUsage, TrialRecord};
use roundtrip_model::{Metric, Op, Placement, WarningKind};
use roundtrip_stats::analyse;

const PUBLISHED: &str = r#"
[[published]]
phase = "get"
variant = "old"
figures = { ops_per_s = 1000.0, process_real_s = 5.489 }
[[published]]
phase = "get"
variant = "new"
figures = { ops_per_s = 1200.0, process_real_s = 4.667, loop_user_s = 0.752 }
"#;

/// Six blocks in which `new` takes this share of the time of `old`, the process 0.1 s more.
fn run(share: f64) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for block in 0..6u32 {
        let wobble = 1.0 + 0.002 * f64::from(block % 3);
        for (variant, seconds) in [
            ("old", 1.0),
            ("old (control)", 1.0 / wobble),
            ("new", share * wobble),
        ] {
            let wall_ns = (seconds * 1e9) as u64;
            let mut record = phase(Op::Get, wall_ns);
            record.process = Some(ProcessUsage {
                real_ns: wall_ns + 100_000_000,
                user_ns: wall_ns / 2,
                sys_ns: wall_ns / 4,
            });
            trials.push(trial(block, variant, vec![record]));
        }
    }
    trials
}

fn rows(share: f64) -> Vec<PublishedRow> {
    let e = experiment(&format!("{TWO}{PUBLISHED}"));
    analyse(&e, &run(share), &[6], true).published
}

fn row(rows: &[PublishedRow], variant: &str, metric: Metric) -> PublishedRow {
    let found = rows
        .iter()
        .find(|r| r.variant == variant && r.metric == metric);
    found.expect("the row is there").clone()
}

#[test]
fn a_published_figure_stands_beside_the_median() {
    let rows = rows(0.8);
    assert_eq!(rows.len(), 5);
    let old = row(&rows, "old", Metric::OpsPerS);
    near(old.measured.unwrap(), 1000.0);
    near(old.ratio.unwrap(), 1.0);
    assert_eq!(
        (
            old.published_speed,
            old.measured_speed,
            old.direction_agrees
        ),
        (None, None, None)
    );
    let user = row(&rows, "new", Metric::LoopUserS);
    assert_eq!(
        (user.measured, user.ratio, user.published_speed),
        (None, None, None)
    );
}

#[test]
fn speeds_point_upwards_for_either_kind_of_metric_and_the_direction_is_judged() {
    let rows = rows(0.8);
    let ops = row(&rows, "new", Metric::OpsPerS);
    near(ops.published_speed.unwrap(), 1.2);
    assert!((ops.measured_speed.unwrap() - 1.25).abs() < 0.01, "{ops:?}");
    assert_eq!(ops.direction_agrees, Some(true));
    // Not compared by the experiment, so by its own interval: 1.1 s against 0.9 s.
    let process = row(&rows, "new", Metric::ProcessRealS);
    near(process.published_speed.unwrap(), 5.489 / 4.667);
    assert!((process.measured_speed.unwrap() - 1.1 / 0.9).abs() < 0.01);
    assert_eq!(process.direction_agrees, Some(true));
}

#[test]
fn the_other_side_or_no_difference_here_does_not_agree() {
    for metric in [Metric::OpsPerS, Metric::ProcessRealS] {
        assert_eq!(
            row(&rows(1.25), "new", metric).direction_agrees,
            Some(false)
        );
        assert_eq!(row(&rows(1.0), "new", metric).direction_agrees, Some(false));
    }
}

#[test]
fn an_undecided_comparison_says_nothing_of_the_direction() {
    let e = experiment(&format!("{TWO}{PUBLISHED}"));
    let trials = run(0.8);
    for (looks, is_final) in [(&[][..], false), (&[5][..], false)] {
        for row in analyse(&e, &trials, looks, is_final).published {
            assert_eq!(row.direction_agrees, None, "{row:?}");
        }
    }
}

/// Two blocks of both variants and the control, every phase as `make` says.
fn warned(
    text: &str,
    kind: WarningKind,
    make: impl Fn(&str, u32) -> PhaseRecord,
) -> Vec<(String, String)> {
    let mut trials = Vec::new();
    for block in 0..2 {
        for variant in ["old", "old (control)", "new"] {
            trials.push(trial(block, variant, vec![make(variant, block)]));
        }
    }
    of(&analyse(&experiment(text), &trials, &[2], true), kind)
}

fn of(analysis: &Analysis, kind: WarningKind) -> Vec<(String, String)> {
    let of_kind = analysis.warnings.iter().filter(|w| w.kind == kind);
    of_kind
        .map(|w| (w.subject.clone(), w.detail.clone()))
        .collect()
}

fn line(subject: &str, detail: &str) -> Vec<(String, String)> {
    vec![(subject.to_owned(), detail.to_owned())]
}

#[test]
fn nothing_is_warned_of_quiet_figures() {
    let analysis = analyse(&experiment(TWO), &run(0.8), &[6], true);
    assert_eq!(analysis.warnings, []);
}

#[test]
fn a_trend_is_counted_by_variant() {
    let found = warned(TWO, WarningKind::NoSteadyState, |variant, block| {
        let mut record = phase(Op::Get, 1000);
        record.steady = Some(!(variant == "new" || (variant == "old" && block == 0)));
        record
    });
    let detail = "old: the rate still trended in 1 of 2 trials; new: the rate still trended in 2 of 2 trials";
    assert_eq!(found, line("get (split)", detail));
}

#[test]
fn waiting_over_half_of_the_time_in_a_sequential_phase() {
    let make = |depth: u32| {
        move |variant: &str, _| {
            let mut record = phase(Op::Get, 1_000_000);
            record.depth = depth;
            record.user_ns = Some(if variant == "new" { 600_000 } else { 100_000 });
            (record.sys_ns, record.server_cpu_ns) = (Some(100_000), Some(100_000));
            record
        }
    };
    let detail = "old: 70% of the time is waiting; old (control): 70% of the time is waiting";
    assert_eq!(
        warned(TWO, WarningKind::WaitingDominates, make(1)),
        line("get (split)", detail)
    );
    assert_eq!(warned(TWO, WarningKind::WaitingDominates, make(8)), []);
}

#[test]
fn a_client_busy_all_the_time_where_the_server_has_its_own_core() {
    let make = |server_ns: u64| {
        move |variant: &str, _| {
            let mut record = phase(Op::Get, 1_000_000);
            record.user_ns = Some(if variant == "new" { 700_000 } else { 600_000 });
            (record.sys_ns, record.server_cpu_ns) = (Some(260_000), Some(server_ns));
            record
        }
    };
    let detail = "new: the client's CPU time is 96% of the wall time";
    assert_eq!(
        warned(TWO, WarningKind::ClientSaturated, make(5)),
        line("get (split)", detail)
    );
    assert_eq!(
        warned(TWO, WarningKind::ClientSaturated, make(0)),
        [],
        "there is no server"
    );
}

#[test]
fn hits_other_than_asked_for() {
    let text = TWO.replace("count = 1000", "count = 1000\nhit_ratio = 0.9");
    let make = |hits: u64| {
        move |variant: &str, _| {
            let mut record = phase(Op::Get, 1_000_000);
            let hits = if variant == "new" { hits } else { 900 };
            record.outcomes.insert(outcome::HIT.to_owned(), hits);
            record
                .outcomes
                .insert(outcome::MISS.to_owned(), 1000 - hits);
            record
        }
    };
    assert_eq!(warned(&text, WarningKind::HitRatioOff, make(904)), []);
    let detail = "new: 89.0% of the reads found their key, 90.0% were asked for";
    assert_eq!(
        warned(&text, WarningKind::HitRatioOff, make(890)),
        line("get (split)", detail)
    );
}

#[test]
fn of_a_read_through_a_cache_the_hits_of_the_cache_count() {
    let text = TWO.replace("op = \"get\"", "op = \"read_aside\"");
    let found = warned(&text, WarningKind::HitRatioOff, |variant, _| {
        let mut record = phase(Op::ReadAside, 1_000_000);
        record.outcomes.insert(outcome::HIT.to_owned(), 1000);
        if variant == "new" {
            record.cache_outcomes.insert(outcome::HIT.to_owned(), 500);
            record.cache_outcomes.insert(outcome::MISS.to_owned(), 500);
        }
        record
    });
    let detail = "new: 50.0% of the reads found their key, 100.0% were asked for";
    assert_eq!(found, line("read_aside (split)", detail));
}

#[test]
fn writes_that_were_not_all_acknowledged_are_not_equal_terms() {
    let text = TWO.replace("op = \"get\"", "op = \"set\"");
    let found = warned(&text, WarningKind::UnequalTerms, |variant, _| {
        let mut record = phase(Op::Set, 1_000_000);
        let stored = if variant == "new" { 990 } else { 1000 };
        record.outcomes.insert(outcome::STORED.to_owned(), stored);
        record
    });
    let detail = "writes acknowledged a trial: old 1000, old (control) 1000, new 990";
    assert_eq!(found, line("set (split)", detail));
}

#[test]
fn what_many_have_is_told_of_the_first_with_the_names_of_a_few() {
    let variants = (1..=5).map(|n| {
        format!("[[variant]]\nname = \"more {n}\"\nclient = \"native\"\nstore = \"floor\"\n")
    });
    let text = format!("{TWO}{}", variants.collect::<String>());
    let names = [
        "old",
        "old (control)",
        "new",
        "more 1",
        "more 2",
        "more 3",
        "more 4",
    ];
    let mut trials = Vec::new();
    for name in names {
        let mut record = phase(Op::Get, 1_000_000);
        record.steady = Some(false);
        trials.push(trial(0, name, vec![record]));
    }
    let analysis = analyse(&experiment(&text), &trials, &[1], true);
    let detail = "`old`: the rate still trended in 1 of 1 trials; likewise `new`, `more 1`, \
                  `more 2` and 2 more";
    assert_eq!(
        of(&analysis, WarningKind::NoSteadyState),
        line("get (split)", detail)
    );
}

#[test]
fn methods_that_disagree_are_named_above_the_comparison() {
    // One block of twenty in which `new` took five times as long.
    let mut times: Vec<_> = (0..20)
        .map(|b| (1000, 1000 + b % 2, 1020 + b % 3))
        .collect();
    times[7].2 = 5000;
    let analysis = analyse(&experiment(TWO), &blocks(&times), &[20], true);
    assert!(!analysis.comparisons[0].disagreements.is_empty());
    let found = of(&analysis, WarningKind::MethodsDisagree);
    assert_eq!(found[0].0, "new, get (split), operations a second");
    assert_eq!(found[0].1, analysis.comparisons[0].disagreements.join("; "));
}

#[test]
fn each_placement_is_compared_for_itself() {
    let text = TWO.replace(
        "name = \"two\"",
        "name = \"two\"\nplacement = [\"split\", \"shared\", \"free\"]",
    );
    let mut trials = Vec::new();
    for block in 0..5 {
        for (variant, split, shared) in [
            ("old", 100, 40),
            ("old (control)", 100, 40),
            ("new", 100, 30),
        ] {
            trials.push(get(block, variant, split));
            let mut on_one_core = get(block, variant, shared);
            on_one_core.placement = Placement::Shared;
            trials.push(on_one_core);
        }
    }
    let analysis = analyse(&experiment(&text), &trials, &[5], true);
    assert_eq!(
        analysis.blocks, 5,
        "a placement that was not possible does not count"
    );
    let found: Vec<_> = analysis
        .comparisons
        .iter()
        .map(|c| (c.placement, c.interval.ratio))
        .collect();
    assert_eq!(found[0], (Placement::Split, 1.0));
    assert_eq!(found[1].0, Placement::Shared);
    near(found[1].1, 4.0 / 3.0);
}
