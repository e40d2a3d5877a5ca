//! Where a key of a cluster is: its slot, the node that a reply sends to, the map of slots.

use super::{Items, Reply};
use crate::decimal;

/// How many slots the keys of a cluster are spread over.
pub const SLOTS: u16 = 16384;

/// The slot of a key: CRC16 of the key, or of what stands in its first braces where that is
/// something.
pub fn hash_slot(key: &[u8]) -> u16 {
    let tag = key.iter().position(|byte| *byte == b'{').and_then(|open| {
        let after = &key[open + 1..];
        let length = after.iter().position(|byte| *byte == b'}')?;
        (length > 0).then(|| &after[..length])
    });
    crc16(tag.unwrap_or(key)) % SLOTS
}

/// The polynomial 0x1021 from 0 on, which is called XMODEM.
const CRC16: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc << 1) ^ if crc & 0x8000 != 0 { 0x1021 } else { 0 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[inline]
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        (crc << 8) ^ CRC16[usize::from((crc >> 8) as u8 ^ byte)]
    })
}

/// Where a client is to look instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redirect<'a> {
    /// Whether only this one command is to be sent there, after `ASKING`: the slot is being moved.
    /// Otherwise the slot has moved for good.
    pub ask: bool,
    /// The slot.
    pub slot: u16,
    /// The node's host; empty where it is that of the node that said so.
    pub host: &'a str,
    /// The node's port.
    pub port: u16,
}

impl<'a> Redirect<'a> {
    /// The redirect that an error is; [`None`] where it is another error.
    pub fn parse(error: &'a [u8]) -> Option<Redirect<'a>> {
        let mut words = error.split(|byte| *byte == b' ');
        let ask = match words.next()? {
            b"MOVED" => false,
            b"ASK" => true,
            _ => return None,
        };
        let slot = slot(decimal::read(words.next()?)?)?;
        let address = words.next()?;
        // An IPv6 address has colons of its own.
        let colon = address.iter().rposition(|byte| *byte == b':')?;
        let host = host(&address[..colon])?;
        let port = decimal::read(&address[colon + 1..])?.try_into().ok()?;
        words.next().is_none().then_some(Redirect {
            ask,
            slot,
            host,
            port,
        })
    }
}

fn slot(number: u64) -> Option<u16> {
    u16::try_from(number).ok().filter(|slot| *slot < SLOTS)
}

/// A host's name or address, as long as names may be; a `?` stands for one that is not known.
fn host(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let fine = text.len() <= 255 && text.bytes().all(|byte| byte.is_ascii_graphic());
    fine.then_some(if text == "?" { "" } else { text })
}

/// A node of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its host; empty where it is that of the node that was asked.
    pub host: &'a str,
    /// Its port.
    pub port: u16,
}

/// Slots in a row that one node answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRange<'a> {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
    /// The node that is written to.
    pub primary: Node<'a>,
}

/// The reply to `CLUSTER SLOTS`, checked.
#[derive(Clone, Copy, Debug)]
pub struct SlotRanges<'a>(Items<'a>);

impl<'a> SlotRanges<'a> {
    /// Checks every range of the reply.
    pub fn check(reply: &Reply<'a>) -> Option<SlotRanges<'a>> {
        let Reply::Array(items) = reply else {
            return None;
        };
        items
            .iter()
            .all(|range| slot_range(&range).is_some())
            .then_some(SlotRanges(*items))
    }

    /// Each range.
    pub fn iter(&self) -> impl Iterator<Item = SlotRange<'a>> + use<'a> {
        self.0.iter().filter_map(|range| slot_range(&range))
    }
}

fn slot_range<'a>(range: &Reply<'a>) -> Option<SlotRange<'a>> {
    let mut parts = range.items()?;
    let (first, last) = slots(&parts.next()?, &parts.next()?)?;
    let mut primary = parts.next()?.items()?;
    let host = match primary.next()? {
        Reply::Null(_) => "",
        name => host(name.text()?)?,
    };
    let port = port(&primary.next()?)?;
    Some(SlotRange {
        first,
        last,
        primary: Node { host, port },
    })
}

fn slots(first: &Reply<'_>, last: &Reply<'_>) -> Option<(u16, u16)> {
    let (Reply::Integer(first), Reply::Integer(last)) = (first, last) else {
        return None;
    };
    let first = slot(u64::try_from(*first).ok()?)?;
    let last = slot(u64::try_from(*last).ok()?)?;
    (first <= last).then_some((first, last))
}

fn port(reply: &Reply<'_>) -> Option<u16> {
    match reply {
        Reply::Integer(port) => u16::try_from(*port).ok(),
        _ => None,
    }
}

/// The reply to `CLUSTER SHARDS`, checked.
#[derive(Clone, Copy, Debug)]
pub struct Shards<'a>(Items<'a>);

/// Slots that a primary and its replicas answer for together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard<'a> {
    slots: Items<'a>,
    /// The node that is written to.
    pub primary: Node<'a>,
}

impl<'a> Shards<'a> {
    /// Checks every shard of the reply. A shard without a primary that can be reached is none.
    pub fn check(reply: &Reply<'a>) -> Option<Shards<'a>> {
        let Reply::Array(items) = reply else {
            return None;
        };
        items
            .iter()
            .all(|item| shard(&item).is_some())
            .then_some(Shards(*items))
    }

    /// Each shard.
    pub fn iter(&self) -> impl Iterator<Item = Shard<'a>> + use<'a> {
        self.0.iter().filter_map(|item| shard(&item))
    }

    /// Each range of slots, as `CLUSTER SLOTS` has them.
    pub fn ranges(&self) -> impl Iterator<Item = SlotRange<'a>> + use<'a> {
        self.iter().flat_map(|shard| shard.ranges())
    }
}

impl<'a> Shard<'a> {
    /// Its ranges of slots.
    pub fn ranges(&self) -> impl Iterator<Item = SlotRange<'a>> + use<'a> {
        let primary = self.primary;
        self.slots.pairs().filter_map(move |(first, last)| {
            let (first, last) = slots(&first, &last)?;
            Some(SlotRange {
                first,
                last,
                primary,
            })
        })
    }
}

fn shard<'a>(item: &Reply<'a>) -> Option<Shard<'a>> {
    let parts = item.items()?;
    let slots_of_shard = parts.named(b"slots")?.items()?;
    let even = slots_of_shard.len().is_multiple_of(2);
    let fine = slots_of_shard
        .pairs()
        .all(|(first, last)| slots(&first, &last).is_some());
    let mut nodes = parts.named(b"nodes")?.items()?;
    let primary = nodes.find_map(|node| primary(&node))?;
    (even && fine).then_some(Shard {
        slots: slots_of_shard,
        primary,
    })
}

fn primary<'a>(node: &Reply<'a>) -> Option<Node<'a>> {
    let parts = node.items()?;
    if parts.named(b"role")?.text()? != b"master" {
        return None;
    }
    let host = match parts.named(b"endpoint")? {
        Reply::Null(_) => "",
        name => host(name.text()?)?,
    };
    let port = port(&parts.named(b"port")?)?;
    Some(Node { host, port })
}
