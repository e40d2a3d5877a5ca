//! Median, least and largest of every figure over the valid trials. METHOD.md, point 2: a trial is
//! one number, and numbers of trials are never pooled with those of calls.

use crate::figures::{Column, Figures};
use crate::steady::median;
use roundtrip_model::Metric;
use roundtrip_model::analysis::Summary;

/// Every figure that is known, by phase, placement, contestant (with the control) and metric.
pub(crate) fn summaries(figures: &Figures<'_>) -> Vec<Summary> {
    let mut summaries = Vec::new();
    for (phase, placement, contestant, column) in figures.columns() {
        for metric in Metric::ALL {
            let mut values = values(column, metric);
            if values.is_empty() {
                continue;
            }
            // Sorted by it, so that the ends are the extremes.
            let median = median(&mut values);
            summaries.push(Summary {
                phase: figures.phase_name(phase).to_owned(),
                variant: contestant.to_owned(),
                placement,
                metric,
                unit: metric.unit().to_owned(),
                median,
                min: values[0],
                max: values[values.len() - 1],
                trials: values.len() as u32,
            });
        }
    }
    summaries
}

/// A figure of each trial of a column, by block.
pub(crate) fn values(column: &Column<'_>, metric: Metric) -> Vec<f64> {
    column
        .values()
        .filter_map(|cell| cell.get(metric))
        .collect()
}
