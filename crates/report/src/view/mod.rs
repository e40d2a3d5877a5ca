//! What a report says, as data: chapters of blocks, in the order of reading. Built once; a format
//! lays it out and adds nothing.

mod build;
mod factor;
mod facts;
mod faults;
mod figures;
mod headlines;
mod notices;
mod pace;
mod pictures;
mod published;
mod settings;
mod tables;

pub use factor::{FactorChart, FactorPoint, number as factor_number};
pub use facts::facts_of;
pub use faults::trials as fault_trials;
pub use figures::is_control;
pub use notices::{collected, notices_of};
pub use pictures::ratio_tick;
pub use tables::verdict_word;

use crate::Document;
use crate::number::nanos;
use crate::text::Sentence;
use roundtrip_model::analysis::Verdict;

/// A whole report.
#[derive(Clone, Debug)]
pub struct View {
    /// The experiment's title.
    pub title: String,
    /// The question it answers.
    pub question: String,
    /// Where and when, in a line.
    pub byline: String,
    /// What follows, in order.
    pub chapters: Vec<Chapter>,
}

impl View {
    /// The view of a document.
    pub fn new(document: &Document) -> View {
        match document.experiment.is_of_faults() {
            true => faults::view(document),
            false => build::view(document),
        }
    }
}

/// A titled part of a report.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// Its heading.
    pub title: String,
    /// What it holds.
    pub blocks: Vec<Block>,
}

/// A thing to lay out.
#[derive(Clone, Debug)]
pub enum Block {
    /// Outcomes in sentences.
    Headlines(Vec<Headline>),
    /// What could mislead, each with its remedy.
    Notices(Vec<Notice>),
    /// Sentences, each a paragraph.
    Prose(Vec<Sentence>),
    /// Names and what they are.
    Facts(Vec<Fact>),
    /// A table.
    Table(Table),
    /// Something to type.
    Command(String),
    /// Ratios with their intervals.
    Forest(Forest),
    /// Where a round trip goes.
    Stack(Stack),
    /// Every trial, in order of time.
    Dots(Dots),
    /// Latency by percentile.
    Curves(Curves),
    /// A figure against a factor.
    Factor(FactorChart),
}

/// The outcome of a comparison, in a sentence.
#[derive(Clone, Debug)]
pub struct Headline {
    /// `None` where nothing could be compared.
    pub verdict: Option<Verdict>,
    /// The sentence.
    pub sentence: Sentence,
}

/// What could mislead: cases of one kind, with what to do about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// Its kind, for programs.
    pub kind: String,
    /// The cases.
    pub cases: Vec<Case>,
    /// What to do; empty where nothing can be done.
    pub remedy: String,
    /// Whether it stands above the verdict.
    pub grave: bool,
}

/// A case of something.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it is about; empty for the whole run.
    pub subject: String,
    /// It in a sentence.
    pub detail: String,
    /// How many more said the same of the same subject.
    pub more: usize,
}

/// A name and what it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// What it is.
    pub value: String,
}

/// A table; its first column names the row.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, as long as there are columns.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its heading.
    pub head: String,
    /// Figures stand to the right.
    pub right: bool,
}

/// How a cell is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    Plain,
    /// For the better.
    Good,
    /// For the worse.
    Bad,
    /// Of little weight.
    Dim,
}

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

/// Ratios with their intervals, on one logarithmic axis.
#[derive(Clone, Debug)]
pub struct Forest {
    /// What it shows.
    pub title: String,
    /// The rows.
    pub rows: Vec<ForestRow>,
    /// Ends of the axis.
    pub axis: (f64, f64),
    /// Round ratios along the axis.
    pub ticks: Vec<f64>,
}

/// A ratio with its interval.
#[derive(Clone, Debug)]
pub struct ForestRow {
    /// The variant.
    pub name: String,
    /// Phase and placement.
    pub place: String,
    /// How many times as fast.
    pub ratio: f64,
    /// Ends of its interval, where there is one.
    pub interval: Option<(f64, f64)>,
    /// Ends of the control's interval.
    pub control: Option<(f64, f64)>,
    /// The outcome.
    pub verdict: Verdict,
    /// Ratio and interval in words.
    pub words: String,
}

/// Names of the parts of a round trip.
pub const PARTS: [&str; 4] = ["client user", "client system", "server CPU", "waiting"];
/// The same where there is little room.
pub const SHORT_PARTS: [&str; 4] = ["user", "sys", "server", "waiting"];

/// Where a round trip goes, a bar a variant.
#[derive(Clone, Debug)]
pub struct Stack {
    /// What it shows.
    pub title: String,
    /// Phase and placement.
    pub place: String,
    /// Variants with the four parts in nanoseconds, in the order of [`PARTS`].
    pub bars: Vec<(String, [f64; 4])>,
}

impl Stack {
    /// The longest bar.
    pub fn longest(&self) -> f64 {
        self.bars
            .iter()
            .map(|(_, parts)| parts.iter().sum())
            .fold(0.0, f64::max)
    }

    /// The same as figures, with their sum.
    pub fn table(&self) -> Table {
        let column = |head: &str, right| Column {
            head: head.to_owned(),
            right,
        };
        let cell = |text: String| Cell {
            text,
            tone: Tone::Plain,
        };
        let parts = PARTS.iter().chain(&["sum"]).map(|part| column(part, true));
        let rows = self.bars.iter().map(|(name, parts)| {
            let figures = parts.iter().copied().chain([parts.iter().sum()]);
            let figures = figures.map(|ns| cell(nanos(ns)));
            std::iter::once(cell(name.clone())).chain(figures).collect()
        });
        Table {
            caption: self.title.clone(),
            columns: std::iter::once(column("variant", false))
                .chain(parts)
                .collect(),
            rows: rows.collect(),
        }
    }
}

/// What a picture shows of one variant.
#[derive(Clone, Debug)]
pub struct Series<T> {
    /// The variant's place among all: it keeps its colour through every picture.
    pub place: usize,
    /// The variant.
    pub name: String,
    /// What is drawn.
    pub points: Vec<T>,
}

/// A trial in a picture.
#[derive(Clone, Debug)]
pub struct Dot {
    /// Its place in the order of time.
    pub order: usize,
    /// Its figure.
    pub value: f64,
    /// Why it does not count, if it does not.
    pub void: Option<String>,
    /// It in words.
    pub words: String,
}

/// Every trial, in order of time.
#[derive(Clone, Debug)]
pub struct Dots {
    /// What it shows.
    pub title: String,
    /// Phase and placement.
    pub place: String,
    /// Trials by variant.
    pub series: Vec<Series<Dot>>,
    /// How many places of order there are.
    pub count: usize,
    /// Ends of the axis, and ticks with their text.
    pub axis: (f64, f64),
    /// Ticks with their text.
    pub ticks: Vec<(f64, String)>,
}

/// Latency by percentile.
#[derive(Clone, Debug)]
pub struct Curves {
    /// What it shows.
    pub title: String,
    /// Phase and placement.
    pub place: String,
    /// By variant: `(how many nines, nanoseconds)`, where 2 nines is the 99th percentile.
    pub series: Vec<Series<(f64, f64)>>,
    /// The most nines that are shown.
    pub nines: f64,
    /// Ends of the latency axis, in nanoseconds.
    pub axis: (f64, f64),
    /// Ticks with their text.
    pub ticks: Vec<(f64, String)>,
}
