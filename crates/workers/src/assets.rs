//! The workers that are embedded in the binary, so that an installed Roundtrip needs no checkout.

use roundtrip_model::{Kind, Problem, Result};
use rust_embed::RustEmbed;
use std::fs;
use std::path::Path;

#[derive(RustEmbed)]
#[folder = "../../workers/"]
struct Embedded;

/// Writes all of them into a directory.
pub(crate) fn unpack(into: &Path) -> Result<()> {
    for name in Embedded::iter() {
        let path = into.join(name.as_ref());
        let Some(file) = Embedded::get(&name) else {
            continue;
        };
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, &file.data))
            .map_err(|e| {
                Problem::new(Kind::Failed, format!("the workers cannot be unpacked: {e}"))
                    .at(path.display().to_string())
                    .next("free some space, or point TMPDIR at another directory")
            })?;
    }
    Ok(())
}
