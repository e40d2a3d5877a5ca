use super::*;
use roundtrip_model::contract::Lateness;
use std::io::Write;

fn record(wall_ms: u64, p99_ns: u64, max_ns: u64) -> PhaseRecord {
    serde_json::from_value(serde_json::json!({
        "name": "p", "op": "get", "ops": 10_000, "depth": 1, "concurrency": 8,
        "pace": { "fixed": { "per_s": 10_000.0 } },
        "lateness": Lateness { max_ns, p50_ns: Some(5), p99_ns, mean_ns: 5, spun_ns: None },
        "wall_ns": wall_ms * 1_000_000, "outcomes": {}, "slices_ns": [], "witness": {},
        "samples": [],
    }))
    .unwrap()
}

const PLANNED: Duration = Duration::from_secs(1);

#[test]
fn a_generator_that_cannot_keep_its_rate_voids_the_trial() {
    assert_eq!(kept(&record(1001, 50_000, 900_000), PLANNED), Kept::Yes);
    let late = kept(&record(1001, 1_000_001, 2_000_000), PLANNED);
    assert!(matches!(late, Kept::Void(why) if why.contains("was the bottleneck")));
    // Late in few ops, but so late that the whole fell behind.
    let behind = kept(&record(1100, 900_000, 60_000_000), PLANNED);
    assert!(matches!(behind, Kept::Void(why) if why.contains("90.9% of its rate")));
    let mut silent = record(1001, 0, 0);
    silent.lateness = None;
    assert!(matches!(kept(&silent, PLANNED), Kept::Void(_)));
}

#[test]
fn a_server_that_cannot_keep_up_is_told_and_is_no_fault_of_the_generator() {
    let behind = kept(&record(2000, 50_000, 900_000), PLANNED);
    assert!(matches!(behind, Kept::ServerBehind(why) if why.contains("50.0% of the rate")));
    let mut closed = record(2000, u64::MAX, u64::MAX);
    closed.pace = Pace::Closed;
    assert_eq!(kept(&closed, Duration::ZERO), Kept::Yes);
}

/// Every place was taken, so that no op was late; but it was the generator that took the time.
#[test]
fn a_generator_that_never_waits_and_falls_behind_voids_the_trial() {
    let mut busy = record(2000, 0, 0);
    (busy.user_ns, busy.sys_ns) = (Some(5_000_000_000), Some(9_500_000_000));
    // 14.5 s of work in 2 s of 8 processes: 91%.
    let void = kept(&busy, PLANNED);
    assert!(matches!(void, Kept::Void(why) if why.contains("worked for 90.6% of the time")));
    busy.sys_ns = Some(9_300_000_000);
    assert!(matches!(kept(&busy, PLANNED), Kept::ServerBehind(_)));
    // With its rate kept, it may look for its moments without a rest.
    let mut kept_rate = record(1001, 0, 0);
    (kept_rate.user_ns, kept_rate.sys_ns) = (Some(8_000_000_000), Some(0));
    assert_eq!(kept(&kept_rate, PLANNED), Kept::Yes);
}

/// Looking for the next moment without sleeping took the time: that is no work.
#[test]
fn a_generator_that_looked_for_its_moments_is_not_the_bottleneck() {
    let mut looked = record(2000, 0, 0);
    (looked.user_ns, looked.sys_ns) = (Some(15_000_000_000), Some(0));
    assert!(matches!(kept(&looked, PLANNED), Kept::Void(_)));
    looked.lateness = looked.lateness.map(|late| Lateness {
        spun_ns: Some(12_000_000_000),
        ..late
    });
    assert!(matches!(kept(&looked, PLANNED), Kept::ServerBehind(_)));
}

#[test]
fn a_short_phase_is_not_short_of_its_last_reply() {
    // 10,000 ops in 10 ms, each answered in 1 ms: the last reply comes after 11 ms.
    let mut short = record(11, 0, 0);
    let mut latency = roundtrip_model::Histogram::new();
    (0..10_000).for_each(|_| latency.record(1_000_000));
    short.latency = Some(latency);
    assert_eq!(kept(&short, Duration::from_millis(10)), Kept::Yes);
}

#[test]
fn at_a_slow_rate_more_lateness_is_allowed() {
    // 10,000 ops in 1,000 s: 100 ms apart, so 10 ms.
    let slow = Duration::from_secs(1000);
    assert_eq!(
        kept(&record(1_000_000, 9_000_000, 9_500_000), slow),
        Kept::Yes
    );
    assert!(matches!(
        kept(&record(1_000_000, 11_000_000, 12_000_000), slow),
        Kept::Void(_)
    ));
}

#[test]
fn a_schedule_is_read_before_anything_starts() {
    let of = |text: &str, count| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let path = file.path().to_string_lossy().into_owned();
        lasts(&Pace::Schedule { file: path }, count)
    };
    assert_eq!(of("0\n0.5\n2.5\n", 3).unwrap(), Duration::from_millis(2500));
    assert_eq!(
        of("0\n0.5\nnonsense\n", 2).unwrap(),
        Duration::from_millis(500)
    );
    let short = of("0\n0.5\n", 3).unwrap_err();
    assert_eq!(short.what, "the schedule has 2 moments for 3 ops");
    let back = of("1\n0.5\n", 2).unwrap_err();
    assert_eq!(back.what, "line 2 of the schedule is no moment after 1 s");
    for bad in ["nan\n", "-1\n", "inf\n", "\n", "1e999\n"] {
        assert!(of(bad, 1).is_err(), "{bad}");
    }
    let file = "/nowhere".to_owned();
    assert!(lasts(&Pace::Schedule { file }, 1).is_err());
}

#[test]
fn a_rate_lasts_as_long_as_its_ops() {
    let per_s = 2000.0;
    assert_eq!(
        lasts(&Pace::Fixed { per_s }, 1000).unwrap(),
        Duration::from_millis(500)
    );
    assert_eq!(lasts(&Pace::Closed, 1000).unwrap(), Duration::ZERO);
    let per_s = 1e-30;
    assert!(lasts(&Pace::Poisson { per_s }, 1000).is_err());
}
