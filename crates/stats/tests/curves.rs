//! Figures against factors, from experiments as a person writes them.

mod common;

use common::{experiment, near, phase, trial};
use roundtrip_model::Op;
use roundtrip_model::curve::{Curve, CurveFigure, Shape};
use roundtrip_model::record::{PhaseRecord, TrialRecord};
use roundtrip_stats::analyse;

fn variant(name: &str, store: &str, options: &str) -> String {
    format!(
        "[[variant]]\nname = \"{name}\"\nclient = \"php/predis\"\nstore = \"{store}\"\noptions = {{ {options} }}\n"
    )
}

/// Two stores at five depths, the first of them without saying so; one more with a transaction.
fn depths() -> String {
    let mut text = "name = \"d\"\n[[phase]]\nop = \"set\"\ncount = 1000\n".to_owned();
    for store in ["redis", "redis-shards"] {
        text += &variant(&format!("{store} 1"), store, "");
        for depth in [1000, 10, 100, 10_000] {
            text += &variant(
                &format!("{store} {depth}"),
                store,
                &format!("depth = {depth}"),
            );
        }
    }
    text + &variant("multi", "redis", "depth = 10, transaction = true")
}

/// So many nanoseconds an op, and bytes of memory, at a depth.
fn at_depth(variant: &str, block: u32) -> PhaseRecord {
    let depth: f64 = variant
        .rsplit_once(' ')
        .and_then(|(_, depth)| depth.parse().ok())
        .unwrap_or(10.0);
    let an_op = 50_000.0 / depth + 2_000.0 + f64::from(block);
    let mut record = phase(Op::Set, (an_op * 1000.0) as u64);
    (record.user_ns, record.sys_ns) = (Some(1_000_000), Some(500_000));
    record.client_max_rss_bytes = Some(20_000_000 + 1_000 * depth as u64);
    record
}

fn curves(text: &str, of: impl Fn(&str, u32) -> Vec<PhaseRecord>) -> Vec<Curve> {
    let e = experiment(text);
    let contestants = e.contestants();
    let trials: Vec<TrialRecord> = (0..5)
        .flat_map(|block| {
            let of = &of;
            contestants
                .iter()
                .map(move |name| trial(block, name, of(name.trim_end_matches(" (control)"), block)))
        })
        .collect();
    analyse(&e, &trials, &[5], true).curves
}

#[test]
fn variants_that_differ_in_a_numeric_option_are_a_line() {
    let found = curves(&depths(), |name, block| vec![at_depth(name, block)]);
    let lines: Vec<_> = found
        .iter()
        .map(|c| (c.line.as_str(), c.figure, c.knee.is_some()))
        .collect();
    use CurveFigure::*;
    let single = "php/predis@redis";
    let shards = "php/predis@redis-shards";
    assert_eq!(
        lines,
        [
            (single, TimeNsPerOp, true),
            (single, ClientCpuNsPerOp, false),
            (single, ClientMaxRssBytes, false),
            (shards, TimeNsPerOp, true),
            (shards, ClientCpuNsPerOp, false),
            (shards, ClientMaxRssBytes, false),
        ],
        "one depth with a transaction is no line"
    );
    let time = &found[0];
    assert_eq!(
        (time.factor.as_str(), time.phase.as_str()),
        ("depth", "set")
    );
    let factors: Vec<f64> = time.points.iter().map(|p| p.factor).collect();
    assert_eq!(factors, [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
    assert_eq!(time.points[0].variant, "redis 1");
    near(time.points[1].median, 7_002.0);
    near(time.points[1].min, 7_000.0);
    near(time.points[1].max, 7_004.0);
    assert_eq!(time.points[1].trials, 5);
    // 2,005 at the end; 2,052 at 1,000; 2,502 at 100.
    let knee = time.knee.unwrap();
    assert_eq!((knee.shape, knee.at), (Shape::Knee, Some(1000.0)));
    assert_eq!(
        (knee.block_low, knee.block_high),
        (Some(1000.0), Some(1000.0))
    );
    near(knee.gain_beyond.unwrap(), 1.0 - 2_007.0 / 2_052.0);
    near(found[1].points[0].median, 1_500.0);
    near(found[2].points[4].median, 30_000_000.0);
}

#[test]
fn words_two_values_or_another_difference_make_no_line() {
    let base = "name = \"d\"\n[[phase]]\nop = \"set\"\ncount = 1000\n";
    let of = |options: [&str; 3]| {
        let variants = options.iter().enumerate();
        let all: String = variants
            .map(|(i, o)| variant(&format!("{i}"), "redis", o))
            .collect();
        curves(&format!("{base}{all}"), |_, _| {
            vec![phase(Op::Set, 1_000_000)]
        })
    };
    assert_eq!(
        of(["batch = 1", "batch = 2", "batch = 4"]).len(),
        1,
        "only the time is known"
    );
    assert_eq!(of(["batch = 1", "batch = 2", "batch = 2"]), []);
    assert_eq!(of(["batch = 1", "batch = 2", "batch = \"all\""]), []);
    assert_eq!(of(["batch = 1", "batch = 2", "batch = 4, x = 1"]), []);
    assert_eq!(
        of(["batch = 1", "batch = 2", ""]),
        [],
        "only a depth is 1 where it is not said"
    );
}

#[test]
fn phases_that_differ_in_the_keys_of_an_op_are_a_line_a_variant() {
    let mut text = "name = \"k\"\n".to_owned();
    for keys in [2, 10, 50] {
        text += &format!(
            "[[phase]]\nname = \"get {keys}\"\nop = \"get_many\"\nkeys_per_op = {keys}\ncount = {}\n",
            1000 / keys
        );
    }
    text += "[[phase]]\nop = \"set\"\ncount = 10\n";
    text += &variant("a", "redis", "");
    text += &variant("b", "redis-shards", "");
    let found = curves(&text, |name, _| {
        let of_keys = |keys: u32| {
            let ops = 1000 / u64::from(keys);
            let a_key = if name == "a" { 1_000 } else { 3_000 };
            let mut record = phase(Op::GetMany, ops * (30_000 + a_key * u64::from(keys)));
            record.name = format!("get {keys}");
            (record.ops, record.keys_per_op) = (ops, keys);
            record
        };
        [2, 10, 50].map(of_keys).into()
    });
    let lines: Vec<_> = found
        .iter()
        .map(|c| {
            (
                c.line.as_str(),
                c.figure,
                c.factor.as_str(),
                c.phase.as_str(),
            )
        })
        .collect();
    use CurveFigure::*;
    assert_eq!(
        lines,
        [
            ("a", TimeNsPerKey, "keys_per_op", "get_many"),
            ("a", TimeNsPerOp, "keys_per_op", "get_many"),
            ("b", TimeNsPerKey, "keys_per_op", "get_many"),
            ("b", TimeNsPerOp, "keys_per_op", "get_many"),
        ]
    );
    assert_eq!(found[0].points[1].phase, "get 10");
    near(found[0].points[1].median, 4_000.0);
    near(found[1].points[1].median, 40_000.0);
    assert_eq!(found[0].knee.unwrap().shape, Shape::Falling);
    assert_eq!(
        found[1].knee, None,
        "the time of an op has none: it is a key that gets cheaper"
    );
}
