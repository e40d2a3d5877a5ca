//! `roundtrip fidelity`: what becomes of values of every type.

use super::common;
use crate::args::{FidelityArgs, TextOrJson};
use crate::{output, signals};
use roundtrip_lab::bench::BenchOptions;
use roundtrip_lab::{doctor, fidelity};
use roundtrip_model::{Path, Result};

pub fn run(args: &FidelityArgs) -> Result<()> {
    let (addresses, names) = common::addresses(std::slice::from_ref(&args.store));
    let self_exe = common::self_exe()?;
    let stop = signals::stop_flag()?;
    let mut paths = Vec::new();
    for text in &args.paths {
        let path = Path::parse(text, names.first().map(String::as_str))?;
        paths.extend(with_every_serializer(path, &self_exe)?);
    }
    let table = fidelity::table(
        &paths,
        &BenchOptions {
            self_exe,
            addresses: &addresses,
            allow_remote: args.allow_remote,
            deadline: None,
            stop: &stop,
        },
    )?;
    match args.format {
        TextOrJson::Json => output::json(&table),
        TextOrJson::Terminal => output::write(&roundtrip_report::fidelity(&table, &output::look())),
    }
}

/// A path with options is taken as it is; one without gets a column for each serializer.
fn with_every_serializer(path: Path, self_exe: &std::path::Path) -> Result<Vec<Path>> {
    let serializers = match path.options.is_empty() {
        true => doctor::serializers(&path, self_exe)?,
        false => Vec::new(),
    };
    if serializers.is_empty() {
        return Ok(vec![path]);
    }
    let with = |serializer: String| {
        let mut path = path.clone();
        path.options.insert("serializer".to_owned(), serializer);
        path
    };
    Ok(serializers.into_iter().map(with).collect())
}
