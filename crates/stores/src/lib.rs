//! A store's life: find, start on a free loopback port, ready, witness counters, reset, stop. And
//! a look into a server that is there ([`inspect`]).
//!
//! What differs between stores stands in `stores/NAME/store.toml` ([`manifest`]); Rust is needed
//! only for a protocol that no probe speaks yet ([`probe`]). Nothing here measures, prints, or
//! knows of clients, trials or experiments.

mod accounts;
pub mod artifact;
mod attach;
mod certificate;
pub mod inspect;
mod launch;
mod log;
pub mod manifest;
mod options;
mod place;
mod private_file;
mod probe;
mod program;
mod ready;
mod sampler;
pub mod setup;
mod start;
mod store;
mod template;

pub use attach::attach;
pub use manifest::{Manifest, Quantity, find, registry};
pub use options::{StartOptions, Transport};
pub use program::{Installed, doctor};
pub use sampler::Sampler;
pub use start::start;
pub use store::Store;
