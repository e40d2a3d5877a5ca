mod concurrency;
mod damage;
mod records;
mod transfer;

use crate::Archive;
use roundtrip_model::contract::outcome;
use roundtrip_model::record::*;
use roundtrip_model::*;
use tempfile::TempDir;

pub const EXPERIMENT: &str = r#"
name = "mine"
[[phase]]
op = "get"
count = 1000
[[variant]]
client = "php/memcached"
store = "memcached"
"#;

/// An archive in a directory of its own.
pub fn archive() -> (TempDir, Archive) {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(&dir.path().join("home/archive.sqlite")).unwrap();
    (dir, archive)
}

pub fn run(id: &str) -> RunRecord {
    RunRecord {
        id: id.to_owned(),
        experiment: "mine".to_owned(),
        experiment_text: EXPERIMENT.to_owned(),
        command: "roundtrip run mine.toml --seed 18446744073709551615".to_owned(),
        seed: u64::MAX,
        started_unix_ms: 1_795_175_102_123,
        ended_unix_ms: None,
        state: RunState::Running,
        end_reason: None,
        looks: vec![],
        environment: Environment {
            os: "Debian GNU/Linux 12 \u{1F980}".to_owned(),
            memory_bytes: Some(u64::MAX),
            load_1m: Some(0.1 + 0.2),
            loop_ns_per_op: [("php".to_owned(), 1.0 / 3.0)].into(),
            ..Environment::default()
        },
        warnings: vec![Warning::new(WarningKind::OtherLoad, "", "load 3.1")],
        floor_bars: Vec::new(),
    }
}

pub fn trial(block: u32) -> TrialRecord {
    let mut latency = Histogram::new();
    (0..1000).for_each(|i| latency.record(10_000 + 7 * i + u64::from(block)));
    let get = PhaseRecord {
        gap_totals: None,
        redirects: Default::default(),
        name: "get".to_owned(),
        op: Op::Get,
        ops: 1000,
        keys_per_op: 1,
        beside: None,
        depth: 1,
        concurrency: 1,
        carried: None,
        pace: roundtrip_model::workload::Pace::Closed,
        lateness: None,
        gaps: Vec::new(),
        wall_ns: 16_300_000,
        user_ns: Some(4_000_000),
        sys_ns: None,
        server_cpu_ns: Some(0),
        process: Some(ProcessUsage {
            real_ns: 30_000_000,
            user_ns: 2,
            sys_ns: 3,
        }),
        client_max_rss_bytes: None,
        complaint: None,
        outcomes: [(outcome::HIT.to_owned(), 1000)].into(),
        cache_outcomes: [(outcome::MISS.to_owned(), 1)].into(),
        latency: Some(latency),
        response: None,
        machine: None,
        slices_ns: vec![1, 2, 3],
        steady: Some(true),
        terms: Default::default(),
        witness: [("memcached".to_owned(), Witness::default())].into(),
        samples: vec![CounterSample {
            at_ms: 5,
            counters: [("cmd_get".to_owned(), 17)].into(),
        }],
    };
    let mut response = Histogram::new();
    (0..1000).for_each(|i| response.record(1_000_000 + i));
    let set = PhaseRecord {
        name: "set".to_owned(),
        latency: None,
        pace: roundtrip_model::workload::Pace::Poisson { per_s: 1.5 },
        response: Some(response),
        lateness: Some(roundtrip_model::contract::Lateness {
            spun_ns: Some(7),
            max_ns: 3,
            p99_ns: 2,
            p50_ns: Some(1),
            mean_ns: 1,
        }),
        gaps: vec![roundtrip_model::contract::Gap {
            connection: 7,
            at_ns: 1,
            lasted_ns: 2,
            attempts: 3,
        }],
        gap_totals: None,
        redirects: Default::default(),
        carried: Some(roundtrip_model::contract::Carried {
            io: "epoll".to_owned(),
            threads: 1,
            connections: 8,
        }),
        ..get.clone()
    };
    TrialRecord {
        block,
        position: 1,
        variant: "php/memcached".to_owned(),
        placement: Placement::Shared,
        started_unix_ms: 1_795_175_103_000,
        took_ns: 99,
        validity: if block == 3 {
            Validity::Void("the server counted 999 gets, the worker 1000".to_owned())
        } else {
            Validity::Valid
        },
        phases: vec![set, get],
        warnings: vec![],
        fault: None,
    }
}
