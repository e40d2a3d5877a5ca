//! What a measured difference means for a daily load: time, money, and ops within a quota.
//!
//! The time that an op takes less is the mean, over the blocks in which both variants have a valid
//! trial, of the differences of their mean times an op **within** a block; its 95% interval is that
//! of Student's t over these differences. What drifts over a run so cancels, as it does in the
//! ratios. It is neither corrected for the looks nor for the number of comparisons: it says how
//! much, and the verdict says whether. Everything else is this difference times stated numbers.

use crate::figures::Figures;
use crate::student::Sample;
use roundtrip_model::experiment::Experiment;
use roundtrip_model::projection::{
    Estimate, Load, Projection, PublishedProjection, Saving, WithinQuota,
};
use roundtrip_model::record::{PhaseRecord, TrialRecord};
use roundtrip_model::{Metric, Placement};

/// What an interval leaves out.
const LEVEL: f64 = 0.05;
const NS_PER_S: f64 = 1e9;
const NS_PER_HOUR: f64 = 3600.0 * NS_PER_S;

/// Every comparison of a run on a load, in the order of the experiment. Of variants and phases that
/// are not asked for there are none.
pub fn project(
    experiment: &Experiment,
    trials: &[TrialRecord],
    load: &Load,
    is_asked: impl Fn(&str, &str) -> bool,
) -> Vec<Projection> {
    let figures = Figures::new(experiment, trials);
    let mut projections = Vec::new();
    for phase in 0..experiment.workload.phases.len() {
        for placement in &figures.placements {
            for variant in experiment.variants.iter().map(|v| v.name.as_str()) {
                let Some(baseline) = experiment.baseline_of(variant) else {
                    continue;
                };
                if is_asked(figures.phase_name(phase), variant) {
                    let compared = Compared {
                        phase,
                        placement: *placement,
                        variant,
                        baseline,
                    };
                    projections.extend(projection(&figures, load, &compared));
                }
            }
        }
    }
    projections
}

struct Compared<'e> {
    phase: usize,
    placement: Placement,
    variant: &'e str,
    baseline: &'e str,
}

fn projection(figures: &Figures<'_>, load: &Load, compared: &Compared<'_>) -> Option<Projection> {
    let time = saving(figures, compared, |record| Metric::MeanNs.of(record))?;
    let cpu = saving(figures, compared, cpu_ns_per_op);
    let phase = figures.phase_name(compared.phase);
    let saved_s_per_day = time.saved.times(load.per_day / NS_PER_S);
    let of_this = |p: &&PublishedProjection| p.is_of(phase, compared.variant);
    let column = figures.column(compared.phase, compared.placement, compared.variant)?;
    Some(Projection {
        phase: phase.to_owned(),
        placement: compared.placement,
        variant: compared.variant.to_owned(),
        baseline: compared.baseline.to_owned(),
        concurrency: column.values().map(|c| c.record.concurrency).max()?,
        saved_s_per_day,
        saved_s_per_server: saved_s_per_day.times(1.0 / f64::from(load.servers.max(1))),
        money_per_day: cpu
            .zip(load.price_per_cpu_hour)
            .map(|(cpu, price)| cpu.saved.times(load.per_day / NS_PER_HOUR * price)),
        within_quota: within_quota(load, cpu),
        time_ns_per_op: time,
        cpu_ns_per_op: cpu,
        published: figures
            .experiment
            .projection
            .as_ref()
            .filter(of_this)
            .cloned(),
    })
}

/// CPU of client and server; of a store without a server the client's is all.
fn cpu_ns_per_op(record: &PhaseRecord) -> Option<f64> {
    Some(Metric::ClientCpuNsPerOp.of(record)? + Metric::ServerCpuNsPerOp.of(record)?)
}

/// A figure of both in the blocks in which both have it.
fn saving(
    figures: &Figures<'_>,
    compared: &Compared<'_>,
    of: impl Fn(&PhaseRecord) -> Option<f64>,
) -> Option<Saving> {
    let column = |name: &str| figures.column(compared.phase, compared.placement, name);
    let (variant, baseline) = (column(compared.variant)?, column(compared.baseline)?);
    let known = |record| of(record).filter(|x: &f64| x.is_finite());
    let (mut of_baseline, mut of_variant) = (Vec::new(), Vec::new());
    for (block, cell) in variant {
        let both = known(cell.record).zip(baseline.get(block).and_then(|b| known(b.record)));
        if let Some((its, usual)) = both {
            of_variant.push(its);
            of_baseline.push(usual);
        }
    }
    let differences: Vec<f64> = of_baseline
        .iter()
        .zip(&of_variant)
        .map(|(baseline, variant)| baseline - variant)
        .collect();
    Some(Saving {
        baseline: estimate(&of_baseline)?,
        variant: estimate(&of_variant)?,
        saved: estimate(&differences)?,
        blocks: differences.len() as u32,
    })
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let ends = Sample::of(values).map(|sample| sample.interval(LEVEL));
    Some(Estimate {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        low: ends.map(|(low, _)| low),
        high: ends.map(|(_, high)| high),
    })
}

fn within_quota(load: &Load, cpu: Option<Saving>) -> Option<WithinQuota> {
    let by_cpu = |an_op: Estimate| {
        let quota_ns = load.quota_cpu_hours? * NS_PER_HOUR;
        let ops = |ns: f64| (ns > 0.0).then(|| quota_ns / ns);
        Some(Estimate {
            mean: ops(an_op.mean)?,
            // The dearest op allows the fewest.
            low: an_op.high.and_then(ops),
            high: an_op.low.and_then(ops),
        })
    };
    let quota = WithinQuota {
        baseline_by_cpu: cpu.and_then(|cpu| by_cpu(cpu.baseline)),
        variant_by_cpu: cpu.and_then(|cpu| by_cpu(cpu.variant)),
        by_bytes: load.quota_bytes.map(|q| q.bytes / q.bytes_per_op),
    };
    let is_asked = load.quota_cpu_hours.is_some() || load.quota_bytes.is_some();
    is_asked.then_some(quota)
}
