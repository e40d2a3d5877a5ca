//! One item of a dump: how its key is decoded and asked for, and how it is written down.

use crate::probe::memcached::is_plain_key;
use serde::Serialize;
use std::io::{self, Write};

/// Seconds that two readings of one expiry may differ by: clocks of whole seconds, read at
/// different times.
const CLOCK_SLACK_S: u64 = 2;

/// An item without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its key.
    pub key: Vec<u8>,
    /// The client's flags.
    pub flags: u32,
    /// Time left, in seconds; `None` for ever.
    pub ttl_s: Option<u64>,
    /// When it ends, seconds since 1970 by the server's clock; 0 for never.
    pub expires_unix_s: u64,
}

/// A line of `lru_crawler metadump`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The key.
    pub key: Vec<u8>,
    /// When it ends, seconds since 1970 by the server's clock; `None` for never.
    pub expires_unix_s: Option<u64>,
}

impl Listed {
    /// Parses `key=%22a exp=-1 la=... cas=... fetch=... cls=... size=...`.
    pub fn parse(line: &[u8]) -> Option<Listed> {
        let mut fields = line.split(|b| *b == b' ');
        let key = percent_decode(fields.next()?.strip_prefix(b"key=")?)?;
        let expires = fields.find_map(|field| field.strip_prefix(b"exp="))?;
        let expires_unix_s = match std::str::from_utf8(expires).ok()?.parse::<i64>().ok()? {
            end if end > 0 => Some(end as u64),
            _ => None,
        };
        (!key.is_empty()).then_some(Listed {
            key,
            expires_unix_s,
        })
    }

    /// Asks for its value, flags and time left, without making the item look used.
    pub fn push_request(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"mg ");
        if is_plain_key(&self.key) {
            out.extend_from_slice(&self.key);
            out.extend_from_slice(b" v f t u\r\n");
        } else {
            out.extend_from_slice(base64(&self.key).as_bytes());
            out.extend_from_slice(b" b v f t u\r\n");
        }
    }

    /// The item, from the flags of the reply (`f5 t100`) and the server's clock at that time.
    pub fn item(self, reply_flags: &str, server_unix_s: u64) -> Option<Item> {
        let mut flags = None;
        let mut ttl = None;
        for token in reply_flags.split_ascii_whitespace() {
            match token.split_at_checked(1)? {
                ("f", number) => flags = number.parse().ok(),
                ("t", number) => ttl = number.parse::<i64>().ok(),
                _ => {}
            }
        }
        let ttl_s = u64::try_from(ttl?).ok();
        Some(Item {
            expires_unix_s: ttl_s.map_or(0, |ttl| self.end(server_unix_s.saturating_add(ttl))),
            key: self.key,
            flags: flags?,
            ttl_s,
        })
    }

    /// The listed end is exact, so that two dumps of one item agree; but the item may have been
    /// written anew since it was listed.
    fn end(&self, read: u64) -> u64 {
        self.expires_unix_s
            .filter(|listed| listed.abs_diff(read) <= CLOCK_SLACK_S)
            .unwrap_or(read)
    }
}

/// Writes an item so that it can be sent to a memcached as it is. A key that the classic command
/// cannot carry is written as the meta command that does the same.
pub fn write_add(item: &Item, value: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let (flags, end, bytes) = (item.flags, item.expires_unix_s, value.len());
    if is_plain_key(&item.key) {
        out.write_all(b"add ")?;
        out.write_all(&item.key)?;
        write!(out, " {flags} {end} {bytes}\r\n")?;
    } else {
        let key = base64(&item.key);
        write!(out, "ms {key} {bytes} b F{flags} T{end} ME\r\n")?;
    }
    out.write_all(value)?;
    out.write_all(b"\r\n")
}

#[derive(Serialize)]
struct JsonItem<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_base64: Option<String>,
    flags: u32,
    ttl_s: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_base64: Option<String>,
}

/// Writes an item as a line of JSON; what is not text, in base64.
pub fn write_json(item: &Item, value: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let (key, value_text) = (text(&item.key), text(value));
    let line = JsonItem {
        key,
        key_base64: key.is_none().then(|| base64(&item.key)),
        flags: item.flags,
        ttl_s: item.ttl_s,
        value: value_text,
        value_base64: value_text.is_none().then(|| base64(value)),
    };
    serde_json::to_writer(&mut *out, &line)?;
    out.write_all(b"\n")
}

fn percent_decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            rest = after;
            let digit = |at: usize| char::from(digits[at]).to_digit(16);
            bytes.push((digit(0)? * 16 + digit(1)?) as u8);
        } else {
            bytes.push(*byte);
        }
    }
    Some(bytes)
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            text.push(if digit <= group.len() {
                char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests;
