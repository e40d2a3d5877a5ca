//! No connection: what is put in comes back at the next wait. So a store inside this process,
//! which has done an op when its request is made, goes through the same loop as a server.

use super::{Io, Sink};
use crate::clock;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// One slot that gives back what it gets.
#[derive(Debug, Default)]
pub(crate) struct Loopback {
    output: Vec<u8>,
    input: Vec<u8>,
}

impl Io for Loopback {
    fn name(&self) -> &'static str {
        "none"
    }

    fn add(&mut self, _: OwnedFd) -> io::Result<usize> {
        Err(io::Error::other("a store in this process has no socket"))
    }

    fn replace(&mut self, _: usize, _: OwnedFd) -> io::Result<()> {
        Err(io::Error::other("a store in this process has no socket"))
    }

    #[inline]
    fn output(&mut self, _: usize) -> &mut Vec<u8> {
        &mut self.output
    }

    #[inline]
    fn flush(&mut self, _: usize) {}

    #[inline]
    fn wait(&mut self, until_ns: Option<u64>, sink: &mut impl Sink) -> io::Result<()> {
        let at_ns = clock::now_ns();
        if self.output.is_empty() {
            let left_ns = until_ns.unwrap_or(0).saturating_sub(at_ns);
            if left_ns > 0 {
                std::thread::sleep(Duration::from_nanos(left_ns));
            }
            return Ok(());
        }
        std::mem::swap(&mut self.output, &mut self.input);
        // What is not understood is counted by the sink; there is no connection to give up.
        let _ = sink.arrived(0, &self.input, at_ns, &mut self.output);
        self.input.clear();
        Ok(())
    }
}
