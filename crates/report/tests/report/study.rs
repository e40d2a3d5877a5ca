//! A study as large as they come: 18 contestants, three of them controls, in three phases, with
//! five depths, published rounds, terms, and a projection. What is concluded is computed, not
//! written down.

use crate::fixture;
use roundtrip_model::record::{PhaseRecord, TrialRecord, Validity};
use roundtrip_model::{Experiment, Placement, Term, Warning, WarningKind, stream};
use roundtrip_report::{Document, RenderOptions, format};
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

const STORES: [&str; 3] = ["redis", "redis-shards", "redis-cluster"];
const PHASES: [(&str, &str); 3] = [
    ("incrby", "incr"),
    ("set", "set"),
    ("read-add-write", "read_modify_write"),
];
const DEPTHS: [u32; 4] = [10, 100, 1000, 10_000];

/// The experiment as a person writes it.
fn text() -> String {
    let mut text = "name = \"redis-pipeline\"\ntitle = \"One round trip each, or one for all\"\n\
        question = \"What does a pipeline gain, and at which depth?\"\n\
        source = \"a published measurement (Predis, one Redis and three)\"\n\
        metrics = [\"loop_real_s\"]\nplacement = \"shared\"\n[values]\nrecipe = \"zero\"\n"
        .to_owned();
    for (name, op) in PHASES {
        let _ = writeln!(
            text,
            "[[phase]]\nname = \"{name}\"\nop = \"{op}\"\ncount = 10000"
        );
    }
    for store in STORES {
        let _ = writeln!(
            text,
            "[[variant]]\nname = \"sequential {store}\"\nagainst = \"sequential {store}\"\n\
             client = \"php/predis\"\nstore = \"{store}\""
        );
        for depth in DEPTHS {
            let _ = writeln!(
                text,
                "[[variant]]\nname = \"pipeline {depth} {store}\"\nagainst = \"sequential {store}\"\n\
                 client = \"php/predis\"\nstore = \"{store}\"\noptions = {{ depth = {depth} }}"
            );
        }
    }
    for (variant, rounds) in [
        ("sequential redis", "4.7250, 4.6734, 4.7344, 4.6071, 4.6769"),
        (
            "pipeline 10000 redis",
            "0.6191, 0.6413, 0.8552, 0.8497, 0.6428",
        ),
        (
            "sequential redis-shards",
            "4.8469, 4.9195, 4.8138, 4.8543, 4.8286",
        ),
        (
            "pipeline 10000 redis-shards",
            "0.7360, 0.6427, 0.7284, 0.7145, 0.6962",
        ),
    ] {
        let _ = writeln!(
            text,
            "[[published]]\nphase = \"incrby\"\nvariant = \"{variant}\"\nrounds = {{ loop_real_s = [{rounds}] }}"
        );
    }
    text + "[projection]\nper_day = 1570000\nservers = 5\nphase = \"read-add-write\"\n\
            variant = \"pipeline 10000 redis-shards\"\nunit_ops = 10000\npublished_saved_s = 10.0\n\
            source = \"1,570 s = 26 minutes of web-server time a day\"\n"
}

