//! The counters, under the names that memcached gives them, so that one witness reads both. They
//! count what is asked in either protocol: `SET` is a `cmd_set`.

use super::answer::Service;
use crate::usage;
use roundtrip_wire::memcached::Reply;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) requests: u64,
    pub(super) get_hits: u64,
    pub(super) get_misses: u64,
    pub(super) cmd_set: u64,
    pub(super) total_items: u64,
    pub(super) delete_hits: u64,
    pub(super) delete_misses: u64,
    pub(super) incr_hits: u64,
    pub(super) incr_misses: u64,
    pub(super) decr_hits: u64,
    pub(super) decr_misses: u64,
    pub(super) cas_hits: u64,
    pub(super) cas_misses: u64,
    pub(super) cas_badval: u64,
    pub(super) cmd_touch: u64,
    pub(super) touch_hits: u64,
    pub(super) touch_misses: u64,
    pub(super) curr_connections: u64,
    pub(super) total_connections: u64,
    pub(super) rejected_connections: u64,
    pub(super) keyspace_hits: u64,
    pub(super) keyspace_misses: u64,
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
}

impl Counters {
    /// Notes that a number was added to, or taken from.
    pub(super) fn number_changed(&mut self, is_less: bool) {
        match is_less {
            true => self.decr_hits += 1,
            false => self.incr_hits += 1,
        }
    }

    /// Notes that a number that was to be changed was not there.
    pub(super) fn number_missed(&mut self, is_less: bool) {
        match is_less {
            true => self.decr_misses += 1,
            false => self.incr_misses += 1,
        }
    }
}

/// How often a command of Redis was done, and how often it failed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calls {
    pub(super) calls: u64,
    pub(super) failed: u64,
}

impl Service {
    /// Writes all counters, and the end of them.
    pub(super) fn write_stats(&self, out: &mut Vec<u8>) {
        let mut stat = |name: &str, value: &str| {
            Reply::Stat {
                name: name.as_bytes(),
                value: value.as_bytes(),
            }
            .write(out);
        };
        let pid = rustix::process::getpid().as_raw_nonzero().to_string();
        stat("pid", &pid);
        stat("version", super::answer::VERSION);
        stat("io", self.io);
        if let Some(usage) = usage::now() {
            let seconds = |ns: u64| format!("{}.{:06}", ns / 1_000_000_000, ns / 1000 % 1_000_000);
            stat("rusage_user", &seconds(usage.user_ns));
            stat("rusage_system", &seconds(usage.sys_ns));
        }
        let c = &self.counters;
        for (name, value) in [
            ("uptime", self.memory.now_s().saturating_sub(self.started_s)),
            ("time", self.memory.now_s()),
            ("pointer_size", 64),
            ("threads", 1),
            ("curr_connections", c.curr_connections),
            ("total_connections", c.total_connections),
            ("rejected_connections", c.rejected_connections),
            ("cmd_get", c.get_hits + c.get_misses),
            ("cmd_set", c.cmd_set),
            ("cmd_flush", 0),
            ("cmd_touch", c.cmd_touch),
            ("get_hits", c.get_hits),
            ("get_misses", c.get_misses),
            ("delete_hits", c.delete_hits),
            ("delete_misses", c.delete_misses),
            ("incr_hits", c.incr_hits),
            ("incr_misses", c.incr_misses),
            ("decr_hits", c.decr_hits),
            ("decr_misses", c.decr_misses),
            ("cas_hits", c.cas_hits),
            ("cas_misses", c.cas_misses),
            ("cas_badval", c.cas_badval),
            ("touch_hits", c.touch_hits),
            ("touch_misses", c.touch_misses),
            ("bytes_read", c.bytes_read),
            ("bytes_written", c.bytes_written),
            ("limit_maxbytes", self.memory.limit_bytes()),
            ("bytes", self.memory.bytes()),
            ("curr_items", self.memory.len()),
            ("total_items", c.total_items),
            ("evictions", 0),
            ("requests", c.requests),
        ]
        .into_iter()
        .chain(self.faults.done.named())
        {
            stat(name, &value.to_string());
        }
        Reply::End.write(out);
    }
}
