//! The archive of runs: one SQLite file, in WAL mode, with ordered migrations.
//!
//! A trial is written whole, in one transaction, when it ends, so that a crash loses at most the
//! trial under way. Records are kept as JSON beside the few columns that are searched; each has a
//! checksum, because a measuring tool must not show a figure that a bad disk made up. Archives
//! come from outside too (`import`, a copied file), so everything read has a limit and is checked.
//!
//! It never computes and never renders: records go in, the same records come out.

mod blob;
mod id;
mod limits;
mod open;
mod place;
mod runs;
mod schema;
mod transfer;
mod trials;
mod trouble;

pub use id::new_run_id;
pub use open::Archive;
pub use place::default_path;
pub use transfer::Imported;

#[cfg(test)]
mod tests;
