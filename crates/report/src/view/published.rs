//! Published figures beside the measured ones: ratios, and all the rounds.

use super::figures::{Figures, Scene};
use super::tables::{cell, columns, plain};
use super::{Block, Cell, Table, Tone};
use crate::number::{UNKNOWN, count, figure, known, ratio, three};
use crate::text::Sentence;
use roundtrip_model::analysis::PublishedRow;
use roundtrip_model::{Metric, Placement};

/// The whole chapter; nothing where nothing was published.
pub fn blocks(figures: &Figures<'_>) -> Vec<Block> {
    let mut placements: Vec<Placement> = figures
        .scenes()
        .iter()
        .map(|scene: &Scene<'_>| scene.placement)
        .collect();
    placements.dedup();
    let shown: Vec<Block> = placements
        .into_iter()
        .flat_map(|placement| tables(figures, placement))
        .map(Block::Table)
        .collect();
    if shown.is_empty() {
        return shown;
    }
    let which = match figures.baselines().len() {
        1 => "the baseline",
        _ => "its own baseline",
    };
    let mut prose = vec![Sentence::plain(format!(
        "The machines differ, so the ratios are what can be compared: how many times as fast as \
         {which} it was published to be, and was measured to be here."
    ))];
    if let Some(source) = &figures.document.experiment.source {
        prose.push(Sentence::plain(format!(
            "Published: {}.",
            source.trim_end_matches('.')
        )));
    }
    std::iter::once(Block::Prose(prose)).chain(shown).collect()
}

/// The tables of one placement: of each figure the ratios, then the rounds where there are any.
fn tables(figures: &Figures<'_>, placement: Placement) -> Vec<Table> {
    let all = &figures.document.analysis.published;
    let several = figures.baselines().len() > 1;
    let of = |metric: Metric| {
        let here = |row: &&PublishedRow| row.placement == placement && row.metric == metric;
        let rows: Vec<&PublishedRow> = all.iter().filter(here).collect();
        [
            ratios(&rows, metric, placement, several),
            rounds(&rows, metric, placement),
        ]
    };
    Metric::ALL.into_iter().flat_map(of).flatten().collect()
}

fn ratios(
    rows: &[&PublishedRow],
    metric: Metric,
    placement: Placement,
    several: bool,
) -> Option<Table> {
    let mut heads = vec![
        "published",
        "here",
        "ratio",
        "speed then",
        "speed here",
        "agrees",
    ];
    if several {
        heads.push("against");
    }
    let cells = rows.iter().map(|row| {
        let mut cells = ratio_cells(row);
        if several {
            cells.push(plain(row.baseline.as_deref().unwrap_or(UNKNOWN)));
        }
        cells
    });
    (!rows.is_empty()).then(|| Table {
        caption: format!("{}; {}", metric.in_words(), placement.in_words()),
        columns: columns("variant, phase", &heads),
        rows: cells.collect(),
    })
}

fn name(row: &PublishedRow) -> String {
    format!("{}, {}", row.variant, row.phase)
}

fn ratio_cells(row: &PublishedRow) -> Vec<Cell> {
    let times = |x: Option<f64>| plain(x.map_or(UNKNOWN.to_owned(), ratio));
    let agrees = match row.direction_agrees {
        Some(true) => cell("yes", Tone::Good),
        Some(false) => cell("no", Tone::Bad),
        None => plain(UNKNOWN),
    };
    vec![
        plain(name(row)),
        plain(known(row.metric, Some(row.published))),
        plain(known(row.metric, row.measured)),
        times(row.ratio),
        times(row.published_speed),
        times(row.measured_speed),
        agrees,
    ]
}

/// All the published rounds beside the trials made here.
fn rounds(rows: &[&PublishedRow], metric: Metric, placement: Placement) -> Option<Table> {
    let with_rounds = rows.iter().filter(|row| !row.rounds.is_empty());
    let cells = with_rounds.map(|row| {
        let here = [row.measured_min, row.measured, row.measured_max];
        let here: Option<Vec<f64>> = here.into_iter().collect();
        vec![
            plain(name(row)),
            plain(list(metric, &row.rounds)),
            plain(here.map_or(UNKNOWN.to_owned(), |figures| list(metric, &figures))),
            plain(count(u64::from(row.trials))),
        ]
    });
    let rows: Vec<Vec<Cell>> = cells.collect();
    (!rows.is_empty()).then(|| Table {
        caption: format!(
            "{}, all rounds; {}",
            metric.in_words(),
            placement.in_words()
        ),
        columns: columns(
            "variant, phase",
            &["published rounds", "here: least, median, most", "trials"],
        ),
        rows,
    })
}

/// Figures one after the other. Seconds have their unit once: rounds of one test are alike.
fn list(metric: Metric, figures: &[f64]) -> String {
    let seconds = metric.unit() == "s";
    let texts: Vec<String> = figures
        .iter()
        .map(|x| {
            if seconds {
                three(*x)
            } else {
                figure(metric, *x)
            }
        })
        .collect();
    match seconds {
        true => format!("{} s", texts.join(" ")),
        false => texts.join(", "),
    }
}
