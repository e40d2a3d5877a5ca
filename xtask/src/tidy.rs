//! The arrows of ARCHITECTURE.md against `cargo metadata`, and the sizes of files.

use crate::{Outcome, docs};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Who may know whom. A crate that is not here may not exist.
const ARROWS: [(&str, &[&str]); 11] = [
    ("model", &[]),
    ("wire", &[]),
    ("process", &["model"]),
    ("stats", &["model"]),
    ("archive", &["model"]),
    ("report", &["model", "stats"]),
    ("load", &["model", "wire"]),
    ("stores", &["model", "process", "wire"]),
    ("workers", &["model", "process"]),
    (
        "lab",
        &[
            "model", "process", "stats", "load", "stores", "workers", "archive",
        ],
    ),
    ("roundtrip", &["model", "archive", "report", "lab"]),
];

/// The longest Rust file, tests apart, and the longest file of a client library.
const MAX_RUST_LINES: usize = 450;
const MAX_CLIENT_LINES: usize = 80;
const MAX_ARCHITECTURE_LINES: usize = 200;

/// Everything that is not tidy.
pub fn run(root: &Path) -> Outcome {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .map_err(|e| vec![format!("cargo metadata: {e}")])?;
    let mut complaints = arrows(&metadata);
    complaints.extend(rust_files(root));
    complaints.extend(client_files(root));
    complaints.extend(docs::stale(root));
    let map = root.join("ARCHITECTURE.md");
    if lines(&map) > MAX_ARCHITECTURE_LINES {
        complaints.push(format!(
            "ARCHITECTURE.md: over {MAX_ARCHITECTURE_LINES} lines"
        ));
    }
    if complaints.is_empty() {
        Ok(())
    } else {
        Err(complaints)
    }
}

fn arrows(metadata: &Metadata) -> Vec<String> {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.into_iter().collect();
    let short = |name: &str| name.strip_prefix("roundtrip-").unwrap_or(name).to_owned();
    let mut complaints = Vec::new();
    for package in metadata
        .workspace_packages()
        .iter()
        .filter(|p| p.name.as_str() != "xtask")
    {
        let from = short(&package.name);
        let Some(known) = allowed.get(from.as_str()) else {
            complaints.push(format!(
                "crates/{from}: not in the map of crates (xtask/src/tidy.rs)"
            ));
            continue;
        };
        for dependency in &package.dependencies {
            let is_ours =
                dependency.path.is_some() && dependency.kind != DependencyKind::Development;
            let to = short(&dependency.name);
            if is_ours && !known.contains(&to.as_str()) {
                complaints.push(format!("crates/{from} must not know crates/{to}"));
            }
        }
    }
    complaints
}

fn rust_files(root: &Path) -> Vec<String> {
    files(&root.join("crates"), "rs")
        .into_iter()
        .chain(files(&root.join("xtask"), "rs"))
        .filter(|file| !file.components().any(|part| part.as_os_str() == "tests"))
        .filter(|file| !file.ends_with("tests.rs") && lines(file) > MAX_RUST_LINES)
        .map(|file| {
            format!(
                "{}: over {MAX_RUST_LINES} lines: split it",
                shown(root, &file)
            )
        })
        .collect()
}

/// A second library must cost one small file.
fn client_files(root: &Path) -> Vec<String> {
    let workers = root.join("workers");
    let clients: Vec<PathBuf> = fs::read_dir(&workers)
        .into_iter()
        .flatten()
        .flatten()
        .map(|language| language.path().join("clients"))
        .filter(|clients| clients.is_dir())
        .collect();
    if clients.is_empty() {
        return vec!["workers/: no language has clients".to_owned()];
    }
    clients
        .iter()
        .flat_map(|folder| all_files(folder))
        .filter(|file| lines(file) > MAX_CLIENT_LINES)
        .map(|file| format!("{}: over {MAX_CLIENT_LINES} lines", shown(root, &file)))
        .collect()
}

fn shown(root: &Path, file: &Path) -> String {
    file.strip_prefix(root)
        .unwrap_or(file)
        .display()
        .to_string()
}

fn lines(file: &Path) -> usize {
    fs::read_to_string(file).map_or(usize::MAX, |text| text.lines().count())
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let has = |file: &PathBuf| file.extension().is_some_and(|e| e == extension);
    all_files(folder).into_iter().filter(has).collect()
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}
