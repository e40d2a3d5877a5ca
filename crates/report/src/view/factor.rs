//! Figures against factors: what a numeric option or the number of keys of an op does, a chapter
//! a factor, phase and placement, with the knee in a sentence.

use super::build::chapter;
use super::figures::Figures;
use super::pictures::{ends, linear_ticks, log_steps};
use super::tables::{columns, plain};
use super::{Block, Chapter, Series, Table};
use crate::number::{UNKNOWN, bytes, nanos, percent, three};
use crate::text::{Sentence, clean};
use roundtrip_model::curve::{Curve, CurveFigure, Knee, Shape};

/// Beyond this ratio of its ends an axis is logarithmic.
const FAR: f64 = 4.0;

/// A figure against a factor, a line for what has the rest in common.
#[derive(Clone, Debug)]
pub struct FactorChart {
    /// What it shows.
    pub title: String,
    /// Phase and placement.
    pub place: String,
    /// The factor.
    pub factor: String,
    /// The figure.
    pub figure: CurveFigure,
    /// The lines.
    pub series: Vec<Series<FactorPoint>>,
    /// Ends of the factor's axis, which is logarithmic.
    pub factors: (f64, f64),
    /// Values of the factor with their text.
    pub factor_ticks: Vec<(f64, String)>,
    /// Ends of the figure's axis.
    pub axis: (f64, f64),
    /// Whether that is logarithmic too.
    pub log: bool,
    /// Ticks with their text.
    pub ticks: Vec<(f64, String)>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug)]
pub struct FactorPoint {
    /// The factor.
    pub factor: f64,
    /// Median over trials.
    pub median: f64,
    /// Smallest trial.
    pub min: f64,
    /// Largest trial.
    pub max: f64,
}

impl FactorChart {
    /// A figure of the chart in words.
    pub fn words(&self, value: f64) -> String {
        words(self.figure, value)
    }

    /// From the least to the most, with the unit once where both have it.
    pub fn spread(&self, point: &FactorPoint) -> String {
        let (low, high) = (self.words(point.min), self.words(point.max));
        match (low.rsplit_once(' '), high.rsplit_once(' ')) {
            (Some((number, unit)), Some((_, same))) if unit == same => {
                format!("{number} to {high}")
            }
            _ => format!("{low} to {high}"),
        }
    }

