//! Every screen of text, as it is.

use crate::calibration::calibration;
use crate::fixture::{bare, document, paced, small};
use roundtrip_report::{Document, RenderOptions, format, formats};

fn render(name: &str, document: &Document, width: usize) -> String {
    let options = RenderOptions {
        width,
        color: false,
    };
    let bytes = format(name).unwrap().render(document, &options);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn terminal_of_80_columns() {
    insta::assert_snapshot!(render("terminal", &document(), 80));
}

#[test]
fn terminal_of_120_columns() {
    insta::assert_snapshot!(render("terminal", &document(), 120));
}

#[test]
fn terminal_of_a_run_of_which_little_is_known() {
    insta::assert_snapshot!(render("terminal", &bare(), 80));
}

/// The first chapter of figures: what only a run at a rate has.
#[test]
fn terminal_of_a_run_at_a_rate() {
    let text = render("terminal", &paced(), 80);
    let from = text.find("set, shared (").unwrap();
    let to = text[from..].find("Where a round trip goes").unwrap();
    insta::assert_snapshot!(&text[from..from + to]);
}

#[test]
fn calibrations() {
    for format in ["terminal", "markdown", "json"] {
        let options = RenderOptions::default();
        let bytes = roundtrip_report::calibration(&calibration(), format, &options).unwrap();
        insta::assert_snapshot!(
            format!("calibration_{format}"),
            String::from_utf8(bytes).unwrap()
        );
    }
    let problem = roundtrip_report::calibration_format("jsn").unwrap_err();
    assert!(
        problem
            .next_step
            .unwrap()
            .starts_with("did you mean `json`?")
    );
}

#[test]
fn a_calibration_that_found_little_is_shown() {
    let options = RenderOptions::default();
    let bytes = roundtrip_report::calibration(&Default::default(), "terminal", &options).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("Too few trials") && text.contains("Nothing that was looked at"));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(render("markdown", &document(), 80));
}

#[test]
fn csv() {
    insta::assert_snapshot!(render("csv", &small(), 80));
}

#[test]
fn json() {
    insta::assert_snapshot!(render("json", &small(), 80));
}

#[test]
fn a_format_is_found_by_its_name_or_its_ending() {
    for shown in formats() {
        assert_eq!(format(shown.name()).unwrap().name(), shown.name());
        assert_eq!(format(shown.extension()).unwrap().name(), shown.name());
    }
    let problem = format("htm").err().unwrap();
    assert!(
        problem
            .next_step
            .unwrap()
            .starts_with("did you mean `html`?")
    );
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    for shown in formats() {
        let options = RenderOptions::default();
        let (a, b) = (
            shown.render(&document(), &options),
            shown.render(&document(), &options),
        );
        assert_eq!(a, b, "{}", shown.name());
    }
}
