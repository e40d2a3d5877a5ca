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
            let mut measured = measured(figures, published, *placement, &published.variant);
            let middle = middle(&mut measured);
            let baseline = figures.experiment.baseline_of(&published.variant);
            let mut row = PublishedRow {
                phase: published.phase.clone(),
                variant: published.variant.clone(),
                metric: published.metric,
                placement: *placement,
                published: published.value,
                rounds: published.rounds.clone(),
                measured: middle,
                // Sorted by its median, so that the ends are the extremes.
                measured_min: measured.first().copied(),
                measured_max: measured.last().copied(),
                trials: measured.len() as u32,
                ratio: middle
                    .map(|m| m / published.value)
                    .filter(|r| r.is_finite()),
                baseline: baseline.map(str::to_owned),
                published_speed: None,
                measured_speed: None,
                direction_agrees: None,
            };
            if let Some(baseline) = baseline {
                let source = (figures, published, baseline);
                against_baseline(source, looks, tables, comparisons, &mut row);
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

/// The figure of each valid trial.
fn measured(
    figures: &Figures<'_>,
    published: &Published,
    placement: Placement,
    contestant: &str,
) -> Vec<f64> {
    phase_of(figures, &published.phase)
        .and_then(|phase| figures.column(phase, placement, contestant))
        .map(|column| values(column, published.metric))
        .unwrap_or_default()
}

/// The median, where there is any figure. Sorts its argument.
fn middle(values: &mut [f64]) -> Option<f64> {
    (!values.is_empty()).then(|| median(values))
}

/// What is looked up for a row: the run, what was published, and the variant's own baseline.
type Asked<'f, 'a> = (&'f Figures<'a>, &'f Published, &'f str);

/// Fills in how many times faster than its baseline, there and here, and whether they agree.
fn against_baseline(
    (figures, published, baseline): Asked<'_, '_>,
    looks: &Looks,
    tables: &mut Tables,
    comparisons: &[Comparison],
    row: &mut PublishedRow,
) {
    let experiment = figures.experiment;
    let of_baseline = experiment.published.iter().find(|p| {
        p.variant == baseline && p.phase == published.phase && p.metric == published.metric
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
        None => not_compared((figures, published, baseline), looks, tables, row.placement),
    };
    row.measured_speed = here
        .as_ref()
        .map(|c| c.speed().ratio)
        .filter(|s| s.is_finite())
        .or_else(|| {
            let mut baseline = measured(figures, published, row.placement, baseline);
            speed(published.metric, row.measured?, middle(&mut baseline)?)
        });
    if let (Some(there), Some(here)) = (row.published_speed, here) {
        row.direction_agrees = agrees(there, here.verdict, experiment.delta);
    }
}

/// A figure that the experiment does not compare has no verdict; its interval, which no correction
/// over comparisons touches, says whether it is on one side.
fn not_compared(
    (figures, published, baseline): Asked<'_, '_>,
    looks: &Looks,
    tables: &mut Tables,
    placement: Placement,
) -> Option<Comparison> {
    let pair = Pair {
        phase: phase_of(figures, &published.phase)?,
        placement,
        metric: published.metric,
        variant: &published.variant,
        baseline,
    };
    let interval: RatioInterval = interval(figures, looks, tables, pair)?;
    let mut comparison = Comparison {
        phase: published.phase.clone(),
        metric: published.metric,
        variant: published.variant.clone(),
        baseline: baseline.to_owned(),
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
