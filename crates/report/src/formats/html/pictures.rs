//! Pictures of a page. Each is drawn twice, for a wide and for a narrow screen, because a picture
//! that is only scaled down cannot be read; the style shows one of the two.

use crate::number::nanos;
use crate::svg::{Anchor, Svg, curve, escape};
use crate::view::{
    Curves, Dots, Forest, ForestRow, PARTS, Series, Stack, is_control, ratio_tick, verdict_word,
};

const WIDE: f64 = 760.0;
const NARROW: f64 = 320.0;
/// What a character takes at the size of labels, on average.
const CHARACTER: f64 = 6.9;

/// A figure with both drawings and what belongs below them.
pub(super) fn figure(caption: &str, below: &str, draw: impl Fn(f64) -> String) -> String {
    format!(
        "<figure>\n<figcaption>{}</figcaption>\n<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n{below}</figure>\n",
        escape(caption),
        draw(WIDE),
        draw(NARROW)
    )
}

fn is_wide(svg: &Svg) -> bool {
    svg.width() > 500.0
}

/// As much of a text as fits into a width.
pub(super) fn fitting(text: &str, width: f64) -> String {
    let most = (width / CHARACTER).max(4.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).collect::<String>() + "…"
}

/// The name of a picture for those who hear it, out of its chapter.
pub(super) fn named(title: &str, place: &str) -> String {
    format!("{title}: {place}")
}

/// The share of the way along a logarithmic axis.
pub(super) fn log_share(x: f64, (low, high): (f64, f64)) -> f64 {
    (x.clamp(low, high) / low).ln() / (high / low).ln()
}

pub(super) fn linear_share(x: f64, (low, high): (f64, f64)) -> f64 {
    (x.clamp(low, high) - low) / (high - low)
}

/// Ratios with their intervals, the control's band behind each.
pub fn forest(forest: &Forest) -> String {
    let below = "<p class=\"dim\">The mark is the ratio, the line its 95% interval, the band the \
                 baseline against itself: a difference inside the band is noise.</p>\n";
    figure(&forest.title, below, |width| draw_forest(forest, width))
}

fn draw_forest(forest: &Forest, width: f64) -> String {
    let about: Vec<String> = forest
        .rows
        .iter()
        .map(|r| format!("{}, {}: {}", r.name, r.place, r.words))
        .collect();
    let mut svg = Svg::new(width, &forest.title, &about.join("; "));
    let wide = is_wide(&svg);
    let (left, right, row) = if wide {
        (280.0, width - 150.0, 28.0)
    } else {
        (6.0, width - 6.0, 62.0)
    };
    let bottom = 8.0 + row * forest.rows.len() as f64;
    let x = |ratio: f64| left + log_share(ratio, forest.axis) * (right - left);
    for tick in &forest.ticks {
        let class = if *tick == 1.0 { "one" } else { "grid" };
        svg.line((x(*tick), 4.0), (x(*tick), bottom), class);
    }
    let mut free = f64::MIN;
    for tick in &forest.ticks {
        let text = ratio_tick(*tick);
        let half = text.len() as f64 * CHARACTER / 2.0;
        if x(*tick) - half > free {
            svg.text((x(*tick), bottom + 16.0), Anchor::Middle, "tick", &text);
            free = x(*tick) + half + 4.0;
        }
    }
    for (i, shown) in forest.rows.iter().enumerate() {
        let top = 8.0 + row * i as f64;
        // The name is cut rather than the place, which tells the rows of a variant apart.
        let room = if wide { left - 12.0 } else { width };
        let room = room - (shown.place.chars().count() + 3) as f64 * CHARACTER;
        let label = format!("{} · {}", fitting(&shown.name, room), shown.place);
        if wide {
            svg.text((0.0, top + row / 2.0 + 4.0), Anchor::Start, "label", &label);
            svg.text(
                (width, top + row / 2.0 + 4.0),
                Anchor::End,
                "tick",
                &shown.words,
            );
            forest_row(&mut svg, shown, &x, top + row / 2.0);
        } else {
            svg.text((0.0, top + 12.0), Anchor::Start, "label", &label);
            svg.text((width, top + 28.0), Anchor::End, "tick", &shown.words);
            forest_row(&mut svg, shown, &x, top + 42.0);
        }
    }
    svg.finish(bottom + 24.0)
}

