//! Does what the client claims agree with what the server counted? Pure: figures in, reasons out.
//! METHOD.md, point 4; DESIGN.md, "Witnesses".

use roundtrip_model::Op;
use roundtrip_model::contract::outcome;
use roundtrip_model::record::{Counters, PhaseRecord, Witness};
use roundtrip_stores::Quantity;
use std::collections::BTreeMap;

/// What bears witness to what: the store's own name of each quantity.
pub type WitnessNames = BTreeMap<Quantity, String>;

/// What a phase must have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Keys of all operations, by op.
    pub ops: BTreeMap<Op, u64>,
    /// Keys written that were not there, where that is known.
    pub new_keys: Option<u64>,
    /// The fewest batches that the ops can have gone in, where each batch is a transaction.
    pub transactions: Option<u64>,
}

impl Expected {
    fn total(&self) -> u64 {
        self.ops.values().sum()
    }

    fn of(&self, op: Op) -> u64 {
        self.ops.get(&op).copied().unwrap_or(0)
    }
}

/// The witness of one store, with its name and the names of its counters.
pub struct Account<'a> {
    /// The store's name.
    pub store: &'a str,
    /// What it counted.
    pub witness: &'a Witness,
    /// What its counters are called.
    pub names: &'a WitnessNames,
}

/// Why a phase must not be used; `None` where every count agrees.
pub fn objection(
    phase: &PhaseRecord,
    expected: &Expected,
    store: &Account<'_>,
    cache: Option<&Account<'_>>,
) -> Option<String> {
    let said = claims(phase, expected).or_else(|| transactions(expected, store));
    said.or_else(|| match (phase.op, cache) {
        (Op::ReadAside, Some(cache)) => {
            let claims = &phase.cache_outcomes;
            let claimed = |name: &str| claims.get(name).copied().unwrap_or(0);
            contradiction(cache, Quantity::Get, expected.total())
                .or_else(|| contradiction(cache, Quantity::Hits, claimed(outcome::HIT)))
                .or_else(|| contradiction(cache, Quantity::Set, claimed(outcome::STORED)))
                .or_else(|| contradiction(store, Quantity::Get, claimed(outcome::MISS)))
        }
        _ => contradictions(phase, expected, store),
    })
}

/// What the client itself says that rules the phase out.
fn claims(phase: &PhaseRecord, expected: &Expected) -> Option<String> {
    let wrong = phase.outcome(outcome::WRONG);
    if wrong > 0 {
        return Some(format!(
            "{wrong} reads of phase `{}` gave a wrong value",
            phase.name
        ));
    }
    if let Some((kind, count)) = phase.errors().next() {
        return Some(format!(
            "{count} operations of phase `{}` failed: {kind}",
            phase.name
        ));
    }
    let total: u64 = phase.outcomes.values().sum();
    (total != expected.total()).then(|| {
        let name = &phase.name;
        format!(
            "the client accounts for {total} of the {} keys of phase `{name}`",
            expected.total()
        )
    })
}

fn contradictions(phase: &PhaseRecord, expected: &Expected, store: &Account<'_>) -> Option<String> {
    let not_found = phase.outcome(outcome::NOT_FOUND);
    let done = phase.outcome(outcome::DONE);
    match phase.op {
        Op::Delete if store.names.contains_key(&Quantity::Deletes) => {
            contradiction(store, Quantity::Deletes, done + not_found).or_else(|| gone(store, done))
        }
        Op::Delete => contradiction(store, Quantity::DeleteHits, done)
            .or_else(|| contradiction(store, Quantity::DeleteMisses, not_found)),
        Op::Incr => contradiction(store, Quantity::IncrHits, done)
            .or_else(|| contradiction(store, Quantity::IncrMisses, not_found)),
        _ => reads(phase, expected, store).or_else(|| writes(phase, expected, store)),
    }
}

/// A store that counts only what it was asked to remove holds so many keys fewer.
fn gone(account: &Account<'_>, claimed: u64) -> Option<String> {
    let counter = account.names.get(&Quantity::Items)?;
    let held = |counters: &Counters| counters.get(counter).copied();
    let (before, after) = (held(&account.witness.before), held(&account.witness.after));
    let gone = before.zip(after).and_then(|(b, a)| b.checked_sub(a));
    (gone != Some(claimed)).then(|| {
        let gone = gone.map_or("an unknown number".to_owned(), |gone| gone.to_string());
        format!(
            "{} has {gone} of its `{counter}` fewer, the client claims to have removed {claimed}",
            account.store
        )
    })
}

/// A client that was to put its batches into transactions has done so.
fn transactions(expected: &Expected, account: &Account<'_>) -> Option<String> {
    let least = expected.transactions?;
    let counter = account.names.get(&Quantity::Transactions)?;
    let counted = account.witness.grew(counter).unwrap_or(0);
    (counted < least).then(|| {
        format!(
            "{} counted {counted} `{counter}`, and the ops need {least} transactions at least",
            account.store
        )
    })
}

/// How many of `read_modify_write` found their key, and so wrote it. In a mix no other op is ever
/// `not_found`.
fn modified(phase: &PhaseRecord, expected: &Expected) -> u64 {
    let asked = expected.of(Op::ReadModifyWrite);
    asked.saturating_sub(phase.outcome(outcome::NOT_FOUND))
}

fn reads(phase: &PhaseRecord, expected: &Expected, store: &Account<'_>) -> Option<String> {
    let plain = expected.of(Op::Get) + expected.of(Op::GetMany) + expected.of(Op::ReadAside);
    let asked = plain + expected.of(Op::ReadModifyWrite);
    // What a scan counts as is each store's own affair.
    if asked == 0 || expected.of(Op::Scan) > 0 {
        return None;
    }
    if phase.op == Op::GetMany && store.names.contains_key(&Quantity::ManyReads) {
        let calls = asked.div_ceil(u64::from(phase.keys_per_op.max(1)));
        return contradiction(store, Quantity::ManyReads, calls);
    }
    let found = phase.outcome(outcome::HIT) + modified(phase, expected);
    contradiction(store, Quantity::Get, asked)
        .or_else(|| contradiction(store, Quantity::Hits, found))
}

fn writes(phase: &PhaseRecord, expected: &Expected, store: &Account<'_>) -> Option<String> {
    let plain = expected.of(Op::Set) + expected.of(Op::Insert) + expected.of(Op::SetSeen);
    let written = plain + modified(phase, expected);
    if written == 0 {
        return None;
    }
    contradiction(store, Quantity::Set, written)
        .or_else(|| contradiction(store, Quantity::Items, expected.new_keys?))
}

/// The sentence, where the store has such a counter and it did not grow by what was claimed.
fn contradiction(account: &Account<'_>, quantity: Quantity, claimed: u64) -> Option<String> {
    let counter = account.names.get(&quantity)?;
    let counted = match account.witness.grew(counter) {
        Some(counted) => counted,
        None => {
            return Some(format!(
                "{} gave no count of `{counter}` to check against",
                account.store
            ));
        }
    };
    (counted != claimed).then(|| {
        format!(
            "{} counted {counted} `{counter}`, the client claims {claimed}",
            account.store
        )
    })
}

#[cfg(test)]
mod tests;
