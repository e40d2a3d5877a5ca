//! The last words of a server.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

const TAIL_BYTES: u64 = 4096;
const TAIL_LINES: usize = 20;

/// The end of a log file, at most 20 lines; empty when there is none.
pub fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        // The server may go on writing meanwhile.
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines_of_any_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        assert_eq!(tail(&path), "");
        std::fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(tail(&path), "one\ntwo");
        let long: String = (0..10_000).map(|i| format!("line {i}\n")).collect();
        std::fs::write(&path, long).unwrap();
        let lines = tail(&path);
        assert_eq!(lines.lines().count(), 20);
        assert_eq!(lines.lines().last().unwrap(), "line 9999");
        std::fs::write(&path, [0xff; 9000]).unwrap();
        assert!(tail(&path).chars().count() <= 4096);
    }
}
