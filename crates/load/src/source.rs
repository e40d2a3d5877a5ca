//! Where the operations of a phase come from: decoded before the loop, or made in it.

use crate::worker::WorkerError;
use md5::{Digest, Md5};
use roundtrip_model::contract::PhaseCommand;
use roundtrip_model::stream::{self, decimal};
use roundtrip_wire::memcached::key_is_valid;

/// One operation as the loop sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation<'a> {
    pub(crate) key: &'a [u8],
    /// What is written, or what a read must give.
    pub(crate) value: &'a [u8],
}

/// The operations of a phase, in order.
pub(crate) trait Source {
    /// Makes operation `i`, before it is asked for.
    fn make(&mut self, i: usize);

    /// Operation `i`, of those made last: as many as the depth.
    fn get(&self, i: usize) -> Operation<'_>;
}

/// Operations from the stream file, which is kept as it is, and where each one stands in it.
#[derive(Debug)]
pub(crate) struct Prepared {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    value_bytes: u32,
    key_bytes: u16,
}

impl Prepared {
    /// Reads and checks the stream file of a phase.
    pub(crate) fn read(phase: &PhaseCommand) -> Result<Prepared, WorkerError> {
        let bytes = std::fs::read(&phase.stream)
            .map_err(|e| WorkerError::io(format!("{}: {e}", phase.stream)))?;
        let bad = |what: String| WorkerError::protocol(format!("{}: {what}", phase.stream));
        let count = stream::decode_header(&bytes).map_err(|p| bad(p.what))?;
        if count != phase.count {
            return Err(bad(format!(
                "it holds {count} operations where the phase has {}",
                phase.count
            )));
        }
        let mut places = Vec::new();
        let mut at = stream::HEADER_BYTES;
        for i in 0..count {
            let (operation, length) =
                stream::decode_operation(&bytes[at..]).map_err(|p| bad(p.what))?;
            if !key_is_valid(&operation.key) {
                return Err(bad(format!("operation {i} has a key that cannot be sent")));
            }
            if operation.value.len() > stream::MAX_VALUE_BYTES as usize {
                return Err(bad(format!("operation {i} has a value that is too long")));
            }
            places.push(Place {
                at: (at + stream::RECORD_BYTES) as u64,
                key_bytes: operation.key.len() as u16,
                value_bytes: operation.value.len() as u32,
            });
            at += length;
        }
        Ok(Prepared { bytes, places })
    }
}

impl Source for Prepared {
    #[inline]
    fn make(&mut self, _: usize) {}

    #[inline]
    fn get(&self, i: usize) -> Operation<'_> {
        let place = self.places[i];
        let bytes = &self.bytes[place.at as usize..];
        let (key, bytes) = bytes.split_at(usize::from(place.key_bytes));
        Operation {
            key,
            value: &bytes[..place.value_bytes as usize],
        }
    }
}

/// Operation `i` is the key `md5(i)` and the value `crc32(i)`, as study 1 published them.
#[derive(Debug)]
pub(crate) struct InLoop(Vec<Made>);

#[derive(Clone, Copy, Debug)]
struct Made {
    key: [u8; 32],
    value: [u8; 20],
    value_start: usize,
}

impl InLoop {
    /// Room for as many operations as are in flight.
    pub(crate) fn new(depth: usize) -> InLoop {
        let nothing = Made {
            key: [0; 32],
            value: [0; 20],
            value_start: 0,
        };
        InLoop(vec![nothing; depth])
    }
}

impl Source for InLoop {
    #[inline]
    fn make(&mut self, i: usize) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let (text, start) = decimal(i as u64);
        let slot = i % self.0.len();
        let made = &mut self.0[slot];
        for (pair, byte) in made
            .key
            .chunks_exact_mut(2)
            .zip(Md5::digest(&text[start..]))
        {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        (made.value, made.value_start) = decimal(crc32fast::hash(&text[start..]).into());
    }

    #[inline]
    fn get(&self, i: usize) -> Operation<'_> {
        let made = &self.0[i % self.0.len()];
        Operation {
            key: &made.key,
            value: &made.value[made.value_start..],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtrip_model::workload::{Distribution, KeyRecipe, Keys, ValueRecipe, Values};

    #[test]
    fn what_is_made_in_the_loop_is_what_the_stream_would_have_held() {
        let keys = Keys {
            recipe: KeyRecipe::Md5,
            bytes: 32,
            distribution: Distribution::Sequential,
            count: None,
        };
        let values = Values::of(ValueRecipe::Crc32, 0);
        let key_maker = stream::KeyMaker::new(0, "", keys);
        let value_maker = stream::ValueMaker::new(0, values);
        let mut source = InLoop::new(3);
        for i in 0..1000 {
            source.make(i);
            let made = source.get(i);
            assert_eq!(made.key, key_maker.make(i as u64));
            assert_eq!(made.value, value_maker.make(i as u64));
        }
        assert_eq!(source.get(998).key, key_maker.make(998));
    }
}
