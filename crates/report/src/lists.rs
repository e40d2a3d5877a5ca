//! The smaller screens: the list of runs, one run trial by trial, the fidelity table.

use crate::formats::terminal::screen::{Screen, Style, Word};
use crate::formats::terminal::{draw_table, words_of};
use crate::number::{UNKNOWN, count, duration, figure};
use crate::text::clean;
use crate::view::{Cell, Column, Table, Tone, fault_trials};
use crate::{Document, RenderOptions};
use roundtrip_model::contract::CheckRow;
use roundtrip_model::fidelity::{FidelityColumn, FidelityTable};
use roundtrip_model::record::{RunOverview, RunState, TrialRecord, Validity};

fn column(head: &str, right: bool) -> Column {
    Column {
        head: clean(head),
        right,
    }
}

fn cell(text: impl AsRef<str>, tone: Tone) -> Cell {
    Cell {
        text: clean(text.as_ref()),
        tone,
    }
}

fn plain(text: impl AsRef<str>) -> Cell {
    cell(text, Tone::Plain)
}

fn state(state: RunState) -> Cell {
    match state {
        RunState::Running => cell("running", Tone::Plain),
        RunState::Finished => cell("finished", Tone::Good),
        RunState::Interrupted => cell("interrupted", Tone::Plain),
        RunState::Failed => cell("failed", Tone::Bad),
    }
}

/// Names, each with what is to be said of it below it, wrapped.
pub fn named(items: &[(String, Vec<String>)], options: &RenderOptions) -> Vec<u8> {
    let mut screen = Screen::new(options);
    for (name, lines) in items {
        screen.wrap(&words_of(&clean(name), Style::Strong), 0, 2);
        for line in lines {
            screen.wrap(&words_of(&clean(line), Style::Plain), 4, 6);
        }
    }
    screen.finish()
}

/// The runs of an archive.
pub fn runs(runs: &[RunOverview], options: &RenderOptions) -> Vec<u8> {
    let rows = runs.iter().map(|run| {
        vec![
            plain(&run.id),
            plain(&run.experiment),
            state(run.state),
            plain(count(run.trials.into())),
            plain(run.took_ms.map_or(UNKNOWN.to_owned(), duration)),
        ]
    });
    let table = Table {
        caption: String::new(),
        columns: vec![
            column("run", false),
            column("experiment", false),
            column("state", false),
            column("trials", true),
            column("took", true),
        ],
        rows: rows.collect(),
    };
    let mut screen = Screen::new(options);
    draw_table(&mut screen, &table);
    screen.finish()
}

/// One run, trial by trial in the order in which they ran, with what voided any of them.
pub fn show(document: &Document, options: &RenderOptions) -> Vec<u8> {
    let run = &document.run;
    let mut screen = Screen::new(options);
    let title = format!(
        "Run {} of {}: {}",
        run.id,
        run.experiment,
        state(run.state).text
    );
    screen.wrap(&words_of(&clean(&title), Style::Title), 0, 0);
    screen.wrap(&words_of(&clean(&run.command), Style::Dim), 0, 2);
    for phase in &document.experiment.workload.phases {
        screen.blank();
        let mut trials: Vec<&TrialRecord> = document.trials.iter().collect();
        trials.sort_by_key(|trial| (trial.block, trial.position));
        let rows = trials.iter().filter_map(|trial| {
            let done = trial.phase(&phase.name)?;
            let metric = document.experiment.metrics[0];
            let is_void = !trial.is_valid();
            Some(vec![
                plain((trial.block + 1).to_string()),
                plain(&trial.variant),
                plain(trial.placement.name()),
                plain(
                    metric
                        .of(done)
                        .map_or(UNKNOWN.to_owned(), |x| figure(metric, x)),
                ),
                plain(
                    done.quantile(0.5)
                        .map_or(UNKNOWN.to_owned(), crate::number::nanos),
                ),
                if is_void {
                    cell("void", Tone::Bad)
                } else {
                    cell("valid", Tone::Dim)
                },
            ])
        });
        let table = Table {
            caption: clean(&phase.name),
            columns: vec![
                column("block", true),
                column("variant", false),
                column("placement", false),
                column(document.experiment.metrics[0].in_words(), true),
                column("p50", true),
                column("trial", false),
            ],
            rows: rows.collect(),
        };
        draw_table(&mut screen, &table);
    }
    if document.experiment.is_of_faults() {
        screen.blank();
        draw_table(&mut screen, &fault_trials(document));
    }
    voids(&mut screen, &document.trials);
    screen.finish()
}

fn voids(screen: &mut Screen, trials: &[TrialRecord]) {
    for trial in trials {
        if let Validity::Void(reason) = &trial.validity {
            screen.blank();
            let line = format!(
                "void: block {}, {}: {reason}",
                trial.block + 1,
                trial.variant
            );
            screen.wrap(&words_of(&clean(&line), Style::Plain), 0, 2);
        }
    }
}

/// What became of values of every type: `=` where value and type came back as they were.
pub fn fidelity(table: &FidelityTable, options: &RenderOptions) -> Vec<u8> {
    let mut columns = vec![column("value", false)];
    columns.extend(
        table
            .columns
            .iter()
            .map(|c| column(&heading(&c.path), false)),
    );
    columns.push(column("written", false));
    let rows = table.written.iter().enumerate().map(|(i, written)| {
        let mut row = vec![plain(&written.name)];
        row.extend(table.columns.iter().map(|column| came_back(column, i)));
        row.push(plain(in_words(written)));
        row
    });
    let drawn = Table {
        caption: "What came back".to_owned(),
        columns,
        rows: rows.collect(),
    };
    let mut screen = Screen::new(options);
    draw_table(&mut screen, &drawn);
    screen.blank();
    let legend = "`=` is the same value of the same type; anything else is what came back instead.";
    screen.wrap(&words_of(legend, Style::Dim), 2, 2);
    for column in &table.columns {
        notes(&mut screen, column);
    }
    screen.finish()
}

/// A path as short as a column's head must be: the library and the values of its options. The
/// whole of it stands below the table.
fn heading(path: &str) -> String {
    let (place, options) = path.split_once('?').unwrap_or((path, ""));
    let client = place.split('@').next().unwrap_or(place);
    let library = client.rsplit('/').next().unwrap_or(client);
    let values = options
        .split('&')
        .filter_map(|option| option.split_once('='));
    values.fold(library.to_owned(), |head, (_, value)| {
        format!("{head} {value}")
    })
}

fn in_words(row: &CheckRow) -> String {
    format!("{} {}", row.type_name, row.value)
}

fn came_back(column: &FidelityColumn, i: usize) -> Cell {
    match column.rows.get(i) {
        None => cell(UNKNOWN, Tone::Dim),
        Some(row) if row.same => cell("=", Tone::Good),
        Some(row) => cell(in_words(row), Tone::Bad),
    }
}

/// What a column needs said: its version, notes, and what a reader without the class gets.
fn notes(screen: &mut Screen, column: &FidelityColumn) {
    let mut line = |text: String, style| {
        let words: Vec<Word> = words_of(&clean(&text), style);
        screen.wrap(&words, 2, 4);
    };
    let version = column.version.as_deref().unwrap_or(UNKNOWN);
    line(format!("{}: version {version}", column.path), Style::Strong);
    for row in &column.rows {
        if let Some(note) = &row.note {
            line(format!("{}: {note}", row.name), Style::Plain);
        }
    }
    for row in &column.without_classes {
        line(
            format!("{} without its class: {}", row.name, in_words(row)),
            Style::Plain,
        );
    }
}
