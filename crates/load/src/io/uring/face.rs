//! What the loop sees of a ring: taken up by a thread, used by it, laid down, ended.

// The buffers may go only when the kernel holds no request that could fill one; each place says why.
#![allow(unsafe_code)]

use super::ring::{Heard, Keeper, own_ring};
use super::slot::Slot;
use super::{TICK_TAG, Uring};
use crate::io::{Io, Sink};
use crate::outcome::ErrorKind;
use io_uring::opcode;
use io_uring::types::CancelBuilder;
use std::fmt;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;

impl Io for Uring {
    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn take_up(&mut self) -> io::Result<()> {
        if self.taken_up {
            self.lay_down();
        }
        let (ring, buffers) = own_ring(self.slots.len(), u16::MAX)?;
        // The other ring was laid down, or never used: nothing of it is with the kernel.
        self.ring = ring;
        if self.standing == 0 {
            // SAFETY: so no request can pick one of these buffers, and they are replaced here.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
        self.buffers = ManuallyDrop::new(buffers);
        (self.standing, self.ticking, self.taken_up) = (0, false, true);
        for slot in 0..self.slots.len() {
            if !self.slots[slot].lost {
                self.arm(slot);
                self.depart(slot);
            }
        }
        Ok(())
    }

    fn lay_down(&mut self) {
        let any = opcode::AsyncCancel2::new(CancelBuilder::any()).build();
        self.push(&any.user_data(TICK_TAG.pack()));
        // Nothing is asked for anew.
        self.taken_up = false;
        let mut keeper = Keeper(std::mem::take(&mut self.untold));
        // A receive that could not be taken back would be a second one beside the next thread's.
        if self.settle(&mut keeper).is_err() {
            for slot in 0..self.slots.len() {
                self.lose(slot, ErrorKind::Connection, &mut keeper);
            }
        }
        self.untold = keeper.0;
    }

    fn add(&mut self, socket: OwnedFd) -> io::Result<usize> {
        self.slots.push(Slot::new(socket));
        let slot = self.slots.len() - 1;
        if self.taken_up {
            self.arm(slot);
        }
        Ok(slot)
    }

    fn replace(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()> {
        self.hand_over()?;
        if !self.slots[slot].lost {
            self.end(slot);
        }
        self.slots[slot].begin_life(socket);
        self.untold.retain(|(untold, _)| *untold != slot);
        if self.taken_up {
            self.arm(slot);
        }
        Ok(())
    }

    #[inline]
    fn output(&mut self, slot: usize) -> &mut Vec<u8> {
        &mut self.slots[slot].output
    }

    #[inline]
    fn flush(&mut self, slot: usize) {
        self.depart(slot);
    }

    fn wait(&mut self, until_ns: Option<u64>, sink: &mut impl Sink) -> io::Result<()> {
        for (slot, kind) in self.untold.drain(..) {
            sink.lost(slot, kind);
        }
        self.enter(until_ns)?;
        self.look(sink)?;
        self.over();
        let mut eager = std::mem::take(&mut self.eager);
        eager.drain(..).for_each(|slot| self.depart(slot));
        self.eager = eager;
        let mut unarmed = std::mem::take(&mut self.unarmed);
        for slot in unarmed.drain(..) {
            if self.taken_up && !self.slots[slot].lost {
                self.arm(slot);
            }
        }
        self.unarmed = unarmed;
        Ok(())
    }
}

impl fmt::Debug for Uring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uring")
            .field("slots", &self.slots.len())
            .field("standing", &self.standing)
            .finish_non_exhaustive()
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        let _ = self.hand_over();
        (0..self.slots.len()).for_each(|slot| self.end(slot));
        // Memory that the kernel may still write to is left to it for ever.
        if self.settle(&mut Heard::default()).is_ok() {
            // SAFETY: nothing is with the kernel, and the buffers are not used after this.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        } else {
            std::mem::forget(std::mem::take(&mut self.held));
        }
    }
}
