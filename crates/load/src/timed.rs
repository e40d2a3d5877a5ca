//! The timed loop. There is one, whatever the store, the op and the source of operations are; it
//! is compiled once for each combination of them.

use crate::clock;
use crate::driver::Driver;
use crate::outcome::Tally;
use crate::source::Source;
use crate::usage::{self, Usage};
use crate::worker::WorkerError;

/// What a loop gave.
#[derive(Debug)]
pub(crate) struct Timing {
    pub(crate) started_ns: u64,
    pub(crate) ended_ns: u64,
    pub(crate) before: Usage,
    pub(crate) after: Usage,
    pub(crate) outcomes: Tally,
}

/// Does as many operations as there are latencies, `depth` at a time: all of a batch are sent
/// before its first reply is awaited, and the latency of each is from the sending of its batch to
/// its reply. Of depth 1 the end of one operation is the start of the next.
///
/// Nothing is allocated here, and each operation costs one reading of the clock.
pub(crate) fn run(
    driver: &mut impl Driver,
    source: &mut impl Source,
    depth: usize,
    latencies: &mut [u64],
) -> Result<Timing, WorkerError> {
    let count = latencies.len();
    let mut outcomes = Tally::default();
    let before = usage::now().unwrap_or_default();
    let started_ns = clock::now_ns();
    let mut now_ns = started_ns;
    let mut first = 0;
    while first < count {
        let sent_ns = now_ns;
        let end = count.min(first + depth);
        for i in first..end {
            source.make(i);
            driver.send(source.get(i))?;
        }
        driver.flush();
        for (i, latency) in (first..end).zip(&mut latencies[first..end]) {
            outcomes.add(driver.receive(source.get(i)));
            now_ns = clock::now_ns();
            *latency = now_ns - sent_ns;
        }
        first = end;
    }
    Ok(Timing {
        started_ns,
        ended_ns: now_ns,
        before,
        after: usage::now().unwrap_or_default(),
        outcomes,
    })
}
