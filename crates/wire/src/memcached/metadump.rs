//! The lines of `lru_crawler metadump all`: what is known of each item, without its value.

use super::line::Words;
use crate::{Because, Limits, decimal};

/// One item of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DumpedItem<'a> {
    /// Its key as it stands, with `%XX` in the place of bytes that a URI may not have.
    pub escaped_key: &'a [u8],
    /// When it expires in Unix time; -1 for never.
    pub expires: i64,
    /// When it was last read or written, in Unix time.
    pub last_access: u64,
    /// Its version number.
    pub cas: u64,
    /// Whether it was read since it was written.
    pub fetched: bool,
    /// Its slab class.
    pub class: u64,
    /// Its size in memory, overhead and key included.
    pub bytes: u64,
}

impl<'a> DumpedItem<'a> {
    /// Appends the key itself. `None` when its escapes are broken.
    pub fn key(&self, out: &mut Vec<u8>) -> Option<()> {
        let mut rest = self.escaped_key;
        while let [first, tail @ ..] = rest {
            rest = tail;
            if *first != b'%' {
                out.push(*first);
                continue;
            }
            let [high, low, tail @ ..] = rest else {
                return None;
            };
            let digit = |byte: u8| (byte as char).to_digit(16);
            out.push((digit(*high)? * 16 + digit(*low)?) as u8);
            rest = tail;
        }
        Some(())
    }

    /// Parts that a newer memcached adds are passed over; those that are known must be there.
    pub(super) fn parse(text: &'a [u8], limits: &Limits) -> Result<DumpedItem<'a>, Because> {
        let mut key = None;
        let mut numbers = [None; 4];
        let (mut expires, mut fetched) = (None, None);
        for word in Words(text) {
            let at = word.iter().position(|byte| *byte == b'=');
            let (name, argument) = word.split_at(at.ok_or(Because::Form)?);
            let argument = &argument[1..];
            let number = || decimal::read(argument).ok_or(Because::Number);
            match name {
                b"key" => key = Some(argument),
                b"exp" => expires = Some(decimal::read_signed(argument).ok_or(Because::Number)?),
                b"la" => numbers[0] = Some(number()?),
                b"cas" => numbers[1] = Some(number()?),
                b"cls" => numbers[2] = Some(number()?),
                b"size" => numbers[3] = Some(number()?),
                b"fetch" => fetched = Some(argument == b"yes"),
                _ => {}
            }
        }
        let escaped_key = key.ok_or(Because::Form)?;
        if escaped_key.len() > 3 * limits.key_bytes {
            return Err(Because::KeyTooLong);
        }
        let [last_access, cas, class, bytes] = numbers;
        Ok(DumpedItem {
            escaped_key,
            expires: expires.ok_or(Because::Form)?,
            last_access: last_access.ok_or(Because::Form)?,
            cas: cas.ok_or(Because::Form)?,
            fetched: fetched.ok_or(Because::Form)?,
            class: class.ok_or(Because::Form)?,
            bytes: bytes.ok_or(Because::Form)?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"key=");
        out.extend_from_slice(self.escaped_key);
        out.extend_from_slice(b" exp=");
        decimal::push_signed(out, self.expires);
        out.extend_from_slice(b" la=");
        decimal::push(out, self.last_access);
        out.extend_from_slice(b" cas=");
        decimal::push(out, self.cas);
        out.extend_from_slice(b" fetch=");
        out.extend_from_slice(if self.fetched { b"yes" } else { b"no" });
        out.extend_from_slice(b" cls=");
        decimal::push(out, self.class);
        out.extend_from_slice(b" size=");
        decimal::push(out, self.bytes);
        out.push(b'\n');
    }
}

/// Appends a key with `%XX` in the place of all but the unreserved bytes of a URI.
pub fn push_escaped(out: &mut Vec<u8>, key: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in key {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            out.push(*byte);
        } else {
            out.push(b'%');
            out.push(DIGITS[usize::from(byte >> 4)]);
            out.push(DIGITS[usize::from(byte & 15)]);
        }
    }
}
