//! What trials with a fault in the middle show together, and whether it is what the store's
//! settings promise.

use crate::steady::median;
use roundtrip_model::analysis::{Contradiction, FaultRow, Spread};
use roundtrip_model::experiment::faults::Faults;
use roundtrip_model::fault::{FaultKind, FaultRecord, Keeps, Travel};
use roundtrip_model::record::TrialRecord;
use statrs::function::beta::beta_reg;

/// The share of intervals that leave out the truth.
const LEVEL: f64 = 0.05;

/// A row for each variant and kind that has a valid trial, in the order of the experiment.
pub(crate) fn rows(faults: &Faults, trials: &[TrialRecord]) -> Vec<FaultRow> {
    let row = |(variant, kind): (&str, FaultKind)| {
        let is_like = |t: &&TrialRecord| {
            t.variant == variant && t.fault.as_ref().is_some_and(|f| f.kind == kind)
        };
        let of = |t: &TrialRecord| t.is_valid().then(|| t.fault.clone()).flatten();
        let like: Vec<&TrialRecord> = trials.iter().filter(is_like).collect();
        let valid: Vec<FaultRecord> = like.iter().filter_map(|t| of(t)).collect();
        let void = (like.len() - valid.len()) as u32;
        summed(variant, kind, &valid, void)
    };
    let pairs = faults.pairs().into_iter();
    pairs
        .filter_map(|(variant, kind)| row((&variant.name, kind)))
        .collect()
}

fn summed(variant: &str, kind: FaultKind, faults: &[FaultRecord], void: u32) -> Option<FaultRow> {
    let first = faults.first()?;
    let spread = |of: &dyn Fn(&FaultRecord) -> u64| spread(faults.iter().map(of).collect());
    let sum = |of: &dyn Fn(&FaultRecord) -> u64| faults.iter().map(of).sum::<u64>();
    let trials = faults.len() as u32;
    let with_loss = faults.iter().filter(|f| f.lost() > 0).count() as u32;
    let (low, high) = share_interval(with_loss, trials);
    Some(FaultRow {
        variant: variant.to_owned(),
        kind,
        travel: first.travel,
        depth: first.depth,
        keeps: first.keeps,
        count: first.count,
        trials,
        void,
        sent: spread(&|f| f.sent),
        acknowledged: spread(&|f| f.acknowledged),
        applied: spread(&FaultRecord::applied),
        applied_unacknowledged: spread(&|f| f.found.unacknowledged),
        acknowledged_lost: spread(&FaultRecord::lost),
        all_sent: sum(&|f| f.sent),
        all_acknowledged: sum(&|f| f.acknowledged),
        all_applied: sum(&FaultRecord::applied),
        all_applied_unacknowledged: sum(&|f| f.found.unacknowledged),
        all_lost: sum(&FaultRecord::lost),
        all_wrong: sum(&|f| f.found.wrong),
        all_beyond: sum(&|f| f.found.beyond),
        all_torn: sum(&|f| f.found.torn),
        trials_with_loss: with_loss,
        loss_share: f64::from(with_loss) / f64::from(trials),
        loss_low: low,
        loss_high: high,
        contradictions: contradictions(kind, first.keeps, faults),
    })
}

/// What was seen and cannot be, if the store does what its settings promise.
fn contradictions(
    kind: FaultKind,
    keeps: Option<Keeps>,
    faults: &[FaultRecord],
) -> Vec<Contradiction> {
    let any = |of: &dyn Fn(&FaultRecord) -> u64| faults.iter().any(|f| of(f) > 0);
    // Only the death of a server can take what it has acknowledged.
    let may_lose = match (kind, keeps) {
        (FaultKind::Server, Some(keeps)) => {
            matches!(
                keeps,
                Keeps::Nothing | Keeps::Soon | Keeps::KernelUnlessBusy
            )
        }
        (FaultKind::Server, None) => true,
        (FaultKind::Client | FaultKind::Connection, _) => false,
    };
    let loses_all = (kind, keeps) == (FaultKind::Server, Some(Keeps::Nothing));
    let is_transaction = faults.iter().all(|f| f.travel == Travel::Transaction);
    let seen = [
        (Contradiction::Lost, !may_lose && any(&FaultRecord::lost)),
        (
            Contradiction::Survived,
            loses_all && any(&FaultRecord::applied),
        ),
        (
            Contradiction::Torn,
            is_transaction && any(&|f| f.found.torn),
        ),
        (Contradiction::Wrong, any(&|f| f.found.wrong)),
        (Contradiction::Beyond, any(&|f| f.found.beyond)),
    ];
    seen.into_iter()
        .filter_map(|(what, is_seen)| is_seen.then_some(what))
        .collect()
}

fn spread(mut values: Vec<u64>) -> Spread {
    values.sort_unstable();
    let mut as_floats: Vec<f64> = values.iter().map(|n| *n as f64).collect();
    Spread {
        median: median(&mut as_floats),
        min: values.first().copied().unwrap_or(0),
        max: values.last().copied().unwrap_or(0),
    }
}

