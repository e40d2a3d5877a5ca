//! The clients, stores and options that there are: one table, for telling and for checking.

use super::WorkerError;
use crate::driver::{LinkOptions, Synchronous};
use roundtrip_model::names::unknown;
use roundtrip_model::path::Options;

/// The clients.
pub(super) const CLIENTS: [&str; 2] = ["native", "nothing"];
/// The stores that each of them reaches.
pub(super) const STORES: [&str; 3] = ["memcached", "floor", "sqlite"];
/// The options of `native` and what each may be; nothing for anything.
pub(super) const OPTIONS: [(&str, &[&str]); 4] = [
    ("depth", &[]),
    ("transport", &["tcp", "unix"]),
    ("tcp_nodelay", &["true", "false"]),
    ("synchronous", &["full", "normal", "off"]),
];

/// Options that were checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    pub(super) link: LinkOptions,
    pub(super) synchronous: Synchronous,
}

/// Checks that a name is one of those that there are.
pub(super) fn known(noun: &str, typed: &str, names: &[&str]) -> Result<(), WorkerError> {
    if names.contains(&typed) {
        return Ok(());
    }
    Err(unknown(noun, typed, names.iter().copied()).into())
}

/// Checks every option. `depth` and `transport` are the host's to act on: the one comes with each
/// phase, the other decides the endpoint.
pub(super) fn check(options: &Options) -> Result<Checked, WorkerError> {
    for (name, value) in options {
        known("option", name, &OPTIONS.map(|(name, _)| name))?;
        let allowed = OPTIONS.iter().find(|(known, _)| known == name);
        let allowed = allowed.map_or(&[][..], |(_, allowed)| allowed);
        if !allowed.is_empty() {
            known(&format!("value of {name}"), value, allowed)?;
        }
    }
    let of = |name: &str| options.get(name).map(String::as_str);
    Ok(Checked {
        link: LinkOptions {
            tcp_nodelay: of("tcp_nodelay") != Some("false"),
        },
        synchronous: of("synchronous")
            .and_then(|text| text.parse().ok())
            .unwrap_or(Synchronous::Full),
    })
}
