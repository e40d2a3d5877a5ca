//! The file that carries the latencies of a phase back.

use roundtrip_model::{Histogram, Kind, Problem, Result};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 16;
const NUMBER_BYTES: u64 = 8;

/// Latencies of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// All of them.
    pub histogram: Histogram,
    /// Time taken by consecutive equal parts of the operations, in order.
    pub slices_ns: Vec<u64>,
}

/// Reads a file of `count` latencies, and sums them in `slices` parts (fewer when there are fewer
/// operations). The memory it takes does not grow with the count.
pub fn read_latencies(path: &Path, count: u64, slices: usize) -> Result<Latencies> {
    let bad = |what: String| {
        Problem::new(Kind::Failed, what)
            .at(path.display().to_string())
            .next("the worker broke its contract: see workers/CONTRACT.md, \"The latencies file\"")
    };
    let cannot = |e: io::Error| bad(format!("the latencies cannot be read: {e}"));
    let file = File::open(path).map_err(cannot)?;
    let bytes = file.metadata().map_err(cannot)?.len();
    if Some(bytes) != count.checked_mul(NUMBER_BYTES) {
        return Err(bad(format!(
            "{count} latencies were due, and the file has {bytes} bytes in the place of {}",
            count.saturating_mul(NUMBER_BYTES)
        )));
    }
    sum(BufReader::with_capacity(BUFFER_BYTES, file), count, slices).map_err(cannot)
}

fn sum(mut file: impl Read, count: u64, slices: usize) -> io::Result<Latencies> {
    let slices = (slices as u64).min(count);
    let mut latencies = Latencies {
        histogram: Histogram::new(),
        slices_ns: Vec::with_capacity(slices as usize),
    };
    let mut number = [0; NUMBER_BYTES as usize];
    let mut at = 0;
    for slice in 0..slices {
        // Parts differ by one operation at most.
        let end = (u128::from(count) * u128::from(slice + 1) / u128::from(slices)) as u64;
        let mut total_ns = 0_u64;
        while at < end {
            file.read_exact(&mut number)?;
            let latency_ns = u64::from_le_bytes(number);
            latencies.histogram.record(latency_ns);
            total_ns = total_ns.saturating_add(latency_ns);
            at += 1;
        }
        latencies.slices_ns.push(total_ns);
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(numbers: &[u64], count: u64, slices: usize) -> Result<Latencies> {
        let file = tempfile::NamedTempFile::new().unwrap();
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        std::fs::write(file.path(), bytes).unwrap();
        read_latencies(file.path(), count, slices)
    }

    #[test]
    fn slices_sum_consecutive_operations() {
        let latencies = read(&[1, 2, 3, 4, 5, 6, 7], 7, 3).unwrap();
        assert_eq!(latencies.slices_ns, [1 + 2, 3 + 4, 5 + 6 + 7]);
        assert_eq!(latencies.histogram.count(), 7);
        assert_eq!(latencies.histogram.max(), Some(7));
        assert_eq!(read(&[5, 6], 2, 30).unwrap().slices_ns, [5, 6]);
        assert_eq!(read(&[], 0, 30).unwrap().slices_ns, [0_u64; 0]);
    }

    #[test]
    fn a_short_a_long_and_a_missing_file_are_problems() {
        let short = read(&[1, 2], 3, 1).unwrap_err();
        assert_eq!(
            short.what,
            "3 latencies were due, and the file has 16 bytes in the place of 24"
        );
        assert!(read(&[1, 2], 1, 1).is_err());
        assert!(read(&[1, 2], u64::MAX, 1).is_err());
        assert!(read_latencies(Path::new("/nowhere"), 1, 1).is_err());
    }

    proptest! {
        #[test]
        fn slices_are_equal_parts_of_the_whole(
            numbers in prop::collection::vec(0u64..1_000_000_000_000, 1..500),
            slices in 1usize..40,
        ) {
            let latencies = read(&numbers, numbers.len() as u64, slices).unwrap();
            prop_assert_eq!(latencies.slices_ns.len(), slices.min(numbers.len()));
            prop_assert_eq!(latencies.slices_ns.iter().sum::<u64>(), numbers.iter().sum::<u64>());
            prop_assert_eq!(latencies.histogram.count(), numbers.len() as u64);
        }

        #[test]
        fn any_number_is_taken_without_a_panic(numbers in prop::collection::vec(any::<u64>(), 1..50)) {
            prop_assert!(read(&numbers, numbers.len() as u64, 3).is_ok());
        }
    }
}