fn forest_row(svg: &mut Svg, row: &ForestRow, x: &impl Fn(f64) -> f64, y: f64) {
    if let Some((low, high)) = row.control {
        svg.rect(
            (x(low), y - 9.0),
            (x(high) - x(low), 18.0),
            "band",
            "the baseline against itself",
        );
    }
    let class = format!("v-{}", verdict_word(row.verdict));
    if let Some((low, high)) = row.interval {
        svg.line((x(low), y), (x(high), y), &format!("whisker {class}"));
        for end in [low, high] {
            svg.line(
                (x(end), y - 5.0),
                (x(end), y + 5.0),
                &format!("whisker {class}"),
            );
        }
    }
    let words = format!("{}, {}: {}", row.name, row.place, row.words);
    let at = x(row.ratio);
    let diamond = [(at, y - 6.0), (at + 6.0, y), (at, y + 6.0), (at - 6.0, y)];
    svg.path(&diamond, true, &format!("point {class}"), &words);
}

/// Where a round trip goes, a bar a variant.
pub fn stack(stack: &Stack) -> String {
    let swatches = PARTS.iter().enumerate().map(|(i, part)| {
        format!("<li><span class=\"swatch p{i}\" aria-hidden=\"true\"></span>{part}</li>")
    });
    let below = format!(
        "<ul class=\"legend\">{}</ul>\n",
        swatches.collect::<String>()
    );
    figure(&stack.title, &below, |width| draw_stack(stack, width))
}

fn draw_stack(stack: &Stack, width: f64) -> String {
    let sums: Vec<String> = stack
        .bars
        .iter()
        .map(|(_, parts)| nanos(parts.iter().sum()))
        .collect();
    let about: Vec<String> = stack
        .bars
        .iter()
        .zip(&sums)
        .map(|((name, parts), sum)| {
            let parts: Vec<String> = PARTS
                .iter()
                .zip(parts)
                .map(|(part, ns)| format!("{part} {}", nanos(*ns)))
                .collect();
            format!("{name}: {} of {sum}", parts.join(", "))
        })
        .collect();
    let mut svg = Svg::new(width, &named(&stack.title, &stack.place), &about.join("; "));
    let wide = is_wide(&svg);
    let (left, right, row) = if wide {
        (210.0, width - 80.0, 32.0)
    } else {
        (0.0, width, 46.0)
    };
    for (i, ((name, parts), sum)) in stack.bars.iter().zip(&sums).enumerate() {
        let top = row * i as f64;
        let (bar, text) = if wide {
            (top + 5.0, top + 20.0)
        } else {
            (top + 20.0, top + 14.0)
        };
        let room = if wide { left - 12.0 } else { width - 90.0 };
        svg.text((0.0, text), Anchor::Start, "label", &fitting(name, room));
        svg.text((width, text), Anchor::End, "tick", sum);
        let mut x = left;
        for (i, ns) in parts.iter().enumerate() {
            let length = ns / stack.longest().max(f64::MIN_POSITIVE) * (right - left);
            let words = format!("{name}: {} {}", PARTS[i], nanos(*ns));
            svg.rect((x, bar), (length, 22.0), &format!("part p{i}"), &words);
            x += length;
        }
    }
    svg.finish(row * stack.bars.len() as f64 + 4.0)
}

/// A list of marks and names.
pub(super) fn legend<T>(series: &[Series<T>], lines: bool) -> String {
    let items = series.iter().map(|Series { place, name, .. }| {
        let drawing = if lines {
            let class = curve(*place);
            format!("<svg aria-hidden=\"true\" width=\"28\" height=\"14\"><path class=\"{class}\" d=\"M1 7L27 7\"/></svg>")
        } else {
            let mut svg = Svg::new(14.0, "", "");
            svg.mark(*place, (7.0, 7.0), 4.5, dot_class(name), "");
            svg.finish(14.0).replacen("role=\"img\" aria-label=\"\"", "aria-hidden=\"true\"", 1)
        };
        format!("<li>{drawing}{}</li>", escape(name))
    });
    format!("<ul class=\"legend\">{}</ul>\n", items.collect::<String>())
}

fn dot_class(name: &str) -> &'static str {
    if is_control(name) {
        "dot hollow"
    } else {
        "dot"
    }
}