    /// Every value of the factor that any line has, growing.
    pub fn values(&self) -> Vec<f64> {
        let points = self.series.iter().flat_map(|line| &line.points);
        let mut values: Vec<f64> = points.map(|point| point.factor).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// The same as figures: a row a value of the factor, a column a line.
    pub fn table(&self) -> Table {
        let cell = |line: &Series<FactorPoint>, factor: f64| {
            let mut points = line.points.iter();
            let point = points.find(|point| point.factor == factor);
            plain(point.map_or(UNKNOWN.to_owned(), |p| {
                format!("{} ({})", self.words(p.median), self.spread(p))
            }))
        };
        let row = |factor: f64| {
            let first = plain(number(factor));
            let others = self.series.iter().map(|line| cell(line, factor));
            std::iter::once(first).chain(others).collect()
        };
        let heads: Vec<&str> = self.series.iter().map(|line| line.name.as_str()).collect();
        Table {
            caption: format!("{}: median (least to most)", self.title),
            columns: columns(&self.factor, &heads),
            rows: self.values().into_iter().map(row).collect(),
        }
    }
}

/// A value of a factor.
pub fn number(factor: f64) -> String {
    match factor.fract() == 0.0 && factor.abs() < 1e15 {
        true => format!("{factor:.0}"),
        false => three(factor),
    }
}

fn words(figure: CurveFigure, value: f64) -> String {
    match figure.is_bytes() {
        true => bytes(value as u64),
        false => nanos(value),
    }
}

/// Every factor that the run shows.
pub fn chapters(figures: &Figures<'_>) -> Vec<Chapter> {
    let mut left: Vec<&Curve> = figures.document.analysis.curves.iter().collect();
    let mut chapters = Vec::new();
    while let Some(first) = left.first().copied() {
        let same = |c: &&Curve| {
            (&c.factor, &c.phase, c.placement) == (&first.factor, &first.phase, first.placement)
        };
        let (mine, others): (Vec<&Curve>, Vec<&Curve>) = left.into_iter().partition(same);
        left = others;
        chapters.push(of_factor(&mine, first));
    }
    chapters
}

fn of_factor(curves: &[&Curve], first: &Curve) -> Chapter {
    let knees = curves.iter().filter_map(|c| Some(sentence(c, &c.knee?)));
    let mut blocks = vec![Block::Prose(knees.collect())];
    let mut shown: Vec<CurveFigure> = Vec::new();
    for curve in curves {
        if !shown.contains(&curve.figure) {
            shown.push(curve.figure);
            let lines = curves.iter().filter(|c| c.figure == curve.figure);
            blocks.extend(chart(&lines.copied().collect::<Vec<_>>(), curve).map(Block::Factor));
        }
    }
    let title = format!(
        "What {} does: {}, {} ({})",
        first.factor,
        first.phase,
        first.placement,
        first.placement.in_words()
    );
    chapter(title, blocks)
}

fn chart(lines: &[&Curve], first: &Curve) -> Option<FactorChart> {
    let series: Vec<Series<FactorPoint>> = lines
        .iter()
        .enumerate()
        .map(|(place, curve)| Series {
            place,
            name: clean(&curve.line),
            points: curve
                .points
                .iter()
                .filter(|p| [p.factor, p.median, p.min].iter().all(|x| *x > 0.0))
                .map(|p| FactorPoint {
                    factor: p.factor,
                    median: p.median,
                    min: p.min,
                    max: p.max,
                })
                .collect(),
        })
        .collect();
    let points = || series.iter().flat_map(|line| &line.points);
    let factors = ends(points().map(|p| p.factor))?;
    let (low, high) = ends(points().flat_map(|p| [p.min, p.max]))?;
    let log = high / low > FAR;
    // A linear axis starts at nothing: what hardly moves must look as if it hardly moved.
    let axis = if log {
        (low * 0.9, high * 1.1)
    } else {
        (0.0, high * 1.05)
    };
    let ticks = if log {
        log_steps(axis)
    } else {
        linear_ticks(axis)
    };
    let tick_text = |t: f64| {
        let text = words(first.figure, t);
        text.replace(".00", "").replace(".0 ", " ")
    };
    let mut chart = FactorChart {
        title: clean(&format!(
            "{} against {}",
            capital(first.figure.in_words()),
            first.factor
        )),
        place: clean(&format!("{}, {}", first.phase, first.placement)),
        factor: clean(&first.factor),
        figure: first.figure,
        factors,
        factor_ticks: Vec::new(),
        axis,
        log,
        ticks: ticks.into_iter().map(|t| (t, tick_text(t))).collect(),
        series,
    };
    let values = chart.values().into_iter();
    chart.factor_ticks = values.map(|x| (x, number(x))).collect();
    Some(chart)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>());
    first.unwrap_or_default() + chars.as_str()
}

/// The knee, with how sure it is.
fn sentence(curve: &Curve, knee: &Knee) -> Sentence {
    let (factor, what) = (&curve.factor, curve.figure.in_words());
    let near = percent(knee.slack);
    let start = Sentence::default().name(&curve.line);
    let at = |x: Option<f64>| x.map_or(UNKNOWN.to_owned(), number);
    let sentence = match knee.shape {
        Shape::Knee => start
            .text(": ")
            .strong(format!("the knee is at {factor} {}", at(knee.at)))
            .text(format!(
                ", {}, the least {factor} within {near} of the best; more saves {} at most",
                time_at(curve, knee),
                percent(knee.gain_beyond.unwrap_or(0.0).max(0.0))
            )),
        Shape::Flat => start
            .text(": ")
            .strong(format!("{factor} does nothing"))
            .text(format!(
                " to the {what}: all of it is within {near} of the best"
            )),
        Shape::Falling => start
            .text(": ")
            .strong("no knee within what was measured")
            .text(format!(
                "; the {what} still falls at {factor} {}",
                at(curve.points.last().map(|p| p.factor))
            )),
    };
    sentence.text(format!(" ({}).", of_blocks(knee)))
}

fn time_at(curve: &Curve, knee: &Knee) -> String {
    let mut points = curve.points.iter();
    let point = points.find(|point| Some(point.factor) == knee.at);
    let median = point.map_or(UNKNOWN.to_owned(), |p| words(curve.figure, p.median));
    format!("with a {} of {median}", curve.figure.in_words())
}

/// What each block by itself says.
fn of_blocks(knee: &Knee) -> String {
    let blocks = match knee.blocks {
        1 => "1 block by itself".to_owned(),
        n => format!("{n} blocks by themselves"),
    };
    match (knee.block_low, knee.block_high, knee.blocks_without) {
        (Some(low), Some(high), none) => {
            let range = match low == high {
                true => number(low),
                false => format!("{} to {}", number(low), number(high)),
            };
            let also = match none {
                0 => String::new(),
                none => format!(", and none in {none} of them"),
            };
            format!("{blocks}: {range}{also}")
        }
        _ => format!("{blocks}: none in any"),
    }
}
