//! An HTTP body in chunks: the same body however its bytes come.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundtrip_fuzz::SMALL;
use roundtrip_wire::http::{Body, BodyReader, Piece};
use roundtrip_wire::{Because, Limits, Parsed};

fuzz_target!(|bytes: &[u8]| {
    for limits in [SMALL, Limits::default()] {
        let whole = read(bytes, bytes.len().max(1), &limits);
        for step in [1, 2, 7] {
            assert_eq!(read(bytes, step, &limits), whole);
        }
    }
});

/// The body, and whether it ended, when `step` bytes come at a time.
fn read(bytes: &[u8], step: usize, limits: &Limits) -> (Vec<u8>, Result<bool, Because>) {
    let mut reader = BodyReader::new(Body::Chunked);
    let (mut data, mut taken, mut there) = (Vec::new(), 0, 0);
    loop {
        match reader.next(&bytes[taken..there], limits) {
            Parsed::Complete(Piece::Data(piece), took) => {
                assert!(!piece.is_empty() && took >= piece.len());
                data.extend_from_slice(piece);
                taken += took;
            }
            Parsed::Complete(Piece::End(_), _) => return (data, Ok(true)),
            Parsed::NeedMore if there == bytes.len() => return (data, Ok(false)),
            Parsed::NeedMore => there = bytes.len().min(there + step),
            Parsed::Bad(bad) => return (data, Err(bad.because)),
        }
    }
}
