//! A run of study 1 as it could have been, with a case of everything: faster, equivalent,
//! undecided, slower, a void trial, a failure, published figures, figures that are not known.

use roundtrip_model::analysis::*;
use roundtrip_model::contract::{Carried, Gap, Lateness};
use roundtrip_model::machine::{MachineState, ProcessorTime};
use roundtrip_model::record::*;
use roundtrip_model::workload::Pace;
use roundtrip_model::*;
use roundtrip_report::Document;

pub const EXPERIMENT: &str = r#"
name = "php-memcached"
title = "Two PHP extensions, one memcached"
question = "Which of PHP's two memcached extensions is faster, for a page that sets and gets one key after the other?"
source = "a published measurement (PHP 5.3, memcached 1.4.5)"
delta = "5%"
placement = ["shared", "split"]
metrics = ["ops_per_s", "process_real_s"]

[keys]
recipe = "md5"
[values]
recipe = "crc32"

[[phase]]
op = "set"
count = 100000
ttl_s = 1800
[[phase]]
op = "get"
count = 100000

[[variant]]
client = "php/memcache"
store = "memcached"
[[variant]]
client = "php/memcached"
store = "memcached"
[[variant]]
name = "php/memcached igbinary"
client = "php/memcached"
store = "memcached"
options = { serializer = "igbinary" }
[[variant]]
client = "native"
store = "memcached"
"#;

