//! The keys and values of a phase: keys from a table made beforehand while it is small, values
//! from the pool of their maker.

use super::ahead::Ahead;
use roundtrip_model::Op;
use roundtrip_model::stream::{KeyMaker, Stream, ValueMaker};
use roundtrip_model::workload::{Distribution, KeyRecipe, Keys, ValueRecipe, Values};
use std::sync::Arc;

/// The largest table of keys. Of more keys each is made when its op is.
const TABLE_BYTES: u64 = 64 << 20;

/// Keys and values.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    pub(crate) keys: KeyText,
    pub(crate) values: ValueText,
    pub(super) ahead: Ahead,
}

/// Values by the index of their key.
#[derive(Clone, Debug)]
pub(crate) struct ValueText {
    maker: Arc<ValueMaker>,
    /// How much was added to the number of a key before the op at hand.
    pub(crate) added: i64,
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

/// Keys `first ..`, one after another.
#[derive(Debug, Default)]
struct Table {
    first: u64,
    count: u64,
    keys: Vec<u8>,
}

impl Texts {
    /// The texts of a stream.
    pub(crate) fn of(stream: &Stream) -> Texts {
        let maker = stream.key_maker();
        let bytes = maker.key_bytes() as u64;
        let table = match stream.keyspace.checked_mul(bytes) {
            Some(size) if size <= TABLE_BYTES => Table::new(&maker, stream.first, stream.keyspace),
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
            values: ValueText {
                maker: Arc::new(values),
                added: 0,
            },
            ahead: Ahead::default(),
        }
    }
}

impl Texts {
    /// The whole request of an op, where it was made before the loop.
    #[inline]
    pub(crate) fn request(&self, op: Op, index: u64) -> Option<&[u8]> {
        self.ahead.get(op, index)
    }
}

impl ValueText {
    /// How long the value of the op at hand is.
    #[inline]
    pub(crate) fn value_bytes(&self, index: u64) -> usize {
        self.maker.sum_bytes(index, self.added)
    }

    /// Appends it.
    #[inline]
    pub(crate) fn write(&self, index: u64, out: &mut Vec<u8>) {
        self.maker.write_sum(index, self.added, out);
    }

    /// Whether these bytes are it.
    #[inline]
    pub(crate) fn is(&self, index: u64, bytes: &[u8]) -> bool {
        self.maker.is_sum(index, self.added, bytes)
    }
}

impl KeyText {
    /// Key `index`.
    #[inline]
    pub(crate) fn get(&mut self, index: u64) -> &[u8] {
        let offset = index.wrapping_sub(self.table.first);
        if offset < self.table.count {
            let start = offset as usize * self.bytes;
            return &self.table.keys[start..start + self.bytes];
        }
        if self.made_index != Some(index) {
            self.made.clear();
            self.maker.write(index, &mut self.made);
            self.made_index = Some(index);
        }
        &self.made
    }

    /// The keys of the table: the first one, and how many.
    pub(super) fn there(&self) -> (u64, u64) {
        (self.table.first, self.table.count)
    }
}

impl Table {
    fn new(maker: &KeyMaker, first: u64, count: u64) -> Table {
        let mut keys = Vec::with_capacity(count as usize * maker.key_bytes());
        (first..first + count).for_each(|index| maker.write(index, &mut keys));
        // Numbers differ in length: each is made when its op is.
        match keys.len() == count as usize * maker.key_bytes() {
            true => Table { first, count, keys },
            false => Table::default(),
        }
    }
}
