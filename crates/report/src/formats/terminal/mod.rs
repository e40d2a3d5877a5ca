//! For a terminal: plain text that is never wider than it, with colour where it has any.

mod pictures;
pub mod screen;
mod table;

use super::Format;
use crate::text::{Part, Sentence};
use crate::view::{Block, Fact, Headline, Notice, View};
use crate::{Document, RenderOptions};
use roundtrip_model::analysis::Verdict;
use screen::{Screen, Style, Word, width_of};
pub use table::draw as draw_table;

/// The format.
pub struct Terminal;

impl Format for Terminal {
    fn name(&self) -> &'static str {
        "terminal"
    }

    fn extension(&self) -> &'static str {
        "txt"
    }

    fn render(&self, document: &Document, options: &RenderOptions) -> Vec<u8> {
        render(&View::new(document), options)
    }
}

/// A view as text.
pub fn render(view: &View, options: &RenderOptions) -> Vec<u8> {
    let mut screen = Screen::new(options);
    screen.wrap(&words_of(&view.title, Style::Title), 0, 0);
    if !view.question.is_empty() {
        screen.wrap(&words_of(&view.question, Style::Plain), 0, 0);
    }
    screen.wrap(&words_of(&view.byline, Style::Dim), 0, 0);
    for chapter in &view.chapters {
        screen.blank();
        screen.wrap(&words_of(&chapter.title, Style::Title), 0, 0);
        for (i, shown) in chapter.blocks.iter().enumerate() {
            let before = i.checked_sub(1).and_then(|i| chapter.blocks.get(i));
            if before.is_some_and(|before| apart(before, shown)) {
                screen.blank();
            }
            block(&mut screen, shown);
        }
    }
    screen.finish()
}

/// Whether an empty line helps between two blocks.
fn apart(before: &Block, shown: &Block) -> bool {
    let drawn = !matches!(shown, Block::Dots(_) | Block::Curves(_));
    drawn
        && !matches!(
            (before, shown),
            (
                Block::Prose(_),
                Block::Table(_) | Block::Facts(_) | Block::Headlines(_)
            )
        )
}

fn block(screen: &mut Screen, block: &Block) {
    match block {
        Block::Headlines(headlines) => headlines.iter().for_each(|h| headline(screen, h)),
        Block::Notices(notices) => notices.iter().for_each(|n| notice(screen, n)),
        Block::Prose(prose) => prose
            .iter()
            .for_each(|s| screen.wrap(&sentence(screen, s), 2, 2)),
        Block::Facts(list) => facts(screen, list),
        Block::Table(shown) => table::draw(screen, shown),
        Block::Command(command) => {
            let mut words = vec![Word::new("$", Style::Dim)];
            words.extend(words_of(command, Style::Strong));
            screen.wrap(&words, 2, 6);
        }
        Block::Forest(forest) => pictures::forest(screen, forest),
        Block::Stack(stack) => pictures::stack(screen, stack),
        Block::Factor(chart) => {
            pictures::sparklines(screen, chart);
            table::draw(screen, &chart.table());
        }
        // Too fine for characters; the HTML report has them.
        Block::Dots(_) | Block::Curves(_) => {}
    }
}

/// The words of a text, all in one style.
pub fn words_of(text: &str, style: Style) -> Vec<Word> {
    text.split_whitespace()
        .map(|word| Word::new(word, style))
        .collect()
}

/// The words of a sentence. A name is one word, between backticks where there is no colour.
fn sentence(screen: &Screen, sentence: &Sentence) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut glued = false;
    for part in &sentence.0 {
        let (text, style) = match part {
            Part::Text(text) => (text.clone(), Style::Plain),
            Part::Strong(text) => (text.clone(), Style::Strong),
            Part::Name(text) if screen.color() => (text.clone(), Style::Name),
            Part::Name(text) => (format!("`{text}`"), Style::Name),
        };
        let opens = text.starts_with(char::is_whitespace);
        for (i, word) in text.split_whitespace().enumerate() {
            match words.last_mut() {
                // "`a`:" is one word of two styles.
                Some(last) if i == 0 && glued && !opens => last.glue(word, style),
                _ => words.push(Word::new(word, style)),
            }
        }
        glued = !text.ends_with(char::is_whitespace);
    }
    words
}

fn headline(screen: &mut Screen, headline: &Headline) {
    let (mark, style) = match headline.verdict {
        Some(Verdict::Faster) => ("▲", Style::Good),
        Some(Verdict::Slower) => ("▼", Style::Bad),
        Some(Verdict::Equivalent) => ("=", Style::Strong),
        Some(Verdict::Undecided) => ("?", Style::Warn),
        None => ("-", Style::Dim),
    };
    let mut words = vec![Word::new(mark, style)];
    words.extend(sentence(screen, &headline.sentence));
    screen.wrap(&words, 2, 4);
}

fn notice(screen: &mut Screen, notice: &Notice) {
    let mark = if notice.grave { "!!" } else { "!" };
    let indent = 3 + mark.len();
    for (i, case) in notice.cases.iter().enumerate() {
        let mut words = Vec::new();
        if i == 0 {
            words.push(Word::new(mark, Style::Warn));
        }
        if !case.subject.is_empty() {
            words.extend(words_of(&format!("{}:", case.subject), Style::Name));
        }
        words.extend(words_of(&case.detail, Style::Plain));
        if case.more > 0 {
            let more = format!("(and {} more like it)", case.more);
            words.extend(words_of(&more, Style::Dim));
        }
        screen.wrap(&words, if i == 0 { 2 } else { indent }, indent);
    }
    if !notice.remedy.is_empty() {
        let mut words = vec![Word::new("→", Style::Dim)];
        words.extend(words_of(&notice.remedy, Style::Dim));
        screen.wrap(&words, indent, indent + 2);
    }
}

fn facts(screen: &mut Screen, facts: &[Fact]) {
    let longest = facts
        .iter()
        .map(|fact| width_of(&fact.name))
        .max()
        .unwrap_or(0);
    let column = longest.min(screen.width() / 3).min(32);
    for fact in facts {
        let fits = width_of(&fact.name) <= column;
        if fits {
            screen.begin_with(&fact.name, 2, column);
            screen.wrap(&words_of(&fact.value, Style::Plain), column + 4, column + 4);
        } else {
            screen.wrap(&words_of(&fact.name, Style::Dim), 2, 4);
            screen.wrap(&words_of(&fact.value, Style::Plain), column + 4, column + 4);
        }
    }
}
