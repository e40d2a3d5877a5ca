//! Projections, by hand.

mod common;

use common::{experiment, near, phase, trial};
use roundtrip_model::Op;
use roundtrip_model::projection::{Load, Projection, QuotaBytes};
use roundtrip_model::record::TrialRecord;
use roundtrip_stats::project::project;

const SAVES: &str = r#"
name = "saves"
[[phase]]
op = "set"
count = 1000
[[phase]]
op = "get"
count = 1000
[[variant]]
name = "sequential"
client = "php/predis"
store = "redis"
[[variant]]
name = "pipeline"
client = "php/predis"
store = "redis"
[projection]
per_day = 1570000
servers = 5
phase = "set"
unit_ops = 10000
published_saved_s = 10.0
source = "26 minutes"
"#;

/// Microseconds an op of `sequential` and `pipeline` in each block; the CPU is a half of them.
fn trials(times_us: &[(u64, u64)]) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for (block, (sequential, pipeline)) in times_us.iter().enumerate() {
        for (name, us) in [("sequential", sequential), ("pipeline", pipeline)] {
            let phases = [Op::Set, Op::Get].map(|op| {
                let mut record = phase(op, us * 1_000_000);
                record.user_ns = Some(us * 250_000);
                record.sys_ns = Some(us * 125_000);
                record.server_cpu_ns = Some(us * 125_000);
                record
            });
            trials.push(trial(block as u32, name, phases.into()));
        }
    }
    trials
}

fn load() -> Load {
    Load {
        per_day: 1_570_000.0,
        servers: 5,
        price_per_cpu_hour: None,
        currency: String::new(),
        quota_cpu_hours: None,
        quota_bytes: None,
    }
}

fn of(times_us: &[(u64, u64)], load: &Load) -> Vec<Projection> {
    project(&experiment(SAVES), &trials(times_us), load, |_, _| true)
}

#[test]
fn time_saved_a_day_by_hand() {
    // Differences of 990, 1,000 and 1,010 us: mean 1,000, deviation 10, t of 2 degrees of freedom
    // 4.302653, so 1,000 +- 24.8414 us. The drift of the blocks is in neither.
    let all = of(&[(2_000, 1_010), (3_000, 2_000), (4_000, 2_990)], &load());
    assert_eq!(all.len(), 2, "the control and the baseline have none");
    let set = &all[0];
    assert_eq!(
        (set.phase.as_str(), set.variant.as_str()),
        ("set", "pipeline")
    );
    assert_eq!(set.baseline, "sequential");
    near(set.time_ns_per_op.baseline.mean, 3e6);
    near(set.time_ns_per_op.variant.mean, 2e6);
    near(set.time_ns_per_op.saved.mean, 1e6);
    assert_eq!(set.time_ns_per_op.blocks, 3);
    let half_us = 4.302_652_729_911 * 10.0 / 3_f64.sqrt();
    near(
        set.time_ns_per_op.saved.low.unwrap(),
        (1_000.0 - half_us) * 1e3,
    );
    near(set.saved_s_per_day.mean, 1_570.0);
    near(set.saved_s_per_day.low.unwrap(), 1.57 * (1_000.0 - half_us));
    near(
        set.saved_s_per_day.high.unwrap(),
        1.57 * (1_000.0 + half_us),
    );
    near(set.saved_s_per_server.mean, 314.0);
    assert!(!set.saved_s_per_day.may_be_nothing());
    let published = set.published.as_ref().unwrap();
    near(published.saved_s_per_day(), 1_570.0);
    assert_eq!(all[1].published, None, "it was published of another phase");
    assert_eq!((set.money_per_day, set.within_quota), (None, None));
}

#[test]
fn money_and_quotas_by_hand() {
    let asked = Load {
        price_per_cpu_hour: Some(0.05),
        quota_cpu_hours: Some(6.5),
        quota_bytes: Some(QuotaBytes {
            bytes: 1e9,
            bytes_per_op: 400.0,
        }),
        ..load()
    };
    let all = of(&[(2_000, 1_000), (2_000, 1_000), (2_000, 1_000)], &asked);
    let set = &all[0];
    // Half of the time is CPU: 1,000 against 500 us.
    let cpu = set.cpu_ns_per_op.unwrap();
    near(cpu.baseline.mean, 1e6);
    near(cpu.saved.mean, 5e5);
    // 1,570,000 x 0.5 ms = 785 s = 0.218056 h, at 0.05 an hour.
    near(set.money_per_day.unwrap().mean, 785.0 / 3600.0 * 0.05);
    let quota = set.within_quota.unwrap();
    // 6.5 h = 23,400 s, over 1 ms and over 0.5 ms.
    near(quota.baseline_by_cpu.unwrap().mean, 23.4e6);
    near(quota.variant_by_cpu.unwrap().mean, 46.8e6);
    near(quota.variant_by_cpu.unwrap().low.unwrap(), 46.8e6);
    near(quota.by_bytes.unwrap(), 2.5e6);
}

#[test]
fn a_difference_that_may_be_nothing_says_so_and_one_block_has_no_ends() {
    let noisy = of(&[(1_000, 900), (1_000, 1_150), (1_000, 980)], &load());
    assert!(noisy[0].saved_s_per_day.may_be_nothing());
    let one = of(&[(1_000, 900)], &load());
    assert_eq!(one[0].saved_s_per_day.low, None);
    near(one[0].saved_s_per_day.mean, 157.0);
    assert!(one[0].saved_s_per_day.may_be_nothing());
    let lost = of(&[(1_000, 2_000), (1_000, 2_000)], &load());
    near(lost[0].saved_s_per_day.mean, -1_570.0);
    assert_eq!(of(&[], &load()), []);
}

#[test]
fn what_is_not_asked_for_or_not_known_is_not_projected() {
    let e = experiment(SAVES);
    let mut trials = trials(&[(2_000, 1_000), (2_000, 1_000)]);
    let sets = project(&e, &trials, &load(), |phase, _| phase == "set");
    assert_eq!(sets.len(), 1);
    assert_eq!(
        project(&e, &trials, &load(), |_, variant| variant == "x"),
        []
    );
    for trial in &mut trials {
        trial.phases[0].server_cpu_ns = None;
    }
    let sets = project(&e, &trials, &load(), |phase, _| phase == "set");
    assert_eq!(sets[0].cpu_ns_per_op, None);
    near(sets[0].saved_s_per_day.mean, 1_570.0);
}