/// A number between -1 and 1 that looks like noise and is the same everywhere.
fn noise(a: u64, b: u64) -> f64 {
    (stream::mix(a, b) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Nanoseconds an op without noise: client user, client system, server, waiting.
fn parts(variant: &str, phase: &str, placement: Placement) -> [f64; 4] {
    let [user, sys, server] = match (variant, phase) {
        ("native", "set") => [900.0, 3_100.0, 5_200.0],
        ("native", _) => [700.0, 2_900.0, 4_800.0],
        ("php/memcached igbinary", "set") => [4_800.0, 5_200.0, 6_050.0],
        ("php/memcached igbinary", _) => [3_500.0, 4_450.0, 5_400.0],
        (v, "set") if v.starts_with("php/memcached") => [3_700.0, 4_400.0, 5_700.0],
        (v, _) if v.starts_with("php/memcached") => [3_000.0, 4_100.0, 5_200.0],
        (_, "set") => [3_650.0, 4_450.0, 5_800.0],
        _ => [3_900.0, 4_600.0, 5_300.0],
    };
    let waiting = match placement {
        Placement::Shared => 900.0,
        _ => 33_000.0,
    };
    [user, sys, server, waiting]
}

fn phase(variant: &str, name: &str, placement: Placement, seed: u64) -> PhaseRecord {
    let ops = 100_000;
    let drift = 1.0 + 0.02 * noise(seed, 1);
    let [user, sys, server, waiting] = parts(variant, name, placement).map(|ns| ns * drift);
    let mean = user + sys + server + waiting;
    let mut latency = Histogram::new();
    for i in 0..5_000u64 {
        let tail = match i % 1000 {
            0 => 12.0,
            i if i % 40 == 1 => 2.2,
            _ => 0.93 + 0.06 * noise(seed, 100 + i),
        };
        latency.record((mean * tail) as u64);
    }
    let total = |ns: f64| (ns * ops as f64) as u64;
    let outcome = if name == "set" { "stored" } else { "hit" };
    PhaseRecord {
        name: name.to_owned(),
        op: name.parse().unwrap(),
        ops,
        keys_per_op: 1,
        beside: None,
        depth: 1,
        concurrency: 1,
        carried: None,
        pace: roundtrip_model::workload::Pace::Closed,
        lateness: None,
        gaps: Vec::new(),
        gap_totals: None,
        redirects: Default::default(),
        wall_ns: total(mean),
        user_ns: Some(total(user)),
        sys_ns: Some(total(sys)),
        server_cpu_ns: Some(total(server)),
        process: (variant != "native").then(|| ProcessUsage {
            real_ns: total(mean) + 41_000_000,
            user_ns: total(user) + 22_000_000,
            sys_ns: total(sys) + 9_000_000,
        }),
        client_max_rss_bytes: Some(31_457_280),
        complaint: None,
        outcomes: [(outcome.to_owned(), ops)].into(),
        cache_outcomes: Default::default(),
        latency: Some(latency),
        response: None,
        machine: None,
        slices_ns: vec![total(mean) / 2; 2],
        steady: Some(true),
        terms: Default::default(),
        witness: [(
            "memcached".to_owned(),
            Witness {
                before: [("cmd_get".to_owned(), 0)].into(),
                after: [("cmd_get".to_owned(), ops)].into(),
            },
        )]
        .into(),
        samples: vec![],
    }
}

fn trials(experiment: &Experiment, blocks: u32) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for block in 0..blocks {
        for placement in &experiment.placements {
            for (position, variant) in experiment.contestants().iter().enumerate() {
                let seed = u64::from(block) * 100 + position as u64 * 10 + *placement as u64;
                trials.push(TrialRecord {
                    block,
                    position: position as u32,
                    variant: variant.to_string(),
                    placement: *placement,
                    started_unix_ms: 1_795_175_102_000 + trials.len() as u64 * 3_500,
                    took_ns: 3_400_000_000,
                    validity: Validity::Valid,
                    fault: None,
                    phases: ["set", "get"]
                        .map(|name| phase(variant, name, *placement, seed))
                        .into(),
                    warnings: match placement {
                        Placement::Split => vec![Warning::new(
                            WarningKind::WaitingDominates,
                            variant.to_string(),
                            "72% of the time was spent waiting",
                        )],
                        _ => vec![],
                    },
                });
            }
        }
    }
    let void = trials.iter_mut().rfind(|t| t.variant == "native").unwrap();
    void.validity =
        Validity::Void("get: the worker counted 100000 gets, memcached 99990".to_owned());
    void.phases[1].outcomes = [("hit".to_owned(), 99_990), ("error:timeout".to_owned(), 10)].into();
    trials
}

fn summaries(trials: &[TrialRecord]) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = Vec::new();
    let valid = || trials.iter().filter(|t| t.is_valid());
    for trial in valid() {
        for phase in &trial.phases {
            for metric in Metric::ALL {
                let same =
                    |t: &&TrialRecord| t.variant == trial.variant && t.placement == trial.placement;
                let mut figures: Vec<f64> = valid()
                    .filter(same)
                    .filter_map(|t| metric.of(t.phase(&phase.name)?))
                    .collect();
                figures.sort_by(f64::total_cmp);
                let known = summaries.iter().any(|s| {
                    (s.variant.as_str(), s.phase.as_str(), s.placement, s.metric)
                        == (
                            trial.variant.as_str(),
                            phase.name.as_str(),
                            trial.placement,
                            metric,
                        )
                });
                if !known && !figures.is_empty() {
                    summaries.push(Summary {
                        phase: phase.name.clone(),
                        variant: trial.variant.clone(),
                        placement: trial.placement,
                        metric,
                        unit: metric.unit().to_owned(),
                        median: figures[figures.len() / 2],
                        min: figures[0],
                        max: figures[figures.len() - 1],
                        trials: figures.len() as u32,
                    });
                }
            }
        }
    }
    summaries
}

fn comparison(
    phase: &str,
    variant: &str,
    placement: Placement,
    [ratio, ci_low, ci_high]: [f64; 3],
    p: f64,
    verdict: Verdict,
) -> [Comparison; 2] {
    let comparison = Comparison {
        phase: phase.to_owned(),
        metric: Metric::OpsPerS,
        variant: variant.to_owned(),
        baseline: "php/memcache".to_owned(),
        placement,
        interval: RatioInterval {
            ratio,
            ci_low,
            ci_high,
        },
        p: Some(p),
        verdict,
        control: Some(RatioInterval {
            ratio: 1.004,
            ci_low: 0.982,
            ci_high: 1.021,
        }),
        blocks: 5,
        detectable: Some(0.08),
        disagreements: vec![],
    };
    let seconds = Comparison {
        metric: Metric::ProcessRealS,
        interval: RatioInterval {
            ratio: 1.0 / ratio,
            ci_low: 1.0 / ci_high,
            ci_high: 1.0 / ci_low,
        },
        ..comparison.clone()
    };
    [comparison, seconds]
}

