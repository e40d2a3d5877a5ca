//! Counters on the way: a thread that asks now and then on a connection of its own. It never
//! fails a run: a sample that cannot be had is left out.

use crate::manifest::Manifest;
use crate::probe::{Asked, Probe, probe};
use crate::store::witnesses;
use roundtrip_model::record::CounterSample;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most samples that are kept. When there are as many, every second one is dropped, and the
/// interval doubles: the whole phase stays covered.
const MAX_SAMPLES: usize = 1024;
/// The shortest interval: a sample costs a server some tens of microseconds.
const MIN_INTERVAL: Duration = Duration::from_millis(10);
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// Samples the witness counters of a store until it is stopped.
pub struct Sampler {
    stop: Sender<()>,
    thread: Option<JoinHandle<Vec<CounterSample>>>,
}

impl Sampler {
    /// Starts it; `at_ms` of its samples counts from here. It gives no samples of a store whose
    /// counting would cost more than a moment.
    pub fn start(manifest: &Manifest, asked: &Asked, interval: Duration) -> Sampler {
        let (stop, stopped) = channel();
        let asking = probe(manifest.protocol, asked, ANSWER_WITHIN);
        if !asking.is_cheap() {
            return Sampler { stop, thread: None };
        }
        let sampling = Sampling {
            manifest: manifest.clone(),
            asking,
            started: Instant::now(),
            interval: interval.max(MIN_INTERVAL),
            samples: Vec::new(),
        };
        let thread = thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || sampling.until(&stopped));
        Sampler {
            stop,
            thread: thread.ok(),
        }
    }

    /// Ends it and gives its samples, in order.
    pub fn stop(self) -> Vec<CounterSample> {
        drop(self.stop);
        self.thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }
}

struct Sampling {
    manifest: Manifest,
    asking: Box<dyn Probe>,
    started: Instant,
    interval: Duration,
    samples: Vec<CounterSample>,
}

impl Sampling {
    fn until(mut self, stopped: &Receiver<()>) -> Vec<CounterSample> {
        while stopped.recv_timeout(self.interval) == Err(RecvTimeoutError::Timeout) {
            if let Ok(counters) = self.asking.counters() {
                self.samples.push(CounterSample {
                    at_ms: self.started.elapsed().as_millis() as u64,
                    counters: witnesses(&self.manifest, counters),
                });
            }
            if self.samples.len() >= MAX_SAMPLES {
                halve(&mut self.samples);
                self.interval *= 2;
            }
        }
        self.samples
    }
}

/// Drops every second one, so that the last one stays.
fn halve<T>(all: &mut Vec<T>) {
    let mut keep = all.len() % 2 == 1;
    all.retain(|_| {
        keep = !keep;
        !keep
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_keeps_the_last() {
        for length in 0..9usize {
            let mut all: Vec<usize> = (0..length).collect();
            halve(&mut all);
            assert_eq!(all.len(), length.div_ceil(2));
            assert_eq!(all.last().copied(), length.checked_sub(1));
        }
    }
}