fn noise(a: u64, b: u64) -> f64 {
    (stream::mix(a, b) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn phase(name: &str, op: &str, variant: &str, seed: u64) -> PhaseRecord {
    let depth: u32 = variant
        .split(' ')
        .nth(1)
        .and_then(|d| d.parse().ok())
        .unwrap_or(1);
    let shards = if variant.contains("redis-") {
        900.0
    } else {
        0.0
    };
    let floor = 4_000.0 + shards + if op == "set" { 500.0 } else { 0.0 };
    let an_op =
        (60_000.0 / f64::from(depth) + floor) * (1.0 + 0.02 * noise(seed, u64::from(depth)));
    let ops = 10_000;
    let mut record: PhaseRecord = serde_json::from_value(serde_json::json!({
        "name": name, "op": op, "ops": ops, "depth": depth, "concurrency": 1,
        "wall_ns": (an_op * f64::from(ops)) as u64,
        "user_ns": (0.5 * floor * f64::from(ops)) as u64,
        "sys_ns": (0.1 * an_op * f64::from(ops)) as u64,
        "server_cpu_ns": (0.3 * floor * f64::from(ops)) as u64,
        "client_max_rss_bytes": 20_000_000 + 600 * u64::from(depth),
        "outcomes": { "stored": ops }, "slices_ns": [], "witness": {}, "samples": [],
    }))
    .unwrap();
    if op == "set" {
        let synced = if variant.contains("cluster") && depth == 10_000 {
            10
        } else {
            10_000
        };
        record.terms = [(Term::Fsyncs, synced), (Term::LogBytes, 550_000)].into();
    }
    record
}

/// Six blocks of it.
pub fn study() -> Document {
    let experiment = Experiment::parse(&text(), "redis-pipeline.toml").unwrap();
    let mut trials = Vec::new();
    for block in 0..6u32 {
        for (position, variant) in experiment.contestants().iter().enumerate() {
            let seed = u64::from(block) * 1000 + position as u64;
            trials.push(TrialRecord {
                block,
                position: position as u32,
                variant: variant.to_string(),
                placement: Placement::Shared,
                started_unix_ms: 1_795_175_102_000 + trials.len() as u64 * 3_500,
                took_ns: 3_400_000_000,
                validity: Validity::Valid,
                phases: PHASES
                    .map(|(name, op)| phase(name, op, variant, seed))
                    .into(),
                fault: None,
                warnings: Vec::new(),
            });
        }
    }
    let mut run = fixture::document().run;
    run.experiment = experiment.name.clone();
    run.experiment_text = experiment.text.clone();
    run.command = "roundtrip run redis-pipeline".to_owned();
    run.floor_bars = Vec::new();
    let analysis = roundtrip_stats::analyse(&experiment, &trials, &[6], true);
    Document {
        run,
        experiment,
        trials,
        analysis,
    }
}

fn rendered(name: &str, document: &Document, width: usize) -> String {
    let options = RenderOptions {
        width,
        color: false,
    };
    let bytes = format(name).unwrap().render(document, &options);
    String::from_utf8(bytes).unwrap()
}

/// The part of a text from one line to another.
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from}"));
    let end = text[start..].find(to).unwrap_or_else(|| panic!("no {to}"));
    &text[start..start + end]
}

#[test]
fn the_verdicts_of_a_large_study_stand_in_groups() {
    let text = rendered("terminal", &study(), 80);
    insta::assert_snapshot!(part(&text, "Before you read on", "incrby, shared (server"));
    assert!(text.lines().all(|line| line.width() <= 80));
    let titles = text
        .lines()
        .filter(|line| line.contains("against `sequential"));
    assert_eq!(titles.count(), 9, "three phases, three baselines");
}

#[test]
fn each_baseline_has_its_own_table_in_a_phase() {
    let text = rendered("terminal", &study(), 80);
    insta::assert_snapshot!(part(
        &text,
        "set, shared (server and client on one core)\n",
        "An operation: latency"
    ));
}

#[test]
fn a_factor_has_its_curves_and_its_knee() {
    let text = rendered("terminal", &study(), 80);
    insta::assert_snapshot!(part(
        &text,
        "What depth does: set",
        "What depth does: read-add-write"
    ));
    let markdown = rendered("markdown", &study(), 80);
    insta::assert_snapshot!(part(
        &markdown,
        "## What depth does: set",
        "## What depth does: read-add"
    ));
}

#[test]
fn published_rounds_stand_beside_the_trials() {
    let text = rendered("terminal", &study(), 80);
    insta::assert_snapshot!(part(
        &text,
        "Published beside measured",
        "What became of every"
    ));
}

