//! From a store's own counters to what they mean: fsyncs, log bytes, rows. Pure.

use crate::reconcile::WitnessNames;
use roundtrip_model::Term;
use roundtrip_model::record::Witness;
use roundtrip_stores::Quantity;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};
use std::collections::BTreeMap;

/// How much each term grew that the store's manifest names a counter for.
pub fn of(witness: &Witness, names: &WitnessNames) -> BTreeMap<Term, u64> {
    named(witness, |term| names.get(&quantity(term)?))
}

fn named<'n>(
    witness: &Witness,
    counter: impl Fn(Term) -> Option<&'n String>,
) -> BTreeMap<Term, u64> {
    let grew = |term| witness.grew(counter(term)?);
    let terms = Term::ALL.into_iter();
    terms.filter_map(|term| Some((term, grew(term)?))).collect()
}

/// The word that a manifest has for a term.
fn quantity(term: Term) -> Option<Quantity> {
    let word: StrDeserializer<'_, Error> = term.name().into_deserializer();
    Quantity::deserialize(word).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_translated_by_the_names_of_the_manifest() {
        let counters = |pairs: &[(&str, u64)]| {
            let pairs = pairs.iter().map(|(name, n)| ((*name).to_owned(), *n));
            pairs.collect::<BTreeMap<_, _>>()
        };
        let witness = Witness {
            before: counters(&[("os_log_fsyncs", 100), ("rows_added", 7), ("fell", 9)]),
            after: counters(&[("os_log_fsyncs", 105), ("rows_added", 7), ("fell", 8)]),
        };
        let names = [
            (Term::Fsyncs, "os_log_fsyncs".to_owned()),
            (Term::RowsInserted, "rows_added".to_owned()),
            (Term::RowsDeleted, "fell".to_owned()),
            (Term::RowsRead, "lost".to_owned()),
        ];
        let names = BTreeMap::from(names);
        let found = named(&witness, |term| names.get(&term));
        assert_eq!(
            found,
            BTreeMap::from([(Term::Fsyncs, 5), (Term::RowsInserted, 0)]),
            "a count of 0 is known; one that fell or was lost is not"
        );
    }

    #[test]
    fn a_store_that_counts_no_terms_has_none() {
        let mut witness = Witness::default();
        let mut names = WitnessNames::new();
        names.insert(Quantity::Items, "keys".to_owned());
        witness.before.insert("keys".to_owned(), 1);
        witness.after.insert("keys".to_owned(), 9);
        assert_eq!(of(&witness, &names), BTreeMap::new());
    }
}
