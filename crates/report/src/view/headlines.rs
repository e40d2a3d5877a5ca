//! The verdict, in sentences.

use super::Headline;
use super::figures::{Figures, Scene, is_control};
use crate::number::{bare_ratio, has_interval, interval, inverse, percent, ratio, speed};
use crate::text::Sentence;
use roundtrip_model::Metric;
use roundtrip_model::analysis::{Comparison, RatioInterval, Verdict};

/// A sentence for each comparison of the leading figure.
pub fn headlines(figures: &Figures<'_>) -> Vec<Headline> {
    let metric = figures.leading();
    let mut headlines = Vec::new();
    for scene in figures.scenes() {
        for (_, name) in figures.in_scene(scene) {
            if is_control(&name) {
                continue;
            }
            if let Some(comparison) = figures.comparison(scene, &name, metric) {
                headlines.push(headline(figures, scene, comparison));
            }
        }
    }
    if headlines.is_empty() {
        headlines.push(Headline {
            verdict: None,
            sentence: Sentence::plain(nothing_to_compare(figures)),
        });
    }
    headlines
}

fn nothing_to_compare(figures: &Figures<'_>) -> &'static str {
    let document = figures.document;
    if document.experiment.variants.len() < 2 {
        "There is one variant, so nothing is compared."
    } else if document.analysis.blocks == 0 {
        "No block of trials is complete and valid, so nothing is concluded."
    } else {
        "No figure could be compared, so nothing is concluded."
    }
}

fn headline(figures: &Figures<'_>, scene: Scene<'_>, c: &Comparison) -> Headline {
    let speed = c.speed();
    let sentence = match c.verdict {
        Verdict::Faster => won(c, &speed, Word::More),
        Verdict::Slower => won(c, &inverse(&speed), Word::Less),
        Verdict::Equivalent => Sentence::default()
            .name(&c.variant)
            .text(" and ")
            .name(&c.baseline)
            .strong(format!(
                " cannot be told apart within {}",
                percent(figures.document.experiment.delta)
            ))
            .text(format!(" at {}{}", c.phase, by(c.metric)))
            .text(format!(" (ratio {}, ", bare_ratio(speed.ratio)))
            .text(in_brackets(&speed, scene)),
        Verdict::Undecided => Sentence::default()
            .strong("This run cannot tell ")
            .name(&c.variant)
            .strong(" from ")
            .name(&c.baseline)
            .text(format!(" at {}{}: {}", c.phase, by(c.metric), could_see(c)))
            .text(format!(" (ratio {}, ", bare_ratio(speed.ratio)))
            .text(in_brackets(&speed, scene)),
    };
    let sentence = match c.verdict {
        Verdict::Faster => sentence.text(in_brackets(&speed, scene)),
        Verdict::Slower => sentence.text(in_brackets(&inverse(&speed), scene)),
        _ => sentence,
    };
    Headline {
        verdict: Some(c.verdict),
        sentence,
    }
}

enum Word {
    More,
    Less,
}

/// "A is 1.12x faster than B at get (", up to the brackets' inside.
fn won(c: &Comparison, times: &RatioInterval, word: Word) -> Sentence {
    let start = Sentence::default().name(&c.variant);
    let times = ratio(times.ratio);
    let start = match (is_cpu(c.metric), word) {
        (false, Word::More) => start.text(" is ").strong(format!("{times} faster")),
        (false, Word::Less) => start.text(" is ").strong(format!("{times} slower")),
        (true, Word::More) => start.text(" takes ").strong(format!("{times} less")),
        (true, Word::Less) => start.text(" takes ").strong(format!("{times} more")),
    };
    start
        .text(" than ")
        .name(&c.baseline)
        .text(format!(" at {}{} (", c.phase, by(c.metric)))
}

/// Figures of cost, of which there is less or more, not faster or slower.
fn is_cpu(metric: Metric) -> bool {
    matches!(
        metric,
        Metric::LoopUserS
            | Metric::LoopSysS
            | Metric::ProcessUserS
            | Metric::ProcessSysS
            | Metric::ClientUserNsPerOp
            | Metric::ClientSysNsPerOp
            | Metric::ServerCpuNsPerOp
            | Metric::WaitingNsPerOp
    )
}

/// By which figure, where it is not the plain speed.
pub fn by(metric: Metric) -> String {
    match metric {
        Metric::OpsPerS => String::new(),
        metric => format!(", by {}", metric.in_words()),
    }
}

fn in_brackets(shown: &RatioInterval, scene: Scene<'_>) -> String {
    let place = scene.placement.in_words();
    if has_interval(shown) {
        format!("95% interval {}; {place})", interval(shown))
    } else {
        format!("a single block gives no interval; {place})")
    }
}

fn could_see(c: &Comparison) -> String {
    match c.detectable {
        Some(share) if share.is_finite() => {
            format!("it could have seen a difference of {}", percent(share))
        }
        _ => "it has too few blocks to say which difference it could have seen".to_owned(),
    }
}

/// The control, which says how much of a difference is noise here.
pub fn noise_floor(figures: &Figures<'_>) -> Sentence {
    let metric = figures.leading();
    let controls: Vec<String> = figures
        .scenes()
        .into_iter()
        .filter_map(|scene| {
            let control = speed(metric, &figures.control(scene, metric)?);
            Some(format!(
                "{} {} ({})",
                scene.short(),
                ratio(control.ratio),
                interval(&control)
            ))
        })
        .collect();
    let start = Sentence::default().strong("Noise floor").text(", ");
    let start = start.name(&figures.document.experiment.baseline);
    if controls.is_empty() {
        return start.text(" was not compared with itself, so it is not known.");
    }
    start.text(format!(" against itself: {}.", controls.join("; ")))
}
