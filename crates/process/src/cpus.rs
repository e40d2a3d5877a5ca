//! Which processors there are, and keeping a process on some of them.

use rustix::thread::{CpuSet as KernelSet, sched_getaffinity, sched_setaffinity};

/// Processors by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSet(pub Vec<usize>);

impl CpuSet {
    pub(crate) fn kernel_set(&self) -> KernelSet {
        let mut set = KernelSet::new();
        for cpu in &self.0 {
            set.set(*cpu);
        }
        set
    }
}

/// The processors that this process may use.
pub fn available() -> CpuSet {
    let Ok(set) = sched_getaffinity(None) else {
        return CpuSet(vec![0]);
    };
    CpuSet(
        (0..KernelSet::MAX_CPU)
            .filter(|cpu| set.is_set(*cpu))
            .collect(),
    )
}

/// Keeps the calling thread, and the threads it starts later, on these processors.
pub fn pin_this_thread(cpus: &CpuSet) -> std::io::Result<()> {
    Ok(sched_setaffinity(None, &cpus.kernel_set())?)
}