/// Frame, grid and ticks of a plot whose values grow upwards.
pub(super) struct Plot {
    left: f64,
    right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Plot {
    pub(super) fn new(width: f64) -> Self {
        Plot {
            left: 62.0,
            right: width - 10.0,
            top: 8.0,
            bottom: 218.0,
        }
    }

    pub(super) fn x(&self, share: f64) -> f64 {
        self.left + share * (self.right - self.left)
    }

    pub(super) fn y(&self, share: f64) -> f64 {
        self.bottom - share * (self.bottom - self.top)
    }

    pub(super) fn ticks(&self, svg: &mut Svg, ticks: &[(f64, String)], share: impl Fn(f64) -> f64) {
        svg.line((self.left, self.bottom), (self.right, self.bottom), "axis");
        let mut free = f64::MAX;
        for (value, text) in ticks {
            let y = self.y(share(*value));
            svg.line((self.left, y), (self.right, y), "grid");
            if y < free {
                svg.text((self.left - 6.0, y + 4.0), Anchor::End, "tick", text);
                free = y - 14.0;
            }
        }
    }
}

/// Every trial, in order of time.
pub fn dots(dots: &Dots) -> String {
    let mut below = legend(&dots.series, false);
    if dots
        .series
        .iter()
        .any(|s| s.points.iter().any(|dot| dot.void.is_some()))
    {
        below.push_str("<p class=\"dim\">A crossed-out trial is void and in no figure.</p>\n");
    }
    figure(&dots.title, &below, |width| draw_dots(dots, width))
}

fn draw_dots(dots: &Dots, width: f64) -> String {
    let about: Vec<String> = dots
        .series
        .iter()
        .map(|s| format!("{}: {} trials", s.name, s.points.len()))
        .collect();
    let mut svg = Svg::new(width, &named(&dots.title, &dots.place), &about.join("; "));
    let plot = Plot::new(width);
    plot.ticks(&mut svg, &dots.ticks, |v| linear_share(v, dots.axis));
    for Series {
        place,
        name,
        points,
    } in &dots.series
    {
        for dot in points {
            let share = (dot.order as f64 + 0.5) / dots.count.max(1) as f64;
            let at = (plot.x(share), plot.y(linear_share(dot.value, dots.axis)));
            let words = match &dot.void {
                Some(reason) => format!("{name}, {}, void: {reason}", dot.words),
                None => format!("{name}, {}", dot.words),
            };
            svg.mark(*place, at, 4.5, dot_class(name), &words);
            if dot.void.is_some() {
                let (x, y) = at;
                svg.line((x - 7.0, y - 7.0), (x + 7.0, y + 7.0), "void");
                svg.line((x - 7.0, y + 7.0), (x + 7.0, y - 7.0), "void");
            }
        }
    }
    let words = "first to last trial";
    svg.text(
        (plot.x(0.5), plot.bottom + 18.0),
        Anchor::Middle,
        "tick",
        words,
    );
    svg.finish(plot.bottom + 26.0)
}

/// Latency by percentile.
pub fn curves(curves: &Curves) -> String {
    let below = legend(&curves.series, true)
        + "<p class=\"dim\">The valid trials of a variant are merged for the picture; figures in \
           tables are medians over trials. Both axes are logarithmic.</p>\n";
    figure(&curves.title, &below, |width| draw_curves(curves, width))
}

fn draw_curves(curves: &Curves, width: f64) -> String {
    let last = curves.series.iter().filter_map(|s| {
        let (nines, ns) = s.points.last()?;
        let (latency, percentile) = (nanos(*ns), percentile(*nines));
        Some(format!("{}: {latency} at {percentile}", s.name))
    });
    let about: Vec<String> = last.collect();
    let mut svg = Svg::new(
        width,
        &named(&curves.title, &curves.place),
        &about.join("; "),
    );
    let plot = Plot::new(width);
    let nines = curves.nines.max(0.5);
    plot.ticks(&mut svg, &curves.ticks, |v| log_share(v, curves.axis));
    // The median is 0.3 nines.
    for at in [2f64.log10(), 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0] {
        if at <= nines {
            let x = plot.x(at / nines);
            svg.line((x, plot.top), (x, plot.bottom), "grid");
            let anchor = if at / nines > 0.95 {
                Anchor::End
            } else {
                Anchor::Middle
            };
            svg.text((x, plot.bottom + 18.0), anchor, "tick", &percentile(at));
        }
    }
    for Series {
        place,
        name,
        points,
    } in &curves.series
    {
        let points: Vec<_> = points
            .iter()
            .map(|(at, ns)| (plot.x(at / nines), plot.y(log_share(*ns, curves.axis))))
            .collect();
        svg.path(&points, false, &curve(*place), name);
    }
    svg.finish(plot.bottom + 26.0)
}

/// The name of the percentile at some nines: `p50`, `p99.9`.
fn percentile(nines: f64) -> String {
    let share = 100.0 * (1.0 - 10f64.powf(-nines));
    let decimals = (nines - 2.0).ceil().clamp(0.0, 6.0) as usize;
    let text = format!("{share:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    };
    format!("p{text}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_named_by_their_nines() {
        let names = [2f64.log10(), 1.0, 2.0, 3.0, 4.0].map(percentile);
        assert_eq!(names, ["p50", "p90", "p99", "p99.9", "p99.99"]);
    }

    #[test]
    fn a_ratio_of_one_lies_in_the_middle_of_a_fair_axis() {
        assert!((log_share(1.0, (0.5, 2.0)) - 0.5).abs() < 1e-12);
    }
}
