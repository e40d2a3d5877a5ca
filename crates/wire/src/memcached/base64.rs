//! Keys with any bytes, which meta commands carry in base64 with the flag `b`.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends bytes in base64.
pub fn push_base64(out: &mut Vec<u8>, bytes: &[u8]) {
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            out.push(if digit <= group.len() {
                DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]
            } else {
                b'='
            });
        }
    }
}

/// Appends the bytes that a text in base64 stands for; [`None`] when it is none, and then nothing
/// useful is appended. Each text has one way of being written: bits that stand for nothing are 0.
pub fn read_base64(out: &mut Vec<u8>, text: &[u8]) -> Option<()> {
    let (fours, rest) = text.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    for (at, four) in fours.iter().enumerate() {
        let is_last = at + 1 == fours.len();
        let digits = match four {
            [_, _, b'=', b'='] if is_last => 2,
            [_, _, _, b'='] if is_last => 3,
            _ => 4,
        };
        let mut bits = 0u32;
        for byte in &four[..digits] {
            bits = bits << 6 | u32::from(value(*byte)?);
        }
        bits <<= 6 * (4 - digits);
        let bytes = bits.to_be_bytes();
        if bytes[digits..].iter().any(|byte| *byte != 0) {
            return None;
        }
        out.extend_from_slice(&bytes[1..digits]);
    }
    Some(())
}

fn value(digit: u8) -> Option<u8> {
    Some(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}
