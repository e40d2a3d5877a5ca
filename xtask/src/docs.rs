//! Reference pages that are made from the code, so that they cannot drift from it: `docs` writes
//! them, `tidy` checks that they are as written.

use crate::Outcome;
use roundtrip_model::{Kind, Metric, Op, Placement};
use std::fmt::Write;
use std::fs;
use std::path::Path;

const EXPERIMENT_SOURCE: &str = "crates/model/src/experiment/text.rs";

/// The pages: where each stands, and what it must say.
pub fn pages(root: &Path) -> Vec<(&'static str, String)> {
    let source = fs::read_to_string(root.join(EXPERIMENT_SOURCE)).unwrap_or_default();
    vec![
        ("docs/reference/experiment.md", experiment(&source)),
        ("docs/reference/exit-codes.md", exit_codes()),
        ("docs/reference/metrics.md", metrics()),
    ]
}

/// Writes the pages.
pub fn run(root: &Path) -> Outcome {
    for (page, text) in pages(root) {
        fs::write(root.join(page), text).map_err(|e| vec![format!("{page}: {e}")])?;
    }
    Ok(())
}

/// Pages that are not as the code says.
pub fn stale(root: &Path) -> Vec<String> {
    pages(root)
        .into_iter()
        .filter(|(page, text)| fs::read_to_string(root.join(page)).ok().as_ref() != Some(text))
        .map(|(page, _)| format!("{page}: not as the code says: run `cargo xtask docs`"))
        .collect()
}

fn exit_codes() -> String {
    let mut text = "# Exit codes\n\n| code | meaning |\n|---|---|\n| 0 | Done. |\n".to_owned();
    for kind in Kind::ALL {
        let _ = writeln!(text, "| {} | {} |", kind.exit_code(), kind.meaning());
    }
    text
}

fn metrics() -> String {
    let mut text = "# Metrics\n\nOne number of one phase of one trial; a report shows the median over trials. \
        An experiment names those that it compares in `metrics`.\n\n| name | unit | what it is |\n|---|---|---|\n"
        .to_owned();
    for metric in Metric::ALL {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            metric.name(),
            metric.unit(),
            metric.in_words()
        );
    }
    text
}

/// One table a structure of the experiment's text, out of its doc comments.
fn experiment(source: &str) -> String {
    let mut text = "# The experiment file\n\nAn experiment is a TOML file. An unknown key is an error, answered with \
        the nearest known one. `experiments/` holds those that are built in.\n"
        .to_owned();
    let mut comment = String::new();
    for line in source.lines().map(str::trim) {
        if let Some(said) = line.strip_prefix("///") {
            comment = format!("{comment} {}", said.trim()).trim().to_owned();
        } else if line.starts_with("pub struct") {
            let title = comment.trim_end_matches('.');
            let _ = writeln!(text, "\n## {title}\n\n| key | meaning |\n|---|---|");
            comment.clear();
        } else if let Some((key, _)) = line.strip_prefix("pub ").and_then(|l| l.split_once(':')) {
            let _ = writeln!(text, "| `{key}` | {comment} |");
            comment.clear();
        } else if !line.starts_with("#[") {
            comment.clear();
        }
    }
    let names = |names: Vec<&str>| names.join("`, `");
    let ops = names(Op::ALL.iter().map(|op| op.name()).collect());
    let placements = names(Placement::ALL.iter().map(|p| p.name()).collect());
    let _ = writeln!(
        text,
        "\nOps: `{ops}`. Placements: `{placements}`. Metrics: see [metrics](metrics.md)."
    );
    text
}
