//! Slab table and statistics as text of at most 80 columns, in memcached-tool's columns. Pure.

use super::figures::{Look, Statistics, Window};
use super::slabs::{SlabClass, SlabTable};
use super::stats::{Meaning, ServerStats};
use std::fmt::Write;

const COLUMNS: usize = 80;
const UNKNOWN: &str = "-";

/// The slab table: one line a class.
pub fn slabs(table: &SlabTable) -> String {
    let mut text =
        "  #  Item_Size  Max_age    Pages    Count  Full?   Evicted Evict_Time    OOM\n".to_owned();
    for class in &table.classes {
        let _ = writeln!(text, "{}", slab(class));
    }
    text
}

fn slab(class: &SlabClass) -> String {
    let seconds = |s: Option<u64>| s.map_or(UNKNOWN.to_owned(), |s| format!("{s}s"));
    let count = |n: Option<u64>| n.map_or(UNKNOWN.to_owned(), |n| n.to_string());
    format!(
        "{:>3} {:>10} {:>8} {:>8} {:>8} {:>6} {:>9} {:>10} {:>6}",
        class.class,
        size(class.item_size_bytes),
        seconds(class.max_age_s),
        class.pages,
        class.count,
        if class.full { "yes" } else { "no" },
        count(class.evicted),
        seconds(class.evict_time_s),
        count(class.oom),
    )
}

/// The statistics: what they mean, what is wrong, and all of them.
pub fn stats(stats: &ServerStats) -> String {
    let mut text = rows(&meaning(&stats.meaning));
    push_sentences(&mut text, &stats.findings, &stats.notes);
    push_statistics(&mut text, &stats.statistics);
    text
}

/// A look into a server of another kind: the few numbers, what is wrong, and all where it has them.
pub fn look<M: Told>(look: &Look<M>) -> String {
    let mut text = rows(&look.meaning.rows());
    for (title, lines) in look.meaning.tables() {
        let _ = writeln!(text, "\n{title}");
        for line in lines {
            let _ = writeln!(text, "  {line}");
        }
    }
    push_sentences(&mut text, &look.findings, &look.notes);
    if !look.statistics.is_empty() {
        push_statistics(&mut text, &look.statistics);
    }
    text
}

