//! Figures against factors. A factor is a numeric option in which variants of one experiment
//! differ, everything else being equal, or the number of keys of an op where phases differ in
//! nothing else: three values of it at least.

use crate::figures::{Column, Figures};
use crate::knee::{MIN_POINTS, knee};
use crate::steady::median;
use roundtrip_model::curve::{Curve, CurveFigure, CurvePoint};
use roundtrip_model::experiment::Experiment;
use roundtrip_model::record::PhaseRecord;
use roundtrip_model::workload::Phase;
use roundtrip_model::{Metric, Path, Placement};
use std::collections::BTreeMap;

/// The factor whose points are phases.
const KEYS_PER_OP: &str = "keys_per_op";
/// The option that is 1 where a path does not say it.
const DEPTH: &str = "depth";

/// What stands against an option, and against the number of keys; the first of either has the knee.
const BY_OPTION: [CurveFigure; 3] = [
    CurveFigure::TimeNsPerOp,
    CurveFigure::ClientCpuNsPerOp,
    CurveFigure::ClientMaxRssBytes,
];
const BY_KEYS: [CurveFigure; 4] = [
    CurveFigure::TimeNsPerKey,
    CurveFigure::TimeNsPerOp,
    CurveFigure::ClientCpuNsPerKey,
    CurveFigure::ClientMaxRssBytes,
];

/// A value of a factor with the place of the phase and the variant.
type Place<'e> = (f64, usize, &'e str);

/// What has the same factor in common with others, point by point.
struct Line<'e> {
    factor: String,
    phase: String,
    name: String,
    /// By the factor, growing.
    points: Vec<Place<'e>>,
    figures: &'static [CurveFigure],
}

/// Every curve that the trials give figures for, by factor and line.
pub(crate) fn curves(figures: &Figures<'_>) -> Vec<Curve> {
    let mut lines = of_options(figures.experiment);
    lines.extend(of_keys(figures.experiment));
    let mut curves = Vec::new();
    for placement in &figures.placements {
        for line in &lines {
            let of_line = line.figures.iter().enumerate();
            curves.extend(
                of_line.filter_map(|(i, figure)| curve(figures, *placement, line, *figure, i == 0)),
            );
        }
    }
    curves
}

/// Lines of variants that differ in one numeric option.
fn of_options(experiment: &Experiment) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for factor in numeric_options(experiment) {
        let mut groups: Vec<(Path, Vec<(f64, &str)>)> = Vec::new();
        for variant in &experiment.variants {
            let Some(value) = value_of(&variant.path, &factor) else {
                continue;
            };
            let mut rest = variant.path.clone();
            rest.options.remove(&factor);
            let place = groups.iter().position(|(known, _)| *known == rest);
            let place = place.unwrap_or_else(|| {
                groups.push((rest, Vec::new()));
                groups.len() - 1
            });
            groups[place].1.push((value, variant.name.as_str()));
        }
        for (phase, planned) in experiment.workload.phases.iter().enumerate() {
            lines.extend(groups.iter().filter_map(|(rest, values)| {
                let does = |name: &str| planned.concerns(name);
                let points = values.iter().filter(|(_, name)| does(name));
                let points = points.map(|(value, name)| (*value, phase, *name)).collect();
                Some(Line {
                    factor: factor.clone(),
                    phase: planned.name.clone(),
                    name: rest.to_string(),
                    points: in_order(points)?,
                    figures: &BY_OPTION,
                })
            }));
        }
    }
    lines
}

/// Options that are numbers wherever they are said.
fn numeric_options(experiment: &Experiment) -> Vec<String> {
    let mut said: BTreeMap<&str, bool> = BTreeMap::new();
    for (name, value) in experiment.variants.iter().flat_map(|v| &v.path.options) {
        let is_number = value.parse::<f64>().is_ok_and(|x| x.is_finite() && x > 0.0);
        *said.entry(name).or_insert(true) &= is_number;
    }
    let numeric = said.into_iter().filter(|(_, is_number)| *is_number);
    numeric.map(|(name, _)| name.to_owned()).collect()
}

fn value_of(path: &Path, factor: &str) -> Option<f64> {
    match path.options.get(factor) {
        Some(text) => text.parse().ok(),
        None => (factor == DEPTH).then_some(1.0),
    }
}