fn comparisons() -> Vec<Comparison> {
    use Placement::{Shared, Split};
    use Verdict::*;
    let igbinary = "php/memcached igbinary";
    [
        (
            "set",
            "php/memcached",
            Shared,
            [1.008, 0.991, 1.025],
            0.41,
            Equivalent,
        ),
        (
            "set",
            igbinary,
            Shared,
            [0.871, 0.842, 0.901],
            0.0004,
            Slower,
        ),
        ("set", "native", Shared, [1.52, 1.47, 1.57], 0.0002, Faster),
        (
            "get",
            "php/memcached",
            Shared,
            [1.118, 1.091, 1.147],
            0.0008,
            Faster,
        ),
        (
            "get",
            igbinary,
            Shared,
            [1.03, 0.955, 1.112],
            0.38,
            Undecided,
        ),
        ("get", "native", Shared, [1.58, 1.5, 1.66], 0.0001, Faster),
        (
            "set",
            "php/memcached",
            Split,
            [1.002, 0.98, 1.024],
            0.83,
            Equivalent,
        ),
        ("set", igbinary, Split, [0.99, 0.93, 1.055], 0.72, Undecided),
        ("set", "native", Split, [1.09, 1.03, 1.15], 0.021, Faster),
        (
            "get",
            "php/memcached",
            Split,
            [1.03, 0.94, 1.13],
            0.44,
            Undecided,
        ),
        (
            "get",
            igbinary,
            Split,
            [1.01, 0.975, 1.046],
            0.51,
            Equivalent,
        ),
        ("get", "native", Split, [1.12, 1.04, 1.2], 0.013, Faster),
    ]
    .into_iter()
    .flat_map(|(phase, variant, placement, interval, p, verdict)| {
        comparison(phase, variant, placement, interval, p, verdict)
    })
    .collect()
}

fn published() -> Vec<PublishedRow> {
    let mut rows = Vec::new();
    for placement in [Placement::Shared, Placement::Split] {
        for (phase, variant, published, measured, speeds, agrees) in [
            ("set", "php/memcache", 5.773, Some(1.52), None, None),
            ("get", "php/memcache", 5.489, Some(1.51), None, None),
            (
                "set",
                "php/memcached",
                5.289,
                Some(1.51),
                Some((1.0915, 1.008)),
                None,
            ),
            (
                "get",
                "php/memcached",
                4.667,
                Some(1.36),
                Some((1.1761, 1.118)),
                Some(true),
            ),
            ("get", "native", 4.0, None, Some((1.4, 0.9)), Some(false)),
        ] {
            rows.push(PublishedRow {
                phase: phase.to_owned(),
                variant: variant.to_owned(),
                metric: Metric::ProcessRealS,
                placement,
                published,
                rounds: match variant {
                    "php/memcached" => vec![published - 0.1, published, published + 0.25],
                    _ => Vec::new(),
                },
                measured,
                measured_min: measured.map(|m| m - 0.02),
                measured_max: measured.map(|m| m + 0.03),
                trials: measured.map_or(0, |_| 5),
                baseline: speeds.map(|_| "php/memcache".to_owned()),
                ratio: measured.map(|m| m / published),
                published_speed: speeds.map(|s| s.0),
                measured_speed: speeds.map(|s| s.1),
                direction_agrees: agrees,
            });
        }
    }
    rows
}

