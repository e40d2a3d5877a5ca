//! A phase that is ready to go, and its latencies afterwards.

use super::WorkerError;
use crate::driver::{Driver, Task};
use crate::source::{InLoop, Prepared};
use crate::timed::{self, Timing};
use roundtrip_model::contract::{PhaseCommand, Purpose};
use roundtrip_model::workload::Generate;
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Preparations send so many at once, where a driver can.
const PREPARE_DEPTH: usize = 64;
/// The deepest pipeline: what a path may ask for.
const DEEPEST: u32 = 1_000_000;

#[derive(Debug)]
pub(super) struct Ready {
    pub(super) command: PhaseCommand,
    source: Source,
    depth: usize,
    latencies: Vec<u64>,
}

#[derive(Debug)]
enum Source {
    Prepared(Prepared),
    InLoop(InLoop),
}

impl Ready {
    /// Reads the stream and makes room for the latencies.
    pub(super) fn new(command: PhaseCommand) -> Result<Ready, WorkerError> {
        if command.count == 0 || !(1..=DEEPEST).contains(&command.depth) {
            return Err(WorkerError::usage(format!(
                "phase `{}` has a count or depth of 0, or a depth above {DEEPEST}",
                command.name
            )));
        }
        let depth = match command.purpose {
            Purpose::Prepare => PREPARE_DEPTH.max(command.depth as usize),
            Purpose::Warmup | Purpose::Measure => command.depth as usize,
        };
        // Read even when it is not used: it bounds the count.
        let prepared = Prepared::read(&command)?;
        let source = match command.generate {
            Generate::Prepared => Source::Prepared(prepared),
            Generate::InLoop => Source::InLoop(InLoop::new(depth)),
        };
        Ok(Ready {
            source,
            depth,
            // Anything but 0, so that the pages are there before the loop.
            latencies: vec![u64::MAX; command.count as usize],
            command,
        })
    }

    /// What the phase is to a driver.
    pub(super) fn task(&self) -> Task {
        Task {
            op: self.command.op,
            ttl_s: self.command.ttl_s,
            prepare: self.command.purpose == Purpose::Prepare,
        }
    }

    /// Runs the loop.
    pub(super) fn run(&mut self, driver: &mut impl Driver) -> Result<Timing, WorkerError> {
        let latencies = &mut self.latencies;
        let timing = match &mut self.source {
            Source::Prepared(source) => timed::run(driver, source, self.depth, latencies),
            Source::InLoop(source) => timed::run(driver, source, self.depth, latencies),
        }?;
        driver.finish()?;
        Ok(timing)
    }

    /// Writes the latencies where they were asked for; says how many.
    pub(super) fn write_latencies(&self) -> Result<u64, WorkerError> {
        let Some(path) = &self.command.latencies else {
            return Ok(0);
        };
        write(path, &self.latencies).map_err(|e| {
            WorkerError::io(format!("the latencies cannot be written: {path}: {e}"))
        })?;
        Ok(self.latencies.len() as u64)
    }
}

fn write(path: &str, latencies: &[u64]) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 18, File::create(path)?);
    for latency in latencies {
        file.write_all(&latency.to_le_bytes())?;
    }
    file.flush()
}
