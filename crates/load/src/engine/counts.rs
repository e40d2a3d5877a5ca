//! Latencies counted into the buckets of an HDR histogram of 3 significant digits, in a flat array:
//! the same buckets as [`roundtrip_model::Histogram`] has, into which it turns without a loss.

use roundtrip_model::Histogram;

/// Values below 2^11 have a bucket each; then each power of two is cut into 2^10.
const SMALL_BITS: u32 = 11;
const HALF: usize = 1 << (SMALL_BITS - 1);
/// Latencies of 2^44 ns (nearly five hours) and more share the last bucket.
const MAX_BITS: u32 = 44;
const BUCKETS: usize = HALF * (MAX_BITS - SMALL_BITS + 2) as usize;

/// Counts of latencies.
#[derive(Clone, Debug)]
pub(crate) struct Counts(Vec<u64>);

impl Counts {
    pub(crate) fn new() -> Counts {
        Counts(vec![0; BUCKETS])
    }

    /// Adds one latency: two shifts and an increment.
    #[inline]
    pub(crate) fn add(&mut self, latency_ns: u64) {
        let latency_ns = latency_ns.min((1 << MAX_BITS) - 1);
        let shift =
            MAX_BITS.min(64 - (latency_ns | (2 * HALF as u64 - 1)).leading_zeros()) - SMALL_BITS;
        let bucket = shift as usize * HALF + (latency_ns >> shift) as usize;
        // The bucket is within the array whatever the latency is; this is how the compiler sees it.
        if let Some(count) = self.0.get_mut(bucket) {
            *count += 1;
        }
    }

    /// Adds all of another.
    pub(crate) fn merge(&mut self, other: &Counts) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a += b);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// As the histogram that all of Roundtrip knows.
    pub(crate) fn to_histogram(&self) -> Histogram {
        let mut histogram = Histogram::new();
        for (latency_ns, count) in self.pairs() {
            histogram.record_n(latency_ns, count);
        }
        histogram
    }

    /// The mean, to the width of a bucket; 0 when empty.
    pub(crate) fn mean_ns(&self) -> u64 {
        let sum: u128 = self
            .pairs()
            .map(|(latency_ns, count)| u128::from(latency_ns) * u128::from(count))
            .sum();
        (sum / u128::from(self.count().max(1))) as u64
    }

    /// The smallest latency that is not below the share `q` of all, to the width of a bucket.
    pub(crate) fn quantile_ns(&self, q: f64) -> u64 {
        let rank = ((self.count() as f64 * q).ceil() as u64).max(1);
        let mut below = 0;
        self.pairs()
            .find(|(_, count)| {
                below += count;
                below >= rank
            })
            .map_or(0, |(latency_ns, _)| latency_ns)
    }

    /// The least latency of every bucket that holds something, and how many it holds.
    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let least = |bucket: usize| match bucket / HALF {
            0 | 1 => bucket as u64,
            power => ((bucket - (power - 1) * HALF) as u64) << (power - 1),
        };
        self.0
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(move |(bucket, count)| (least(bucket), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(latencies: &[u64]) {
        let mut counts = Counts::new();
        let mut histogram = Histogram::new();
        for latency_ns in latencies {
            counts.add(*latency_ns);
            histogram.record(*latency_ns);
        }
        let ours = counts.to_histogram();
        assert!(ours.buckets().eq(histogram.buckets()));
        assert_eq!(ours.count(), histogram.count());
        assert_eq!((ours.min(), ours.max()), (histogram.min(), histogram.max()));
        assert_eq!(ours.quantile(0.5), histogram.quantile(0.5));
    }

    #[test]
    fn every_edge_of_a_bucket_is_where_the_histogram_has_it() {
        let mut edges = vec![0, 1];
        for bits in 1..MAX_BITS {
            let power = 1_u64 << bits;
            let width = (power >> 10).max(1);
            edges.extend([power - 1, power, power + width - 1, power + width]);
        }
        same(&edges);
        edges.iter().for_each(|edge| same(&[*edge]));
    }

    #[test]
    fn what_is_beyond_all_measure_is_counted_all_the_same() {
        let mut counts = Counts::new();
        counts.add(u64::MAX);
        counts.add(1 << MAX_BITS);
        assert_eq!(counts.count(), 2);
        assert_eq!(counts.0.last(), Some(&2));
    }

    proptest! {
        #[test]
        fn counts_turn_into_the_histogram_without_a_loss(
            latencies in prop::collection::vec((0u32..44, any::<u64>()), 1..300)
        ) {
            let latencies: Vec<u64> = latencies
                .into_iter()
                .map(|(bits, random)| random & ((1 << bits) - 1))
                .collect();
            same(&latencies);
        }

        #[test]
        fn merging_parts_equals_the_whole(
            latencies in prop::collection::vec(0u64..1 << 40, 1..200), n in 1usize..5
        ) {
            let mut whole = Counts::new();
            let mut parts = vec![Counts::new(); n];
            for (i, latency_ns) in latencies.iter().enumerate() {
                whole.add(*latency_ns);
                parts[i % n].add(*latency_ns);
            }
            let mut merged = Counts::new();
            parts.iter().for_each(|part| merged.merge(part));
            prop_assert_eq!(merged.0, whole.0);
        }
    }
}
