//! Rules for stores that are there already and are not ours. What needs a look at a store while it
//! is used (prefix, time to live, cleaning up) is the bench's.

use crate::bench::FOREIGN_PREFIX_BYTES;
use crate::session::Wishes;
use roundtrip_model::stream::MAX_KEY_BYTES;
use roundtrip_model::workload::Generate;
use roundtrip_model::{Experiment, Kind, Problem, Result, Warning, WarningKind};

/// Whether an experiment can be run on the stores that the user named.
pub fn check(experiment: &Experiment, wishes: &Wishes) -> Result<()> {
    in_loop_is_ours(experiment, wishes)?;
    prefixed_keys_fit(experiment, wishes)
}

/// In the loop only the published keys can be made, and a store that is not ours needs a prefix.
fn in_loop_is_ours(experiment: &Experiment, wishes: &Wishes) -> Result<()> {
    let is_in_loop = experiment.workload.generate == Generate::InLoop;
    if wishes.addresses.is_empty() || !is_in_loop {
        return Ok(());
    }
    let what = "in-loop keys carry no prefix, which keys on a store that is not ours must have";
    Err(Problem::new(Kind::Refused, what)
        .next("let Roundtrip start the store itself, or use --generate prepared"))
}

/// Keys on a store that is not ours carry a prefix, and must still be keys with it.
fn prefixed_keys_fit(experiment: &Experiment, wishes: &Wishes) -> Result<()> {
    let longest = MAX_KEY_BYTES - FOREIGN_PREFIX_BYTES;
    let bytes = experiment.workload.keys.bytes;
    if wishes.addresses.is_empty() || bytes <= longest {
        return Ok(());
    }
    let what = format!("keys of {bytes} bytes are too long with the prefix of a store not ours");
    Err(Problem::new(Kind::Usage, what).next(format!("use keys of {longest} bytes or less")))
}

/// What of those stores could mislead.
pub fn warnings(experiment: &Experiment, wishes: &Wishes) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    for (name, address) in &wishes.addresses {
        let store = roundtrip_stores::attach(address, wishes.allow_remote)?;
        if let Some(items) = store.foreign_items().filter(|n| *n > 0) {
            let detail = format!("{name} holds {items} items that are not Roundtrip's");
            warnings.push(Warning::new(WarningKind::OtherKeys, name, detail));
        }
        if !experiment.published.is_empty() {
            let detail = format!("keys on {name} carry a prefix of this run");
            warnings.push(Warning::new(WarningKind::KeyPrefix, name, detail));
        }
    }
    Ok(warnings)
}
