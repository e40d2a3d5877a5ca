//! A calibration as a machine with two processors gives it.

use roundtrip_model::calibration::*;
use roundtrip_model::{Placement, Warning, WarningKind};

fn floor(client: &str, placement: Placement, parts: [f64; 4]) -> FloorCost {
    let sum: f64 = parts.iter().sum();
    FloorCost {
        client: client.to_owned(),
        placement,
        trials: 9,
        ops_per_s: Some(1e9 / sum),
        p50_ns: Some(sum * 0.97),
        p99_ns: Some(sum * 1.6),
        client_user_ns_per_op: Some(parts[0]),
        client_sys_ns_per_op: Some(parts[1]),
        server_cpu_ns_per_op: Some(parts[2]),
        waiting_ns_per_op: Some(parts[3]),
    }
}

fn smallest(placement: Placement, noise: f64, block_s: f64) -> Smallest {
    let after = [(5, 2.9), (10, 1.6), (20, 1.05), (40, 0.72)].map(|(blocks, factor)| Detectable {
        blocks,
        takes_s: block_s * f64::from(blocks),
        difference: noise * factor,
    });
    Smallest {
        placement,
        pairs: 9,
        noise,
        block_s,
        after: after.into(),
        in_a_minute: Some(after[2]),
    }
}

pub fn calibration() -> Calibration {
    let mut found = Calibration {
        calibration_version: VERSION,
        started_unix_ms: 1_795_175_102_000,
        took_ms: 61_300,
        clock: Clock {
            source: Some("tsc".to_owned()),
            call_ns: 23.0,
            quickest_call_ns: 22.4,
            step_ns: Some(20),
            readings: 5_884_000,
            backwards: 0,
        },
        ..Calibration::default()
    };
    found.environment.cpu_model = "AMD EPYC 7B13".to_owned();
    found.environment.cpus = 2;
    found.sleeps = ["nanosleep", "poll"]
        .map(|way| Sleep {
            way: way.to_owned(),
            asked_ns: 100_000,
            over_p50_ns: 57_000,
            over_p99_ns: 91_000,
        })
        .into();
    found.wakes = [("eventfd", (1, 1), 4_440), ("tcp", (0, 1), 45_200)]
        .map(|(way, cpus, p50_ns)| Wake {
            way: way.to_owned(),
            cpus,
            p50_ns,
            p99_ns: p50_ns * 2,
        })
        .into();
    found.gaps = vec![Gaps {
        cpu: 0,
        watched_ns: 3_000_000_000,
        over_10us: 504,
        over_100us: 12,
        over_1ms: 1,
        longest_ns: 1_400_000,
        lost_ns: 36_000_000,
    }];
    found.loops = vec![LoopCost {
        language: "php".to_owned(),
        runtime: "PHP 8.2.29".to_owned(),
        ns_per_op: 135.0,
    }];
    found.floors = vec![
        floor(
            "native",
            Placement::Split,
            [1_150.0, 16_800.0, 15_900.0, 9_000.0],
        ),
        floor("native", Placement::Shared, [660.0, 6_910.0, 7_680.0, 0.0]),
    ];
    found.smallest = vec![
        smallest(Placement::Split, 0.04, 2.1),
        smallest(Placement::Shared, 0.011, 1.2),
    ];
    found.warnings = vec![Warning::new(
        WarningKind::OtherLoad,
        "processor 0",
        "a thread that never sleeps lost 1.2% of its time, 1.4 ms at the longest",
    )];
    found
}
