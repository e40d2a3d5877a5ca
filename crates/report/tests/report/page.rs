//! The page: that it stands alone, and what makes it readable to everybody.

use crate::fixture::{bare, document, document_of};
use roundtrip_report::{RenderOptions, format};

fn page(document: &roundtrip_report::Document) -> String {
    let bytes = format("html")
        .unwrap()
        .render(document, &RenderOptions::default());
    String::from_utf8(bytes).unwrap()
}

/// Start and end tags must nest; elements without content are known.
fn check_nesting(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let body = &page[page.find("<body>").unwrap()..];
    for tag in body.split('<').skip(1) {
        let tag = &tag[..tag.find('>').unwrap()];
        if tag.ends_with('/') {
            continue;
        }
        if tag == "wbr" {
            continue;
        }
        match tag.strip_prefix('/') {
            Some("html") => {}
            Some(name) => assert_eq!(open.pop(), Some(name), "near <{tag}>"),
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_stands_alone() {
    let page = page(&document());
    for outside in [
        "http://", "https://", "src=", "href=", "url(", "@import", "<script", "<link",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    check_nesting(&page);
    check_nesting(&self::page(&bare()));
}

#[test]
fn the_page_has_what_a_screen_reader_needs() {
    let page = page(&document());
    for needed in [
        "<html lang=\"en\">",
        "<title>Two PHP extensions, one memcached · Roundtrip</title>",
        "<header>",
        "<main>",
        "<footer",
        "name=\"viewport\"",
        "<th scope=\"col\"",
        "<th scope=\"row\"",
    ] {
        assert!(page.contains(needed), "{needed}");
    }
    let pictures = page.matches("<svg role=\"img\" aria-label=\"").count();
    let silent = page.matches("<svg aria-hidden=\"true\"").count();
    assert_eq!(pictures + silent, page.matches("<svg").count());
    assert_eq!(
        pictures + silent,
        26 + page.matches("<svg aria-hidden=\"true\"").count()
    );
    assert!(!page.contains("aria-label=\"\""));
    assert_eq!(page.matches("<h1>").count(), 1);
    assert_eq!(
        page.matches("<table>").count(),
        page.matches("<caption>").count()
    );
}

#[test]
fn the_verdict_comes_before_every_figure_and_the_gravest_before_the_verdict() {
    let page = page(&document());
    let at = |needle: &str| page.find(needle).unwrap_or_else(|| panic!("no {needle}"));
    assert!(at("wrote 100,000 log records") < at("1.12x faster"));
    assert!(at("1.12x faster") < at("<table>"));
    assert!(at("1.12x faster") < at("opcache.enable_cli is 0"));
}

#[test]
fn every_trial_is_a_dot_and_a_void_one_is_crossed() {
    let page = page(&document());
    // 25 trials in each of 4 pictures, each drawn for a wide and a narrow screen.
    assert_eq!(
        page.matches("<title>php/memcache, block ").count(),
        5 * 4 * 2
    );
    assert_eq!(
        page.matches(", void: get: the worker counted").count(),
        2 * 2
    );
    assert_eq!(page.matches("class=\"void\"").count(), 2 * 2 * 2);
}

#[test]
fn an_unknown_figure_is_a_dash() {
    let page = page(&bare());
    assert!(page.contains("<td class=\"n dim\">—</td>"));
    assert!(!page.contains(">0 ns<") && !page.contains(">NaN"));
}

/// For looking at: `target/tmp/*.html` and `*.txt`.
#[test]
fn the_reports_are_left_to_be_looked_at() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(directory.join("report.html"), page(&document_of(10))).unwrap();
    std::fs::write(directory.join("bare.html"), page(&bare())).unwrap();
    let options = RenderOptions {
        width: 80,
        color: true,
    };
    let text = format("terminal").unwrap().render(&document(), &options);
    std::fs::write(directory.join("report.txt"), text).unwrap();
}

#[test]
#[ignore = "a timing, for people: cargo test -p roundtrip-report --release -- --ignored --nocapture"]
fn how_long_a_report_takes() {
    let mut document = document_of(5);
    let more = document.trials.clone();
    document.trials.extend(more);
    for shown in roundtrip_report::formats() {
        let start = std::time::Instant::now();
        let bytes = shown.render(&document, &RenderOptions::default());
        let (name, took) = (shown.name(), start.elapsed());
        #[allow(clippy::disallowed_macros)]
        {
            println!("{name}: {} bytes in {took:?}", bytes.len());
        }
    }
}

#[test]
fn what_the_nodes_of_a_cluster_sent_to_one_another_is_told_where_they_did() {
    let mut document = document();
    assert!(!page(&document).contains("redirects of"));
    let trial = &mut document.trials[0];
    trial.phases[0].redirects.moved = 1234;
    trial.phases[0].redirects.asked = 5;
    let page = page(&document);
    assert!(page.contains("redirects of"));
    assert!(page.contains("1,234 because a slot had moved, 5 because it was on the move"));
}
