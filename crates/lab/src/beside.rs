//! What other clients do to the store of a phase at the same time: who they are, what they do, and
//! what the store counts of it. Pure; `phase::beside` runs them.

use crate::reconcile::WitnessNames;
use roundtrip_model::contract::outcome;
use roundtrip_model::record::{BesideRecord, Witness};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Beside, Phase};
use roundtrip_model::{Kind, Op, Path, Problem, Result};
use roundtrip_stores::Quantity;

/// What a store counts of reads.
const READS: [Quantity; 3] = [Quantity::Get, Quantity::Hits, Quantity::Misses];

/// The client as a path to the store of a phase's own.
pub fn client_of(beside: &Beside, phase: &Path) -> Path {
    Path {
        client: beside.client.clone(),
        store: phase.store.clone(),
        cache: None,
        options: beside.options.clone(),
    }
}

/// Its ops: over the keys of the phase, with the values that they have already.
pub fn stream_of(beside: &Beside, phase: &Stream) -> Stream {
    Stream {
        op: beside.op,
        mix: Vec::new(),
        scan_keys: 0,
        keys_per_op: 1,
        add: 0,
        records_before: 0,
        count: beside.count,
        hit_ratio: 1.0,
        part: (0, 1),
        ..phase.clone()
    }
}

/// Refuses a phase whose keys do not keep their values: what goes on beside it would read or write
/// others than are there.
pub fn fits(phase: &Phase) -> Result<()> {
    let keeps = match phase.op {
        Op::Get | Op::GetMany | Op::Join | Op::Scan | Op::Set | Op::Insert | Op::Mix => true,
        Op::ReadModifyWrite => phase.add == 0,
        Op::Delete | Op::Incr | Op::ReadAside | Op::SetSeen => false,
    };
    if keeps {
        return Ok(());
    }
    let what = format!("nothing can go on beside phase `{}`", phase.name);
    Err(Problem::new(Kind::Usage, what).next(
        "leave beside out, or measure an op that leaves each key with its value, such as get, set \
         or join",
    ))
}

/// Why a trial must not be used for what went on beside one of its phases.
pub fn objection(beside: &BesideRecord, phase: &str) -> Option<String> {
    let right = match beside.op {
        Op::Set => outcome::STORED,
        _ => outcome::HIT,
    };
    let done = beside.outcomes.get(right).copied().unwrap_or(0);
    (done != beside.ops).then(|| {
        format!(
            "of {} `{}` beside phase `{phase}` only {done} gave what they had to: {:?}",
            beside.ops, beside.op, beside.outcomes
        )
    })
}

/// What a store counted of the phase alone: less what was done beside it, as far as the same counters
/// tell. Where a join went on they tell nothing of reads, because a join reads rows in a number of
/// its own.
pub fn without(
    beside: &BesideRecord,
    counters: &WitnessNames,
    mut witness: Witness,
    mut names: WitnessNames,
) -> (Witness, WitnessNames) {
    let counted: &[Quantity] = match beside.op {
        Op::Set => &[Quantity::Set],
        Op::Get => &[Quantity::Get, Quantity::Hits],
        _ => {
            names.retain(|quantity, _| !READS.contains(quantity));
            &[]
        }
    };
    for counter in counted.iter().filter_map(|quantity| counters.get(quantity)) {
        if let Some(after) = witness.after.get_mut(counter) {
            *after = after.saturating_sub(beside.ops);
        }
    }
    (witness, names)
}

#[cfg(test)]
mod tests;
