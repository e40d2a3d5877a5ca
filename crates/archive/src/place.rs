//! Where the archive lives.

use roundtrip_model::{Kind, Problem, Result};
use std::ffi::OsString;
use std::path::PathBuf;

const FILE: &str = "archive.sqlite";

/// The archive of this user: under `ROUNDTRIP_HOME`, else `XDG_DATA_HOME/roundtrip`, else
/// `~/.local/share/roundtrip`.
pub fn default_path() -> Result<PathBuf> {
    let [roundtrip, data, home] = ["ROUNDTRIP_HOME", "XDG_DATA_HOME", "HOME"].map(std::env::var_os);
    path_from(roundtrip, data, home)
}

fn path_from(
    roundtrip: Option<OsString>,
    data: Option<OsString>,
    home: Option<OsString>,
) -> Result<PathBuf> {
    let set = |value: Option<OsString>| value.filter(|v| !v.is_empty()).map(PathBuf::from);
    // The XDG base directory specification: a path that is not absolute is ignored.
    let absolute = |value: Option<OsString>| set(value).filter(|path| path.is_absolute());
    if let Some(directory) = set(roundtrip) {
        return Ok(directory.join(FILE));
    }
    if let Some(data) = absolute(data) {
        return Ok(data.join("roundtrip").join(FILE));
    }
    match absolute(home) {
        Some(home) => Ok(home.join(".local/share/roundtrip").join(FILE)),
        None => Err(Problem::new(
            Kind::Archive,
            "there is no home directory to keep the archive in",
        )
        .next("set ROUNDTRIP_HOME to a directory that can be written")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(roundtrip: &str, data: &str, home: &str) -> Result<PathBuf> {
        let [a, b, c] = [roundtrip, data, home].map(|v| Some(OsString::from(v)));
        path_from(a, b, c)
    }

    #[test]
    fn the_nearest_setting_wins() {
        for (set, expected) in [
            (("/r", "/d", "/h"), "/r/archive.sqlite"),
            (("r", "/d", "/h"), "r/archive.sqlite"),
            (("", "/d", "/h"), "/d/roundtrip/archive.sqlite"),
            (("", "d", "/h"), "/h/.local/share/roundtrip/archive.sqlite"),
        ] {
            assert_eq!(path(set.0, set.1, set.2).unwrap(), PathBuf::from(expected));
        }
    }

    #[test]
    fn without_any_setting_the_next_step_is_said() {
        let problem = path_from(None, None, None).unwrap_err();
        assert!(problem.next_step.unwrap().contains("ROUNDTRIP_HOME"));
    }
}
