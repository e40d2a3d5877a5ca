//! What of an acknowledged write a store keeps when it dies, as its options set it.

use super::Manifest;
use roundtrip_model::fault::Keeps;
use roundtrip_model::path::Options;
use serde::Deserialize;
use std::collections::BTreeMap;

/// `[[durability]]`: where a write is by the time that it is acknowledged. Of several that hold for
/// the options of a path, the last one counts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Durability {
    /// The options for which it holds; always where there are none.
    #[serde(default)]
    pub when: BTreeMap<String, String>,
    /// `nothing` (in the server's memory alone), `soon` (written down within about a second),
    /// `kernel_unless_busy` (the same as `kernel`, but in memory alone while a flush is under way),
    /// `kernel` (it outlives the process), or `disk`.
    pub keeps: Keeps,
}

impl Manifest {
    /// Where a write is by the time that it is acknowledged; `None` where the manifest does not say.
    pub fn keeps(&self, options: &Options) -> Option<Keeps> {
        let holds = |durability: &&Durability| {
            let mut when = durability.when.iter();
            when.all(|(name, value)| options.get(name) == Some(value))
        };
        self.durability.iter().rev().find(holds).map(|d| d.keeps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::find;

    fn keeps(store: &str, options: &[(&str, &str)]) -> Option<Keeps> {
        let options = options.iter();
        let options = options.map(|(k, v)| (k.to_string(), v.to_string()));
        find(store).unwrap().keeps(&options.collect())
    }

    #[test]
    fn what_is_kept_follows_from_the_options() {
        assert_eq!(keeps("memcached", &[]), Some(Keeps::Nothing));
        assert_eq!(keeps("redis", &[]), Some(Keeps::Nothing));
        assert_eq!(
            keeps("redis", &[("appendonly", "no")]),
            Some(Keeps::Nothing)
        );
        let log = ("appendonly", "yes");
        // Its own default is `everysec`.
        assert_eq!(keeps("redis", &[log]), Some(Keeps::KernelUnlessBusy));
        for (policy, kept) in [
            ("always", Keeps::Disk),
            ("everysec", Keeps::KernelUnlessBusy),
            ("no", Keeps::Kernel),
        ] {
            let policy = ("appendfsync", policy);
            assert_eq!(keeps("redis", &[log, policy]), Some(kept));
            // Without a log there is nothing to flush.
            assert_eq!(keeps("redis", &[policy]), Some(Keeps::Nothing));
        }
    }

    #[test]
    fn a_table_keeps_what_its_log_has() {
        for store in ["mysql", "mariadb"] {
            assert_eq!(keeps(store, &[]), Some(Keeps::Disk));
            for (flush, kept) in [("1", Keeps::Disk), ("2", Keeps::Kernel), ("0", Keeps::Soon)] {
                assert_eq!(keeps(store, &[("flush", flush)]), Some(kept));
            }
        }
    }

    #[test]
    fn options_of_a_durability_are_those_of_the_server() {
        for manifest in crate::registry() {
            for (name, value) in manifest.durability.iter().flat_map(|d| &d.when) {
                let known = manifest.option(name, value).is_some();
                assert!(known, "{}: {name}", manifest.name);
            }
        }
    }
}
