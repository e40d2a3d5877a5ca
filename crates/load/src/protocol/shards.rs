//! Several servers of one protocol that know nothing of each other: the client spreads the keys.

use super::{Answer, Flight, Protocol};
use crate::engine::{Fence, Texts};
use crate::outcome::Tally;
use crate::worker::WorkerError;
use roundtrip_model::Op;

/// The server of a key, of so many: the CRC-32 (IEEE) of the key, modulo their number.
#[inline]
fn shard(key: &[u8], nodes: usize) -> usize {
    crc32fast::hash(key) as usize % nodes
}

/// One phase.
#[derive(Debug)]
pub(crate) struct Shards<P> {
    each: P,
    nodes: usize,
}

impl<P> Shards<P> {
    /// At least one server.
    pub(crate) fn new(each: P, nodes: usize) -> Shards<P> {
        Shards {
            each,
            nodes: nodes.max(1),
        }
    }
}

impl<P: Protocol> Protocol for Shards<P> {
    const GROUPS: bool = P::GROUPS;
    const MAKES_AHEAD: bool = P::MAKES_AHEAD;
    const FENCE: Option<Fence> = P::FENCE;
    const SPREADS: bool = true;

    #[inline]
    fn nodes(&self) -> usize {
        self.nodes
    }

    #[inline]
    fn node(&mut self, index: u64, texts: &mut Texts) -> usize {
        shard(texts.keys.get(index), self.nodes)
    }

    fn complaint(&mut self) -> Option<String> {
        self.each.complaint()
    }

    #[inline]
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        self.each.request(op, index, texts, out);
    }

    fn open_group(&mut self, size: usize, out: &mut Vec<u8>) {
        self.each.open_group(size, out);
    }

    #[inline]
    fn group_key(&mut self, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        self.each.group_key(index, texts, out);
    }

    fn close_group(&mut self, texts: &mut Texts, out: &mut Vec<u8>) {
        self.each.close_group(texts, out);
    }

    #[inline]
    fn reply(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer {
        self.each.reply(bytes, flight, texts)
    }

    fn trouble(&mut self) -> Option<WorkerError> {
        self.each.trouble()
    }

    fn finish(&mut self) -> Result<Tally, WorkerError> {
        self.each.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_where_the_known_checksum_says_and_all_servers_get_some() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(shard(b"123456789", usize::MAX), 0xCBF4_3926);
        let mut counts = [0; 3];
        (0..3000).for_each(|i| counts[shard(format!("key-{i}").as_bytes(), 3)] += 1);
        assert!(counts.iter().all(|count| *count > 800), "{counts:?}");
    }
}
