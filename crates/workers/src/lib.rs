//! The host side of the worker contract (`workers/CONTRACT.md`): finding a language's worker,
//! starting it, the conversation with its deadlines, and the two files that carry operations in
//! and latencies out.
//!
//! Knows nothing of stores, trials or statistics, and judges no result: what a worker says is
//! checked for form here, and against the server's own counters by `lab`.

mod assets;
mod conversation;
mod host;
mod language;
mod latencies;
mod lines;
mod path;
mod stream_file;
mod worker;

pub use host::{Host, WORKERS_VARIABLE};
pub use language::Language;
pub use latencies::{Latencies, read_latencies};
pub use path::HOST_OPTIONS;
pub use stream_file::{StreamFile, write_stream};
pub use worker::Worker;
