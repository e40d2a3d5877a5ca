//! Whole analyses of hand-made trials, with the figures that a hand calculation gives.

mod common;

use common::{TWO, blocks, experiment, get, near, void};
use roundtrip_model::analysis::Verdict;
use roundtrip_model::{Metric, Placement, WarningKind};
use roundtrip_stats::{all_decided, analyse, next_look};

/// Five blocks: drift from 1 s to 2 s, `new` at half the time, 1% up or down.
fn five() -> Vec<roundtrip_model::record::TrialRecord> {
    blocks(&[
        (1000, 1010, 505),
        (1200, 1188, 600),
        (1500, 1515, 742),
        (1800, 1782, 909),
        (2000, 2000, 1000),
    ])
}

#[test]
fn five_blocks_by_hand() {
    let analysis = analyse(&experiment(TWO), &five(), &[5], true);
    assert_eq!((analysis.blocks, analysis.void_trials), (5, 0));
    assert_eq!(
        analysis.comparisons.len(),
        1,
        "the control is no comparison"
    );
    let c = &analysis.comparisons[0];
    assert_eq!(
        (c.phase.as_str(), c.variant.as_str(), c.baseline.as_str()),
        ("get", "new", "old")
    );
    assert_eq!(
        (c.metric, c.placement, c.blocks),
        (Metric::OpsPerS, Placement::Split, 5)
    );

    // Operations a second are the inverse of the times, so the log ratios are ln(old / new).
    let logs: Vec<f64> = [
        (1000., 505.),
        (1200., 600.),
        (1500., 742.),
        (1800., 909.),
        (2000., 1000.),
    ]
    .iter()
    .map(|(old, new): &(f64, f64)| (old / new).ln())
    .collect();
    let mean = logs.iter().sum::<f64>() / 5.0;
    let sd = (logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    let half = 2.776_445_105_198 * sd / 5_f64.sqrt();
    near(c.interval.ratio, mean.exp());
    near(c.interval.ci_low, (mean - half).exp());
    near(c.interval.ci_high, (mean + half).exp());
    assert!(c.p.unwrap() < 1e-6);
    assert_eq!(c.verdict, Verdict::Faster);
    // t quantiles for 4 degrees of freedom: 2.776445 and 0.940965.
    near(
        c.detectable.unwrap(),
        ((2.776_445_105_198 + 0.940_964_577_2) * sd / 5_f64.sqrt()).exp() - 1.0,
    );
    let control = c.control.unwrap();
    assert!(control.ci_low < 1.0 && 1.0 < control.ci_high);
    assert!(all_decided(&analysis));
}

#[test]
fn summaries_are_medians_and_extremes_of_every_known_figure_with_the_control() {
    let analysis = analyse(&experiment(TWO), &five(), &[5], true);
    let of = |variant: &str, metric| {
        analysis
            .summaries
            .iter()
            .find(|s| s.variant == variant && s.metric == metric)
    };
    let old = of("old", Metric::LoopRealS).unwrap();
    assert_eq!(
        (old.median, old.min, old.max, old.trials),
        (1.5, 1.0, 2.0, 5)
    );
    assert_eq!(old.unit, "s");
    let control = of("old (control)", Metric::MeanNs).unwrap();
    assert_eq!((control.median, control.unit.as_str()), (1_515_000.0, "ns"));
    assert_eq!(
        of("old", Metric::ServerCpuNsPerOp),
        None,
        "what is not known has no line"
    );
}

#[test]
fn a_difference_beyond_doubt_but_smaller_than_delta_is_equivalent() {
    let exact = blocks(&[(1000, 1000, 990), (1200, 1200, 1188), (1500, 1500, 1485)]);
    let analysis = analyse(&experiment(TWO), &exact, &[3], true);
    let c = &analysis.comparisons[0];
    assert!(c.interval.ci_low > 1.0, "{c:?}");
    assert_eq!(c.verdict, Verdict::Equivalent);
    let strict = TWO.replace("name = \"two\"", "name = \"two\"\ndelta = \"0.5%\"");
    let analysis = analyse(&experiment(&strict), &exact, &[3], true);
    assert_eq!(analysis.comparisons[0].verdict, Verdict::Faster);
}

#[test]
fn a_difference_within_reach_of_the_control_is_not_given() {
    // `new` is always 10% faster; the control, the same path, swings by 30%.
    let wild = blocks(&[
        (1000, 1300, 900),
        (1000, 700, 901),
        (1000, 1290, 899),
        (1000, 720, 900),
        (1000, 1000, 900),
        (1000, 1010, 900),
    ]);
    let c = &analyse(&experiment(TWO), &wild, &[5, 6], true).comparisons[0];
    assert!(c.interval.ci_low > 1.05 && c.p.unwrap() < 0.001, "{c:?}");
    assert_eq!(c.verdict, Verdict::Undecided);

    // Without any trial of a control the condition cannot be asked.
    let without: Vec<_> = wild
        .into_iter()
        .filter(|t| t.variant != "old (control)")
        .collect();
    let c = &analyse(&experiment(TWO), &without, &[5, 6], true).comparisons[0];
    assert_eq!((c.control, c.verdict), (None, Verdict::Faster));
}

#[test]
fn before_the_first_look_nothing_is_concluded_and_the_interval_is_shown() {
    let analysis = analyse(&experiment(TWO), &five()[..9], &[], false);
    let c = &analysis.comparisons[0];
    assert_eq!((c.verdict, c.p, c.blocks), (Verdict::Undecided, None, 3));
    assert!(c.interval.ci_low > 1.5 && c.interval.ci_high < 2.5, "{c:?}");
    assert!(!all_decided(&analysis));

    let one = analyse(&experiment(TWO), &five()[..3], &[], false);
    let c = &one.comparisons[0];
    near(c.interval.ratio, 1000.0 / 505.0);
    assert_eq!(
        (c.interval.ci_low, c.interval.ci_high),
        (0.0, f64::INFINITY)
    );
    assert_eq!((c.p, c.detectable), (None, None));

    let nothing = analyse(&experiment(TWO), &[], &[], false);
    assert_eq!(nothing, roundtrip_model::analysis::Analysis::default());
    assert!(!all_decided(&nothing));
}

#[test]
fn a_planned_look_is_stricter_than_a_final_one() {
    let e = experiment(TWO);
    let planned = &analyse(&e, &five(), &[5], false).comparisons[0];
    let last = &analyse(&e, &five(), &[5], true).comparisons[0];
    assert_eq!(
        (planned.verdict, last.verdict),
        (Verdict::Undecided, Verdict::Faster)
    );
    assert!(planned.interval.ci_low < last.interval.ci_low);
    assert!(planned.p.unwrap() > last.p.unwrap());
}

#[test]
fn blocks_after_the_last_look_wait_for_the_next_unless_the_run_ended() {
    let e = experiment(TWO);
    let mut trials = five();
    trials.extend([
        get(5, "old", 10),
        get(5, "old (control)", 10),
        get(5, "new", 90),
    ]);
    let waits = analyse(&e, &trials, &[5], false);
    assert_eq!((waits.blocks, waits.comparisons[0].blocks), (6, 5));
    assert_eq!(
        waits.comparisons,
        analyse(&e, &five(), &[5], false).comparisons
    );
    assert_eq!(analyse(&e, &trials, &[5], true).comparisons[0].blocks, 6);
    assert_eq!(
        analyse(&e, &trials, &[5], true).comparisons,
        analyse(&e, &trials, &[5, 6], true).comparisons
    );
}

#[test]
fn a_void_trial_takes_its_block_from_its_own_comparison_only() {
    let text = format!(
        "{TWO}\n[[variant]]\nname = \"third\"\nclient = \"native\"\nstore = \"memcached\"\n"
    );
    let e = experiment(&text);
    let mut trials = five();
    trials.extend((0..5).map(|b| get(b, "third", 800_000_000 + u64::from(b))));
    let broken = trials
        .iter()
        .position(|t| t.block == 2 && t.variant == "new")
        .unwrap();
    trials[broken] = void(
        trials[broken].clone(),
        "the server counted 999 gets, the client 1000",
    );
    let analysis = analyse(&e, &trials, &[4], true);
    assert_eq!((analysis.blocks, analysis.void_trials), (4, 1));
    let blocks: Vec<_> = analysis
        .comparisons
        .iter()
        .map(|c| (c.variant.as_str(), c.blocks))
        .collect();
    assert_eq!(blocks, [("new", 4), ("third", 5)]);
    let warning = analysis
        .warnings
        .iter()
        .find(|w| w.kind == WarningKind::VoidTrials)
        .unwrap();
    assert_eq!(warning.subject, "new");
    assert_eq!(
        warning.detail,
        "1 of 5 trials are void; the first: the server counted 999 gets, the client 1000"
    );
}

#[test]
fn holm_is_over_all_comparisons_of_the_experiment() {
    let noisy = |b: u32, base: u64| base + u64::from(b % 3) * 9_000_000;
    let trials: Vec<_> = (0..6)
        .flat_map(|b| {
            [
                get(b, "old", 1_000_000_000),
                get(b, "new", noisy(b, 985_000_000)),
                get(b, "same", noisy(b, 990_000_000)),
            ]
        })
        .collect();
    let two = experiment(TWO);
    let three = experiment(&format!(
        "{TWO}\n[[variant]]\nname = \"same\"\nclient = \"native\"\nstore = \"memcached\"\n"
    ));
    let alone = analyse(&two, &trials, &[6], true).comparisons[0].p.unwrap();
    let both = analyse(&three, &trials, &[6], true).comparisons;
    let (new, same) = (both[0].p.unwrap(), both[1].p.unwrap());
    near(new, (2.0 * alone).min(1.0));
    assert!(same >= new);
}

#[test]
fn looks_follow_the_plan() {
    let e = experiment(TWO);
    let next: Vec<_> = [0, 4, 5, 19, 20, 39, 40, 99]
        .map(|n| next_look(&e, n))
        .to_vec();
    let plan = [
        Some(5),
        Some(5),
        Some(10),
        Some(20),
        Some(40),
        Some(40),
        None,
        None,
    ];
    assert_eq!(next, plan);
}
