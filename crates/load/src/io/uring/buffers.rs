//! The buffers that the kernel picks from when bytes come: one piece of memory, and a ring that
//! says which parts of it are free.

// The kernel writes into this memory while the program runs, which no safe type can express.
// Receiving into buffers of the kernel's choice is what makes one standing request a connection
// do, in the place of a call for each receive (docs/decisions/0009).
#![allow(unsafe_code)]

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::sync::atomic::{AtomicU16, Ordering};

/// The only group of buffers.
pub(crate) const GROUP: u16 = 0;
/// What a single receive brings at most.
pub(super) const BUFFER_BYTES: usize = 16 << 10;
/// From one buffer to the next: an odd number of cache lines, or all buffers would begin in the
/// same few sets of the caches.
const STRIDE_BYTES: usize = BUFFER_BYTES + 5 * 64;
const PAGE_BYTES: usize = 4096;

/// A ring of buffers, registered with the kernel.
pub(crate) struct Buffers {
    ring: *mut BufRingEntry,
    data: *mut u8,
    count: u16,
    /// How many buffers were ever handed to the kernel, modulo 2^16.
    tail: u16,
}

impl Buffers {
    /// Makes `count` buffers, a power of two, and registers them; the kernel gets the first few.
    pub(super) fn register(
        submitter: &Submitter<'_>,
        count: u16,
        circling: u16,
    ) -> io::Result<Buffers> {
        // SAFETY: neither layout has a size of 0.
        let (ring, data) = unsafe {
            (
                alloc_zeroed(ring_layout(count)),
                alloc_zeroed(data_layout(count)),
            )
        };
        if ring.is_null() || data.is_null() {
            handle_alloc_error(data_layout(count));
        }
        let mut buffers = Buffers {
            ring: ring.cast(),
            data,
            count,
            tail: 0,
        };
        // SAFETY: the ring is page-aligned memory of `count` entries. It is freed by `drop` alone,
        // which the owner lets run only after the ring of requests has no request left.
        unsafe { submitter.register_buf_ring_with_flags(ring as u64, count, GROUP, 0)? };
        (0..circling.min(count)).for_each(|id| buffers.give_back(id));
        buffers.publish();
        Ok(buffers)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u16 {
        self.count
    }

    /// What was received into a buffer.
    #[inline]
    pub(crate) fn received(&self, id: u16, bytes: usize) -> &[u8] {
        let id = usize::from(id & (self.count - 1));
        // SAFETY: the part is inside the data. The kernel told that this buffer is filled and does
        // not touch it until it is given back, which takes `&mut self`, so not while this lives.
        unsafe {
            std::slice::from_raw_parts(self.data.add(id * STRIDE_BYTES), bytes.min(BUFFER_BYTES))
        }
    }

    /// Makes a buffer free again; the kernel learns it from the next [`Buffers::publish`].
    #[inline]
    pub(crate) fn give_back(&mut self, id: u16) {
        let (mask, id) = (self.count - 1, id & (self.count - 1));
        // SAFETY: the entry is inside the ring, and the kernel reads none behind the published
        // tail. Its fields are written one by one: the first entry's last field is the tail.
        unsafe {
            let entry = &mut *self.ring.add(usize::from(self.tail & mask));
            entry.set_addr(self.data.add(usize::from(id) * STRIDE_BYTES) as u64);
            entry.set_len(BUFFER_BYTES as u32);
            entry.set_bid(id);
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Tells the kernel of the buffers that were given back.
    #[inline]
    pub(crate) fn publish(&mut self) {
        // SAFETY: the tail is inside the ring's first entry, aligned, and only read by the kernel.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(self.ring).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }
}

// SAFETY: the memory belongs to this value alone, besides the kernel, which does not mind which
// thread it is told from.
unsafe impl Send for Buffers {}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: both were allocated with these layouts.
        unsafe {
            dealloc(self.ring.cast(), ring_layout(self.count));
            dealloc(self.data, data_layout(self.count));
        }
    }
}

fn layout(bytes: usize) -> Layout {
    // Sizes are at most 2^15 times 16 KiB, and the alignment is a power of two.
    Layout::from_size_align(bytes.max(PAGE_BYTES), PAGE_BYTES).unwrap_or(Layout::new::<u128>())
}

fn ring_layout(count: u16) -> Layout {
    layout(usize::from(count) * size_of::<BufRingEntry>())
}

fn data_layout(count: u16) -> Layout {
    layout(usize::from(count) * STRIDE_BYTES)
}
