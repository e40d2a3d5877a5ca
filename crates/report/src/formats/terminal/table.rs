//! Tables: as one where it fits, else in several with the first column repeated, else with
//! broken cells. Never wider than the screen.

use super::screen::{Screen, Style, lines_of, width_of};
use super::words_of;
use crate::view::{Cell, Table, Tone};

const INDENT: usize = 2;
const GAP: usize = 2;
const NARROWEST_KEY: usize = 16;

/// Draws a table.
pub fn draw(screen: &mut Screen, table: &Table) {
    screen.wrap(&words_of(&table.caption, Style::Strong), INDENT, INDENT);
    for (i, (key, part)) in parts(screen.width(), table).into_iter().enumerate() {
        if i > 0 {
            screen.blank();
        }
        draw_part(screen, table, key, &part);
    }
}

/// Which columns stand together, each part with the width of its first column and of each other.
type Part = (usize, Vec<(usize, usize)>);

fn natural_width(table: &Table, column: usize) -> usize {
    let cells = table.rows.iter().map(|row| width_of(&row[column].text));
    cells
        .chain([width_of(&table.columns[column].head)])
        .max()
        .unwrap_or(0)
}

fn parts(width: usize, table: &Table) -> Vec<Part> {
    let room = width - INDENT;
    let key = natural_width(table, 0);
    let others: Vec<(usize, usize)> = (1..table.columns.len())
        .map(|column| (column, natural_width(table, column)))
        .collect();
    let needed: usize = others.iter().map(|(_, w)| w + GAP).sum();
    if key + needed <= room {
        return vec![(key, others)];
    }
    // A name over two or three lines is easier to read than a table in pieces.
    if room.saturating_sub(needed) >= NARROWEST_KEY.max(key.div_ceil(3)) {
        return vec![(room - needed, others)];
    }
    let key = key.min((room / 3).max(NARROWEST_KEY));
    let rest = room - key - GAP;
    let mut parts: Vec<Part> = Vec::new();
    let mut used = rest + 1;
    for (column, natural) in others {
        let natural = natural.min(rest);
        if used + GAP + natural > rest {
            parts.push((key, Vec::new()));
            used = natural;
        } else {
            used += GAP + natural;
        }
        if let Some((_, part)) = parts.last_mut() {
            part.push((column, natural));
        }
    }
    parts
}

fn draw_part(screen: &mut Screen, table: &Table, key: usize, part: &[(usize, usize)]) {
    let mut columns = vec![(0, key)];
    columns.extend_from_slice(part);
    let heads: Vec<Cell> = table
        .columns
        .iter()
        .map(|column| Cell {
            text: column.head.clone(),
            tone: Tone::Dim,
        })
        .collect();
    draw_row(screen, table, &columns, &heads);
    let width = columns.iter().map(|(_, w)| w + GAP).sum::<usize>() - GAP;
    screen.skip_to(INDENT);
    screen.put(&"─".repeat(width), Style::Dim);
    screen.end();
    for row in &table.rows {
        draw_row(screen, table, &columns, row);
    }
}

fn draw_row(screen: &mut Screen, table: &Table, columns: &[(usize, usize)], row: &[Cell]) {
    let cells: Vec<Vec<String>> = columns
        .iter()
        .map(|(column, width)| lines_of(&row[*column].text, *width))
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    for line in 0..height {
        let mut at = INDENT;
        for ((column, width), lines) in columns.iter().zip(&cells) {
            let text = lines.get(line).map_or("", String::as_str);
            let pad = if table.columns[*column].right {
                width.saturating_sub(width_of(text))
            } else {
                0
            };
            screen.skip_to(at + pad);
            screen.put(text, style(row[*column].tone));
            at += width + GAP;
        }
        screen.end();
    }
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::Plain,
        Tone::Good => Style::Good,
        Tone::Bad => Style::Bad,
        Tone::Dim => Style::Dim,
    }
}
