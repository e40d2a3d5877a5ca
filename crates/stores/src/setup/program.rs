//! Whether what was unpacked starts here, and what it misses when it does not.

use super::Plan;
use crate::program::{extract, output};
use roundtrip_model::{Kind, Problem, Result};

/// What the loader says of a library that is not there: `NAME: cannot open shared object file`.
const MISSING: &str = ": cannot open shared object file";

/// The version that the program says; a problem with the command that mends it when it does not
/// start.
pub fn version(plan: &Plan<'_>) -> Result<String> {
    let path = plan.folder.join(&plan.artifact.program);
    let said = output(&path, &plan.artifact.version_args).unwrap_or_default();
    extract(&said, &plan.artifact.version).ok_or_else(|| explain(plan, &said))
}

fn explain(plan: &Plan<'_>, said: &str) -> Problem {
    let name = &plan.manifest.name;
    let place = plan.folder.join(&plan.artifact.program);
    let place = place.display().to_string();
    let needs = format!("`{}`", plan.artifact.install_packages());
    match missing_library(said) {
        Some(library) => {
            let what = format!("{name} is unpacked, and this system has no {library}");
            Problem::new(Kind::Missing, what)
                .at(place)
                .next(format!("install what it needs with {needs}"))
        }
        None => {
            let what = format!("{name} is unpacked and does not start");
            let step = format!(
                "{needs} installs what it needs; `roundtrip setup {name} --again` unpacks it anew"
            );
            Problem::new(Kind::Failed, what)
                .at(place)
                .next(step)
                .with_log(said.chars().take(2000).collect::<String>())
        }
    }
}

fn missing_library(said: &str) -> Option<&str> {
    let before = &said[..said.find(MISSING)?];
    before
        .rsplit([' ', '\n'])
        .next()
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_named() {
        let said = "bin/mysqld: error while loading shared libraries: libaio.so.1: cannot open \
                    shared object file: No such file or directory\n";
        assert_eq!(missing_library(said), Some("libaio.so.1"));
        assert_eq!(missing_library("Segmentation fault"), None);
    }
}
