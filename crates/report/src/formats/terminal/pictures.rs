//! Pictures made of characters.

use super::screen::{Screen, Style, shortened, width_of};
use super::words_of;
use crate::number::{nanos, ratio};
use crate::view::{
    FactorChart, Forest, ForestRow, PARTS, SHORT_PARTS, Stack, factor_number, ratio_tick,
};
use roundtrip_model::analysis::Verdict;

const INDENT: usize = 2;
const SPARKS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const BARS: [&str; 4] = ["█", "▓", "▒", "░"];

/// Ratios with their intervals, over the control's.
pub fn forest(screen: &mut Screen, forest: &Forest) {
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let beside = widest(&mut forest.rows.iter().map(|row| width_of(&ratio(row.ratio))));
    let label_width = widest(&mut forest.rows.iter().map(|row| width_of(&row.name)));
    let label_width = label_width.min(screen.width() * 2 / 5 - 2);
    let from = INDENT + 2 + label_width + 2;
    let plot = screen.width().saturating_sub(from + beside + 2).min(60);
    screen.wrap(&words_of(&forest.title, Style::Strong), INDENT, INDENT);
    let mut place = "";
    for row in &forest.rows {
        if place != row.place {
            place = &row.place;
            screen.wrap(&words_of(place, Style::Dim), INDENT, INDENT);
        }
        screen.skip_to(INDENT + 2);
        screen.put(&shortened(&row.name, label_width), Style::Plain);
        screen.skip_to(from);
        for (text, style) in forest_cells(forest, row, plot) {
            screen.put(text, style);
        }
        screen.skip_to(from + plot + 2);
        screen.put(&ratio(row.ratio), Style::Plain);
        screen.end();
    }
    axis(screen, forest, from, plot);
}

/// Where a ratio stands on the axis.
fn position(forest: &Forest, x: f64, plot: usize) -> usize {
    let (low, high) = forest.axis;
    let share = (x.clamp(low, high) / low).ln() / (high / low).ln();
    (share * (plot - 1) as f64).round() as usize
}

fn forest_cells(forest: &Forest, row: &ForestRow, plot: usize) -> Vec<(&'static str, Style)> {
    let at = |x| position(forest, x, plot);
    let style = match row.verdict {
        Verdict::Faster => Style::Good,
        Verdict::Slower => Style::Bad,
        Verdict::Equivalent | Verdict::Undecided => Style::Strong,
    };
    let band = row.control.map(|(low, high)| at(low)..=at(high));
    let interval = row.interval.map(|(low, high)| (at(low), at(high)));
    let (one, point) = (at(1.0), at(row.ratio));
    (0..plot)
        .map(|i| match interval {
            _ if i == point => ("●", style),
            Some((low, _)) if i == low => ("├", style),
            Some((_, high)) if i == high => ("┤", style),
            Some((low, high)) if (low..high).contains(&i) => ("─", style),
            _ if i == one => ("│", Style::Dim),
            _ if band.as_ref().is_some_and(|band| band.contains(&i)) => ("░", Style::Dim),
            _ => (" ", Style::Plain),
        })
        .collect()
}

fn axis(screen: &mut Screen, forest: &Forest, from: usize, plot: usize) {
    let mut used = 0;
    let mut line = String::new();
    for tick in &forest.ticks {
        let text = ratio_tick(*tick);
        let at = position(forest, *tick, plot).saturating_sub(text.len() / 2);
        // Room for the next one, and not beyond the end.
        if (at > used || line.is_empty()) && at + text.len() <= plot + 2 {
            line.push_str(&" ".repeat(at.saturating_sub(width_of(&line))));
            line.push_str(&text);
            used = width_of(&line) + 1;
        }
    }
    screen.skip_to(from);
    screen.put(&line, Style::Dim);
    screen.end();
    let legend = "● ratio  ├─┤ 95% interval  ░ the baseline against itself (noise)";
    screen.wrap(&words_of(legend, Style::Dim), INDENT, INDENT);
}

