//! Pictures as data: what is drawn, along which axes.

use super::figures::{Figures, Scene, is_control};
use super::{Curves, Dot, Dots, Forest, ForestRow, Series, Stack};
use crate::number::{bare_ratio, figure, has_interval, interval, nanos, ratio, speed};
use crate::text::clean;
use roundtrip_model::record::{FloorBar, Validity};
use roundtrip_model::{Histogram, Metric};

/// How far an axis of ratios goes beyond 1 at the least, and at the most.
const LEAST_REACH: f64 = 1.1;
const MOST_REACH: f64 = 1000.0;
/// Points of a latency curve for each further nine.
const POINTS_A_NINE: usize = 16;

/// Every comparison of the leading figure, with the control's band: a picture a baseline.
pub fn forests(figures: &Figures<'_>) -> Vec<Forest> {
    let baselines = figures.baselines().into_iter();
    baselines
        .filter_map(|baseline| forest(figures, baseline))
        .collect()
}

fn forest(figures: &Figures<'_>, baseline: &str) -> Option<Forest> {
    let metric = figures.leading();
    let mut rows = Vec::new();
    for scene in figures.scenes() {
        let control = figures
            .control(scene, metric, baseline)
            .map(|c| speed(metric, &c));
        for (_, name) in figures.in_scene(scene) {
            let comparison = figures.comparison(scene, &name, metric);
            let Some(comparison) = comparison.filter(|c| c.baseline == baseline) else {
                continue;
            };
            let times = comparison.speed();
            if is_control(&name) || !times.ratio.is_finite() || times.ratio <= 0.0 {
                continue;
            }
            let ends = |i: &roundtrip_model::analysis::RatioInterval| {
                has_interval(i).then_some((i.ci_low, i.ci_high))
            };
            rows.push(ForestRow {
                name: clean(&name),
                place: clean(&scene.short()),
                ratio: times.ratio,
                interval: ends(&times),
                control: control.as_ref().and_then(ends),
                verdict: comparison.verdict,
                words: format!("{} ({})", ratio(times.ratio), interval(&times)),
            });
        }
    }
    if rows.is_empty() {
        return None;
    }
    let (axis, ticks) = ratio_axis(&rows, figures.document.experiment.delta);
    Some(Forest {
        title: clean(&format!(
            "How many times as fast as {baseline}{}",
            super::headlines::by(metric)
        )),
        rows,
        axis,
        ticks,
    })
}

/// Ends and ticks of a logarithmic axis that holds every interval, and 1.
fn ratio_axis(rows: &[ForestRow], delta: f64) -> ((f64, f64), Vec<f64>) {
    let ends = rows.iter().flat_map(|row| {
        let both = row.interval.into_iter().chain(row.control);
        both.flat_map(|(low, high)| [low, high]).chain([row.ratio])
    });
    let reach = LEAST_REACH.max(1.0 + delta);
    let (low, high) = ends.fold((1.0 / reach, reach), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let (low, high) = (
        low.max(1.0 / MOST_REACH) * 0.98,
        high.min(MOST_REACH) * 1.02,
    );
    let steps: &[f64] = match high / low {
        span if span < 1.6 => &[0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4],
        span if span < 3.0 => &[0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5],
        span if span < 8.0 => &[0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0],
        _ => &[
            0.001, 0.01, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0,
        ],
    };
    let ticks = steps
        .iter()
        .copied()
        .filter(|t| (low..=high).contains(t))
        .collect();
    ((low, high), ticks)
}

/// Where a round trip goes, for sequential phases whose parts are all known.
pub fn stack(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Stack> {
    let parts = [
        Metric::ClientUserNsPerOp,
        Metric::ClientSysNsPerOp,
        Metric::ServerCpuNsPerOp,
        Metric::WaitingNsPerOp,
    ];
    let mut bars = Vec::new();
    for (_, name) in figures.in_scene(scene) {
        if is_control(&name) {
            continue;
        }
        let [a, b, c, d] = parts.map(|m| figures.median(scene, &name, m));
        if let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) {
            bars.push((clean(&name), [a, b, c, d].map(|x| x.max(0.0))));
            bars.extend(on_the_floor(figures, scene, &name));
        }
    }
    if !bars.is_empty() {
        let least = on_the_floor(figures, scene, FloorBar::LEAST);
        // A variant whose client is the native one has that very bar already.
        let is_new = |(_, parts): &(String, [f64; 4])| bars.iter().all(|(_, known)| known != parts);
        let least = least.filter(is_new);
        bars.extend(least);
    }
    (!bars.is_empty()).then(|| Stack {
        title: "Where a round trip goes".to_owned(),
        place: clean(&scene.short()),
        bars,
    })
}

/// The bar of a variant's client against the floor, where it was measured.
fn on_the_floor(
    figures: &Figures<'_>,
    scene: Scene<'_>,
    variant: &str,
) -> Option<(String, [f64; 4])> {
    let bar = figures.floor_bar(scene, variant)?;
    let name = match variant {
        FloorBar::LEAST => "native, floor".to_owned(),
        name => format!("{name}, floor"),
    };
    let parts = [
        bar.client_user_ns_per_op,
        bar.client_sys_ns_per_op,
        bar.server_cpu_ns_per_op,
        bar.waiting_ns_per_op,
    ];
    Some((clean(&name), parts.map(|x| x.max(0.0))))
}

/// Every trial of a scene, in order of time.
pub fn dots(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Dots> {
    let metric = figures.leading();
    let mut order: Vec<(u64, u32, u32)> = Vec::new();
    for (_, name) in figures.in_scene(scene) {
        order.extend(
            figures
                .trials(scene, &name)
                .map(|(t, _)| (t.started_unix_ms, t.block, t.position)),
        );
    }
    order.sort_unstable();
    order.dedup();
    let series: Vec<Series<Dot>> = figures
        .in_scene(scene)
        .into_iter()
        .map(|(place, name)| {
            let dots = figures.trials(scene, &name).filter_map(|(trial, phase)| {
                let value = metric.of(phase).filter(|v| v.is_finite() && *v > 0.0)?;
                let at = (trial.started_unix_ms, trial.block, trial.position);
                let void = match &trial.validity {
                    Validity::Valid => None,
                    Validity::Void(reason) => Some(clean(reason)),
                };
                Some(Dot {
                    order: order.binary_search(&at).unwrap_or_else(|i| i),
                    value,
                    words: format!("block {}: {}", trial.block + 1, figure(metric, value)),
                    void,
                })
            });
            Series {
                place,
                name: clean(&name),
                points: dots.collect(),
            }
        })
        .collect();
    let values = || {
        series
            .iter()
            .flat_map(|s| s.points.iter().map(|dot| dot.value))
    };
    let (low, high) = ends(values())?;
    let margin = (high - low).max(high * 0.01) * 0.06;
    let axis = (low - margin, high + margin);
    Some(Dots {
        title: format!("Every trial in order of time, {}", metric.in_words()),
        place: clean(&scene.short()),
        series,
        count: order.len(),
        axis,
        ticks: linear_ticks(axis)
            .into_iter()
            .map(|t| (t, figure(metric, t)))
            .collect(),
    })
}

pub(super) fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, x| match ends {
        None => Some((x, x)),
        Some((low, high)) => Some((x.min(low), x.max(high))),
    })
}

