//! One item of a dump: how its key is decoded and asked for, and how it is written down.

use roundtrip_wire::memcached::{DumpedItem, MetaFlags, key_is_valid, push_base64};
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
    /// What the crawler says of an item; [`None`] where its key is broken.
    pub fn of(item: &DumpedItem<'_>) -> Option<Listed> {
        let mut key = Vec::new();
        item.key(&mut key)?;
        (!key.is_empty()).then_some(Listed {
            key,
            expires_unix_s: u64::try_from(item.expires).ok().filter(|end| *end > 0),
        })
    }

    /// Asks for its value, flags and time left, without making the item look used.
    pub fn push_request(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"mg ");
        if key_is_valid(&self.key) {
            out.extend_from_slice(&self.key);
            out.extend_from_slice(b" v f t u\r\n");
        } else {
            out.extend_from_slice(base64(&self.key).as_bytes());
            out.extend_from_slice(b" b v f t u\r\n");
        }
    }

    /// The item, from the flags of the reply (`f5 t100`) and the server's clock at that time.
    pub fn item(&self, reply: MetaFlags<'_>, server_unix_s: u64) -> Option<Item> {
        let argument = |letter| std::str::from_utf8(reply.argument(letter)?).ok();
        let ttl_s = u64::try_from(argument(b't')?.parse::<i64>().ok()?).ok();
        Some(Item {
            expires_unix_s: ttl_s.map_or(0, |ttl| self.end(server_unix_s.saturating_add(ttl))),
            key: self.key.clone(),
            flags: argument(b'f')?.parse().ok()?,
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
    if key_is_valid(&item.key) {
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

fn base64(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    push_base64(&mut text, bytes);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests;
