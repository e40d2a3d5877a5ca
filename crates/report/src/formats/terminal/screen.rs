//! Lines of a terminal: counting columns, wrapping words, colours.

use crate::RenderOptions;
use unicode_width::UnicodeWidthStr;

const NARROWEST: usize = 40;

/// How many columns a text takes.
pub fn width_of(text: &str) -> usize {
    text.width()
}

/// How a word looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// A heading.
    Title,
    /// What matters.
    Strong,
    /// A variant's name.
    Name,
    /// Of little weight.
    Dim,
    /// For the better.
    Good,
    /// For the worse.
    Bad,
    /// To be careful of.
    Warn,
    /// Colours of the parts of a round trip.
    Part(usize),
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Plain => "",
            Style::Title | Style::Strong => "1",
            Style::Name => "36",
            Style::Dim => "2",
            Style::Good => "1;32",
            Style::Bad => "1;31",
            Style::Warn => "1;33",
            Style::Part(i) => ["34", "36", "33", "2"].get(i).copied().unwrap_or(""),
        }
    }
}

/// A word that is not broken unless it is wider than the line; its pieces may differ in style.
#[derive(Clone, Debug)]
pub struct Word(Vec<(String, Style)>);

impl Word {
    /// A word in one style.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Word(vec![(text.into(), style)])
    }

    /// Sets a piece right behind it.
    pub fn glue(&mut self, text: &str, style: Style) {
        self.0.push((text.to_owned(), style));
    }

    fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| width_of(text)).sum()
    }
}

/// Lines that are being written.
#[derive(Debug)]
pub struct Screen {
    out: String,
    /// Columns used of the line that is being written.
    used: usize,
    width: usize,
    color: bool,
}

impl Screen {
    /// An empty screen.
    pub fn new(options: &RenderOptions) -> Self {
        Screen {
            out: String::new(),
            used: 0,
            width: options.width.max(NARROWEST),
            color: options.color,
        }
    }

    /// Its columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Columns left of the line that is being written.
    pub fn left(&self) -> usize {
        self.width.saturating_sub(self.used)
    }

    /// Whether it shows colours.
    pub fn color(&self) -> bool {
        self.color
    }

    /// What was written.
    pub fn finish(self) -> Vec<u8> {
        self.out.into_bytes()
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.out.push('\n');
    }

    /// Writes a piece at the end of the line. It must fit.
    pub fn put(&mut self, text: &str, style: Style) {
        self.used += width_of(text);
        let code = style.code();
        if self.color && !code.is_empty() && !text.trim().is_empty() {
            self.out.push_str(&format!("\x1b[{code}m{text}\x1b[0m"));
        } else {
            self.out.push_str(text);
        }
    }

    /// Spaces up to a column.
    pub fn skip_to(&mut self, column: usize) {
        for _ in self.used..column {
            self.out.push(' ');
        }
        self.used = self.used.max(column);
    }

    /// Ends the line, without the spaces at its end.
    pub fn end(&mut self) {
        let kept = self.out.trim_end_matches(' ').len();
        self.out.truncate(kept);
        self.out.push('\n');
        self.used = 0;
    }

    /// Begins a line with a name in a column; [`Screen::wrap`] goes on behind it.
    pub fn begin_with(&mut self, name: &str, indent: usize, column: usize) {
        self.skip_to(indent);
        self.put(name, Style::Dim);
        self.skip_to(indent + column);
    }

    /// Writes words, the first line from one column on, the others from another.
    pub fn wrap(&mut self, words: &[Word], first: usize, others: usize) {
        let start = self.used.max(first);
        self.skip_to(first);
        let mut empty = true;
        for word in words {
            let gap = usize::from(!empty);
            if !empty && self.used + gap + word.width() > self.width {
                self.end();
                self.skip_to(others);
                empty = true;
            }
            if !empty {
                self.put(" ", Style::Plain);
            }
            empty = false;
            for (text, style) in &word.0 {
                self.put_broken(text, *style, others);
            }
        }
        if self.used > start || empty {
            self.end();
        }
    }

    /// Writes a piece, broken wherever the line ends.
    fn put_broken(&mut self, text: &str, style: Style, others: usize) {
        let mut rest = text;
        while self.used + width_of(rest) > self.width {
            let (head, tail) = split_at_width(rest, self.width - self.used);
            if head.is_empty() && self.used <= others {
                break;
            }
            self.put(head, style);
            self.end();
            self.skip_to(others);
            rest = tail;
        }
        self.put(rest, style);
    }
}

/// The most of a text that fits into some columns, and the rest. It breaks behind a sign that
/// joins parts of a name, where there is one in the second half.
pub fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let mut end = 0;
    let mut joint = 0;
    for (at, c) in text.char_indices() {
        used += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if used > width {
            break;
        }
        end = at + c.len_utf8();
        if " /@?&=,-_".contains(c) && used * 2 > width {
            joint = end;
        }
    }
    if end < text.len() && joint > 0 {
        end = joint;
    }
    // A character wider than the whole line is taken all the same: nothing may stand still.
    if end == 0 && width > 0 {
        end = text.chars().next().map_or(0, char::len_utf8);
    }
    text.split_at(end)
}

/// A text in lines of some columns.
pub fn lines_of(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut lines = Vec::new();
    let mut rest = text;
    while width_of(rest) > width {
        let (head, tail) = split_at_width(rest, width);
        lines.push(head.trim_end().to_owned());
        rest = tail.trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// A text cut to some columns, with a sign that it was cut.
pub fn shortened(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        let next = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if width_of(&short) + next + 1 > width {
            break;
        }
        short.push(c);
    }
    short + "…"
}
