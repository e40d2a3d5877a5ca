//! One page that needs nothing else: style and pictures stand in it, and it asks the network for
//! nothing.

mod factor;
mod pictures;

use super::Format;
use crate::svg::escape;
use crate::text::{Part, Sentence, clean};
use crate::view::{Block, Chapter, Fact, Headline, Notice, Table, Tone, View, verdict_word};
use crate::{Document, RenderOptions};
use roundtrip_model::analysis::Verdict;
use std::fmt::Write;

/// Names up to this length are not broken.
const SHORT_NAME: usize = 16;
const STYLE: &str = include_str!("style.css");

/// The format.
pub struct Html;

impl Format for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extension(&self) -> &'static str {
        "html"
    }

    fn render(&self, document: &Document, _: &RenderOptions) -> Vec<u8> {
        let view = View::new(document);
        let title = escape(&view.title);
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title} · Roundtrip</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n<h1>{title}</h1>\n"
        );
        if !view.question.is_empty() {
            let _ = writeln!(out, "<p class=\"question\">{}</p>", escape(&view.question));
        }
        let _ = writeln!(
            out,
            "<p class=\"dim\">{}</p>\n</header>\n<main>",
            escape(&view.byline)
        );
        for (i, shown) in view.chapters.iter().enumerate() {
            chapter(&mut out, i, shown);
        }
        let version = escape(&clean(&document.run.environment.roundtrip));
        let _ = writeln!(
            out,
            "</main>\n<footer class=\"dim\"><p>Made by Roundtrip {version}.</p></footer>\n</body>\n</html>"
        );
        out.into_bytes()
    }
}

fn chapter(out: &mut String, i: usize, chapter: &Chapter) {
    let _ = writeln!(
        out,
        "<section aria-labelledby=\"part-{i}\">\n<h2 id=\"part-{i}\">{}</h2>",
        escape(&chapter.title)
    );
    for block in &chapter.blocks {
        out.push_str(&html(block));
    }
    out.push_str("</section>\n");
}

fn html(block: &Block) -> String {
    let all = |items: Vec<String>| items.concat();
    match block {
        Block::Headlines(headlines) => format!(
            "<ul class=\"verdicts\">\n{}</ul>\n",
            all(headlines.iter().map(headline).collect())
        ),
        Block::Notices(notices) => format!(
            "<ul class=\"notices\">\n{}</ul>\n",
            all(notices.iter().map(notice).collect())
        ),
        Block::Prose(prose) => all(prose
            .iter()
            .map(|s| format!("<p>{}</p>\n", sentence(s)))
            .collect()),
        Block::Facts(list) => facts(list),
        Block::Table(shown) => table(shown),
        Block::Command(command) => format!(
            "<pre tabindex=\"0\"><code>{}</code></pre>\n",
            escape(command)
        ),
        Block::Forest(shown) => pictures::forest(shown),
        Block::Stack(shown) => {
            let mut figures = shown.table();
            figures.caption = "The same in figures".to_owned();
            pictures::stack(shown) + &table(&figures)
        }
        Block::Dots(shown) => pictures::dots(shown),
        Block::Curves(shown) => pictures::curves(shown),
        Block::Factor(shown) => {
            let mut figures = shown.table();
            figures.caption = "The same in figures: median (least to most)".to_owned();
            factor::chart(shown) + &table(&figures)
        }
    }
}

fn sentence(sentence: &Sentence) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => escape(text),
        Part::Name(name) => format!("<code>{}</code>", escape(name)),
        Part::Strong(text) => format!("<strong>{}</strong>", escape(text)),
    };
    sentence.0.iter().map(part).collect()
}

fn headline(headline: &Headline) -> String {
    let mark = match headline.verdict {
        Some(Verdict::Faster) => "▲",
        Some(Verdict::Slower) => "▼",
        Some(Verdict::Equivalent) => "=",
        Some(Verdict::Undecided) => "?",
        None => "–",
    };
    let class = headline.verdict.map_or("none", verdict_word);
    let sentence = sentence(&headline.sentence);
    format!(
        "<li class=\"{class}\"><span class=\"mark\" aria-hidden=\"true\">{mark}</span><span>{sentence}</span></li>\n"
    )
}

fn notice(notice: &Notice) -> String {
    let class = if notice.grave { " class=\"grave\"" } else { "" };
    let mut out = format!("<li{class}>");
    for case in &notice.cases {
        out.push_str("<p>");
        if !case.subject.is_empty() {
            let _ = write!(out, "<code>{}</code>: ", escape(&case.subject));
        }
        out.push_str(&sentence(&Sentence::marked(&case.detail)));
        if case.more > 0 {
            let more = case.more;
            let _ = write!(out, " <span class=\"dim\">(and {more} more like it)</span>");
        }
        out.push_str("</p>");
    }
    if !notice.remedy.is_empty() {
        let _ = write!(
            out,
            "<p class=\"dim\">{}</p>",
            sentence(&Sentence::marked(&notice.remedy))
        );
    }
    out + "</li>\n"
}

fn facts(facts: &[Fact]) -> String {
    let rows = facts.iter().map(|fact| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>\n",
            escape(&fact.name),
            escape(&fact.value)
        )
    });
    format!("<dl>\n{}</dl>\n", rows.collect::<String>())
}

/// A name that may be broken behind the signs that join its parts, and nowhere else.
fn breakable(name: &str) -> String {
    if name.chars().count() <= SHORT_NAME {
        return format!("<span class=\"whole\">{}</span>", escape(name));
    }
    let parts: Vec<String> = name
        .split_inclusive(['/', '@', '?', '&', '=', ','])
        .map(escape)
        .collect();
    parts.join("<wbr>")
}

fn table(table: &Table) -> String {
    let caption = escape(&table.caption);
    // It can be scrolled sideways by keyboard too.
    let mut out = format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\">\n<table>\n\
         <caption><span>{caption}</span></caption>\n<thead><tr>"
    );
    for column in &table.columns {
        let class = if column.right { " class=\"n\"" } else { "" };
        let _ = write!(
            out,
            "<th scope=\"col\"{class}>{}</th>",
            escape(&column.head)
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &table.rows {
        out.push_str("<tr>");
        for (i, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
            let tone = match cell.tone {
                Tone::Plain => "",
                Tone::Good => "good",
                Tone::Bad => "bad",
                Tone::Dim => "dim",
            };
            let class = format!("{}{tone}", if column.right { "n " } else { "" });
            let text = escape(&cell.text);
            let _ = match i {
                0 => write!(
                    out,
                    "<th scope=\"row\" class=\"{class}\">{}</th>",
                    breakable(&cell.text)
                ),
                _ => write!(out, "<td class=\"{class}\">{text}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out + "</tbody>\n</table>\n</div>\n"
}
