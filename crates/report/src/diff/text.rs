//! A diff for a terminal.

use super::{Change, Diff, NO_VERDICT, Row};
use crate::formats::terminal::screen::{Screen, Style};
use crate::formats::terminal::{draw_table, words_of};
use crate::number::{UNKNOWN, figure, moment, ratio};
use crate::text::clean;
use crate::view::{Cell, Column, Table, Tone};
use crate::{Document, RenderOptions};
use roundtrip_model::Metric;

/// Figures that are shown; the JSON has all.
const SHOWN: [Metric; 8] = [
    Metric::OpsPerS,
    Metric::MeanNs,
    Metric::P50Ns,
    Metric::P99Ns,
    Metric::ProcessRealS,
    Metric::ClientUserNsPerOp,
    Metric::ClientSysNsPerOp,
    Metric::ServerCpuNsPerOp,
];

/// Two runs side by side, as text.
pub fn diff(a: &Document, b: &Document, options: &RenderOptions) -> Vec<u8> {
    let diff = Diff::new(a, b);
    let mut screen = Screen::new(options);
    screen.wrap(&words_of("Two runs side by side", Style::Title), 0, 0);
    for (name, side) in [("A", &diff.a), ("B", &diff.b)] {
        let line = format!(
            "{name}  run {} · {} · {}",
            side.run,
            side.experiment,
            moment(side.started_unix_ms)
        );
        screen.wrap(&words_of(&clean(&line), Style::Plain), 2, 4);
    }
    heading(&mut screen, "What is not the same around them");
    if diff.environment.is_empty() {
        screen.wrap(&words_of("Nothing that is known.", Style::Plain), 2, 2);
    }
    diff.environment
        .iter()
        .for_each(|change| draw_change(&mut screen, change));
    for (name, only) in [("A", &diff.only_in_a), ("B", &diff.only_in_b)] {
        if !only.is_empty() {
            let line = format!("only in {name}: {}", only.join("; "));
            screen.wrap(&words_of(&line, Style::Plain), 2, 4);
        }
    }
    heading(&mut screen, "Figures");
    screen.wrap(&words_of(NO_VERDICT, Style::Plain), 2, 2);
    for table in tables(&diff.figures) {
        screen.blank();
        draw_table(&mut screen, &table);
    }
    if diff.figures.is_empty() {
        screen.wrap(
            &words_of(
                "The runs have no variant and phase in common.",
                Style::Plain,
            ),
            2,
            2,
        );
    }
    screen.finish()
}

fn heading(screen: &mut Screen, title: &str) {
    screen.blank();
    screen.wrap(&words_of(title, Style::Title), 0, 0);
}

fn draw_change(screen: &mut Screen, change: &Change) {
    let value = |value: &Option<String>| value.clone().unwrap_or(UNKNOWN.to_owned());
    let line = format!("{} {}:", change.chapter, change.name);
    let mut words = words_of(&line, Style::Dim);
    words.extend(words_of(&value(&change.a), Style::Plain));
    words.extend(words_of("→", Style::Dim));
    words.extend(words_of(&value(&change.b), Style::Strong));
    screen.wrap(&words, 2, 6);
}

/// A table for each variant in a phase and placement.
fn tables(rows: &[Row<'_>]) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for row in rows.iter().filter(|row| SHOWN.contains(&row.metric)) {
        let caption = clean(&format!(
            "{} · {}, {}",
            row.variant,
            row.phase,
            row.placement.in_words()
        ));
        let cells = cells(row);
        match tables.iter_mut().find(|table| table.caption == caption) {
            Some(table) => table.rows.push(cells),
            None => tables.push(Table {
                caption,
                columns: columns(),
                rows: vec![cells],
            }),
        }
    }
    tables
}

fn columns() -> Vec<Column> {
    let heads = ["", "A", "B", "B / A", "ranges"];
    let column = |(i, head): (usize, &&str)| Column {
        head: (*head).to_owned(),
        right: i > 0,
    };
    heads.iter().enumerate().map(column).collect()
}

fn cells(row: &Row<'_>) -> Vec<Cell> {
    let cell = |text: String, tone| Cell { text, tone };
    let ranges = if row.ranges_overlap {
        "overlap"
    } else {
        "apart"
    };
    let tone = if row.ranges_overlap {
        Tone::Dim
    } else {
        Tone::Plain
    };
    vec![
        cell(row.metric.in_words().to_owned(), Tone::Plain),
        cell(figure(row.metric, row.a.median), Tone::Plain),
        cell(figure(row.metric, row.b.median), Tone::Plain),
        cell(row.ratio.map_or(UNKNOWN.to_owned(), ratio), Tone::Plain),
        cell(ranges.to_owned(), tone),
    ]
}
