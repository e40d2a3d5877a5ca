use super::*;
use crate::random::Random;

fn weigh(logs: &[f64], looks: &[usize], max_blocks: u32, is_final: bool) -> Evidence {
    let samples: Vec<_> = looks.iter().map(|n| Sample::of(&logs[..*n])).collect();
    evidence(&mut Tables::default(), &samples, max_blocks, is_final).unwrap()
}

fn logs(seed: u64, mean: f64, n: usize) -> Vec<f64> {
    let mut random = Random::new(seed);
    (0..n).map(|_| mean + 0.04 * random.normal()).collect()
}

#[test]
fn one_final_look_is_the_ordinary_t_test_and_interval_exactly() {
    for n in [2, 6, 40] {
        let logs = logs(3, 0.02, n);
        let found = weigh(&logs, &[n], 40, true);
        let sample = Sample::of(&logs).unwrap();
        assert_eq!((found.low, found.high), sample.interval(0.05));
        assert!((found.p / sample.p(0.0) - 1.0).abs() < 1e-9);
        assert!((found.level - 0.05).abs() < 1e-9);
    }
}

/// Beyond the boundary at the present look for the first time, or not at all: then the
/// interval and the boundary must say the same, at every look and at an early end.
#[test]
fn an_interval_leaves_out_1_exactly_when_its_boundary_is_passed() {
    let (mut passed, mut not) = (0, 0);
    for seed in 0..300 {
        let logs = logs(seed, 0.0005 * (seed % 80) as f64, 40);
        for (looks, is_final) in [
            (&[5][..], false),
            (&[5, 10], false),
            (&[5, 10, 20], false),
            (&[5, 10, 20, 40], false),
            (&[5, 10, 13], true),
        ] {
            let found = weigh(&logs, looks, 40, is_final);
            let before =
                looks.len() > 1 && weigh(&logs, &looks[..looks.len() - 1], 40, false).p <= ALPHA;
            if before {
                break;
            }
            let excludes = found.low > 0.0 || found.high < 0.0;
            assert_eq!(
                excludes,
                found.p <= ALPHA,
                "seed {seed}, {looks:?}: {found:?}"
            );
            assert!(found.low <= found.sample.mean && found.sample.mean <= found.high);
            *(if excludes { &mut passed } else { &mut not }) += 1;
        }
    }
    assert!(
        passed > 100 && not > 100,
        "both sides were seen: {passed}, {not}"
    );
}

#[test]
fn a_passed_boundary_stays_passed_and_later_blocks_refine_the_interval() {
    let wobble = |i: usize| if i.is_multiple_of(2) { 0.34 } else { 0.26 };
    let mut logs: Vec<f64> = (0..20).map(wobble).collect();
    let at_10 = weigh(&logs, &[5, 10], 40, false);
    assert!(at_10.p <= ALPHA && at_10.low > 0.0);
    let at_20 = weigh(&logs, &[5, 10, 20], 40, false);
    assert!(at_20.p <= at_10.p);
    assert!(at_20.high - at_20.low < at_10.high - at_10.low);
    // The later blocks take the effect back: the test stands, the interval holds 1 again.
    logs.truncate(10);
    logs.extend(logs.clone().iter().map(|x| 0.02 - x));
    let back = weigh(&logs, &[5, 10, 20], 40, false);
    assert!(back.p <= ALPHA && back.low < 0.0 && back.high > 0.0);
}

#[test]
fn looks_without_new_blocks_count_once() {
    let logs = logs(5, 0.02, 10);
    let once = weigh(&logs, &[5, 10], 40, true);
    assert_eq!(weigh(&logs, &[5, 5, 10, 10], 40, true), once);
    let samples = [Sample::of(&logs), Sample::of(&logs[..1])];
    assert_eq!(evidence(&mut Tables::default(), &samples, 40, true), None);
}

/// The chance of a result as high as one seen, against counting: 40,000 runs of real t
/// statistics under a drift. This is what the intervals are made of.
#[test]
fn chances_under_a_drift_are_those_of_real_t_statistics() {
    let looks = [5, 10, 20];
    let schedule = Schedule {
        blocks: vec![5, 10, 20],
        max_blocks: 40,
        is_final: false,
    };
    let mut tables = Tables::default();
    let bounds = tables.boundaries(&schedule, ALPHA);
    for drift in [0.4, 0.8, 1.2] {
        let seen = Sample {
            n: 20,
            mean: 0.9 * drift,
            sd: 1.0,
        };
        let mut random = Random::new(11);
        let as_high_seen = (0..40_000)
            .filter(|_| {
                let draws: Vec<f64> = (0..20).map(|_| drift + random.normal()).collect();
                for (k, n) in looks[..2].iter().enumerate() {
                    let z = Sample::of(&draws[..*n]).unwrap().z(0.0);
                    if z.abs() >= bounds[k] {
                        return z > 0.0;
                    }
                }
                // As high as seen is as far above the truth, in its own standard errors.
                Sample::of(&draws).unwrap().z(drift) >= seen.z(drift)
            })
            .count() as f64
            / 40_000.0;
        let passed: Vec<Passed> = [5, 10]
            .iter()
            .zip(bounds.iter())
            .map(|(n, bound)| Passed::new(&Sample { n: *n, ..seen }, *bound))
            .collect();
        let chance = as_high(&mut tables, &passed, &seen, drift);
        assert!(
            (chance - as_high_seen).abs() < 0.02,
            "{drift}: {chance}, {as_high_seen}"
        );
    }
}
