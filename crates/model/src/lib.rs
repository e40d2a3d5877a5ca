//! The nouns of Roundtrip as types. No IO, no clock: everything here is a value, a parser of
//! text that was already read, or a pure function of its arguments.
//!
//! Three families are kept apart on purpose, so that none becomes another's file format: what a
//! person writes ([`experiment`], [`path`]), what a worker and the host say to each other
//! ([`contract`]), and what is kept of a run ([`record`], [`analysis`]).

pub mod analysis;
pub mod calibration;
pub mod contract;
pub mod curve;
pub mod experiment;
pub mod fault;
pub mod fidelity;
pub mod histogram;
pub mod machine;
pub mod metric;
pub mod names;
pub mod parts;
pub mod path;
pub mod problem;
pub mod projection;
pub mod record;
pub mod secret;
pub mod stream;
pub mod term;
mod usual;
pub mod warning;
pub mod workload;

pub use experiment::Experiment;
pub use histogram::Histogram;
pub use metric::Metric;
pub use names::{Op, Placement};
pub use path::Path;
pub use problem::{Kind, Problem, Result};
pub use secret::Secret;
pub use term::Term;
pub use warning::{Warning, WarningKind};
