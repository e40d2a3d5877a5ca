//! What the machine did while a phase ran: the processors that the clients and the servers were
//! kept on, who else used them, and what took time away from all. METHOD.md, points 7 and 8.

use serde::{Deserialize, Serialize};

/// The kernel counts idle time in units of this: a shorter stretch cannot be judged by it.
pub const TICK_NS: u64 = 10_000_000;

/// A summary of what was read from the kernel between the start and the end of a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineState {
    /// Readings, the first and the last included.
    pub readings: u32,
    /// Between the first and the last reading.
    pub elapsed_ns: u64,
    /// The clients' processors.
    pub clients: ProcessorTime,
    /// The servers' processors: the same ones where they share them.
    pub servers: ProcessorTime,
    /// CPU time of the client processes, read from outside: what they say of themselves is held
    /// against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients_cpu_ns: Option<u64>,
    /// How long clients were ready to run and had no processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients_queued_ns: Option<u64>,
    /// How long servers were ready to run and had no processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers_queued_ns: Option<u64>,
    /// The most threads that were ready to run at any reading, on the whole machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable_max: Option<u32>,
    /// Processors that Roundtrip may use by its affinity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available_cpus: Option<u32>,
    /// Processors' worth of time that its control group may use, where there is a quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_cpus: Option<f64>,
    /// How long the control group was held back for using up its quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_ns: Option<u64>,
    /// Periods in which it was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_periods: Option<u64>,
    /// The frequency governor of the clients' first processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// The lowest and the highest frequency that was read there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_khz: Option<(u64, u64)>,
    /// Pages swapped in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_pages: Option<u64>,
    /// How long any process was held up for want of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_stalled_ns: Option<u64>,
}

/// Where the time of some processors went between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorTime {
    /// Which processors.
    pub cpus: Vec<u32>,
    /// Their idle time together, as the kernel counted it.
    pub idle_ns: Option<u64>,
    /// What the hypervisor took away.
    pub stolen_ns: Option<u64>,
    /// CPU time of the clients, servers and Roundtrip itself there, each by its own clock.
    pub ours_ns: Option<u64>,
}

impl ProcessorTime {
    /// What idle, stolen and our time sum to, as a share of the time that there was: 1 where all
    /// of it is accounted for, less where others used the processors, more where the clocks
    /// disagree. `None` for a stretch that is too short for the kernel's ticks.
    pub fn accounted_share(&self, elapsed_ns: u64) -> Option<f64> {
        let there = self.there_ns(elapsed_ns)?;
        let known = self.idle_ns? as f64 + self.stolen_ns? as f64 + self.ours_ns? as f64;
        Some(known / there)
    }

    /// The share that others used: programs that are not ours, and interrupts.
    pub fn other_share(&self, elapsed_ns: u64) -> Option<f64> {
        self.accounted_share(elapsed_ns)
            .map(|share| (1.0 - share).max(0.0))
    }

    /// The share that the hypervisor took away.
    pub fn stolen_share(&self, elapsed_ns: u64) -> Option<f64> {
        Some(self.stolen_ns? as f64 / self.there_ns(elapsed_ns)?)
    }

    /// The time that there was; `None` where a tick is more than a hundredth part of it.
    fn there_ns(&self, elapsed_ns: u64) -> Option<f64> {
        let cpus = self.cpus.len() as u64;
        (cpus > 0 && elapsed_ns >= SHORTEST_NS).then_some((elapsed_ns * cpus) as f64)
    }
}

/// The shortest phase whose processors are judged: an idle time that is off by one tick at each
/// end is then off by less than 3% of the whole.
pub const SHORTEST_NS: u64 = 70 * TICK_NS;

#[cfg(test)]
mod tests {
    use super::*;

    fn time(idle_ms: u64, stolen_ms: u64, ours_ms: u64) -> ProcessorTime {
        ProcessorTime {
            cpus: vec![1],
            idle_ns: Some(idle_ms * 1_000_000),
            stolen_ns: Some(stolen_ms * 1_000_000),
            ours_ns: Some(ours_ms * 1_000_000),
        }
    }

    #[test]
    fn what_is_not_idle_stolen_or_ours_is_others() {
        let second = 1_000_000_000;
        assert_eq!(time(600, 50, 250).accounted_share(second), Some(0.9));
        let other = time(600, 50, 250).other_share(second).unwrap();
        assert!((other - 0.1).abs() < 1e-12);
        assert_eq!(time(600, 50, 250).stolen_share(second), Some(0.05));
        assert_eq!(time(700, 0, 350).other_share(second), Some(0.0));
    }

    #[test]
    fn what_is_not_known_or_too_short_is_not_judged() {
        let mut unknown = time(600, 0, 400);
        unknown.idle_ns = None;
        assert_eq!(unknown.accounted_share(1_000_000_000), None);
        assert_eq!(time(60, 0, 40).accounted_share(100_000_000), None);
        assert_eq!(ProcessorTime::default().stolen_share(u64::MAX / 2), None);
    }
}
