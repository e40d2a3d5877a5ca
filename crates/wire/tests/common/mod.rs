//! What must hold for any parser, and what was captured from real servers.

#![allow(dead_code)]

use proptest::prelude::*;
use roundtrip_wire::Parsed;
use std::path::PathBuf;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");

/// Of every beginning of the bytes the answer is the answer of the whole, or that more is needed.
pub fn same_at_every_split<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    parse: impl Fn(&[u8]) -> Parsed<T>,
) -> Result<(), TestCaseError> {
    let whole = parse(bytes);
    let mut needs_more = true;
    for end in 0..bytes.len() {
        let part = parse(&bytes[..end]);
        if part == Parsed::NeedMore {
            prop_assert!(needs_more, "more is needed again at {}", end);
        } else {
            needs_more = false;
            prop_assert_eq!(&part, &whole);
        }
    }
    Ok(())
}

/// How many bytes a message took, and how many are to be left out.
pub fn took_and_skip<T>(parsed: Parsed<T>) -> (Option<usize>, Option<usize>) {
    match parsed {
        Parsed::Complete(_, bytes) => (Some(bytes), None),
        Parsed::NeedMore => (None, None),
        Parsed::Bad(bad) => (None, bad.skip),
    }
}

/// A captured message.
pub fn vector(name: &str) -> Vec<u8> {
    let path = PathBuf::from(VECTORS).join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The names of captured messages in a folder, in order.
pub fn vectors(folder: &str, ending: &str) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(PathBuf::from(VECTORS).join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    names
}
