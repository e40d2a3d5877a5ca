//! Processes that Roundtrip starts and must not lose: each in a process group of its own, pinned
//! before it runs, killed by the kernel when Roundtrip dies however it dies, and accounted for.
//!
//! Knows nothing of stores, workers or what the processes do.

mod child;
pub mod cpus;
mod dir;
mod net;

pub use child::{Exit, Owned, Settings, cpu_time_ns};
pub use cpus::CpuSet;
pub use dir::PrivateDir;
pub use net::free_port;

/// The uid and gid of `nobody`, which servers run as when Roundtrip runs as root.
pub const NOBODY: u32 = 65534;

/// Whether Roundtrip runs as root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
