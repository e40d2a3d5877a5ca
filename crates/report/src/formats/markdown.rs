//! For a README or a pull request.

use super::Format;
use crate::text::{Part, Sentence};
use crate::view::{Block, Notice, Table, View};
use crate::{Document, RenderOptions};
use std::fmt::Write;

/// The format.
pub struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extension(&self) -> &'static str {
        "md"
    }

    fn render(&self, document: &Document, _: &RenderOptions) -> Vec<u8> {
        render(&View::new(document))
    }
}

/// A view as Markdown.
pub fn render(view: &View) -> Vec<u8> {
    let mut out = format!("# {}\n\n", escape(&view.title));
    if !view.question.is_empty() {
        let _ = writeln!(out, "{}\n", escape(&view.question));
    }
    let _ = writeln!(out, "{}", escape(&view.byline));
    for chapter in &view.chapters {
        let _ = writeln!(out, "\n## {}\n", escape(&chapter.title));
        let blocks: Vec<String> = chapter.blocks.iter().filter_map(block).collect();
        out.push_str(&blocks.join("\n"));
    }
    out.into_bytes()
}

fn block(block: &Block) -> Option<String> {
    let list = |items: Vec<String>| items.concat();
    Some(match block {
        Block::Headlines(headlines) => list(
            headlines
                .iter()
                .map(|h| format!("- {}\n", sentence(&h.sentence)))
                .collect(),
        ),
        Block::Notices(notices) => list(notices.iter().map(notice).collect()),
        Block::Prose(prose) => prose.iter().map(sentence).collect::<Vec<_>>().join("\n\n") + "\n",
        Block::Facts(facts) => list(
            facts
                .iter()
                .map(|f| format!("- {}: {}\n", escape(&f.name), escape(&f.value)))
                .collect(),
        ),
        Block::Table(shown) => table(shown),
        Block::Command(command) => fenced(command),
        Block::Stack(shown) => table(&shown.table()),
        Block::Factor(shown) => table(&shown.table()),
        // Pictures: their figures stand in the tables, and the HTML report draws them.
        Block::Forest(_) | Block::Dots(_) | Block::Curves(_) => return None,
    })
}

/// Text as text: nothing in it is a mark, a tag, or the end of a table's cell.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A name in code style. A bar would end a cell even there; a backtick would end the code.
fn code(name: &str) -> String {
    if name.contains(['`', '|']) {
        escape(name)
    } else {
        format!("`{name}`")
    }
}

fn sentence(sentence: &Sentence) -> String {
    sentence
        .0
        .iter()
        .map(|part| match part {
            Part::Text(text) => escape(text),
            Part::Name(name) => code(name),
            Part::Strong(text) => {
                // A space inside the marks would keep them from being marks.
                let inner = text.trim();
                let at = text.find(inner).unwrap_or(0);
                let (before, after) = (&text[..at], &text[at + inner.len()..]);
                format!("{before}**{}**{after}", escape(inner))
            }
        })
        .collect()
}

fn notice(notice: &Notice) -> String {
    let cases = notice.cases.iter().map(|case| {
        let mut out = String::new();
        if !case.subject.is_empty() {
            let _ = write!(out, "{}: ", code(&case.subject));
        }
        out.push_str(&sentence(&Sentence::marked(&case.detail)));
        if case.more > 0 {
            let _ = write!(out, " (and {} more like it)", case.more);
        }
        out
    });
    let mut out = format!("- {}", cases.collect::<Vec<_>>().join("; "));
    if !notice.remedy.is_empty() {
        let _ = write!(out, ". {}", sentence(&Sentence::marked(&notice.remedy)));
    }
    out + "\n"
}

fn table(table: &Table) -> String {
    let mut out = format!("**{}**\n\n", escape(&table.caption));
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out += &row(table.columns.iter().map(|c| escape(&c.head)).collect());
    out += &row(table
        .columns
        .iter()
        .map(|c| if c.right { "--:" } else { ":--" }.to_owned())
        .collect());
    for cells in &table.rows {
        let first = cells.iter().take(1).map(|c| code(&c.text));
        out += &row(first
            .chain(cells.iter().skip(1).map(|c| escape(&c.text)))
            .collect());
    }
    out
}

/// A command in a fence that is longer than any row of backticks in it.
fn fenced(command: &str) -> String {
    let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{command}\n{fence}\n")
}
