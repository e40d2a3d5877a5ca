//! What every message is made of: a number up to a line end, bytes of a given length.

use crate::crlf::{bad, line_end};
use crate::{Because, Halt, Limits};

/// The number that stands from `at` on, up to a line end, and where that line ends. It is read
/// while its end is looked for, so that a header costs one pass over its few bytes.
#[inline]
pub(super) fn number(bytes: &[u8], at: usize) -> Result<(i64, usize), Halt> {
    let Some(first) = bytes.get(at) else {
        return Err(Halt::NeedMore);
    };
    let digit = first.wrapping_sub(b'0');
    // Most lengths have one to three digits.
    if digit <= 9 {
        digits(bytes, at + 1, u64::from(digit), 0)
    } else {
        signed(bytes, at, *first)
    }
}

/// The longest number of 64 bits has 19 digits; zeros before it count too.
const MAX_DIGITS: usize = 19;

#[inline]
fn digits(bytes: &[u8], start: usize, first: u64, sign: u8) -> Result<(i64, usize), Halt> {
    let mut value = first;
    let mut at = start;
    loop {
        let Some(byte) = bytes.get(at) else {
            return Err(Halt::NeedMore);
        };
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if at - start >= MAX_DIGITS - 1 {
            return Err(bad(Because::Number));
        }
        // 19 digits fit 64 bits without a sign.
        value = value * 10 + u64::from(digit);
        at += 1;
    }
    let value = match sign {
        b'-' => 0i64.checked_sub_unsigned(value),
        _ => i64::try_from(value).ok(),
    };
    let value = value.ok_or(bad(Because::Number))?;
    Ok((value, line_end(bytes, at, Because::Number)?))
}

#[cold]
fn signed(bytes: &[u8], at: usize, sign: u8) -> Result<(i64, usize), Halt> {
    match sign {
        b'-' | b'+' => {}
        b'?' => return Err(bad(Because::Streamed)),
        _ => return Err(bad(Because::Number)),
    }
    match bytes.get(at + 1) {
        None => Err(Halt::NeedMore),
        Some(first) if first.is_ascii_digit() => {
            digits(bytes, at + 2, u64::from(first - b'0'), sign)
        }
        Some(_) => Err(bad(Because::Number)),
    }
}

/// A length that is written as a number: within the limit, or [`None`] where it is -1.
#[inline]
pub(super) fn length(
    number: i64,
    longest: usize,
    otherwise: Because,
) -> Result<Option<usize>, Halt> {
    match usize::try_from(number) {
        Ok(length) if length <= longest => Ok(Some(length)),
        Ok(_) => Err(bad(otherwise)),
        Err(_) if number == -1 => Ok(None),
        Err(_) => Err(bad(Because::Number)),
    }
}

/// The bytes of a length that stands at `at`, and where their line end ends; [`None`] for the
/// length -1.
#[inline]
pub(super) fn blob<'a>(
    bytes: &'a [u8],
    at: usize,
    limits: &Limits,
) -> Result<(Option<&'a [u8]>, usize), Halt> {
    let (number, start) = number(bytes, at)?;
    let Some(length) = length(number, limits.value_bytes, Because::ValueTooLong)? else {
        return Ok((None, start));
    };
    let end = start + length;
    match bytes.get(end..end + 2) {
        Some(b"\r\n") => Ok((Some(&bytes[start..end]), end + 2)),
        Some(_) => Err(bad(Because::ValueEnd)),
        None => Err(Halt::NeedMore),
    }
}