fn environment() -> Environment {
    let map = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    };
    Environment {
        os: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        kernel: "6.1.0-28-amd64".to_owned(),
        cpu_model: "AMD EPYC 7B13".to_owned(),
        cpus: 2,
        memory_bytes: Some(8_330_000_000),
        virtualization: Some("kvm".to_owned()),
        governor: None,
        load_1m: Some(0.21),
        roundtrip: "0.1.0".to_owned(),
        build: "release".to_owned(),
        versions: map(&[
            ("memcached", "1.6.18"),
            ("php", "PHP 8.2.29 (cli)"),
            ("php/memcache", "8.0"),
            (
                "php/memcached",
                "3.2.0 (libmemcached 1.1.4, with igbinary 3.2.13 and msgpack 2.2.0)",
            ),
        ]),
        settings: map(&[
            ("memcached", "-m 1024 -t 1 -c 64 -l 127.0.0.1"),
            ("php opcache.enable_cli", "0"),
            ("sqlite synchronous", "FULL"),
        ]),
        loop_ns_per_op: [("php".to_owned(), 41.7), ("native".to_owned(), 22.0)].into(),
    }
}

/// The clients against the floor, and the least that a round trip costs.
fn floor_bars() -> Vec<FloorBar> {
    let mut bars = Vec::new();
    for phase in ["set", "get"] {
        for placement in [Placement::Shared, Placement::Split] {
            for variant in ["php/memcache", "php/memcached", FloorBar::LEAST] {
                let client = variant.strip_suffix("@floor").unwrap_or(variant);
                let [user, sys, server, waiting] = parts(client, phase, placement);
                bars.push(FloorBar {
                    phase: phase.to_owned(),
                    variant: variant.to_owned(),
                    placement,
                    trials: 3,
                    client_user_ns_per_op: user,
                    client_sys_ns_per_op: sys,
                    server_cpu_ns_per_op: server * 0.6,
                    waiting_ns_per_op: waiting,
                });
            }
        }
    }
    bars
}

/// The document, with so many blocks.
pub fn document_of(blocks: u32) -> Document {
    let experiment = Experiment::parse(EXPERIMENT, "php-memcached.toml").unwrap();
    let trials = trials(&experiment, blocks);
    let analysis = Analysis {
        blocks: blocks - 1,
        void_trials: 1,
        summaries: summaries(&trials),
        comparisons: comparisons(),
        published: published(),
        faults: Vec::new(),
        terms: Vec::new(),
        curves: Vec::new(),
        warnings: vec![
            Warning::new(WarningKind::VoidTrials, "native", "1 of 5 trials is void"),
            Warning::new(
                WarningKind::UnequalTerms,
                "native",
                "wrote 100,000 log records where `php/memcache` wrote none",
            ),
        ],
    };
    Document {
        run: RunRecord {
            id: "20261120-114502-k3f9".to_owned(),
            experiment: experiment.name.clone(),
            experiment_text: EXPERIMENT.to_owned(),
            command: "roundtrip run php-memcached --seed 42".to_owned(),
            seed: 42,
            started_unix_ms: 1_795_175_102_000,
            ended_unix_ms: Some(1_795_175_102_000 + 272_000),
            state: RunState::Finished,
            end_reason: Some(EndReason::Budget),
            looks: vec![5],
            environment: environment(),
            warnings: vec![Warning::new(
                WarningKind::OpcacheOff,
                "php",
                "opcache.enable_cli is 0",
            )],
            floor_bars: floor_bars(),
        },
        experiment,
        trials,
        analysis,
    }
}

/// The document.
pub fn document() -> Document {
    document_of(5)
}

