//! The clocks of the loop and of the floor.

use rustix::time::{ClockId, clock_gettime};

/// The machine's monotonic clock, the same in all processes.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Unix time in milliseconds, which is what times to live are counted in: to a few of them, which
/// is what a reading that costs next to nothing gives.
#[inline]
pub(crate) fn unix_ms() -> u64 {
    let time = clock_gettime(ClockId::RealtimeCoarse);
    time.tv_sec.max(0) as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// Unix time in whole seconds, which is what times to live are counted in on the wire.
#[inline]
pub(crate) fn unix_s() -> u64 {
    clock_gettime(ClockId::Realtime).tv_sec.max(0) as u64
}
