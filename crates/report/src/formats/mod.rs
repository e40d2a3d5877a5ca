//! The formats, and the one list of them.

mod csv;
mod html;
pub mod json;
pub mod markdown;
pub mod terminal;

use crate::{Document, RenderOptions};
use roundtrip_model::Result;
use roundtrip_model::names::unknown;

/// A way of writing a report.
pub trait Format: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// What a file of it ends with, without the dot.
    fn extension(&self) -> &'static str;
    /// The whole report. The same document gives the same bytes.
    fn render(&self, document: &Document, options: &RenderOptions) -> Vec<u8>;
}

/// Every format. A new one is a file and a line here.
pub fn formats() -> &'static [&'static dyn Format] {
    &[
        &terminal::Terminal,
        &markdown::Markdown,
        &html::Html,
        &json::Json,
        &csv::Csv,
    ]
}

/// The format of a name, or of what its files end with.
pub fn format(name: &str) -> Result<&'static dyn Format> {
    formats()
        .iter()
        .copied()
        .find(|format| format.name() == name || format.extension() == name)
        .ok_or_else(|| unknown("format", name, formats().iter().map(|format| format.name())))
}
