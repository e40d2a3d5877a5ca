//! Decimal numbers as text, both ways, strictly: digits only, nothing lost.

/// Appends a number.
#[inline]
pub(crate) fn push(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a number that may be negative.
#[inline]
pub(crate) fn push_signed(out: &mut Vec<u8>, n: i64) {
    if n < 0 {
        out.push(b'-');
    }
    push(out, n.unsigned_abs());
}

/// Reads a number; `None` when the text is anything else, or does not fit.
#[inline]
pub(crate) fn read(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |n, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        n.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Reads a number that may be negative.
#[inline]
pub(crate) fn read_signed(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => 0i64.checked_sub_unsigned(read(digits)?),
        None => read(text)?.try_into().ok(),
    }
}

/// Reads a number of at most 32 bits.
#[inline]
pub(crate) fn read_u32(text: &[u8]) -> Option<u32> {
    read(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_that_is_not_a_number_of_64_bits_is_refused() {
        for text in ["", "-", "+1", "1x", " 1", "18446744073709551616"] {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(read_signed(b"9223372036854775808"), None);
        assert_eq!(read_u32(b"4294967296"), None);
    }

    proptest! {
        #[test]
        fn numbers_round_trip(n: u64, signed: i64) {
            let mut out = Vec::new();
            push(&mut out, n);
            prop_assert_eq!(&out, &n.to_string().into_bytes());
            prop_assert_eq!(read(&out), Some(n));
            out.clear();
            push_signed(&mut out, signed);
            prop_assert_eq!(&out, &signed.to_string().into_bytes());
            prop_assert_eq!(read_signed(&out), Some(signed));
        }
    }
}
