//! The verdict, in sentences.

use super::figures::{Figures, Scene, is_control};
use super::{Block, Headline};
use crate::number::{bare_ratio, has_interval, interval, inverse, percent, ratio, speed};
use crate::text::Sentence;
use roundtrip_model::Metric;
use roundtrip_model::analysis::{Comparison, RatioInterval, Verdict};

/// More headlines than these stand in groups, each with its own heading.
const MANY: usize = 12;

/// A sentence for each comparison of the leading figure. Many stand by phase, placement and
/// baseline, and then leave out what their heading says.
pub fn blocks(figures: &Figures<'_>) -> Vec<Block> {
    let groups = groups(figures);
    let all: usize = groups.iter().map(|group| group.comparisons.len()).sum();
    if all == 0 {
        return vec![Block::Headlines(vec![Headline {
            verdict: None,
            sentence: Sentence::plain(nothing_to_compare(figures)),
        }])];
    }
    if all <= MANY {
        let whole = |group: &Group<'_>| -> Vec<Headline> {
            let comparisons = group.comparisons.iter();
            comparisons
                .map(|c| headline(figures, group.scene, c))
                .collect()
        };
        return vec![Block::Headlines(groups.iter().flat_map(whole).collect())];
    }
    let in_group = |group: Group<'_>| {
        let heading = Sentence::default()
            .strong(group.scene.short())
            .text(", against ")
            .name(group.baseline)
            .text(format!("{}:", by(figures.leading())));
        let comparisons = group.comparisons.iter();
        let short = comparisons.map(|c| Headline {
            verdict: Some(c.verdict),
            sentence: short(figures, c),
        });
        [
            Block::Prose(vec![heading]),
            Block::Headlines(short.collect()),
        ]
    };
    groups.into_iter().flat_map(in_group).collect()
}

/// Comparisons of one phase and placement with one baseline.
struct Group<'a> {
    scene: Scene<'a>,
    baseline: &'a str,
    comparisons: Vec<&'a Comparison>,
}

fn groups<'a>(figures: &Figures<'a>) -> Vec<Group<'a>> {
    let metric = figures.leading();
    let mut groups = Vec::new();
    for scene in figures.scenes() {
        for group in figures.groups(scene) {
            let names = group.members.iter().filter(|name| !is_control(name));
            let comparisons: Vec<&Comparison> = names
                .filter_map(|name| figures.comparison(scene, name, metric))
                .filter(|c| c.baseline == group.baseline)
                .collect();
            if !comparisons.is_empty() {
                groups.push(Group {
                    scene,
                    baseline: group.baseline,
                    comparisons,
                });
            }
        }
    }
    groups
}

/// A comparison below a heading that names phase, placement and baseline.
fn short(figures: &Figures<'_>, c: &Comparison) -> Sentence {
    let speed = c.speed();
    let start = Sentence::default().name(&c.variant);
    let (sentence, shown) = match c.verdict {
        Verdict::Faster => (start.strong(times(c, &speed, Word::More)), speed),
        Verdict::Slower => {
            let slower = inverse(&speed);
            (start.strong(times(c, &slower, Word::Less)), slower)
        }
        Verdict::Equivalent => {
            let delta = percent(figures.document.experiment.delta);
            (start.strong(format!(" is the same within {delta}")), speed)
        }
        Verdict::Undecided => (
            start.text(format!(" cannot be told: {}", could_see(c))),
            speed,
        ),
    };
    let ratio_too = match c.verdict {
        Verdict::Faster | Verdict::Slower => String::new(),
        _ => format!("ratio {}, ", bare_ratio(shown.ratio)),
    };
    let ends = match has_interval(&shown) {
        true => interval(&shown),
        false => "a single block gives no interval".to_owned(),
    };
    sentence.text(format!(" ({ratio_too}{ends})"))
}

/// "is 1.12x faster", "takes 1.12x less".
fn times(c: &Comparison, times: &RatioInterval, word: Word) -> String {
    let times = ratio(times.ratio);
    match (is_cpu(c.metric), word) {
        (false, Word::More) => format!(" is {times} faster"),
        (false, Word::Less) => format!(" is {times} slower"),
        (true, Word::More) => format!(" takes {times} less"),
        (true, Word::Less) => format!(" takes {times} more"),
    }
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

/// The controls, which say how much of a difference is noise here.
pub fn noise_floor(figures: &Figures<'_>) -> Vec<Sentence> {
    let baselines = figures.baselines();
    baselines
        .into_iter()
        .map(|baseline| noise_of(figures, baseline))
        .collect()
}

fn noise_of(figures: &Figures<'_>, baseline: &str) -> Sentence {
    let metric = figures.leading();
    let controls: Vec<String> = figures
        .scenes()
        .into_iter()
        .filter_map(|scene| {
            let control = speed(metric, &figures.control(scene, metric, baseline)?);
            Some(format!(
                "{} {} ({})",
                scene.short(),
                ratio(control.ratio),
                interval(&control)
            ))
        })
        .collect();
    let start = Sentence::default().strong("Noise floor").text(", ");
    let start = start.name(baseline);
    if controls.is_empty() {
        return start.text(" was not compared with itself, so it is not known.");
    }
    start.text(format!(" against itself: {}.", controls.join("; ")))
}
