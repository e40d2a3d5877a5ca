//! What is to be sent on one connection, and how much of it the kernel has taken.

use crate::outcome::ErrorKind;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::os::fd::AsFd;

/// The output of one connection.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    pub(super) bytes: Vec<u8>,
    sent: usize,
}

impl Outgoing {
    /// Whether nothing waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Hands over what the kernel takes without waiting; what it does not take stays.
    #[inline]
    pub(super) fn send(&mut self, socket: impl AsFd) -> Result<(), ErrorKind> {
        while self.sent < self.bytes.len() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&socket, &self.bytes[self.sent..], flags) {
                Ok(bytes) => self.sent += bytes,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(ErrorKind::Connection),
            }
        }
        self.clear();
        Ok(())
    }

    /// Forgets what was not sent.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.sent = 0;
    }
}