/// The exact interval of a share (Clopper and Pearson 1934): it holds the true one at least as
/// often as it says, also where none or all of a few trials did.
pub(crate) fn share_interval(seen: u32, of: u32) -> (f64, f64) {
    if of == 0 {
        return (0.0, 1.0);
    }
    let (x, n) = (f64::from(seen), f64::from(of));
    // The chance of at least `seen` grows with the true share, that of at most `seen` falls.
    let low = match seen {
        0 => 0.0,
        _ => rising(LEVEL / 2.0, |p| beta_reg(x, n - x + 1.0, p)),
    };
    let high = match seen == of {
        true => 1.0,
        false => rising(1.0 - LEVEL / 2.0, |p| beta_reg(x + 1.0, n - x, p)),
    };
    (low, high)
}

/// Where a function that rises from 0 to 1 over the shares passes a level.
fn rising(level: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if of(middle) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtrip_model::fault::Found;

    fn fault(kind: FaultKind, keeps: Keeps, acknowledged: u64, found: Found) -> FaultRecord {
        FaultRecord {
            kind,
            travel: Travel::Transaction,
            depth: 10,
            keeps: Some(keeps),
            count: 1000,
            after_ops: 0,
            delay_ns: 0,
            sent: acknowledged + 10,
            acknowledged,
            found,
        }
    }

    fn found(acknowledged: u64, unacknowledged: u64) -> Found {
        Found {
            acknowledged,
            unacknowledged,
            ..Found::default()
        }
    }

    #[test]
    fn intervals_of_shares_are_those_of_the_tables() {
        for (seen, of, low, high) in [
            (0, 50, 0.0, 0.071_122),
            (50, 50, 0.928_878, 1.0),
            (1, 20, 0.001_265, 0.248_733),
            (5, 10, 0.187_086, 0.812_914),
        ] {
            let (l, h) = share_interval(seen, of);
            assert!((l - low).abs() < 1e-5, "{seen}/{of}: {l}");
            assert!((h - high).abs() < 1e-5, "{seen}/{of}: {h}");
        }
        assert_eq!(share_interval(0, 0), (0.0, 1.0));
    }

    #[test]
    fn a_row_sums_up_exactly() {
        let of = |a, f| fault(FaultKind::Server, Keeps::Kernel, a, f);
        let faults = [
            of(100, found(100, 0)),
            of(300, found(290, 0)),
            of(200, found(200, 10)),
        ];
        let row = summed("v", FaultKind::Server, &faults, 2).unwrap();
        assert_eq!((row.trials, row.void, row.trials_with_loss), (3, 2, 1));
        let spread = |median, min, max| Spread { median, min, max };
        assert_eq!(row.sent, spread(210.0, 110, 310));
        assert_eq!(row.acknowledged, spread(200.0, 100, 300));
        assert_eq!(row.applied, spread(210.0, 100, 290));
        assert_eq!(row.acknowledged_lost, spread(0.0, 0, 10));
        assert_eq!((row.all_sent, row.all_acknowledged), (630, 600));
        assert_eq!((row.all_applied, row.all_lost), (600, 10));
        assert_eq!(row.all_applied_unacknowledged, 10);
        assert!((row.loss_share - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(row.contradictions, [Contradiction::Lost]);
    }

    #[test]
    fn what_the_settings_promise_is_held_against_what_was_seen() {
        let all_kinds = |keeps, acknowledged, f: Found| {
            let of = |kind| {
                contradictions(
                    kind,
                    keeps,
                    &[fault(kind, keeps_or(keeps), acknowledged, f)],
                )
            };
            [of(FaultKind::Client), of(FaultKind::Server)]
        };
        let (whole, nothing, part) = (found(50, 0), found(0, 0), found(40, 0));
        let lost = || vec![Contradiction::Lost];
        assert_eq!(all_kinds(Some(Keeps::Disk), 50, whole), [vec![], vec![]]);
        assert_eq!(all_kinds(Some(Keeps::Disk), 50, part), [lost(), lost()]);
        assert_eq!(all_kinds(Some(Keeps::Kernel), 50, part), [lost(), lost()]);
        assert_eq!(all_kinds(Some(Keeps::Soon), 50, part), [lost(), vec![]]);
        let unless_busy = Some(Keeps::KernelUnlessBusy);
        assert_eq!(all_kinds(unless_busy, 50, part), [lost(), vec![]]);
        assert_eq!(all_kinds(unless_busy, 50, whole), [vec![], vec![]]);
        assert_eq!(all_kinds(None, 50, part), [lost(), vec![]]);
        assert_eq!(all_kinds(Some(Keeps::Nothing), 50, nothing)[1], []);
        let survived = vec![Contradiction::Survived];
        assert_eq!(all_kinds(Some(Keeps::Nothing), 50, part)[1], survived);
    }

    fn keeps_or(keeps: Option<Keeps>) -> Keeps {
        keeps.unwrap_or(Keeps::Disk)
    }

    #[test]
    fn what_can_never_be_is_always_said() {
        let of = |f| {
            contradictions(
                FaultKind::Client,
                None,
                &[fault(FaultKind::Client, Keeps::Disk, 50, f)],
            )
        };
        let f = found(50, 5);
        assert_eq!(of(Found { torn: 1, ..f }), [Contradiction::Torn]);
        assert_eq!(of(Found { wrong: 1, ..f }), [Contradiction::Wrong]);
        assert_eq!(of(Found { beyond: 1, ..f }), [Contradiction::Beyond]);
        assert_eq!(of(f), []);
    }
}
