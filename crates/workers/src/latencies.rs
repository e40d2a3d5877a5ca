//! The file that carries the latencies of a phase back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roundtrip_model::contract::{LatencyForm, LatencyHistograms};
use roundtrip_model::{Histogram, Kind, Problem, Result};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 16;
const NUMBER_BYTES: u64 = 8;
/// The longest text of histograms: two of the widest have less than half of it.
const MAX_TEXT_BYTES: u64 = 4 << 20;
/// The most parts that a worker cuts the time of a phase into.
const MAX_SLICES: usize = 1000;

/// Latencies of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies {
    /// All of them, from the sending of each op to its reply.
    pub histogram: Histogram,
    /// From the moment at which each op was to start, where a pace was set.
    pub response: Option<Histogram>,
    /// Time taken by consecutive equal parts of the operations, in order.
    pub slices_ns: Vec<u64>,
}

/// Reads the file of `count` latencies that a worker wrote in one form or the other. Numbers are
/// summed in `slices` parts (fewer when there are fewer operations). The memory it takes does not
/// grow with the count.
pub fn read_latencies(
    path: &Path,
    form: LatencyForm,
    count: u64,
    slices: usize,
) -> Result<Latencies> {
    let bad = |what: String| {
        Problem::new(Kind::Failed, what)
            .at(path.display().to_string())
            .next("the worker broke its contract: see workers/CONTRACT.md, \"The latencies file\"")
    };
    let cannot = |e: io::Error| bad(format!("the latencies cannot be read: {e}"));
    let file = File::open(path).map_err(cannot)?;
    let bytes = file.metadata().map_err(cannot)?.len();
    if form == LatencyForm::Histograms {
        let text = io::read_to_string(file.take(MAX_TEXT_BYTES)).map_err(cannot)?;
        return read_histograms(&text, count).map_err(bad);
    }
    if Some(bytes) != count.checked_mul(NUMBER_BYTES) {
        return Err(bad(format!(
            "{count} latencies were due, and the file has {bytes} bytes in the place of {}",
            count.saturating_mul(NUMBER_BYTES)
        )));
    }
    sum(BufReader::with_capacity(BUFFER_BYTES, file), count, slices).map_err(cannot)
}

/// Says what is wrong with a text of histograms that is not one of `count` latencies.
fn read_histograms(text: &str, count: u64) -> std::result::Result<Latencies, String> {
    let told: LatencyHistograms =
        serde_json::from_str(text).map_err(|e| format!("the histograms cannot be read: {e}"))?;
    let read = |text: &str| {
        let bytes = STANDARD
            .decode(text)
            .map_err(|e| format!("a histogram is not base64: {e}"))?;
        let histogram = Histogram::from_bytes(&bytes).map_err(|problem| problem.what)?;
        match histogram.count() == count {
            true => Ok(histogram),
            false => Err(format!(
                "{count} latencies were due, and a histogram has {}",
                histogram.count()
            )),
        }
    };
    if told.slices_ns.len() > MAX_SLICES {
        return Err(format!("there are {} slices", told.slices_ns.len()));
    }
    Ok(Latencies {
        histogram: read(&told.service)?,
        response: told.response.as_deref().map(read).transpose()?,
        slices_ns: told.slices_ns,
    })
}

fn sum(mut file: impl Read, count: u64, slices: usize) -> io::Result<Latencies> {
    let slices = (slices as u64).min(count);
    let mut latencies = Latencies {
        histogram: Histogram::new(),
        response: None,
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
        read_latencies(file.path(), LatencyForm::Raw, count, slices)
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
        assert!(read_latencies(Path::new("/nowhere"), LatencyForm::Raw, 1, 1).is_err());
    }

    fn told(text: &str, count: u64) -> Result<Latencies> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_latencies(file.path(), LatencyForm::Histograms, count, 30)
    }

    #[test]
    fn histograms_are_read_as_they_were_counted() {
        let mut service = Histogram::new();
        service.record_n(1_000_000, 2);
        service.record(77);
        let text = |response: Option<&Histogram>| {
            serde_json::to_string(&LatencyHistograms {
                service: STANDARD.encode(service.to_bytes()),
                response: response.map(|histogram| STANDARD.encode(histogram.to_bytes())),
                slices_ns: vec![5, 6],
            })
            .unwrap()
        };
        let latencies = told(&text(None), 3).unwrap();
        assert_eq!(latencies.histogram, service);
        assert_eq!(
            (latencies.response, latencies.slices_ns),
            (None, vec![5, 6])
        );
        let both = told(&text(Some(&service)), 3).unwrap();
        assert_eq!(both.response, Some(service.clone()));
        let wrong = told(&text(None), 4).unwrap_err();
        assert_eq!(wrong.what, "4 latencies were due, and a histogram has 3");
        assert!(told(&text(Some(&Histogram::new())), 3).is_err());
        for bad in ["", "{}", &text(None).replace('=', "?"), &text(None)[..40]] {
            assert!(told(bad, 3).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn histograms_that_are_none_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let text = format!(r#"{{"service":"{}","slices_ns":[]}}"#, STANDARD.encode(bytes));
            let _ = told(&text, 1);
        }

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
