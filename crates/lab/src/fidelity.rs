//! The fidelity table: what became of values of every type, written by one process of a client
//! and read by others.

use crate::bench::{Bench, BenchOptions, client_path};
use crate::engine::unless_stopped;
use crate::placement::Cpus;
use crate::verify;
use roundtrip_model::contract::{Check, CheckMode, CheckRow, Open};
use roundtrip_model::fidelity::{FidelityColumn, FidelityTable};
use roundtrip_model::record::Environment;
use roundtrip_model::{Experiment, Kind, Path, Placement, Problem, Result};
use roundtrip_process::Settings;
use roundtrip_stores::Store;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path as FilePath;

/// Every type through every path.
pub fn table(paths: &[Path], options: &BenchOptions<'_>) -> Result<FidelityTable> {
    // The bench wants an experiment; this one is never run.
    let text = "name = \"fidelity\"\n[[phase]]\nop = \"set\"\ncount = 1\n\
                [[variant]]\nclient = \"native\"\nstore = \"floor\"\n";
    let experiment = Experiment::parse(text, "fidelity")?;
    let mut bench = Bench::new(&experiment, 0, options)?;
    let mut written = Vec::new();
    let mut columns = Vec::new();
    for path in paths {
        let mut environment = Environment::default();
        let exe: &FilePath = &options.self_exe;
        verify::verify_path(
            path,
            &BTreeSet::new(),
            &bench.host,
            exe,
            options.addresses,
            &mut environment,
        )?;
        let mut store = bench.start(&path.store, path, &Cpus::of(Placement::Free))?;
        let column = column(&bench, path, &mut store, &mut written);
        store.stop()?;
        columns.push(FidelityColumn {
            version: environment.versions.remove(&path.client),
            ..column?
        });
    }
    Ok(FidelityTable { written, columns })
}

fn column(
    bench: &Bench<'_>,
    path: &Path,
    store: &mut Store,
    written: &mut Vec<CheckRow>,
) -> Result<FidelityColumn> {
    unless_stopped(bench.stop)?;
    let checked = checks(bench, path, store);
    // What was written on a store that is not ours goes, however the checks went.
    let cleaned = match store.is_attached() {
        true => clean_up(bench, path, store),
        false => Ok(()),
    };
    let (wrote, rows, without) = checked?;
    cleaned?;
    let differ = without
        .into_iter()
        .zip(&rows)
        .filter(|(a, b)| a != *b)
        .map(|(a, _)| a)
        .collect();
    if written.is_empty() {
        *written = wrote;
    }
    Ok(FidelityColumn {
        path: path.to_string(),
        version: None,
        rows,
        without_classes: differ,
    })
}

/// What was written, what came back, and what came back without the classes.
type Rows = (Vec<CheckRow>, Vec<CheckRow>, Vec<CheckRow>);

fn checks(bench: &Bench<'_>, path: &Path, store: &Store) -> Result<Rows> {
    let wrote = check(bench, path, store, CheckMode::Write, true)?;
    let rows = check(bench, path, store, CheckMode::Read, true)?;
    let without = check(bench, path, store, CheckMode::Read, false)?;
    if rows.len() != wrote.len() || without.len() != wrote.len() {
        let (wrote, read) = (wrote.len(), rows.len());
        let what = format!("`{}` wrote {wrote} vectors and read {read}", path.client);
        return Err(Problem::new(Kind::Failed, what));
    }
    Ok((wrote, rows, without))
}

/// Removes the vectors' keys, by their names in the vectors' file.
fn clean_up(bench: &Bench<'_>, path: &Path, store: &mut Store) -> Result<()> {
    let unreadable = |e: String| {
        Problem::new(
            Kind::Internal,
            format!("the fidelity vectors cannot be read: {e}"),
        )
    };
    let text = std::fs::read(bench.host.vectors()).map_err(|e| unreadable(e.to_string()))?;
    let vectors: Vec<Value> =
        serde_json::from_slice(&text).map_err(|e| unreadable(e.to_string()))?;
    let prefix = bench.prefix(path);
    let names = vectors.iter().filter_map(|vector| vector["name"].as_str());
    let keys = names.map(|name| format!("{prefix}{name}").into_bytes());
    store.delete_keys(keys).map(|_| ())
}

/// One half of a check, in a process of its own.
fn check(
    bench: &Bench<'_>,
    path: &Path,
    store: &Store,
    mode: CheckMode,
    classes: bool,
) -> Result<Vec<CheckRow>> {
    let mut worker = bench.host.spawn(path.language(), &Settings::default())?;
    worker.open(Open {
        nodes: store.nodes(),
        doors: store.doors(),
        login: store.login(),
        options: client_path(path).options,
        ..Open::to(path.library(), &path.store, store.endpoint())
    })?;
    let rows = worker.check(Check {
        mode,
        vectors: bench.host.vectors().to_string_lossy().into_owned(),
        prefix: bench.prefix(path).to_owned(),
        classes,
    })?;
    worker.close()?;
    Ok(rows)
}
