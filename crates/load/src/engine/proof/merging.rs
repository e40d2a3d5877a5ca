//! Merging: what several threads counted is what one would have counted, through the file that
//! carries it to the host.

use super::*;

/// 3 of 10 requests take longer, each by another number of nanoseconds.
fn varied(number: u64) -> u64 {
    100 * US + (number % 10 / 7) * number * 31
}

#[test]
fn the_records_of_several_threads_are_the_record_of_one() {
    let load = load(60_000, 1, 1);
    let mut truth = Vec::new();
    for of in [1, 2, 3, 8] {
        let mut whole = Record::new(0);
        truth.clear();
        for part in 0..of {
            let (record, counted) = run_part(&load, server(varied), part, of);
            truth.extend((0..counted).map(varied));
            whole.merge(record);
        }
        assert_eq!(truth.len() as u64, load.count, "{of} threads");
        assert_eq!(whole.finished(), load.count);
        let merged = whole.service.to_histogram();
        let bytes = merged.to_bytes();
        let carried = Histogram::from_bytes(&bytes).unwrap();
        let expected = histogram(&truth);
        assert!(carried.buckets().eq(expected.buckets()), "{of} threads");
        assert_eq!(carried.count(), expected.count());
        assert_eq!(carried.quantile(0.999), expected.quantile(0.999));
    }
}
