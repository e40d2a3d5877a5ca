//! A figure against a factor, drawn: a line for what has the rest in common, with the least and the
//! most of its trials at each point.

use super::pictures::{Plot, figure, legend, linear_share, log_share, named};
use crate::svg::{Anchor, Svg, curve};
use crate::view::{FactorChart, FactorPoint, Series, factor_number};

/// Room that the text of a tick needs beyond its own length.
const APART: f64 = 8.0;
const CHARACTER: f64 = 6.9;

/// The picture.
pub fn chart(chart: &FactorChart) -> String {
    let axes = match chart.log {
        true => "Both axes are logarithmic.",
        false => "The horizontal axis is logarithmic.",
    };
    let below = format!(
        "{}<p class=\"dim\">Medians over trials, with the least and the most of them. {axes}</p>\n",
        legend(&chart.series, true)
    );
    figure(&chart.title, &below, |width| draw(chart, width))
}

fn draw(chart: &FactorChart, width: f64) -> String {
    let about: Vec<String> = chart
        .series
        .iter()
        .filter_map(|line| told(chart, line))
        .collect();
    let mut svg = Svg::new(width, &named(&chart.title, &chart.place), &about.join("; "));
    let plot = Plot::new(width);
    let y_share = |value: f64| match chart.log {
        true => log_share(value, chart.axis),
        false => linear_share(value, chart.axis),
    };
    plot.ticks(&mut svg, &chart.ticks, y_share);
    // Marks at the ends keep clear of the frame.
    let x = |factor: f64| plot.x(0.02 + 0.96 * log_share(factor, chart.factors));
    let mut free = f64::MIN;
    for (factor, text) in &chart.factor_ticks {
        let half = text.len() as f64 * CHARACTER / 2.0;
        svg.line((x(*factor), plot.top), (x(*factor), plot.bottom), "grid");
        if x(*factor) - half > free {
            svg.text(
                (x(*factor), plot.bottom + 18.0),
                Anchor::Middle,
                "tick",
                text,
            );
            free = x(*factor) + half + APART;
        }
    }
    for line in &chart.series {
        let at = |p: &FactorPoint| (x(p.factor), plot.y(y_share(p.median)));
        let points: Vec<_> = line.points.iter().map(at).collect();
        let class = curve(line.place);
        svg.path(&points, false, &class, &line.name);
        for p in &line.points {
            let (low, high) = (plot.y(y_share(p.min)), plot.y(y_share(p.max)));
            let class = format!("c{} spread", line.place % 8);
            svg.line((x(p.factor), low), (x(p.factor), high), &class);
            let words = format!(
                "{}, {} {}: {} ({})",
                line.name,
                chart.factor,
                factor_number(p.factor),
                chart.words(p.median),
                chart.spread(p)
            );
            svg.mark(line.place, at(p), 3.5, "dot", &words);
        }
    }
    svg.text(
        (plot.x(0.5), plot.bottom + 36.0),
        Anchor::Middle,
        "tick",
        &chart.factor,
    );
    svg.finish(plot.bottom + 44.0)
}

/// A line in words, for those who cannot see it.
fn told(chart: &FactorChart, line: &Series<FactorPoint>) -> Option<String> {
    let (first, last) = (line.points.first()?, line.points.last()?);
    Some(format!(
        "{}: {} at {} {}, {} at {}",
        line.name,
        chart.words(first.median),
        chart.factor,
        factor_number(first.factor),
        chart.words(last.median),
        factor_number(last.factor)
    ))
}
