//! `roundtrip doctor`: what is installed, and the one command for what is not.

use super::common;
use crate::args::{FormatArgs, TextOrJson};
use crate::output;
use roundtrip_lab::doctor::{self, Part};
use roundtrip_model::Result;
use std::fmt::Write;

pub fn run(args: &FormatArgs) -> Result<()> {
    let exe = common::self_exe()?;
    let stores = doctor::stores(&exe);
    let clients = doctor::clients(exe)?;
    if args.format == TextOrJson::Json {
        return output::json(&serde_json::json!({ "stores": stores, "clients": clients }));
    }
    let mut text = String::new();
    section(&mut text, "Stores", &stores);
    section(&mut text, "Clients", &clients);
    output::write(text.as_bytes())
}

fn section(text: &mut String, title: &str, parts: &[Part]) {
    let _ = writeln!(text, "{title}");
    let width = parts.iter().map(|part| part.name.len()).max().unwrap_or(0);
    for part in parts {
        let mark = if part.ready { "ok     " } else { "missing" };
        let version = part.version.as_deref().unwrap_or("-");
        let _ = writeln!(text, "  {mark}  {:width$}  {version}", part.name);
        if let Some(missing) = &part.missing {
            let _ = writeln!(text, "           {:width$}  get it with: {missing}", "");
        }
    }
    text.push('\n');
}

/// The details of parts, for `list`.
pub fn details(parts: &[Part], format: TextOrJson) -> Result<()> {
    if format == TextOrJson::Json {
        return output::json(&parts);
    }
    let item = |part: &Part| {
        let state = match (&part.missing, &part.version) {
            (Some(missing), _) => format!("not there; get it with: {missing}"),
            (None, version) => version.clone().unwrap_or_default(),
        };
        (format!("{}  {state}", part.name), part.details.clone())
    };
    let items: Vec<_> = parts.iter().map(item).collect();
    output::write(&roundtrip_report::named(&items, &output::look()))
}
