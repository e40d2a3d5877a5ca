//! The chores of the repository.
//!
//! `cargo xtask tidy` checks what no compiler checks: the arrows between crates, the size of
//! files, the size of client files, reference pages that are stale (`cargo xtask docs` makes them).
//! `cargo xtask fuzz` looks for bytes that a parser fails on.
//! `cargo xtask ci` runs everything that must hold before a
//! change lands; `cargo xtask setup` installs what the tests need.

#![allow(clippy::disallowed_macros, clippy::disallowed_methods)]

mod ci;
mod docs;
mod fuzz;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("tidy") => tidy::run(&root()),
        Some("docs") => docs::run(&root()),
        Some("setup") => ci::setup(&root()),
        Some("fuzz") => fuzz::run(&root(), &arguments[1..]),
        Some("ci") => ci::run(&root()),
        _ => Err(vec![
            "usage: cargo xtask tidy | docs | setup | fuzz [--seconds N] | ci".to_owned(),
        ]),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(complaints) => {
            for complaint in &complaints {
                eprintln!("{complaint}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Complaints, one a line; none is well.
pub type Outcome = Result<(), Vec<String>>;
