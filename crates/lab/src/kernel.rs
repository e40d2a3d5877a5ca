//! What the kernel says of processors, processes and their control group: readers of `/proc` and
//! `/sys`. What cannot be read is absent, never guessed.

use roundtrip_model::machine::TICK_NS;
use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};

/// Ticks of one processor since the machine started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Idle, waiting for a disk or not.
    pub idle: u64,
    /// Taken away by the hypervisor.
    pub stolen: u64,
}

/// Processors by number, and how many threads are ready to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Ticks by processor.
    pub cpus: BTreeMap<u32, Ticks>,
    /// Threads ready to run.
    pub runnable: Option<u32>,
}

impl Stat {
    /// Reads `/proc/stat`.
    pub fn read() -> Option<Stat> {
        Stat::parse(&read_to_string("/proc/stat").ok()?)
    }

    fn parse(text: &str) -> Option<Stat> {
        let mut stat = Stat::default();
        for line in text.lines() {
            let Some((name, rest)) = line.split_once(' ') else {
                continue;
            };
            if name == "procs_running" {
                stat.runnable = rest.trim().parse().ok();
            }
            // The line `cpu` without a number is the sum of all.
            let number = name.strip_prefix("cpu").and_then(|n| n.parse().ok());
            if let Some((number, ticks)) = number.zip(Stat::ticks(rest)) {
                stat.cpus.insert(number, ticks);
            }
        }
        (!stat.cpus.is_empty()).then_some(stat)
    }

    /// user, nice, system, idle, iowait, irq, softirq, steal. Idle time is counted exactly, by the
    /// clock; busy time by who is met at a tick, which is why it is not taken from here.
    fn ticks(fields: &str) -> Option<Ticks> {
        let numbers: Vec<u64> = fields
            .split_whitespace()
            .take(8)
            .map_while(|field| field.parse().ok())
            .collect();
        Some(Ticks {
            idle: numbers.get(3)?.checked_add(*numbers.get(4)?)?,
            stolen: *numbers.get(7)?,
        })
    }

    /// Idle and stolen time of some processors together since an earlier reading.
    pub fn since(&self, then: &Stat, cpus: &[u32]) -> Option<(u64, u64)> {
        let (mut idle, mut stolen) = (0, 0);
        for cpu in cpus {
            let (now, then) = (self.cpus.get(cpu)?, then.cpus.get(cpu)?);
            idle += now.idle.checked_sub(then.idle)?;
            stolen += now.stolen.checked_sub(then.stolen)?;
        }
        Some((idle * TICK_NS, stolen * TICK_NS))
    }
}

/// How long the threads of a process were ready to run and had no processor, so far.
pub fn queued_ns(pid: u32) -> Option<u64> {
    let threads = read_dir(format!("/proc/{pid}/task")).ok()?;
    threads
        .flatten()
        .map(|thread| queued_of(&read_to_string(thread.path().join("schedstat")).ok()?))
        .sum()
}

/// Time on a processor, time in the queue, times on a processor.
fn queued_of(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

/// What a control group was held back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttle {
    /// Periods.
    pub periods: u64,
    /// Time.
    pub ns: u64,
    /// Processors' worth of time that it may use.
    pub quota_cpus: Option<f64>,
}

/// The tightest of the control groups that this process is in, by how much they were held back.
pub fn throttle() -> Option<Throttle> {
    let groups = read_to_string("/proc/self/cgroup").ok()?;
    groups
        .lines()
        .flat_map(folders)
        .filter_map(|folder| throttle_in(&folder))
        .max_by_key(|throttle| (throttle.ns, throttle.quota_cpus.is_some()))
}

/// The folders of a line `ID:CONTROLLERS:PATH` that may have processor counters: version 1 has a
/// tree for each controller, version 2 (no controllers) one for all.
fn folders(line: &str) -> Vec<String> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
        return Vec::new();
    };
    let path = path.trim_end_matches('/');
    match controllers {
        "" => ["", "/unified"]
            .map(|tree| format!("/sys/fs/cgroup{tree}{path}"))
            .into(),
        names if names.split(',').any(|name| name == "cpu") => ["cpu", names]
            .map(|tree| format!("/sys/fs/cgroup/{tree}{path}"))
            .into(),
        _ => Vec::new(),
    }
}

