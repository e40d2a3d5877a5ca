//! The keys and values of a phase: keys from a table made beforehand while it is small, values
//! from the pool of their maker.

use roundtrip_model::stream::{KeyMaker, Stream, ValueMaker};
use roundtrip_model::workload::{Distribution, KeyRecipe, Keys, ValueRecipe, Values};
use std::sync::Arc;

/// The largest table of keys. Of more keys each is made when its op is.
const TABLE_BYTES: u64 = 64 << 20;
/// The largest table of whole requests, of which each thread has its own.
const FRAMED_BYTES: u64 = 16 << 20;

/// Keys and values.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    pub(crate) keys: KeyText,
    pub(crate) values: Arc<ValueMaker>,
}

/// Keys by their index.
#[derive(Clone, Debug)]
pub(crate) struct KeyText {
    maker: Arc<KeyMaker>,
    bytes: usize,
    /// The keys that are there.
    table: Arc<Table>,
    /// The key that was made last, for the check of the reply that may be the next thing done.
    made: Vec<u8>,
    made_index: Option<u64>,
}

/// What stands around a key in the request that reads it.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) before: Vec<u8>,
    pub(crate) after: &'static [u8],
}

/// Keys `first ..`, one after another, each in its frame where there is one.
#[derive(Debug, Default)]
struct Table {
    first: u64,
    count: u64,
    /// From one to the next.
    stride: usize,
    /// Where in its frame a key begins.
    offset: usize,
    bytes: Vec<u8>,
}

impl Texts {
    /// The texts of a stream.
    pub(crate) fn of(stream: &Stream) -> Texts {
        let maker = stream.key_maker();
        let bytes = maker.key_bytes() as u64;
        let table = match stream.keyspace.checked_mul(bytes) {
            Some(size) if size <= TABLE_BYTES => {
                Table::new(&maker, stream.first, stream.keyspace, None)
            }
            _ => Table::default(),
        };
        Texts::with(maker, table, stream.value_maker())
    }

    /// Key `md5(i)` and value `crc32(i)`, made in the loop, as study 1 published them.
    pub(crate) fn in_loop() -> Texts {
        let keys = Keys {
            recipe: KeyRecipe::Md5,
            bytes: 32,
            distribution: Distribution::Sequential,
            count: None,
        };
        let values = Values::of(ValueRecipe::Crc32, 0);
        let maker = KeyMaker::new(0, "", keys);
        Texts::with(maker, Table::default(), ValueMaker::new(0, values))
    }

    fn with(maker: KeyMaker, table: Table, values: ValueMaker) -> Texts {
        Texts {
            keys: KeyText {
                bytes: maker.key_bytes(),
                maker: Arc::new(maker),
                table: Arc::new(table),
                made: Vec::new(),
                made_index: None,
            },
            values: Arc::new(values),
        }
    }
}

impl KeyText {
    /// Key `index`.
    #[inline]
    pub(crate) fn get(&mut self, index: u64) -> &[u8] {
        let table = &*self.table;
        let place = index.wrapping_sub(table.first);
        if place < table.count {
            let start = place as usize * table.stride + table.offset;
            return &table.bytes[start..start + self.bytes];
        }
        if self.made_index != Some(index) {
            self.made.clear();
            self.maker.write(index, &mut self.made);
            self.made_index = Some(index);
        }
        &self.made
    }

    /// The whole request that reads key `index`, where it was made beforehand.
    #[inline]
    pub(crate) fn request(&self, index: u64) -> Option<&[u8]> {
        let table = &*self.table;
        let place = index.wrapping_sub(table.first);
        let start = place as usize * table.stride;
        // A table without frames holds keys alone.
        (place < table.count && table.offset > 0).then(|| &table.bytes[start..start + table.stride])
    }

    /// Makes the requests that read the keys of the table, if they are not too many: each is then
    /// one copy.
    pub(crate) fn frame(&mut self, frame: &Frame) {
        let stride = frame.before.len() + self.bytes + frame.after.len();
        let Table { first, count, .. } = *self.table;
        if count * stride as u64 <= FRAMED_BYTES {
            self.table = Arc::new(Table::new(&self.maker, first, count, Some(frame)));
        }
    }

    /// How long every key is.
    pub(crate) fn key_bytes(&self) -> usize {
        self.bytes
    }
}

impl Table {
    fn new(maker: &KeyMaker, first: u64, count: u64, frame: Option<&Frame>) -> Table {
        let (before, after) = frame.map_or((&[][..], &[][..]), |f| (&f.before, f.after));
        let stride = before.len() + maker.key_bytes() + after.len();
        let mut bytes = Vec::with_capacity(count as usize * stride);
        for index in first..first + count {
            bytes.extend_from_slice(before);
            maker.write(index, &mut bytes);
            bytes.extend_from_slice(after);
        }
        Table {
            first,
            count,
            stride,
            offset: before.len(),
            bytes,
        }
    }
}
