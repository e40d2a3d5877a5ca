//! The four outcomes. METHOD.md, "Verdict".
//!
//! In this order, the first that holds:
//!
//! 1. **undecided** while no planned look was taken, or with fewer than two blocks;
//! 2. **equivalent** when the interval lies inside 1 +- delta. A difference may be beyond doubt and
//!    yet smaller than the one that matters: then it is equivalent, with its interval beside it;
//! 3. **faster** or **slower** when Holm's correction rejects at this or an earlier look, the
//!    present interval leaves out 1, and the ratio is farther from 1 than the control's interval
//!    reaches;
//! 4. **undecided** otherwise.
//!
//! A rejection at an earlier look stands as a test. The other conditions are asked again at each
//! look, so that no report names a winner that its own figures no longer show; that can only make
//! false winners rarer.

use crate::crosscheck;
use crate::figures::Figures;
use crate::holm;
use crate::ratio::{Looks, Pair, log_ratios, pairs};
use crate::sequential::{ALPHA, Evidence, Tables, evidence};
use crate::student::{Sample, quantile};
use roundtrip_model::analysis::{Comparison, RatioInterval, Verdict};
use roundtrip_model::experiment::Experiment;
use roundtrip_model::metric::Better;

/// Whether the ways to an interval are checked against each other: a simulation of thousands of
/// runs does not want to; no outcome depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrossChecks {
    On,
    Off,
}

/// All comparisons of an experiment.
pub(crate) fn comparisons(
    figures: &Figures<'_>,
    looks: &Looks,
    tables: &mut Tables,
    checks: CrossChecks,
) -> Vec<Comparison> {
    let pairs = pairs(figures);
    let found: Vec<Option<Evidence>> = pairs
        .iter()
        .map(|pair| weigh(figures, looks, tables, *pair))
        .collect();
    let raw: Vec<Option<f64>> = found.iter().map(|e| e.map(|e| e.p)).collect();
    let adjusted = if looks.is_peek {
        vec![None; raw.len()]
    } else {
        holm::adjusted(&raw)
    };
    let mut comparisons = Vec::with_capacity(pairs.len());
    for ((pair, evidence), p) in pairs.into_iter().zip(found).zip(adjusted) {
        // Each baseline has a control of its own: noise of one says nothing of another.
        let control = Experiment::control_of(pair.baseline);
        let has_control = figures.contestants.contains(&control);
        let of_control = Pair {
            variant: &control,
            ..pair
        };
        let control = has_control
            .then(|| interval(figures, looks, tables, of_control))
            .flatten();
        let mut comparison = blank(figures, looks, pair);
        comparison.control = control;
        comparison.p = p;
        if let Some(evidence) = evidence {
            comparison.interval = in_ratios(&evidence);
            comparison.detectable = detectable(&evidence.sample);
            let may_name = !has_control || control.is_some();
            if let Some(p) = p {
                comparison.verdict = verdict(&comparison, p, figures.experiment.delta, may_name);
            }
            if checks == CrossChecks::On && !looks.is_peek {
                let logs = looks.present(&log_ratios(figures, pair));
                comparison.disagreements = crosscheck::disagreements(&logs, evidence.level);
            }
        }
        comparisons.push(comparison);
    }
    comparisons
}

/// What is known of a pair whose interval is not.
fn blank(figures: &Figures<'_>, looks: &Looks, pair: Pair<'_>) -> Comparison {
    let logs = looks.present(&log_ratios(figures, pair));
    Comparison {
        phase: figures.phase_name(pair.phase).to_owned(),
        metric: pair.metric,
        variant: pair.variant.to_owned(),
        baseline: pair.baseline.to_owned(),
        placement: pair.placement,
        interval: without_interval(&logs),
        p: None,
        verdict: Verdict::Undecided,
        control: None,
        blocks: logs.len() as u32,
        detectable: None,
        disagreements: Vec::new(),
    }
}

fn weigh(
    figures: &Figures<'_>,
    looks: &Looks,
    tables: &mut Tables,
    pair: Pair<'_>,
) -> Option<Evidence> {
    let samples = looks.samples(&log_ratios(figures, pair));
    // Before the first look there is no level of a look to use: the plain t interval is shown.
    let is_final = looks.is_final || looks.is_peek;
    evidence(tables, &samples, figures.experiment.max_blocks, is_final)
}

/// The interval of a pair, made in the same way as that of a comparison; `None` without blocks.
pub(crate) fn interval(
    figures: &Figures<'_>,
    looks: &Looks,
    tables: &mut Tables,
    pair: Pair<'_>,
) -> Option<RatioInterval> {
    if let Some(evidence) = weigh(figures, looks, tables, pair) {
        return Some(in_ratios(&evidence));
    }
    let logs = looks.present(&log_ratios(figures, pair));
    (!logs.is_empty()).then(|| without_interval(&logs))
}

fn in_ratios(evidence: &Evidence) -> RatioInterval {
    RatioInterval {
        ratio: evidence.sample.mean.exp(),
        ci_low: evidence.low.exp(),
        ci_high: evidence.high.exp(),
    }
}

/// A ratio of one block: anything may be true.
fn without_interval(logs: &[f64]) -> RatioInterval {
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    RatioInterval {
        ratio: mean.exp(),
        ci_low: 0.0,
        ci_high: f64::INFINITY,
    }
}

fn verdict(comparison: &Comparison, p: f64, delta: f64, may_name: bool) -> Verdict {
    let interval = &comparison.interval;
    if is_inside(interval, delta) {
        return Verdict::Equivalent;
    }
    let beyond_control = comparison
        .control
        .is_none_or(|control| interval.ratio.ln().abs() > reach(&control));
    match side(comparison) {
        Some(side) if p <= ALPHA && may_name && beyond_control => side,
        _ => Verdict::Undecided,
    }
}

/// Whether all that may be true differs by less than what matters.
pub(crate) fn is_inside(interval: &RatioInterval, delta: f64) -> bool {
    interval.ci_low >= 1.0 - delta && interval.ci_high <= 1.0 + delta
}

/// Which side an interval that leaves out 1 is on.
pub(crate) fn side(comparison: &Comparison) -> Option<Verdict> {
    let above = comparison.interval.ci_low > 1.0;
    let below = comparison.interval.ci_high < 1.0;
    let faster = match comparison.metric.better() {
        Better::Higher => above,
        Better::Lower => below,
    };
    (above || below).then_some(if faster {
        Verdict::Faster
    } else {
        Verdict::Slower
    })
}

/// How far from a log ratio of 0 an interval reaches.
fn reach(interval: &RatioInterval) -> f64 {
    interval.ci_low.ln().abs().max(interval.ci_high.ln().abs())
}

/// The relative difference that is found four times in five with these blocks and this noise, were
/// the run to end here: the two quantiles of t for the noncentral one, which is near enough.
fn detectable(sample: &Sample) -> Option<f64> {
    // Two-sided 0.4 leaves out 0.2 above: a power of 0.8.
    let deviates = quantile(ALPHA, sample.freedom()) + quantile(0.4, sample.freedom());
    let difference = (deviates * sample.se()).exp_m1();
    difference.is_finite().then_some(difference)
}
