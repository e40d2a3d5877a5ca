//! What this process has used so far.

// `getrusage` has no safe form in the libraries at hand, and nothing else splits CPU time into
// user and system more finely than ticks of 10 ms.
#![allow(unsafe_code)]

/// CPU time and memory of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// User CPU, all threads.
    pub(crate) user_ns: u64,
    /// System CPU, all threads.
    pub(crate) sys_ns: u64,
    /// The largest resident set so far.
    pub(crate) max_rss_bytes: u64,
}

/// What this process has used, or `None` where the system does not say.
pub(crate) fn now() -> Option<Usage> {
    // SAFETY: rusage is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live value of the right type.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) } != 0 {
        return None;
    }
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    let max_rss_unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Some(Usage {
        user_ns: ns(usage.ru_utime),
        sys_ns: ns(usage.ru_stime),
        max_rss_bytes: usage.ru_maxrss as u64 * max_rss_unit,
    })
}
