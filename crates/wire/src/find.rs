//! Finding a byte, eight at a time: most of what a text protocol costs is looking for where its
//! words end.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Where a byte first stands.
#[inline]
pub(crate) fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    let pattern = ONES * u64::from(wanted);
    let (eights, rest) = bytes.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        // The wanted byte becomes 0; the lowest high bit that is set stands in the first 0.
        let differs = u64::from_le_bytes(*eight) ^ pattern;
        let zeros = differs.wrapping_sub(ONES) & !differs & HIGHS;
        if zeros != 0 {
            return Some(at * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    let found = rest.iter().position(|byte| *byte == wanted)?;
    Some(bytes.len() - rest.len() + found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_byte_is_found_where_it_first_stands(
            bytes in proptest::collection::vec(any::<u8>(), 0..40),
            // Neighbours of a value are what arithmetic on eight at a time could mistake for it.
            near in proptest::collection::vec(9u8..12, 0..40),
            wanted: u8,
        ) {
            prop_assert_eq!(find(&bytes, wanted), bytes.iter().position(|b| *b == wanted));
            prop_assert_eq!(find(&near, 10), near.iter().position(|b| *b == 10));
        }
    }
}
