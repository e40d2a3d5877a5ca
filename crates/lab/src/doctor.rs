//! What is installed, what is missing, and the one command that gets it.

use roundtrip_model::Result;
use roundtrip_model::contract::ClientInfo;
use roundtrip_process::PrivateDir;
use roundtrip_workers::Host;
use serde::Serialize;
use std::path::PathBuf;

/// One part and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it is for, or what it is called in full.
    pub title: String,
    /// Whether it can be used now.
    pub ready: bool,
    /// Its version, where it is there.
    pub version: Option<String>,
    /// Why it cannot be used, and what to do.
    pub missing: Option<String>,
    /// Details for `list`: ops, options, protocol.
    pub details: Vec<String>,
}

/// Every store.
pub fn stores(self_exe: &std::path::Path) -> Vec<Part> {
    roundtrip_stores::registry()
        .iter()
        .map(|manifest| {
            let installed = roundtrip_stores::doctor(manifest, self_exe);
            Part {
                name: manifest.name.clone(),
                title: manifest.title.clone(),
                ready: installed.is_available(),
                missing: installed.install,
                version: installed.version,
                details: manifest
                    .settings
                    .fixed
                    .iter()
                    .map(|(k, v)| format!("{k}: {v}"))
                    .collect(),
            }
        })
        .collect()
}

/// Every client of every language.
pub fn clients(self_exe: PathBuf) -> Result<Vec<Part>> {
    let dir = PrivateDir::new()?;
    let host = Host::new(self_exe, &dir)?;
    let mut parts = Vec::new();
    for (language, _) in host.languages() {
        match host.describe(language) {
            Ok(described) => parts.extend(
                described
                    .clients
                    .iter()
                    .filter(|client| client.name != "nothing")
                    .map(|client| part(&host, language, &described.runtime, client)),
            ),
            Err(problem) => parts.push(Part {
                name: language.to_owned(),
                title: format!("the {language} runtime"),
                ready: false,
                version: None,
                missing: Some(problem.next_step.unwrap_or(problem.what)),
                details: Vec::new(),
            }),
        }
    }
    Ok(parts)
}

fn part(host: &Host, language: &str, runtime: &str, client: &ClientInfo) -> Part {
    let name = match client.name == language {
        true => language.to_owned(),
        false => format!("{language}/{}", client.name),
    };
    // The host knows which part of the reason is the command.
    let missing = host
        .client(&name)
        .err()
        .and_then(|problem| problem.next_step);
    let ops: Vec<&str> = client.ops.iter().map(|op| op.name()).collect();
    let mut details = vec![
        format!("stores: {}", client.stores.join(", ")),
        format!("ops: {}", ops.join(", ")),
    ];
    if !client.one_at_a_time.is_empty() {
        let stores = client.one_at_a_time.join(", ");
        details.push(format!("one op at a time: {stores}"));
    }
    details.extend(
        client
            .options
            .iter()
            .map(|(option, values)| match values.is_empty() {
                true => format!("option {option}"),
                false => format!("option {option}: {}", values.join(" | ")),
            }),
    );
    Part {
        name,
        title: runtime.to_owned(),
        ready: client.available,
        version: client.version.clone(),
        missing,
        details,
    }
}

/// The serializers that a client has; empty where it has one only.
pub fn serializers(
    path: &roundtrip_model::Path,
    self_exe: &std::path::Path,
) -> Result<Vec<String>> {
    let dir = PrivateDir::new()?;
    let host = Host::new(self_exe.to_owned(), &dir)?;
    let client = host.client(&path.client)?;
    Ok(client
        .options
        .get("serializer")
        .cloned()
        .unwrap_or_default())
}
