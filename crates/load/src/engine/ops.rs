//! The ops of one thread's part of a phase, in order: planned beforehand while they are few, and
//! in place otherwise, so that memory is bounded whatever the count is.

use roundtrip_model::Op;
use roundtrip_model::stream::{OpMaker, Stream};

/// The most ops that are planned beforehand: 64 MiB of them.
const TABLE_OPS: u64 = 8 << 20;
/// A packed op is an index and, below it, the op.
const OP_BITS: u32 = 8;

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) op: Op,
    /// The index of its key and value.
    pub(crate) index: u64,
    /// How much was added to the number of its key by the ops before it.
    pub(crate) added: i64,
}

/// The ops of a part of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Ops {
    maker: OpMaker,
    op: Op,
    add: i64,
    part: (u64, u64),
    /// Operation `i` is on key `i` of this process's part, as the published loop had it.
    in_loop: Option<(u64, u64)>,
    planned: Vec<u64>,
    /// How many keys each has, and the key that is next.
    keys: u64,
    at: u64,
    /// How many keys all of them have.
    records: u64,
    count: u64,
}

impl Ops {
    /// The ops of part `part` of `of` of what a process does.
    pub(crate) fn new(stream: &Stream, in_loop: bool, part: u64, of: u64) -> Ops {
        let (process, processes) = stream.part;
        let stream = Stream {
            part: (process + part * processes, processes * of),
            ..stream.clone()
        };
        let count = match stream.part.0 < stream.count {
            true => stream.len(),
            false => 0,
        };
        let mut ops = Ops {
            in_loop: in_loop.then_some((part, of)),
            maker: OpMaker::new(&stream),
            op: stream.op,
            add: stream.add,
            part: stream.part,
            planned: Vec::new(),
            keys: stream.keys_per_op.into(),
            at: 0,
            records: count * u64::from(stream.keys_per_op),
            count,
        };
        // What was added has no room in the table.
        if ops.records <= TABLE_OPS && stream.add == 0 {
            let packed: Option<Vec<u64>> = (0..ops.records).map(|i| pack(ops.plan(i))).collect();
            ops.planned = packed.unwrap_or_default();
        }
        ops
    }

    /// Whether any of them may be one of these.
    pub(super) fn may_be(&self, ops: &[Op]) -> bool {
        match self.op {
            Op::Mix => true,
            op => ops.contains(&op),
        }
    }

    /// What each op adds to the number of its key.
    #[inline]
    pub(crate) fn add(&self) -> i64 {
        self.add
    }

    /// How many there are in all.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// How many keys all of them have.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Whether all were taken.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.at == self.records
    }

    /// The next key, which stays the next one.
    #[inline]
    pub(crate) fn peek(&self) -> Option<Next> {
        match self.planned.get(self.at as usize) {
            Some(packed) => Some(unpack(*packed)),
            None if self.is_over() => None,
            None => Some(self.plan(self.at)),
        }
    }

    /// How many keys the next op reads, if it reads several in a row.
    pub(crate) fn scan_keys(&self) -> u32 {
        self.maker.planned(self.record(self.at)).scan_keys
    }

    /// Goes on to the key after it.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.at += 1;
    }

    /// The number in the whole stream of a record of this part.
    #[inline]
    fn record(&self, i: u64) -> u64 {
        let (part, of) = self.part;
        match self.keys {
            1 => part + i * of,
            keys => (part + i / keys * of) * keys + i % keys,
        }
    }

    #[inline]
    fn plan(&self, i: u64) -> Next {
        if let Some((part, of)) = self.in_loop {
            return Next {
                op: self.op,
                index: part + i * of,
                added: 0,
            };
        }
        let planned = self.maker.planned(self.record(i));
        Next {
            op: planned.op,
            index: planned.index,
            added: planned.added,
        }
    }
}

/// `None` for an index that does not fit.
fn pack(next: Next) -> Option<u64> {
    (next.index < 1 << (64 - OP_BITS)).then_some(next.index << OP_BITS | next.op as u64)
}

#[inline]
fn unpack(packed: u64) -> Next {
    let op = (packed & ((1 << OP_BITS) - 1)) as usize;
    Next {
        // What was packed is always one of them.
        op: Op::ALL.get(op).copied().unwrap_or(Op::Get),
        index: packed >> OP_BITS,
        added: 0,
    }
}
