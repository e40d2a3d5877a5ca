//! Histogram blobs: what they would take in memory, and what they hold.

use roundtrip_model::Histogram;

pub use roundtrip_model::histogram::memory_bytes;

/// Decodes a blob that was found good.
pub fn decode(blob: &[u8]) -> Result<Histogram, String> {
    Histogram::from_bytes(blob).map_err(|problem| problem.what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram(values: &[u64]) -> Histogram {
        let mut h = Histogram::new();
        values.iter().for_each(|v| h.record(*v));
        h
    }

    proptest! {
        #[test]
        fn what_we_write_is_good_and_comes_back(values in prop::collection::vec(0u64..=u64::MAX / 4, 0..100)) {
            let h = histogram(&values);
            let memory = memory_bytes(&h.to_bytes()).unwrap();
            prop_assert!(memory <= 500_000);
            let mut back = decode(&h.to_bytes()).unwrap();
            prop_assert_eq!(&back, &h);
            back.record(u64::MAX / 2);
            prop_assert_eq!(back.count(), h.count() + 1);
        }

        #[test]
        fn a_damaged_blob_does_no_harm(values in prop::collection::vec(0u64..10_000_000, 1..50), at in 0usize..400, bits in 1u8..) {
            let mut blob = histogram(&values).to_bytes();
            let at = at % blob.len();
            blob[at] ^= bits;
            if memory_bytes(&blob).is_ok() && let Ok(h) = decode(&blob) {
                let _ = h.quantile(0.5);
            }
        }
    }
}
