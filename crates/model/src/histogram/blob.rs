//! The HDR V2 bytes, checked before they are decoded.
//!
//! The decoder takes the header at its word: it would allocate up to 4 GiB for a payload that is
//! not there, or 50 MB for five significant digits. So the header must say what we write, and the
//! counts must fit into numbers that can be summed.

/// The cookie of an uncompressed V2 histogram.
const COOKIE: u32 = 0x1c84_9313;
const HEADER_BYTES: usize = 40;
const DIGITS: u32 = 3;
/// Counters of one power of two, at three digits.
const COUNTERS_PER_BUCKET: usize = 1024;
/// More operations than any phase has.
const MAX_COUNT: u64 = 1 << 53;

/// How much memory a blob takes once it is decoded, or what is wrong with it.
pub fn memory_bytes(blob: &[u8]) -> Result<usize, String> {
    let header = blob
        .get(..HEADER_BYTES)
        .ok_or("a histogram without a header")?;
    let number = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| header[at + i]));
    let long = |at: usize| (u64::from(number(at)) << 32) | u64::from(number(at + 4));
    let payload = &blob[HEADER_BYTES..];
    if number(0) != COOKIE || number(4) as usize != payload.len() || number(8) != 0 {
        return Err("a histogram with a wrong header".to_owned());
    }
    if number(12) != DIGITS || long(16) != 1 {
        return Err("a histogram of another resolution".to_owned());
    }
    check_counts(payload)?;
    let powers = 64 - long(24).leading_zeros() as usize;
    Ok((powers.saturating_sub(10) + 2) * COUNTERS_PER_BUCKET * size_of::<u64>())
}

/// Walks the counts: zig-zag numbers in base 128, nine bytes at most; a negative one is a run of
/// zeros.
fn check_counts(mut payload: &[u8]) -> Result<(), String> {
    let mut total: u64 = 0;
    while !payload.is_empty() {
        let length = payload.iter().take(8).position(|b| b & 0x80 == 0);
        let length = length.map_or(9, |last| last + 1);
        let digits = payload.get(..length).ok_or("a histogram cut short")?;
        let number = digits.iter().enumerate().fold(0u64, |number, (i, byte)| {
            let bits = if i == 8 { *byte } else { byte & 0x7f };
            number | (u64::from(bits) << (7 * i))
        });
        // The magnitude of the number, whatever its sign: `number >> 1`, and one more if negative.
        total = total.saturating_add((number >> 1) + (number & 1));
        payload = &payload[length..];
    }
    if total > MAX_COUNT {
        return Err("a histogram of impossibly many latencies".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;

    fn histogram(values: &[u64]) -> Histogram {
        let mut h = Histogram::new();
        values.iter().for_each(|v| h.record(*v));
        h
    }

    #[test]
    fn a_header_is_not_taken_at_its_word() {
        let good = histogram(&[1, 1000, 1_000_000]).to_bytes();
        assert!(memory_bytes(&good).is_ok());
        // Cookie, payload length, offset, digits, low end.
        for at in [0, 4, 8, 15, 23] {
            let mut bad = good.clone();
            bad[at] ^= 0x7f;
            assert!(memory_bytes(&bad).is_err(), "byte {at}");
        }
        assert!(memory_bytes(&good[..good.len() - 1]).is_err());
        assert!(memory_bytes(&[]).is_err());
    }

    #[test]
    fn counts_that_overflow_are_refused() {
        let mut bad = histogram(&[1]).to_bytes();
        bad.truncate(HEADER_BYTES);
        bad.extend([0xff; 18]);
        bad[4..8].copy_from_slice(&18u32.to_be_bytes());
        assert!(memory_bytes(&bad).is_err());
    }
}
