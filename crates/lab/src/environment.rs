//! What machine this is, read from the kernel. A fact that cannot be read is absent, not guessed.

use roundtrip_model::record::Environment;
use roundtrip_model::{Warning, WarningKind};
use std::fs::read_to_string;

/// Reads the machine.
pub fn read() -> Environment {
    let uname = rustix::system::uname();
    Environment {
        os: os_name().unwrap_or_else(|| uname.sysname().to_string_lossy().into_owned()),
        kernel: uname.release().to_string_lossy().into_owned(),
        cpu_model: cpu_model().unwrap_or_else(|| uname.machine().to_string_lossy().into_owned()),
        cpus: roundtrip_process::cpus::available().0.len() as u32,
        memory_bytes: memory_bytes(),
        virtualization: virtualization(),
        governor: trimmed("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        load_1m: load_1m(),
        roundtrip: env!("CARGO_PKG_VERSION").to_owned(),
        build: if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        }
        .to_owned(),
        ..Environment::default()
    }
}

/// What of it could mislead.
pub fn warnings(environment: &Environment) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind, detail: String| warnings.push(Warning::new(kind, "", detail));
    if environment.build == "debug" {
        warn(
            WarningKind::DebugBuild,
            "Roundtrip was built without optimisation".to_owned(),
        );
    }
    if let Some(load) = environment
        .load_1m
        .filter(|load| *load > 0.5 * f64::from(environment.cpus))
    {
        warn(
            WarningKind::OtherLoad,
            format!("the load average was {load:.2} before the run"),
        );
    }
    if let Some(governor) = environment
        .governor
        .as_deref()
        .filter(|g| *g != "performance")
    {
        warn(
            WarningKind::FrequencyScaling,
            format!("the frequency governor is `{governor}`"),
        );
    }
    warnings
}

/// Pages that the machine has swapped in and out so far.
pub fn swapped_pages() -> Option<u64> {
    let pages = |name| field("/proc/vmstat", name, ' ')?.parse::<u64>().ok();
    Some(pages("pswpin")? + pages("pswpout")?)
}

fn trimmed(file: &str) -> Option<String> {
    read_to_string(file)
        .ok()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

fn field(file: &str, name: &str, separator: char) -> Option<String> {
    read_to_string(file).ok()?.lines().find_map(|line| {
        let (key, value) = line.split_once(separator)?;
        (key.trim() == name).then(|| value.trim().trim_matches('"').to_owned())
    })
}

fn os_name() -> Option<String> {
    field("/etc/os-release", "PRETTY_NAME", '=')
}

fn cpu_model() -> Option<String> {
    field("/proc/cpuinfo", "model name", ':')
}

/// Memory of the machine.
pub fn memory_bytes() -> Option<u64> {
    let text = field("/proc/meminfo", "MemTotal", ':')?;
    text.split_whitespace()
        .next()?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}

fn load_1m() -> Option<f64> {
    trimmed("/proc/loadavg")?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

fn virtualization() -> Option<String> {
    let flags = field("/proc/cpuinfo", "flags", ':')?;
    let vendor = trimmed("/sys/class/dmi/id/sys_vendor");
    match flags.split_whitespace().any(|flag| flag == "hypervisor") {
        true => Some(vendor.map_or("a virtual machine".to_owned(), |v| {
            format!("a virtual machine ({v})")
        })),
        false => Some("none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known() {
        let e = read();
        assert!(!e.kernel.is_empty() && !e.os.is_empty() && e.cpus >= 1);
    }

    #[test]
    fn a_loaded_machine_and_a_debug_build_are_warned_of() {
        let e = Environment {
            build: "debug".into(),
            cpus: 2,
            load_1m: Some(1.5),
            ..Default::default()
        };
        let kinds: Vec<_> = warnings(&e).into_iter().map(|w| w.kind).collect();
        assert_eq!(kinds, [WarningKind::DebugBuild, WarningKind::OtherLoad]);
    }
}
