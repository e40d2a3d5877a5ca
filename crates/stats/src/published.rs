//! Published figures beside the measured ones, and whether the same side is faster here.

use crate::figures::Figures;
use crate::ratio::{Looks, Pair};
use crate::sequential::Tables;
use crate::steady::median;
use crate::summary::values;
use crate::verdict::{interval, is_inside, side};
use roundtrip_model::analysis::{Comparison, PublishedRow, RatioInterval, Verdict};
use roundtrip_model::experiment::Published;
use roundtrip_model::metric::Better;
use roundtrip_model::{Metric, Placement};

/// One row a published figure and placement.
pub(crate) fn rows(
    figures: &Figures<'_>,
    looks: &Looks,
    tables: &mut Tables,
    comparisons: &[Comparison],
) -> Vec<PublishedRow> {
    let mut rows = Vec::new();
    for published in &figures.experiment.published {
        for placement in &figures.placements {
            let measured = measured(figures, published, *placement, &published.variant);
            let mut row = PublishedRow {
                phase: published.phase.clone(),
                variant: published.variant.clone(),
                metric: published.metric,
                placement: *placement,
                published: published.value,
                measured,
                ratio: measured
                    .map(|m| m / published.value)
                    .filter(|r| r.is_finite()),
                published_speed: None,
                measured_speed: None,
                direction_agrees: None,
            };
            if published.variant != figures.experiment.baseline {
                against_baseline(figures, looks, tables, comparisons, published, &mut row);
            }
            rows.push(row);
        }
    }
    rows
}

fn phase_of(figures: &Figures<'_>, name: &str) -> Option<usize> {
    figures
        .experiment
        .workload
        .phases
        .iter()
        .position(|p| p.name == name)
}

fn measured(
    figures: &Figures<'_>,
    published: &Published,
    placement: Placement,
    contestant: &str,
) -> Option<f64> {
    let phase = phase_of(figures, &published.phase)?;
    let column = figures.column(phase, placement, contestant)?;
    let mut values = values(column, published.metric);
    (!values.is_empty()).then(|| median(&mut values))
}

/// Fills in how many times faster than the baseline, there and here, and whether they agree.
fn against_baseline(
    figures: &Figures<'_>,
    looks: &Looks,
    tables: &mut Tables,
    comparisons: &[Comparison],
    published: &Published,
    row: &mut PublishedRow,
) {
    let experiment = figures.experiment;
    let of_baseline = experiment.published.iter().find(|p| {
        p.variant == experiment.baseline
            && p.phase == published.phase
            && p.metric == published.metric
    });
    row.published_speed =
        of_baseline.and_then(|b| speed(published.metric, published.value, b.value));
    let compared = comparisons.iter().find(|c| {
        c.phase == row.phase
            && c.variant == row.variant
            && c.metric == row.metric
            && c.placement == row.placement
    });
    let here = match compared {
        Some(comparison) => Some(comparison.clone()),
        None => not_compared(figures, looks, tables, published, row.placement),
    };
    row.measured_speed = here
        .as_ref()
        .map(|c| c.speed().ratio)
        .filter(|s| s.is_finite())
        .or_else(|| {
            let baseline = measured(figures, published, row.placement, &experiment.baseline)?;
            speed(published.metric, row.measured?, baseline)
        });
    if let (Some(there), Some(here)) = (row.published_speed, here) {
        row.direction_agrees = agrees(there, here.verdict, experiment.delta);
    }
}

/// A figure that the experiment does not compare has no verdict; its interval, which no correction
/// over comparisons touches, says whether it is on one side.
fn not_compared(
    figures: &Figures<'_>,
    looks: &Looks,
    tables: &mut Tables,
    published: &Published,
    placement: Placement,
) -> Option<Comparison> {
    let pair = Pair {
        phase: phase_of(figures, &published.phase)?,
        placement,
        metric: published.metric,
        variant: &published.variant,
    };
    let interval: RatioInterval = interval(figures, looks, tables, pair)?;
    let mut comparison = Comparison {
        phase: published.phase.clone(),
        metric: published.metric,
        variant: published.variant.clone(),
        baseline: figures.experiment.baseline.clone(),
        placement,
        interval,
        p: None,
        verdict: Verdict::Undecided,
        control: None,
        blocks: 0,
        detectable: None,
        disagreements: Vec::new(),
    };
    if looks.is_peek {
        return Some(comparison);
    }
    comparison.verdict = if is_inside(&comparison.interval, figures.experiment.delta) {
        Verdict::Equivalent
    } else {
        side(&comparison).unwrap_or(Verdict::Undecided)
    };
    Some(comparison)
}

/// How many times faster a figure is than the baseline's.
fn speed(metric: Metric, variant: f64, baseline: f64) -> Option<f64> {
    let speed = match metric.better() {
        Better::Higher => variant / baseline,
        Better::Lower => baseline / variant,
    };
    (speed.is_finite() && speed > 0.0).then_some(speed)
}

/// Whether the outcome here says what was published: the same side, or no difference that matters
/// in either.
fn agrees(published_speed: f64, here: Verdict, delta: f64) -> Option<bool> {
    match here {
        Verdict::Faster => Some(published_speed > 1.0),
        Verdict::Slower => Some(published_speed < 1.0),
        Verdict::Equivalent => Some((published_speed - 1.0).abs() <= delta),
        Verdict::Undecided => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_points_the_same_way_for_either_metric() {
        assert_eq!(speed(Metric::LoopRealS, 2.0, 5.0), Some(2.5));
        assert_eq!(speed(Metric::OpsPerS, 5.0, 2.0), Some(2.5));
        assert_eq!(speed(Metric::OpsPerS, 5.0, 0.0), None);
    }

    #[test]
    fn directions_agree_on_the_same_side_only() {
        assert_eq!(agrees(1.18, Verdict::Faster, 0.05), Some(true));
        assert_eq!(agrees(1.18, Verdict::Slower, 0.05), Some(false));
        assert_eq!(agrees(1.18, Verdict::Equivalent, 0.05), Some(false));
        assert_eq!(agrees(1.03, Verdict::Equivalent, 0.05), Some(true));
        assert_eq!(agrees(1.18, Verdict::Undecided, 0.05), None);
    }
}
