//! Where what `roundtrip setup` brings lies: in the cache of this user, each in a folder of its own.

use crate::manifest::{Artifact, Life, Manifest, Program};
use std::env::var_os;
use std::path::{Path, PathBuf};

/// The file that says that everything is unpacked. A folder without it counts as not there.
pub const MARKER: &str = "COMPLETE";

/// Where Roundtrip keeps what is costly to have and may be thrown away: `$ROUNDTRIP_CACHE`, or
/// `$XDG_CACHE_HOME/roundtrip`, or `~/.cache/roundtrip`.
pub fn cache() -> PathBuf {
    let named = |name| {
        var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    named("ROUNDTRIP_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|dir| dir.join("roundtrip")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/roundtrip")))
        .unwrap_or_else(|| std::env::temp_dir().join("roundtrip-cache"))
}

/// What a store brings, where it does.
pub fn of(manifest: &Manifest) -> Option<&Artifact> {
    match &manifest.life {
        Life::Process(process) => match &process.program {
            Program::Artifact(artifact) => Some(artifact),
            _ => None,
        },
        Life::Embedded(_) => None,
    }
}

/// The folder of a store's artifact, there or not: `NAME-VERSION` in the cache.
pub fn folder(manifest: &Manifest) -> PathBuf {
    let release = of(manifest).map_or("none", Artifact::release);
    cache().join(format!("{}-{release}", manifest.name))
}

/// Whether a folder holds all of an artifact.
pub fn is_complete(folder: &Path) -> bool {
    folder.join(MARKER).is_file()
}
