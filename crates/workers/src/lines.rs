//! Lines of a worker's output, read by a thread of its own so that each can have a deadline.

use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The longest line of the contract.
pub(crate) const MAX_LINE_BYTES: usize = 1 << 20;
/// Lines that may wait to be taken. A worker that says more than it was asked is held up.
const WAITING_LINES: usize = 4;

/// How often a wish to stop is looked for.
const LOOK_FOR_STOP: Duration = Duration::from_millis(50);

/// What came instead of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoLine {
    /// Nothing before the deadline.
    Late,
    /// The person wants to stop.
    Stopped,
    /// The output has ended.
    Ended,
    /// A line that is too long: its start.
    TooLong(String),
}

/// The lines of an output.
#[derive(Debug)]
pub(crate) struct Lines(Receiver<Result<String, NoLine>>);

impl Lines {
    /// Starts to read. The thread ends with the output, or when the lines are dropped.
    pub(crate) fn of(output: impl Read + Send + 'static) -> Lines {
        let (sender, receiver) = sync_channel(WAITING_LINES);
        thread::spawn(move || read(BufReader::new(output), &sender));
        Lines(receiver)
    }

    /// The next line, without its end; nothing more once `stop` is set.
    pub(crate) fn next_unless(
        &self,
        deadline: Duration,
        stop: &AtomicBool,
    ) -> Result<String, NoLine> {
        let start = Instant::now();
        loop {
            let left = deadline.saturating_sub(start.elapsed());
            // A line wakes this at once; only a wish to stop waits for the end of a look.
            match self.0.recv_timeout(left.min(LOOK_FOR_STOP)) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Disconnected) => return Err(NoLine::Ended),
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => {
                    return Err(NoLine::Stopped);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(NoLine::Late),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    #[cfg(test)]
    fn next(&self, deadline: Duration) -> Result<String, NoLine> {
        self.next_unless(deadline, &AtomicBool::new(false))
    }
}

fn read(mut output: impl BufRead, sender: &SyncSender<Result<String, NoLine>>) {
    loop {
        let mut line = Vec::new();
        let limit = MAX_LINE_BYTES as u64 + 1;
        match output.by_ref().take(limit).read_until(b'\n', &mut line) {
            // An output that cannot be read is one that has ended.
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = line.last() == Some(&b'\n');
        if !whole && line.len() > MAX_LINE_BYTES {
            let start = String::from_utf8_lossy(&line[..1024]).into_owned();
            let _ = sender.send(Err(NoLine::TooLong(start)));
            return;
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if sender.send(Ok(text)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    const SOON: Duration = Duration::from_secs(60);

    #[test]
    fn lines_come_in_order_and_then_the_end() {
        let lines = Lines::of(Cursor::new(b"a\nb\r\n\nlast"));
        for expected in ["a", "b", "", "last"] {
            assert_eq!(lines.next(SOON).unwrap(), expected);
        }
        assert_eq!(lines.next(SOON), Err(NoLine::Ended));
    }

    #[test]
    fn the_longest_line_passes_and_a_longer_one_does_not() {
        let mut text = vec![b'x'; MAX_LINE_BYTES];
        text.push(b'\n');
        let line = Lines::of(Cursor::new(text.clone())).next(SOON).unwrap();
        assert_eq!(line.len(), MAX_LINE_BYTES);
        text.insert(0, b'y');
        let start = format!("y{}", "x".repeat(1023));
        assert_eq!(
            Lines::of(Cursor::new(text)).next(SOON),
            Err(NoLine::TooLong(start))
        );
    }

    #[test]
    fn an_endless_line_takes_no_endless_memory() {
        let lines = Lines::of(std::io::repeat(b'x'));
        assert!(matches!(lines.next(SOON), Err(NoLine::TooLong(_))));
        assert_eq!(lines.next(SOON), Err(NoLine::Ended));
    }
}
