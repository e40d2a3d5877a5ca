//! The compact file that carries the operations to a worker that does not make them itself.
//!
//! The magic `RTSTREAM`, `u32` version, `u64` count, then for each record `u16` key length,
//! `u32` value length, `u8` kind, the key, the value. Numbers are little-endian. The kind is 0 for
//! bytes and 1 for a decimal integer; [`EXPECT_MISS`] is added where the key is not there to be
//! found; and in a mix, the place of the op in [`Op::ALL`], counted from 1, times [`OP`].

use super::{Operation, Stream};
use crate::names::Op;
use crate::problem::{Kind, Problem};
use std::borrow::Cow;

/// The first bytes of a stream file.
pub const MAGIC: &[u8; 8] = b"RTSTREAM";
/// The version of the file.
pub const VERSION: u32 = 1;
/// Length of the header.
pub const HEADER_BYTES: usize = 20;
/// Length of what stands before the key of an operation.
pub const RECORD_BYTES: usize = 7;
/// The value is a decimal integer.
pub const INTEGER: u8 = 1;
/// What the number of an op is multiplied by in the kind; 0 is the op of the phase.
pub const OP: u8 = 2;
/// The bits of the kind that hold it.
const OP_BITS: u8 = 0x1e;
/// Added to the kind: the key is not there, so a miss is the right answer.
pub const EXPECT_MISS: u8 = 0x80;

impl Stream {
    /// The header of the file of this part.
    pub fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..].copy_from_slice(&self.records().to_le_bytes());
        header
    }
}

impl Stream {
    /// Gives the records of this part one after another, each in the same memory.
    pub fn each_record<E>(&self, mut give: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let (ops, keys, values) = (self.op_maker(), self.key_maker(), self.value_maker());
        let (mut key, mut value, mut record) = (Vec::new(), Vec::new(), Vec::new());
        for i in self.positions() {
            let planned = ops.planned(i);
            key.clear();
            value.clear();
            record.clear();
            keys.write(planned.index, &mut key);
            values.write_sum(planned.index, planned.added, &mut value);
            self.operation(planned, Cow::Borrowed(&key), Cow::Borrowed(&value))
                .encode(&mut record);
            give(&record)?;
        }
        Ok(())
    }
}

impl Operation<'_> {
    /// Appends the operation as it stands in the file.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let miss = if self.expect_hit { 0 } else { EXPECT_MISS };
        let op = self.op.map_or(0, |op| OP * (op as u8 + 1));
        let kind = u8::from(self.integer) | op | miss;
        out.extend_from_slice(&(self.key.len() as u16).to_le_bytes());
        out.extend_from_slice(&(self.value.len() as u32).to_le_bytes());
        out.push(kind);
        out.extend_from_slice(&self.key);
        out.extend_from_slice(&self.value);
    }
}

/// Reads the header of a stream file: the number of operations.
pub fn decode_header(bytes: &[u8]) -> crate::Result<u64> {
    let bad = |what| Problem::new(Kind::Failed, format!("a stream file {what}"));
    let header = bytes
        .get(..HEADER_BYTES)
        .ok_or_else(|| bad("is cut short"))?;
    let mut number = [0; 8];
    number.copy_from_slice(&header[12..]);
    if &header[..8] != MAGIC || header[8..12] != VERSION.to_le_bytes() {
        return Err(bad("has another magic or version"));
    }
    Ok(u64::from_le_bytes(number))
}

/// Reads one operation from the front; says how many bytes it took.
pub fn decode_operation(bytes: &[u8]) -> crate::Result<(Operation<'_>, usize)> {
    let short = || Problem::new(Kind::Failed, "a stream file is cut short");
    let head = bytes.get(..RECORD_BYTES).ok_or_else(short)?;
    let key_bytes = usize::from(u16::from_le_bytes([head[0], head[1]]));
    let value_bytes = u32::from_le_bytes([head[2], head[3], head[4], head[5]]) as usize;
    let key_end = RECORD_BYTES + key_bytes;
    let end = key_end + value_bytes;
    let op = match (head[6] & OP_BITS) / OP {
        0 => None,
        number => Some(*Op::ALL.get(usize::from(number) - 1).ok_or_else(|| {
            Problem::new(Kind::Failed, "a stream file names an op that there is not")
        })?),
    };
    Ok((
        Operation {
            op,
            key: Cow::Borrowed(bytes.get(RECORD_BYTES..key_end).ok_or_else(short)?),
            value: Cow::Borrowed(bytes.get(key_end..end).ok_or_else(short)?),
            integer: head[6] & INTEGER != 0,
            expect_hit: head[6] & EXPECT_MISS == 0,
        },
        end,
    ))
}