/// A run at a rate, whose `native` lost a connection: what only such a run has.
pub fn paced() -> Document {
    let mut document = document_of(2);
    for trial in &mut document.trials {
        let seed = u64::from(trial.block) * 10 + u64::from(trial.position);
        let is_native = trial.variant == "native";
        for phase in &mut trial.phases {
            let mut response = Histogram::new();
            // Samples enough for p99.9, and a queue now and then.
            for i in 0..20_000 {
                let queued = if i % 50 == 0 { 2_000_000.0 } else { 0.0 };
                response.record((45_000.0 + queued + 900.0 * noise(seed, i)) as u64);
            }
            phase.response = Some(response);
            phase.pace = Pace::Poisson { per_s: 5_000.0 };
            phase.lateness = Some(Lateness {
                spun_ns: Some(1_000_000),
                max_ns: 180_000,
                p99_ns: 41_000 + seed,
                p50_ns: Some(2_900),
                mean_ns: 3_100,
            });
            phase.carried = is_native.then(|| Carried {
                io: "io_uring".to_owned(),
                threads: 2,
                connections: 50,
            });
            phase.machine = Some(machine());
            if is_native {
                phase.gaps = (0..15)
                    .map(|i| Gap {
                        connection: i,
                        at_ns: 1_200_000_000,
                        lasted_ns: 31_000_000 + u64::from(i),
                        attempts: 3,
                    })
                    .collect();
            }
        }
    }
    document
}

/// A machine that did nothing else.
fn machine() -> MachineState {
    let time = |cpu| ProcessorTime {
        cpus: vec![cpu],
        idle_ns: Some(4_000_000_000),
        stolen_ns: Some(0),
        ours_ns: Some(900_000_000),
    };
    MachineState {
        readings: 12,
        elapsed_ns: 5_000_000_000,
        clients: time(1),
        servers: time(0),
        clients_cpu_ns: Some(800_000_000),
        clients_queued_ns: Some(12_000),
        servers_queued_ns: None,
        runnable_max: Some(2),
        available_cpus: Some(2),
        quota_cpus: Some(1.5),
        throttled_ns: Some(0),
        throttled_periods: Some(0),
        governor: Some("performance".to_owned()),
        frequency_khz: Some((2_450_000, 2_450_000)),
        swapped_pages: Some(0),
        memory_stalled_ns: Some(0),
    }
}

/// The same, with one valid trial and the void one: small enough to read as JSON.
pub fn small() -> Document {
    let mut document = document();
    let void = document.trials.iter().position(|t| !t.is_valid()).unwrap();
    document.trials = vec![document.trials[0].clone(), document.trials[void].clone()];
    document
        .trials
        .iter_mut()
        .for_each(|t| t.phases.truncate(1));
    document.analysis.summaries.truncate(8);
    document.analysis.comparisons.truncate(4);
    document.analysis.published.truncate(5);
    document
}

/// A run in which nothing is known that need not be.
pub fn bare() -> Document {
    let mut document = document();
    document.run.ended_unix_ms = None;
    document.run.end_reason = None;
    document.run.looks.clear();
    document.run.state = RunState::Interrupted;
    document.run.environment = Environment::default();
    document.run.warnings.clear();
    document.run.floor_bars.clear();
    document.experiment.source = None;
    document.experiment.title = String::new();
    document.experiment.question = String::new();
    for phase in document.trials.iter_mut().flat_map(|t| &mut t.phases) {
        phase.user_ns = None;
        phase.sys_ns = None;
        phase.server_cpu_ns = None;
        phase.process = None;
        phase.client_max_rss_bytes = None;
        phase.latency = None;
        phase.steady = None;
        phase.outcomes.clear();
        phase.witness.clear();
        phase.slices_ns.clear();
    }
    document.analysis.summaries = summaries(&document.trials);
    for comparison in &mut document.analysis.comparisons {
        comparison.interval.ci_low = 0.0;
        comparison.interval.ci_high = f64::INFINITY;
        comparison.p = None;
        comparison.control = None;
        comparison.detectable = None;
        comparison.verdict = Verdict::Undecided;
    }
    for row in &mut document.analysis.published {
        row.measured = None;
        row.ratio = None;
        row.published_speed = None;
        row.measured_speed = None;
        row.direction_agrees = None;
    }
    document
}
