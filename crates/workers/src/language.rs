//! A language: a folder with a worker and its `worker.toml`.

use roundtrip_model::{Kind, Problem, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that makes a folder a language.
const MANIFEST: &str = "worker.toml";

/// How the worker of a language is started.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// The program: a name on the PATH, or a path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// The one command that installs the program.
    pub install: String,
}

impl Language {
    fn read(folder: &Path, workers: &Path, self_exe: &Path) -> Result<Language> {
        let path = folder.join(MANIFEST);
        let bad = |what: String| {
            Problem::new(Kind::Usage, what)
                .at(path.display().to_string())
                .next("write `program`, `args` and `install`, as workers/CONTRACT.md says")
        };
        let text = fs::read_to_string(&path).map_err(|e| bad(format!("it cannot be read: {e}")))?;
        let mut language: Language =
            toml::from_str(&text).map_err(|e| bad(e.to_string().trim_end().to_owned()))?;
        let places = [
            ("{dir}", folder),
            ("{workers}", workers),
            ("{self}", self_exe),
        ];
        for text in [&mut language.program]
            .into_iter()
            .chain(&mut language.args)
        {
            for (place, path) in places {
                *text = text.replace(place, &path.display().to_string());
            }
        }
        Ok(language)
    }
}

/// The languages in a folder of folders, by name. Folders without the file, such as `vectors`,
/// are none.
pub(crate) fn find(
    folder: &Path,
    workers: &Path,
    self_exe: &Path,
) -> Result<BTreeMap<String, Language>> {
    let unreadable = |e| {
        Problem::new(
            Kind::Usage,
            format!("the folder of workers cannot be read: {e}"),
        )
        .at(folder.display().to_string())
        .next("point ROUNDTRIP_WORKERS at a folder with a folder for each language")
    };
    let mut languages = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path: PathBuf = entry.map_err(unreadable)?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && path.join(MANIFEST).is_file()
        {
            languages.insert(name.to_owned(), Language::read(&path, workers, self_exe)?);
        }
    }
    Ok(languages)
}
