//! What must hold for any bytes, for every parser: it does not panic, it never takes more bytes
//! than there are, and bytes that come in pieces get the answer that they get at once.

use roundtrip_wire::{Limits, Parsed};
use std::fmt::Debug;

/// Limits that the bytes of a short input reach.
pub const SMALL: Limits = Limits {
    key_bytes: 8,
    value_bytes: 16,
    line_bytes: 32,
    message_bytes: 64,
    parts: 4,
    depth: 3,
};

/// Checks a parser under small limits and under the usual ones.
///
/// # Panics
///
/// Where one of the properties does not hold: that is what the fuzzer looks for.
pub fn check<T: PartialEq + Debug>(bytes: &[u8], parse: impl Fn(&[u8], &Limits) -> Parsed<T>) {
    for limits in [SMALL, Limits::default()] {
        let whole = parse(bytes, &limits);
        match &whole {
            Parsed::Complete(_, took) => assert!((1..=bytes.len()).contains(took)),
            Parsed::Bad(bad) => {
                assert!(
                    bad.skip
                        .is_none_or(|skip| (1..=bytes.len()).contains(&skip))
                );
            }
            Parsed::NeedMore => {}
        }
        let mut answered = false;
        for end in 0..bytes.len() {
            let part = parse(&bytes[..end], &limits);
            if part == Parsed::NeedMore {
                assert!(!answered, "more is needed again at {end}");
            } else {
                answered = true;
                assert_eq!(part, whole, "the answer at {end} is another");
            }
        }
    }
}

/// Checks that a message which was read is the same after it was written and read again.
///
/// # Panics
///
/// Where it is not.
pub fn check_again<T: PartialEq + Debug>(
    message: &T,
    write: impl FnOnce(&mut Vec<u8>),
    parse: impl FnOnce(&[u8]) -> Parsed<T>,
) {
    let mut bytes = Vec::new();
    write(&mut bytes);
    match parse(&bytes) {
        Parsed::Complete(again, took) => {
            assert_eq!(&again, message);
            assert_eq!(took, bytes.len());
        }
        other => panic!("{message:?} was written as {bytes:?}, which reads as {other:?}"),
    }
}