/// Some three to six round numbers along an axis.
pub(super) fn linear_ticks((low, high): (f64, f64)) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    if !rough.is_normal() || rough <= 0.0 {
        return vec![low];
    }
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    (0..8)
        .map(|i| (first + i) as f64 * step)
        .filter(|t| *t <= high)
        .collect()
}

/// Latency by percentile, the valid trials of a variant merged.
pub fn curves(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Curves> {
    let mut series = Vec::new();
    for (place, name) in figures.in_scene(scene) {
        if is_control(&name) {
            continue;
        }
        let mut all = Histogram::new();
        for (trial, phase) in figures.trials(scene, &name) {
            if let (true, Some(latency)) = (trial.is_valid(), &phase.latency) {
                all.merge(latency);
            }
        }
        let points = curve(&all);
        if points.len() > 1 {
            series.push(Series {
                place,
                name: clean(&name),
                points,
            });
        }
    }
    let points = || {
        series
            .iter()
            .flat_map(|s: &Series<(f64, f64)>| s.points.iter())
    };
    let (low, high) = ends(points().map(|(_, ns)| *ns))?;
    let nines = points().map(|(nines, _)| *nines).fold(0.0, f64::max);
    let axis = (low * 0.9, high * 1.1);
    Some(Curves {
        title: "Latency by percentile".to_owned(),
        place: clean(&scene.short()),
        nines,
        axis,
        ticks: log_ticks(axis),
        series,
    })
}

/// `(nines, ns)` for every quantile that has samples enough above it.
fn curve(histogram: &Histogram) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let total = histogram.count() as f64;
    let mut buckets = histogram.buckets();
    let mut below = 0.0;
    let mut at = None;
    for i in 0..=12 * POINTS_A_NINE {
        let nines = i as f64 / POINTS_A_NINE as f64;
        let above = total * 10f64.powf(-nines);
        if above + 1e-6 < roundtrip_model::histogram::SAMPLES_ABOVE {
            break;
        }
        let wanted = (total - above).max(1.0);
        while below + 1e-6 < wanted {
            let Some((ns, count)) = buckets.next() else {
                return points;
            };
            below += count as f64;
            at = Some(ns);
        }
        if let Some(ns) = at.filter(|ns| *ns > 0) {
            points.push((nines, ns as f64));
        }
    }
    points
}

/// Ticks of latency along a logarithmic axis.
fn log_ticks(axis: (f64, f64)) -> Vec<(f64, String)> {
    let ticks = log_steps(axis).into_iter();
    ticks
        .map(|t| (t, nanos(t).replace(".00", "").replace(".0 ", " ")))
        .collect()
}

/// 1, 2 and 5 times each power of ten along a logarithmic axis; fewer where it is long.
pub(super) fn log_steps((low, high): (f64, f64)) -> Vec<f64> {
    let steps: &[f64] = match (high / low).log10() {
        decades if decades < 0.8 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
        decades if decades < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    (0..19)
        .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
        .filter(|t| (low..=high).contains(t))
        .collect()
}

/// A tick of an axis of ratios.
pub fn ratio_tick(tick: f64) -> String {
    let text = bare_ratio(tick);
    let short = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{short}x")
}