#[test]
fn the_page_draws_a_chart_a_figure() {
    let page = rendered("html", &study(), 80);
    // Three phases, three figures, each for a wide and a narrow screen.
    for name in ["Time an op", "Client CPU an op", "Memory of the client"] {
        let chart = format!("<svg role=\"img\" aria-label=\"{name} against depth: ");
        assert_eq!(page.matches(&chart).count(), 3 * 2, "{name}");
    }
    assert!(page.contains("php/predis@redis-shards, depth 1000: "));
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(directory.join("study.html"), &page).unwrap();
    std::fs::write(
        directory.join("study.txt"),
        rendered("terminal", &study(), 80),
    )
    .unwrap();
}

#[test]
fn a_program_finds_the_baseline_the_rounds_the_terms_and_the_curves() {
    let value: serde_json::Value = serde_json::from_str(&rendered("json", &study(), 80)).unwrap();
    let of = |at: &str| value.pointer(at).unwrap().clone();
    assert_eq!(of("/experiment/control"), "sequential redis (control)");
    assert_eq!(
        of("/experiment/controls/sequential redis-shards"),
        "sequential redis-shards (control)"
    );
    assert_eq!(
        value["experiment"]["controls"].as_object().unwrap().len(),
        3
    );
    assert_eq!(
        of("/experiment/variants/0/baseline"),
        serde_json::Value::Null
    );
    assert_eq!(
        of("/experiment/variants/9/baseline"),
        "sequential redis-shards"
    );
    assert_eq!(of("/published/0/rounds/2"), 4.7344);
    assert_eq!(of("/published/3/baseline"), "sequential redis-shards");
    assert_eq!(of("/curves/0/factor"), "depth");
    assert_eq!(of("/curves/0/points/4/factor"), 10_000.0);
    assert_eq!(of("/curves/0/knee/shape"), "knee");
    assert_eq!(of("/terms/0/per_op/fsyncs"), 1.0);
    assert_eq!(of("/experiment/projection/servers"), 5);
    let unequal = value["warnings"].as_array().unwrap().iter();
    let unequal: Vec<_> = unequal.filter(|w| w["kind"] == "unequal_terms").collect();
    assert_eq!(unequal.len(), 1);
    assert_eq!(
        unequal[0]["detail"],
        "hardly any fsyncs against 1 an op of `sequential redis-cluster`"
    );
    let csv = rendered("csv", &study(), 80);
    let row = csv
        .lines()
        .find(|line| line.contains(",pipeline 10000 redis-shards,incrby,"));
    assert!(
        row.unwrap().contains(
            "sequential redis-shards,loop_real_s,0.7145,0.736 0.6427 0.7284 0.7145 0.6962,"
        )
    );
}

#[test]
fn settings_of_extensions_that_were_not_used_are_counted() {
    let mut document = fixture::document();
    let extensions = [
        "memcached.serializer",
        "redis.clusters.seeds",
        "redis.arrays.names",
    ];
    for setting in extensions.into_iter().chain(["memory_limit"]) {
        let settings = &mut document.run.environment.settings;
        settings.insert(format!("php {setting}"), "7".to_owned());
    }
    let render = |name: &str| {
        let options = RenderOptions::default();
        String::from_utf8(format(name).unwrap().render(&document, &options)).unwrap()
    };
    let (text, json) = (render("markdown"), render("json"));
    for setting in ["php memcached.serializer", "php memory"] {
        assert!(text.contains(setting), "{setting}");
    }
    assert!(!text.contains("redis."));
    assert!(text.contains("2 settings of PHP extensions that the run did not use, in the JSON"));
    assert!(extensions.iter().all(|setting| json.contains(setting)));
}

#[test]
fn the_cases_of_a_warning_beyond_a_few_are_counted() {
    let mut document = fixture::document();
    let unequal = |n| Warning::new(WarningKind::UnequalTerms, format!("way {n}"), "no fsyncs");
    document.analysis.warnings = (0..11).map(unequal).collect();
    let render = |name: &str| {
        let options = RenderOptions::default();
        String::from_utf8(format(name).unwrap().render(&document, &options)).unwrap()
    };
    let (text, json) = (render("terminal"), render("json"));
    assert!(text.contains("way 7: no fsyncs") && !text.contains("way 8"));
    assert!(text.contains("and 3 more, in the tables of terms below"));
    assert!(json.contains("way 10"));
}