/// Lines of phases that differ in the number of keys of an op.
fn of_keys(experiment: &Experiment) -> Vec<Line<'_>> {
    let mut groups: Vec<(Phase, Vec<usize>)> = Vec::new();
    for (place, phase) in experiment.workload.phases.iter().enumerate() {
        // As many ops as the keys of all of them allow: the count goes with the keys.
        let rest = Phase {
            name: String::new(),
            keys_per_op: 1,
            count: 0,
            warmup: 0,
            only: Vec::new(),
            ..phase.clone()
        };
        match groups.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, places)) => places.push(place),
            None => groups.push((rest, vec![place])),
        }
    }
    let phases = &experiment.workload.phases;
    let lines = groups.iter().flat_map(|(rest, places)| {
        experiment.variants.iter().filter_map(move |variant| {
            let does = |place: &&usize| phases[**place].concerns(&variant.name);
            let points = places.iter().filter(does).map(|place| {
                let keys = f64::from(phases[*place].keys_per_op);
                (keys, *place, variant.name.as_str())
            });
            Some(Line {
                factor: KEYS_PER_OP.to_owned(),
                phase: rest.op.name().to_owned(),
                name: variant.name.clone(),
                points: in_order(points.collect())?,
                figures: &BY_KEYS,
            })
        })
    });
    lines.collect()
}

/// Points by their factor, one of each; `None` where they are too few.
fn in_order(mut points: Vec<Place<'_>>) -> Option<Vec<Place<'_>>> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0 == b.0);
    (points.len() >= MIN_POINTS).then_some(points)
}

fn figure_of(figure: CurveFigure, record: &PhaseRecord) -> Option<f64> {
    let per_key = 1.0 / f64::from(record.keys_per_op.max(1));
    let value = match figure {
        CurveFigure::TimeNsPerOp => Metric::MeanNs.of(record)?,
        CurveFigure::TimeNsPerKey => Metric::MeanNs.of(record)? * per_key,
        CurveFigure::ClientCpuNsPerOp => Metric::ClientCpuNsPerOp.of(record)?,
        CurveFigure::ClientCpuNsPerKey => Metric::ClientCpuNsPerOp.of(record)? * per_key,
        CurveFigure::ClientMaxRssBytes => Metric::ClientMaxRssBytes.of(record)?,
    };
    value.is_finite().then_some(value)
}

fn curve(
    figures: &Figures<'_>,
    placement: Placement,
    line: &Line<'_>,
    figure: CurveFigure,
    has_knee: bool,
) -> Option<Curve> {
    let mut points = Vec::new();
    let mut by_block = Vec::new();
    for (factor, phase, variant) in &line.points {
        let Some(column) = figures.column(*phase, placement, variant) else {
            continue;
        };
        let of_blocks = of_column(column, figure);
        let mut values: Vec<f64> = of_blocks.values().copied().collect();
        if values.is_empty() {
            continue;
        }
        // Sorted by it, so that the ends are the extremes.
        let median = median(&mut values);
        points.push(CurvePoint {
            factor: *factor,
            variant: (*variant).to_owned(),
            phase: figures.phase_name(*phase).to_owned(),
            median,
            min: values[0],
            max: values[values.len() - 1],
            trials: values.len() as u32,
        });
        by_block.push(of_blocks);
    }
    let factors: Vec<f64> = points.iter().map(|point| point.factor).collect();
    (points.len() >= MIN_POINTS).then(|| Curve {
        factor: line.factor.clone(),
        phase: line.phase.clone(),
        placement,
        line: line.name.clone(),
        figure,
        knee: has_knee
            .then(|| knee(&factors, &in_all(&by_block)))
            .flatten(),
        points,
    })
}

fn of_column(column: &Column<'_>, figure: CurveFigure) -> BTreeMap<u32, f64> {
    let cells = column.iter();
    cells
        .filter_map(|(block, cell)| Some((*block, figure_of(figure, cell.record)?)))
        .collect()
}

/// The figures of those blocks in which every point has one.
fn in_all(by_block: &[BTreeMap<u32, f64>]) -> Vec<Vec<f64>> {
    let everywhere = |block: &&u32| by_block.iter().all(|point| point.contains_key(block));
    let blocks: Vec<u32> = by_block
        .first()
        .map(|point| point.keys().filter(everywhere).copied().collect())
        .unwrap_or_default();
    let of_point = |point: &BTreeMap<u32, f64>| -> Vec<f64> {
        blocks
            .iter()
            .filter_map(|b| point.get(b).copied())
            .collect()
    };
    by_block.iter().map(of_point).collect()
}
