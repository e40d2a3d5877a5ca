//! A terminal is never overrun, whatever the names.

use crate::fixture::{document, small};
use proptest::prelude::*;
use roundtrip_report::{Document, RenderOptions, diff, format};
use unicode_width::UnicodeWidthStr;

/// Gives a variant another name everywhere.
fn renamed(mut document: Document, from: &str, to: &str) -> Document {
    let change = |name: &mut String| {
        if name == from {
            *name = to.to_owned();
        }
    };
    document
        .experiment
        .variants
        .iter_mut()
        .for_each(|v| change(&mut v.name));
    document
        .trials
        .iter_mut()
        .for_each(|t| change(&mut t.variant));
    document
        .analysis
        .summaries
        .iter_mut()
        .for_each(|s| change(&mut s.variant));
    for comparison in &mut document.analysis.comparisons {
        change(&mut comparison.variant);
        change(&mut comparison.baseline);
    }
    document
        .analysis
        .published
        .iter_mut()
        .for_each(|p| change(&mut p.variant));
    change(&mut document.experiment.baseline);
    document
}

fn too_wide(text: &[u8], width: usize) -> Vec<String> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    text.lines()
        .filter(|line| line.width() > width)
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_width_is_kept() {
    let document = document();
    for width in 40..=160 {
        let options = RenderOptions {
            width,
            color: false,
        };
        let text = format("terminal").unwrap().render(&document, &options);
        assert_eq!(
            too_wide(&text, width),
            Vec::<String>::new(),
            "width {width}"
        );
        let text = diff(&document, &document, &options);
        assert_eq!(
            too_wide(&text, width),
            Vec::<String>::new(),
            "width {width}"
        );
    }
}

#[test]
fn colour_changes_no_column() {
    let render = |color| {
        let options = RenderOptions { width: 80, color };
        String::from_utf8(format("terminal").unwrap().render(&document(), &options)).unwrap()
    };
    let mut plain = String::new();
    let mut escapes = false;
    for c in render(true).chars() {
        match c {
            '\x1b' => escapes = true,
            'm' if escapes => escapes = false,
            c if !escapes => plain.push(c),
            _ => {}
        }
    }
    // Names lose their backticks where they have a colour, so only the tables are the same.
    let tables = |text: &str| {
        text.lines()
            .filter(|l| l.contains(" k/s"))
            .map(|l| l.trim_end().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(!render(false).contains('\x1b'));
    assert!(tables(&plain).len() >= 20);
    assert_eq!(tables(&plain), tables(&render(false)));
    assert!(plain.lines().all(|line| line.width() <= 80));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_line_is_wider_than_the_terminal(
        name in "[\\PC]{1,120}|[a-z/@?=&_-]{60,200}|[漢字🦀]{30,60}",
        title in "\\PC{0,300}",
        width in 40usize..140,
    ) {
        let mut document = renamed(small(), "php/memcache", &name);
        document.experiment.title = title;
        document.experiment.question = name.clone();
        document.run.environment.settings.insert(name.clone(), name.clone());
        document.trials[0].phases[0].outcomes.insert(format!("error:{name}"), 3);
        document.trials[0].validity = roundtrip_model::record::Validity::Void(name);
        let options = RenderOptions { width, color: false };
        let text = format("terminal").unwrap().render(&document, &options);
        prop_assert_eq!(too_wide(&text, width), Vec::<String>::new());
    }
}
