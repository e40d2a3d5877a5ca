//! Making a ring, and who listens to it when the loop does not.

use super::buffers::Buffers;
use crate::io::Sink;
use crate::outcome::ErrorKind;
use io_uring::IoUring;
use std::io;

/// Requests that may be queued before the kernel is told of them. This ring and the next are gone
/// through in a circle, and so are no larger than is useful.
const QUEUE: std::ops::RangeInclusive<usize> = 8..=1024;
/// Completions that fit: each connection's receive and send, and some more.
const COMPLETIONS: std::ops::RangeInclusive<usize> = 64..=32 << 10;
/// Fewer buffers stay in the processor's caches; more make it rarer that none is free.
const BUFFERS: std::ops::RangeInclusive<usize> = 64..=4096;

/// A ring of this thread's own, with its buffers, of which the kernel has so many at once.
pub(crate) fn own_ring(connections: usize, circling: u16) -> io::Result<(IoUring, Buffers)> {
    let ring = ring(connections)?;
    if !ring.params().is_feature_skip_cqe_on_success() || !ring.params().is_feature_ext_arg() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let count = (connections * 2)
        .clamp(*BUFFERS.start(), *BUFFERS.end())
        .next_power_of_two();
    let buffers = Buffers::register(&ring.submitter(), count as u16, circling)?;
    Ok((ring, buffers))
}

/// A ring, with as much as the kernel has of what makes it cheap for a thread alone.
fn ring(connections: usize) -> io::Result<IoUring> {
    let size = |each: usize, limits: std::ops::RangeInclusive<usize>| {
        (connections * each)
            .clamp(*limits.start(), *limits.end())
            .next_power_of_two() as u32
    };
    let (queue, completions) = (size(1, QUEUE), size(4, COMPLETIONS));
    let alone = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_coop_taskrun()
        .setup_submit_all()
        .setup_cqsize(completions)
        .build(queue);
    alone.or_else(|_| IoUring::builder().setup_cqsize(completions).build(queue))
}

/// Reasons to come back from the kernel that are no failures.
pub(crate) fn passing(entered: io::Result<usize>) -> io::Result<()> {
    match entered.as_ref().err().and_then(io::Error::raw_os_error) {
        Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY) => Ok(()),
        _ => entered.map(drop),
    }
}

/// Leaves what comes to be read later, and remembers what was lost.
pub(super) struct Keeper(pub(super) Vec<(usize, ErrorKind)>);

impl Sink for Keeper {
    fn arrived(&mut self, _: usize, _: &[u8], _: u64, _: &mut Vec<u8>) -> Result<usize, ErrorKind> {
        Ok(0)
    }

    fn lost(&mut self, slot: usize, kind: ErrorKind) {
        self.0.push((slot, kind));
    }
}

/// Counts what comes.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) bytes: usize,
}

impl Sink for Heard {
    fn arrived(
        &mut self,
        _: usize,
        bytes: &[u8],
        _: u64,
        _: &mut Vec<u8>,
    ) -> Result<usize, ErrorKind> {
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn lost(&mut self, _: usize, _: ErrorKind) {}
}
