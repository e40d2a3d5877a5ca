//! The file that carries the operations of a phase to a worker.

use roundtrip_model::stream::Stream;
use roundtrip_model::{Kind, Problem, Result};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER_BYTES: usize = 1 << 18;

/// A stream that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFile {
    /// Where it is.
    pub path: PathBuf,
    /// How many operations it holds.
    pub count: u64,
    /// The CRC-32 of the file: equal for all variants, which shows that they had the same work.
    pub hash: u32,
}

/// Writes the operations of a stream's part to a file, one after another: the memory it takes
/// does not grow with the count.
pub fn write_stream(path: &Path, stream: &Stream) -> Result<StreamFile> {
    write(path, stream).map_err(|e| {
        let why = match e.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full".into(),
            _ => e.to_string(),
        };
        let what = format!("{} operations cannot be written: {why}", stream.len());
        Problem::new(Kind::Failed, what)
            .at(path.display().to_string())
            .next("free some space, point TMPDIR at another directory, or ask for fewer operations")
    })
}

fn write(path: &Path, stream: &Stream) -> io::Result<StreamFile> {
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, File::create(path)?);
    let mut hash = crc32fast::Hasher::new();
    let header = stream.header();
    hash.update(&header);
    file.write_all(&header)?;
    stream.each_record(|record| {
        hash.update(record);
        file.write_all(record)
    })?;
    file.flush()?;
    Ok(StreamFile {
        path: path.to_owned(),
        count: stream.len(),
        hash: hash.finalize(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use roundtrip_model::stream::{HEADER_BYTES, decode_header, decode_operation};
    use roundtrip_model::workload::{Distribution, KeyRecipe, Keys, ValueRecipe, Values};

    fn stream(seed: u64) -> Stream {
        Stream {
            op: roundtrip_model::Op::Get,
            seed,
            keys: Keys {
                recipe: KeyRecipe::Hex,
                bytes: 24,
                distribution: Distribution::Uniform,
                count: None,
            },
            values: Values::of(ValueRecipe::Bytes, 100),
            mix: Vec::new(),
            scan_keys: 0,
            keys_per_op: 1,
            add: 0,
            records_before: 0,
            insert_first: 1 << 42,
            prefix: "p:".to_owned(),
            count: 5000,
            first: 10,
            keyspace: 300,
            hit_ratio: 0.9,
            cold_first: 1 << 32,
            part: (1, 2),
        }
    }

    #[test]
    fn the_file_holds_the_operations_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stream");
        let written = write_stream(&path, &stream(7)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(written.count, 2500);
        assert_eq!(written.hash, crc32fast::hash(&bytes));
        assert_eq!(decode_header(&bytes).unwrap(), 2500);
        let mut at = HEADER_BYTES;
        for expected in stream(7).operations() {
            let (operation, taken) = decode_operation(&bytes[at..]).unwrap();
            assert_eq!(operation, expected);
            at += taken;
        }
        assert_eq!(at, bytes.len());
    }

    #[test]
    fn the_hash_is_of_the_work() {
        let dir = tempfile::tempdir().unwrap();
        let hash = |name: &str, seed| {
            let path = dir.path().join(name);
            write_stream(&path, &stream(seed)).unwrap().hash
        };
        assert_eq!(hash("a", 7), hash("b", 7));
        assert_ne!(hash("c", 7), hash("d", 8));
    }

    #[test]
    fn a_full_disk_is_said_to_be_full() {
        // Every write to it fails for want of space.
        let problem = write_stream(Path::new("/dev/full"), &stream(7)).unwrap_err();
        assert_eq!(problem.kind, Kind::Failed);
        assert_eq!(
            problem.what,
            "2500 operations cannot be written: the disk is full"
        );
        assert_eq!(problem.place.unwrap(), "/dev/full");
    }
}
