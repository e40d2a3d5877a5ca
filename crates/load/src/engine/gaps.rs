//! Times without a connection. A server that is away for long loses connections without number;
//! only the longest are listed, and all are counted.

use roundtrip_model::contract::{Gap, GapTotals};
use std::cmp::Reverse;

/// The most that are listed, of all threads together: a result is a line of at most 1 MiB, of
/// which each takes about a hundred bytes.
const MOST: usize = 2_000;

/// The longest gaps, and how many there were in all.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    listed: Vec<Gap>,
    all: GapTotals,
}

impl Gaps {
    pub(crate) fn push(&mut self, gap: Gap) {
        self.all.count += 1;
        self.all.lasted_ns = self.all.lasted_ns.saturating_add(gap.lasted_ns);
        self.listed.push(gap);
        if self.listed.len() >= 2 * MOST {
            self.keep_longest();
        }
    }

    /// Adds those of another thread.
    pub(crate) fn merge(&mut self, mut other: Gaps) {
        self.listed.append(&mut other.listed);
        self.all.count += other.all.count;
        self.all.lasted_ns = self.all.lasted_ns.saturating_add(other.all.lasted_ns);
        self.keep_longest();
    }

    /// How many there were in all.
    pub(crate) fn totals(&self) -> GapTotals {
        self.all
    }

    /// The longest, the longest first.
    pub(crate) fn into_listed(mut self) -> Vec<Gap> {
        self.keep_longest();
        self.listed
    }

    fn keep_longest(&mut self) {
        let order = |gap: &Gap| (Reverse(gap.lasted_ns), gap.at_ns, gap.connection);
        self.listed.sort_unstable_by_key(order);
        self.listed.truncate(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(connection: u32, lasted_ns: u64) -> Gap {
        Gap {
            connection,
            at_ns: 1 << 40,
            lasted_ns,
            attempts: u32::MAX,
        }
    }

    #[test]
    fn the_longest_are_listed_and_all_are_counted() {
        let mut whole = Gaps::default();
        for thread in 0..256 {
            let mut gaps = Gaps::default();
            (0..100).for_each(|i| gaps.push(gap(thread, 100 * u64::from(thread) + i)));
            whole.merge(gaps);
        }
        let totals = whole.totals();
        assert_eq!(totals.count, 25_600);
        assert_eq!(totals.lasted_ns, (0..25_600).sum::<u64>());
        let listed = whole.into_listed();
        let lengths: Vec<u64> = listed.iter().map(|gap| gap.lasted_ns).collect();
        let expected: Vec<u64> = (25_600 - MOST as u64..25_600).rev().collect();
        assert_eq!(lengths, expected);
        assert!(serde_json::to_string(&listed).unwrap().len() < 1 << 19);
    }

    #[test]
    fn memory_is_bounded_while_they_come() {
        let mut gaps = Gaps::default();
        (0..100_000).for_each(|i| gaps.push(gap(0, i % 77)));
        assert!(gaps.listed.len() < 2 * MOST);
        assert_eq!(gaps.totals().count, 100_000);
        assert!(gaps.into_listed().iter().all(|gap| gap.lasted_ns >= 75));
    }
}
