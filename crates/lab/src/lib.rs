//! Plan, start stores, verify, warm up, run blocks of trials, reconcile, archive.
//!
//! The lab runs things and keeps records. What the records mean is `stats`' affair, and how they
//! look is `report`'s; the lab neither prints nor exits.

pub mod bench;
mod beside;
mod beside_floor;
pub mod calibrate;
mod carrying;
pub mod catalog;
mod clock;
pub mod compare;
pub mod doctor;
mod door;
pub mod engine;
mod environment;
pub mod faults;
pub mod fidelity;
mod foreign;
mod kernel;
mod lock;
mod loop_cost;
mod named_files;
pub mod overrides;
mod pace;
mod phase;
mod placement;
pub mod plan;
mod reconcile;
pub mod session;
mod steps;
mod terms;
mod trial;
mod verify;
mod watch;

pub use roundtrip_load as load;
pub use roundtrip_stats as stats;
pub use roundtrip_stores as stores;

use roundtrip_model::{Kind, Problem, Result};

/// A number that nobody can guess.
pub fn random() -> Result<u64> {
    getrandom::u64().map_err(|e| {
        Problem::new(
            Kind::Internal,
            format!("the system gives no random numbers: {e}"),
        )
    })
}
