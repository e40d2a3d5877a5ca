//! Random numbers as pure functions of `(seed, i)`.

/// SplitMix64 (Steele, Lea and Flood, 2014): a well-mixed 64-bit number from a counter.
pub fn mix(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A number from 0 up to 1, 1 left out, of a 64-bit number.
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A number below `n` from `(seed, i)`, without the bias of a remainder.
pub fn below(seed: u64, i: u64, n: u64) -> u64 {
    ((u128::from(mix(seed, i)) * u128::from(n)) >> 64) as u64
}
