//! Latency histograms: HDR, 3 significant digits, in nanoseconds, mergeable.

mod blob;

pub use blob::memory_bytes;

use crate::problem::{Kind, Problem, Result};
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// How many samples must lie above a quantile for it to be shown. METHOD.md, "Latency": p99
/// wants 1,000 samples and p99.9 wants 10,000, so ten must lie above.
pub const SAMPLES_ABOVE: f64 = 10.0;

/// Latencies of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram(hdrhistogram::Histogram<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram; it grows with what it is given.
    #[allow(clippy::missing_panics_doc)]
    pub fn new() -> Self {
        // 3 is within the 0 to 5 that the library takes, so this cannot fail.
        #[allow(clippy::unwrap_used)]
        Histogram(hdrhistogram::Histogram::new(3).unwrap())
    }

    /// Adds one latency.
    pub fn record(&mut self, latency_ns: u64) {
        // It grows with what it is given, and then cannot refuse. (Its saturating form does not
        // grow: it takes everything for the largest value that it has seen room for.)
        let _ = self.0.record(latency_ns);
    }

    /// Adds the same latency `count` times.
    pub fn record_n(&mut self, latency_ns: u64, count: u64) {
        let _ = self.0.record_n(latency_ns, count);
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Histogram) {
        // Both resize, so adding cannot fail for want of range.
        let _ = self.0.add(&other.0);
    }

    /// How many latencies it holds.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The quantile in nanoseconds, or `None` where too few samples lie above it.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let above = self.count() as f64 * (1.0 - q);
        // 1e-6: (1 - 0.99) * 1000 is a hair under 10 in binary.
        (above + 1e-6 >= SAMPLES_ABOVE).then(|| self.0.value_at_quantile(q))
    }

    /// The smallest latency, `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.min())
    }

    /// The largest latency, `None` when empty.
    pub fn max(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.max())
    }

    /// `(latency_ns, count)` of every bucket that holds something, in order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0
            .iter_recorded()
            .map(|b| (b.value_iterated_to(), b.count_at_value()))
    }

    /// The V2 bytes of the HDR format, which other tools read too.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to a Vec cannot fail, and the counts fit.
        let _ = V2Serializer::new().serialize(&self.0, &mut bytes);
        bytes
    }

    /// Reads what [`Histogram::to_bytes`] wrote, and nothing that only claims to be that.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Histogram> {
        memory_bytes(bytes).map_err(|why| {
            let what = format!("a latency histogram cannot be read: {why}");
            Problem::new(Kind::Archive, what)
        })?;
        let mut read = Deserializer::new().deserialize(&mut bytes).map_err(|e| {
            let what = format!("a latency histogram cannot be read: {e:?}");
            Problem::new(Kind::Archive, what)
        })?;
        // What was read would keep its range; merged with a wider one it would lose counts.
        read.auto(true);
        Ok(Histogram(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_latency_beyond_all_before_is_not_taken_for_a_smaller_one() {
        let mut h = Histogram::new();
        for latency_ns in [10_000, 20_000, 5_000_000] {
            h.record(latency_ns);
        }
        assert_eq!(h.max().map(|ns| ns / 10_000), Some(500));
        assert_eq!(h.min().map(|ns| ns / 1000), Some(10));
    }

    #[test]
    fn a_histogram_that_was_read_grows_when_a_wider_one_is_merged_into_it() {
        let (mut narrow, mut wide) = (Histogram::new(), Histogram::new());
        narrow.record(1000);
        wide.record(10_000_000_000);
        let mut read = Histogram::from_bytes(&narrow.to_bytes()).unwrap();
        read.merge(&wide);
        assert_eq!(read.count(), 2);
        assert_eq!(read.max(), wide.max());
    }

    #[test]
    fn bytes_that_claim_more_than_they_hold_are_refused_before_anything_is_taken() {
        let mut h = Histogram::new();
        h.record(1000);
        let good = h.to_bytes();
        for (at, byte) in [(4, 0xff), (12, 5), (3, 0x14)] {
            let mut bad = good.clone();
            bad[at] = byte;
            if at == 12 {
                bad[12..16].copy_from_slice(&5_u32.to_be_bytes());
            }
            assert!(Histogram::from_bytes(&bad).is_err(), "{at}");
        }
        assert_eq!(Histogram::from_bytes(&good).unwrap(), h);
    }

    #[test]
    fn a_quantile_is_shown_only_with_ten_samples_above_it() {
        let mut h = Histogram::new();
        (0..999).for_each(|_| h.record(1000));
        assert_eq!(h.quantile(0.99), None);
        h.record(1000);
        assert_eq!(h.quantile(0.99), Some(1000));
        assert_eq!(h.quantile(0.999), None);
    }

    proptest! {
        #[test]
        fn bytes_round_trip(values in prop::collection::vec(0u64..10_000_000_000, 0..200)) {
            let mut h = Histogram::new();
            values.iter().for_each(|v| h.record(*v));
            prop_assert_eq!(Histogram::from_bytes(&h.to_bytes()).unwrap(), h);
        }

        #[test]
        fn merging_parts_equals_the_whole(values in prop::collection::vec(0u64..10_000_000, 1..300), n in 1usize..8) {
            let mut whole = Histogram::new();
            let mut parts = vec![Histogram::new(); n];
            for (i, v) in values.iter().enumerate() {
                whole.record(*v);
                parts[i % n].record(*v);
            }
            let mut merged = Histogram::new();
            parts.iter().for_each(|p| merged.merge(p));
            prop_assert_eq!(merged.buckets().collect::<Vec<_>>(), whole.buckets().collect::<Vec<_>>());
        }

        #[test]
        fn garbage_is_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Histogram::from_bytes(&bytes);
        }
    }
}
