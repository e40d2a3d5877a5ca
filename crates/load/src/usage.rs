//! What a thread has used so far.

// `getrusage` has no safe form in the libraries at hand, and nothing else splits CPU time into
// user and system more finely than ticks of 10 ms.
#![allow(unsafe_code)]

/// CPU time of a thread, and memory of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// User CPU.
    pub(crate) user_ns: u64,
    /// System CPU.
    pub(crate) sys_ns: u64,
    /// The largest resident set so far.
    pub(crate) max_rss_bytes: u64,
}

impl Usage {
    /// What was used between an earlier reading and this one.
    pub(crate) fn since(self, before: Usage) -> Usage {
        Usage {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            sys_ns: self.sys_ns.saturating_sub(before.sys_ns),
            max_rss_bytes: self.max_rss_bytes,
        }
    }
}

/// What the calling thread has used; where the system counts no threads, the whole process.
pub(crate) fn of_this_thread() -> Usage {
    #[cfg(target_os = "linux")]
    let who = libc::RUSAGE_THREAD;
    #[cfg(not(target_os = "linux"))]
    let who = libc::RUSAGE_SELF;
    read(who).unwrap_or_default()
}

/// What this process has used, or `None` where the system does not say.
pub(crate) fn now() -> Option<Usage> {
    read(libc::RUSAGE_SELF)
}

fn read(who: libc::c_int) -> Option<Usage> {
    // SAFETY: rusage is plain numbers, for which all zeros is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live value of the right type.
    if unsafe { libc::getrusage(who, &mut usage) } != 0 {
        return None;
    }
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    let max_rss_unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Some(Usage {
        user_ns: ns(usage.ru_utime),
        sys_ns: ns(usage.ru_stime),
        // Of the whole process, whichever thread asks.
        max_rss_bytes: usage.ru_maxrss as u64 * max_rss_unit,
    })
}