/// What a look means, as rows for a screen.
pub trait Told {
    /// Name and value of each.
    fn rows(&self) -> Vec<(&'static str, String)>;

    /// What is told line by line, each part under its title.
    fn tables(&self) -> Vec<(&'static str, Vec<String>)>;
}

fn rows(rows: &[(&'static str, String)]) -> String {
    let mut text = String::new();
    for (name, value) in rows {
        let _ = writeln!(text, "{name:>20}  {value}");
    }
    text
}

fn push_sentences(text: &mut String, findings: &[String], notes: &[String]) {
    for (title, sentences) in [("What is wrong", findings), ("To know", notes)] {
        if !sentences.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for sentence in sentences {
            text.push_str(&wrapped(sentence));
        }
    }
}

fn push_statistics(text: &mut String, statistics: &Statistics) {
    text.push_str("\nAll statistics\n");
    for (name, value) in statistics {
        let _ = writeln!(text, "{name:>32} {value:>16}");
    }
}

/// What is not known is a dash.
pub(super) fn known(text: Option<String>) -> String {
    text.unwrap_or(UNKNOWN.to_owned())
}

/// A part, of a whole where that is known.
pub(super) fn of(part: Option<String>, whole: Option<String>) -> Option<String> {
    part.map(|part| whole.map_or(part.clone(), |whole| format!("{part} of {whole}")))
}

pub(super) fn percent(ratio: Option<f64>) -> Option<String> {
    ratio.map(|ratio| format!("{:.1}%", ratio * 100.0))
}

pub(super) fn count(n: Option<u64>) -> Option<String> {
    n.map(|n| n.to_string())
}

pub(super) fn window(window: Window) -> String {
    match window {
        Window::Uptime { seconds } => format!("the {seconds:.0} s since it started"),
        Window::Interval { seconds } => format!("the last {seconds:.1} s"),
    }
}

fn meaning(meaning: &Meaning) -> Vec<(&'static str, String)> {
    let memory = of(
        meaning.memory_used_bytes.map(size),
        meaning.memory_limit_bytes.map(size),
    );
    let memory = memory.map(|m| match percent(meaning.memory_used_ratio) {
        Some(percent) => format!("{m} ({percent})"),
        None => m,
    });
    vec![
        ("version", known(meaning.version.clone())),
        ("over", window(meaning.window)),
        (
            "hit ratio",
            known(of(
                percent(meaning.hit_ratio),
                meaning.gets.map(|n| format!("{n} reads")),
            )),
        ),
        ("evictions", known(count(meaning.evictions))),
        (
            "evictions a second",
            known(meaning.evictions_per_s.map(|rate| format!("{rate:.1}"))),
        ),
        ("items", known(count(meaning.items))),
        ("memory in use", known(memory)),
        (
            "connections",
            known(of(
                count(meaning.connections),
                count(meaning.max_connections),
            )),
        ),
    ]
}

/// A size as memcached-tool writes it, and on to larger units.
pub(super) fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    for unit in ["K", "M", "G"] {
        amount /= 1024.0;
        if amount < 1024.0 {
            return format!("{amount:.1}{unit}");
        }
    }
    format!("{:.1}T", amount / 1024.0)
}

/// A sentence as an entry of a list, wrapped.
fn wrapped(sentence: &str) -> String {
    let mut text = String::new();
    let mut line = "  -".to_owned();
    for word in sentence.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > COLUMNS {
            text.push_str(&line);
            text.push('\n');
            line = "   ".to_owned();
        }
        line.push(' ');
        line.push_str(word);
    }
    text + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::stats::tests::explained;
    use super::*;

    #[test]
    fn the_slab_table_has_memcached_tools_columns() {
        let known = SlabClass {
            class: 2,
            item_size_bytes: 120,
            max_age_s: Some(86_400),
            pages: 3,
            count: 12_345,
            full: true,
            evicted: Some(7),
            evict_time_s: Some(60),
            oom: Some(0),
        };
        let unknown = SlabClass {
            class: 39,
            item_size_bytes: 524_288,
            max_age_s: None,
            count: 0,
            full: false,
            evicted: None,
            evict_time_s: None,
            oom: None,
            ..known.clone()
        };
        let table = SlabTable {
            classes: vec![known, unknown],
        };
        let expected =
            "  #  Item_Size  Max_age    Pages    Count  Full?   Evicted Evict_Time    OOM
  2       120B   86400s        3    12345    yes         7        60s      0
 39     512.0K        -        3        0     no         -          -      -
";
        assert_eq!(slabs(&table), expected);
    }

    #[test]
    fn statistics_are_told_in_words_first_and_fit_80_columns() {
        let told = stats(&explained(&[
            ("get_hits", 500),
            ("get_misses", 500),
            ("evictions", 25),
            ("bytes", 62 << 20),
            ("limit_maxbytes", 64 << 20),
            ("curr_items", 9),
            ("curr_connections", 2),
            ("max_connections", 1024),
        ]));
        let expected = "             version  -
                over  the 10 s since it started
           hit ratio  50.0% of 1000 reads
           evictions  25
  evictions a second  2.5
               items  9
       memory in use  62.0M of 64.0M (96.9%)
         connections  2 of 1024

What is wrong
  - It threw 25 items away before their time since it started (2.5 a second): it
    has too little memory (raise -m), or holds what is never read.
";
        assert!(told.starts_with(expected), "{told}");
        let last = format!("{:>32} {:>16}\n", "max_connections", 1024);
        assert!(told.ends_with(&last), "{told}");
        assert!(
            told.lines().all(|line| line.chars().count() <= COLUMNS),
            "{told}"
        );
    }

    #[test]
    fn an_unknown_figure_is_a_dash() {
        let told = stats(&explained(&[]));
        assert!(told.contains("           hit ratio  -\n"), "{told}");
        assert!(!told.contains("What is wrong"));
    }

    #[test]
    fn sizes_grow_through_the_units() {
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0K"),
            (1 << 20, "1.0M"),
            (3 << 30, "3.0G"),
            (5 << 40, "5.0T"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