fn throttle_in(folder: &str) -> Option<Throttle> {
    let read = |name: &str| read_to_string(format!("{folder}/{name}")).ok();
    let (periods, ns) = throttled(&read("cpu.stat")?)?;
    let quota_cpus = read("cpu.max").and_then(|text| quota(&text)).or_else(|| {
        let old = format!(
            "{} {}",
            read("cpu.cfs_quota_us")?,
            read("cpu.cfs_period_us")?
        );
        quota(&old)
    });
    Some(Throttle {
        periods,
        ns,
        quota_cpus,
    })
}

/// Periods and time; version 1 counts nanoseconds, version 2 microseconds.
fn throttled(stat: &str) -> Option<(u64, u64)> {
    let field = |name: &str| -> Option<u64> {
        stat.lines().find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(' ')?
                .trim()
                .parse()
                .ok()
        })
    };
    let ns =
        field("throttled_time").or_else(|| Some(field("throttled_usec")?.saturating_mul(1000)))?;
    Some((field("nr_throttled")?, ns))
}

/// `QUOTA PERIOD` in microseconds; without a quota it says `max` or -1.
fn quota(text: &str) -> Option<f64> {
    let mut numbers = text.split_whitespace();
    let quota: f64 = numbers.next()?.parse().ok()?;
    let period: f64 = numbers.next()?.parse().ok()?;
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// The frequency of a processor now.
pub fn frequency_khz(cpu: u32) -> Option<u64> {
    cpufreq(cpu, "scaling_cur_freq")?.parse().ok()
}

/// The frequency governor of a processor.
pub fn governor(cpu: u32) -> Option<String> {
    cpufreq(cpu, "scaling_governor")
}

fn cpufreq(cpu: u32, name: &str) -> Option<String> {
    let file = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}");
    let text = read_to_string(file).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The clock that the kernel tells time by.
pub fn clocksource() -> Option<String> {
    let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(read_to_string(file).ok()?.trim().to_owned())
}

/// How long any process was held up for want of memory since the machine started.
pub fn memory_stalled_ns() -> Option<u64> {
    stalled(&read_to_string("/proc/pressure/memory").ok()?)
}

fn stalled(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let total = some
        .split_whitespace()
        .find_map(|f| f.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_steal_are_read_by_processor() {
        let then = Stat::parse("cpu  9 9 9 9 9 9 9 9\ncpu0 1 0 1 70 2 0 0 3 0 0\ncpu1 1 0 1 50 0 0 0 0 0 0\nprocs_running 3\n").unwrap();
        let now = Stat::parse("cpu0 1 0 1 80 3 0 0 5 0 0\ncpu1 1 0 1 60 0 0 0 0\n").unwrap();
        assert_eq!(then.runnable, Some(3));
        assert_eq!(now.since(&then, &[0]), Some((11 * TICK_NS, 2 * TICK_NS)));
        assert_eq!(now.since(&then, &[0, 1]), Some((21 * TICK_NS, 2 * TICK_NS)));
        assert_eq!(now.since(&then, &[2]), None);
        // A counter that went back is not known.
        assert_eq!(then.since(&now, &[0]), None);
        assert_eq!(Stat::parse("cpu0 1 x 1\nintr 5"), None);
    }

    #[test]
    fn both_versions_of_control_groups_are_understood() {
        let old = "nr_periods 10\nnr_throttled 4\nthrottled_time 5000\n";
        let new = "usage_usec 1\nnr_periods 10\nnr_throttled 4\nthrottled_usec 5\n";
        assert_eq!(throttled(old), Some((4, 5000)));
        assert_eq!(throttled(new), Some((4, 5000)));
        assert_eq!(throttled("usage_usec 1\n"), None);
        assert_eq!(quota("150000 100000"), Some(1.5));
        assert_eq!((quota("max 100000"), quota("-1\n 100000\n")), (None, None));
        assert_eq!(folders("0::/a/b")[0], "/sys/fs/cgroup/a/b");
        assert_eq!(
            folders("1:cpu,cpuacct:/a")[1],
            "/sys/fs/cgroup/cpu,cpuacct/a"
        );
        assert!(folders("3:memory:/a").is_empty() && folders("nonsense").is_empty());
    }

    #[test]
    fn memory_pressure_is_its_total() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=12\nfull avg10=0 total=9\n";
        assert_eq!(stalled(text), Some(12_000));
        assert_eq!(stalled("full total=9"), None);
        assert_eq!(queued_of("66494203 78516215 204\n"), Some(78_516_215));
    }

    #[test]
    fn this_machine_answers() {
        let stat = Stat::read().unwrap();
        assert!(stat.runnable.unwrap() >= 1);
        assert!(queued_ns(std::process::id()).is_some());
        assert_eq!(queued_ns(u32::MAX), None);
    }
}
