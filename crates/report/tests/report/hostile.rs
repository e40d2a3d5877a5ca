//! Text from outside stays text, in every format.

use crate::fixture::document;
use roundtrip_model::{Experiment, Warning, WarningKind};
use roundtrip_report::{Document, RenderOptions, format, formats};

const EVIL: &str = "<script>alert(1)</script>\"'&`|*_\x1b[2J\u{202e},\r\n=1";

/// Everything that a person or a server may have written.
fn hostile() -> Document {
    let mut document = document();
    document.experiment.title = EVIL.to_owned();
    document.experiment.question = EVIL.to_owned();
    document.experiment.source = Some(EVIL.to_owned());
    document.run.id = EVIL.to_owned();
    document.run.command = EVIL.to_owned();
    document.run.environment.os = EVIL.to_owned();
    document.run.environment.roundtrip = EVIL.to_owned();
    document
        .run
        .environment
        .versions
        .insert(EVIL.to_owned(), EVIL.to_owned());
    document
        .run
        .warnings
        .push(Warning::new(WarningKind::Swap, EVIL, EVIL));
    let name = |name: &mut String| *name = format!("{name}{EVIL}");
    document
        .experiment
        .variants
        .iter_mut()
        .for_each(|v| name(&mut v.name));
    name(&mut document.experiment.baseline);
    for trial in &mut document.trials {
        name(&mut trial.variant);
        trial.validity = roundtrip_model::record::Validity::Void(EVIL.to_owned());
        for phase in &mut trial.phases {
            name(&mut phase.name);
            phase.outcomes.insert(format!("error:{EVIL}"), 1);
        }
    }
    for comparison in &mut document.analysis.comparisons {
        name(&mut comparison.variant);
        name(&mut comparison.baseline);
        name(&mut comparison.phase);
    }
    for summary in &mut document.analysis.summaries {
        name(&mut summary.variant);
        name(&mut summary.phase);
    }
    document
        .analysis
        .published
        .iter_mut()
        .for_each(|row| name(&mut row.variant));
    document
}

fn render(name: &str) -> String {
    let bytes = format(name)
        .unwrap()
        .render(&hostile(), &RenderOptions::default());
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_page_runs_no_script() {
    let page = render("html");
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    // No attribute ends early: every quote within text is an entity.
    assert!(!page.contains("alert(1)</script>\""));
}

#[test]
fn markdown_holds_no_tag_and_no_stray_cell() {
    let text = render("markdown");
    // The command stands between fences, where a tag is text.
    let outside: String = text.split("```").step_by(2).collect();
    assert!(!outside.contains("<script"));
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let tables = text.split("\n\n").filter(|part| part.starts_with('|'));
    for table in tables {
        let rows: Vec<_> = table
            .lines()
            .filter(|l| l.starts_with('|'))
            .map(cells)
            .collect();
        assert!(rows.iter().all(|n| *n == rows[0]), "{table}");
    }
}

#[test]
fn a_terminal_is_not_commanded() {
    for name in ["terminal", "markdown", "html"] {
        let text = render(name);
        assert!(
            !text.contains('\x1b') && !text.contains('\u{202e}'),
            "{name}"
        );
    }
}

#[test]
fn a_row_of_csv_stays_a_row() {
    let text = render("csv");
    let mut quoted = false;
    let mut fields = vec![1];
    for c in text.trim_end().chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => *fields.last_mut().unwrap() += 1,
            '\n' if !quoted => fields.push(1),
            _ => {}
        }
    }
    assert_eq!(fields.len(), 1 + 100);
    assert!(fields.iter().all(|n| *n == fields[0]), "{fields:?}");
}

#[test]
fn no_format_panics_on_an_empty_run() {
    let mut document = document();
    document.trials.clear();
    document.analysis = Default::default();
    document.experiment = Experiment::parse(
        "name = \"x\"\n[[phase]]\nop = \"get\"\ncount = 1\n[[variant]]\nclient = \"native\"\nstore = \"floor\"\n",
        "x",
    )
    .unwrap();
    for shown in formats() {
        assert!(
            !shown
                .render(&document, &RenderOptions::default())
                .is_empty()
        );
    }
}

#[test]
fn odd_figures_do_no_harm() {
    for odd in [
        f64::NAN,
        f64::INFINITY,
        -1.0,
        0.0,
        f64::MIN_POSITIVE,
        f64::MAX,
    ] {
        let mut document = document();
        for comparison in &mut document.analysis.comparisons {
            comparison.interval.ratio = odd;
            comparison.interval.ci_low = odd;
            comparison.interval.ci_high = odd;
            comparison.control = Some(comparison.interval);
            comparison.p = Some(odd);
            comparison.detectable = Some(odd);
        }
        for summary in &mut document.analysis.summaries {
            summary.median = odd;
        }
        document.experiment.delta = odd;
        for shown in formats() {
            let bytes = shown.render(&document, &RenderOptions::default());
            let text = String::from_utf8(bytes).unwrap();
            assert!(
                !text.contains("NaN") && !text.contains("inf\""),
                "{} of {odd}",
                shown.name()
            );
        }
    }
}
