//! Requests made before the loop, where there are not too many: each is then one copy.

use super::{Ops, Texts};
use crate::protocol::Protocol;
use roundtrip_model::Op;

/// The largest table of requests of one kind. Each thread has its own.
const TABLE_BYTES: u64 = 16 << 20;

/// The requests that read the keys of the table of keys, and those that write their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Ahead {
    reads: Table,
    sets: Table,
}

/// Requests of one length for the keys `first ..`, one after another.
#[derive(Clone, Debug, Default)]
struct Table {
    first: u64,
    count: u64,
    stride: usize,
    bytes: Vec<u8>,
}

impl Ahead {
    /// The request, where it was made.
    #[inline]
    pub(super) fn get(&self, op: Op, index: u64) -> Option<&[u8]> {
        let table = match op {
            Op::Get | Op::ReadAside | Op::ReadModifyWrite => &self.reads,
            Op::Set => &self.sets,
            _ => return None,
        };
        let place = index.wrapping_sub(table.first);
        let start = place as usize * table.stride;
        (place < table.count).then(|| &table.bytes[start..start + table.stride])
    }
}

/// Makes the requests of a phase.
pub(super) fn make<P: Protocol>(protocol: &mut P, ops: &Ops, texts: &mut Texts) {
    if !P::MAKES_AHEAD {
        return;
    }
    // With fewer ops than keys most would never be sent.
    let (first, count) = texts.keys.there();
    if ops.records() < count {
        return;
    }
    let mut ahead = Ahead::default();
    if ops.may_be(&[Op::Get, Op::ReadAside, Op::ReadModifyWrite]) {
        ahead.reads = table(protocol, Op::Get, (first, count), texts);
    }
    // What is added to differs each time that it is written.
    if ops.add() == 0 && ops.may_be(&[Op::Set, Op::ReadModifyWrite]) {
        ahead.sets = table(protocol, Op::Set, (first, count), texts);
    }
    texts.ahead = ahead;
}

/// No table where requests differ in length or are too many.
fn table<P: Protocol>(
    protocol: &mut P,
    op: Op,
    (first, count): (u64, u64),
    texts: &mut Texts,
) -> Table {
    let mut bytes = Vec::new();
    let mut stride = 0;
    for index in first..first + count {
        let before = bytes.len();
        protocol.request(op, index, texts, &mut bytes);
        let length = bytes.len() - before;
        if before == 0 {
            stride = length;
            if count.saturating_mul(length as u64) > TABLE_BYTES {
                return Table::default();
            }
        }
        if length != stride {
            return Table::default();
        }
    }
    Table {
        first,
        count,
        stride,
        bytes,
    }
}