/// Where a round trip goes, a bar a variant.
pub fn stack(screen: &mut Screen, stack: &Stack) {
    screen.wrap(&words_of(&stack.title, Style::Strong), INDENT, INDENT);
    let sums: Vec<String> = stack
        .bars
        .iter()
        .map(|(_, parts)| nanos(parts.iter().sum()))
        .collect();
    let beside = sums.iter().map(|sum| width_of(sum)).max().unwrap_or(0);
    let names = stack.bars.iter().map(|(name, _)| width_of(name));
    let label_width = names.max().unwrap_or(0).min(screen.width() / 3);
    let from = INDENT + label_width + 2;
    let plot = screen.width().saturating_sub(from + beside + 2).min(60);
    let words: Vec<String> = stack
        .bars
        .iter()
        .map(|(_, parts)| in_words(parts))
        .collect();
    let all_fit = words
        .iter()
        .all(|words| from + width_of(words) <= screen.width());
    let words_from = if all_fit { from } else { INDENT + 2 };
    for (((name, parts), sum), words) in stack.bars.iter().zip(&sums).zip(&words) {
        screen.skip_to(INDENT);
        screen.put(&shortened(name, label_width), Style::Plain);
        screen.skip_to(from);
        for (i, cells) in cells(parts, stack.longest(), plot).into_iter().enumerate() {
            screen.put(&BARS[i].repeat(cells), Style::Part(i));
        }
        screen.put("  ", Style::Plain);
        screen.put(sum, Style::Plain);
        screen.end();
        screen.wrap(&words_of(words, Style::Dim), words_from, words_from);
    }
    legend(screen);
}

fn in_words(parts: &[f64; 4]) -> String {
    let figures = SHORT_PARTS.iter().zip(parts);
    let words: Vec<String> = figures
        .map(|(part, ns)| format!("{part} {}", nanos(*ns)))
        .collect();
    words.join(" · ")
}

fn legend(screen: &mut Screen) {
    screen.skip_to(INDENT);
    for (i, part) in PARTS.iter().enumerate() {
        if screen.left() < width_of(part) + 4 {
            screen.end();
            screen.skip_to(INDENT);
        } else if i > 0 {
            screen.put("  ", Style::Plain);
        }
        screen.put(BARS[i], Style::Part(i));
        screen.put(&format!(" {part}"), Style::Dim);
    }
    screen.end();
}

/// A figure against a factor: a bar for each value of the factor, a row for each line.
pub fn sparklines(screen: &mut Screen, chart: &FactorChart) {
    screen.wrap(&words_of(&chart.title, Style::Strong), INDENT, INDENT);
    let values = chart.values();
    let names = chart.series.iter().map(|line| width_of(&line.name));
    let label_width = names.max().unwrap_or(0).min(screen.width() / 2);
    let from = INDENT + 2 + label_width + 2;
    let share = |x: f64| match (chart.log, chart.axis) {
        (true, (low, high)) => (x / low).ln() / (high / low).ln(),
        (false, (low, high)) => (x - low) / (high - low),
    };
    for line in &chart.series {
        screen.skip_to(INDENT + 2);
        screen.put(&shortened(&line.name, label_width), Style::Plain);
        screen.skip_to(from);
        for value in &values {
            let mut points = line.points.iter();
            let point = points.find(|point| point.factor == *value);
            let level = point.map(|p| (share(p.median) * SPARKS.len() as f64) as usize);
            let spark = level.map_or(" ", |level| SPARKS[level.min(SPARKS.len() - 1)]);
            if screen.left() > 0 {
                screen.put(spark, Style::Strong);
            }
        }
        screen.end();
        if let (Some(first), Some(last)) = (line.points.first(), line.points.last()) {
            let words = format!(
                "{} at {} {}, {} at {}",
                chart.words(first.median),
                chart.factor,
                factor_number(first.factor),
                chart.words(last.median),
                factor_number(last.factor)
            );
            screen.wrap(&words_of(&words, Style::Dim), INDENT + 4, INDENT + 4);
        }
    }
}

/// How many characters each part takes. Ends are rounded, not parts, so that the sum is right.
fn cells(parts: &[f64; 4], longest: f64, plot: usize) -> [usize; 4] {
    let mut sum = 0.0;
    let mut end = 0;
    parts.map(|part| {
        sum += part;
        let share = if longest > 0.0 { sum / longest } else { 0.0 };
        let start = end;
        end = ((share * plot as f64).round() as usize).clamp(start, plot);
        end - start
    })
}
