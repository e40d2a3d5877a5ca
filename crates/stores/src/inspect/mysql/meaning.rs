//! What the status of a MySQL means.

use super::plugin::Plugin;
use crate::inspect::figures::{Looks, Statistics, Window, number, ratio};
use crate::inspect::text::{Told, count, known, of, percent, size, window};
use serde::Serialize;

/// What the status means. `None` where the server does not tell, and for a ratio of nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Meaning {
    /// The server's version, as it says it: `8.0.33`, `10.11.6-MariaDB`.
    pub version: Option<String>,
    /// How long it runs.
    pub uptime_s: Option<u64>,
    /// Over which time counts are.
    pub window: Window,
    /// Statements a second in the window.
    pub queries_per_s: Option<f64>,
    /// Pages of tables in memory.
    pub buffer_pool: BufferPool,
    /// What was done with rows in the window.
    pub rows: Rows,
    /// Times that the disk was told to keep what was written, data and log, in the window.
    pub fsyncs: Option<u64>,
    /// The same a second.
    pub fsyncs_per_s: Option<f64>,
    /// Times that a write waited for room in the buffer of the log, in the window.
    pub log_waits: Option<u64>,
    /// Connections.
    pub connections: Connections,
    /// Statements that took longer than `long_query_time`, in the window.
    pub slow_queries: Option<u64>,
    /// Settings that decide what a crash loses and what a write costs.
    pub settings: Settings,
    /// The memcached plugin, where it is loaded.
    pub plugin: Option<Plugin>,
}

/// Pages of tables in memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BufferPool {
    /// Its size.
    pub bytes: Option<u64>,
    /// Reads of pages in the window.
    pub reads: Option<u64>,
    /// The share of them that found their page in memory.
    pub hit_ratio: Option<f64>,
    /// The share of its pages that are not yet written to disk.
    pub dirty_ratio: Option<f64>,
    /// The share of its pages that hold nothing.
    pub free_ratio: Option<f64>,
    /// Times that somebody waited for a free page, in the window.
    pub waits: Option<u64>,
}

/// Rows, in the window: InnoDB's, or those of all engines where the server does not tell them apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rows {
    /// Read.
    pub read: Option<u64>,
    /// Inserted.
    pub inserted: Option<u64>,
    /// Changed.
    pub updated: Option<u64>,
    /// Deleted.
    pub deleted: Option<u64>,
}

/// Connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Connections {
    /// Open now.
    pub open: Option<u64>,
    /// Running a statement now.
    pub running: Option<u64>,
    /// The most that were open at once since the server started.
    pub most: Option<u64>,
    /// How many may be.
    pub limit: Option<u64>,
    /// Attempts in the window, good or not.
    pub attempts: Option<u64>,
    /// Attempts that failed, in the window.
    pub aborted_connects: Option<u64>,
    /// Connections that ended without a word, in the window.
    pub aborted_clients: Option<u64>,
    /// Attempts refused because there were as many as there may be, in the window.
    pub refused_at_limit: Option<u64>,
}

/// Settings that decide what a crash loses and what a write costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// `innodb_flush_log_at_trx_commit`: 1 flushes at each commit, 2 and 0 once a second.
    pub flush: Option<u64>,
    /// Whether statements go into a binary log.
    pub binlog: Option<bool>,
    /// After how many commits that log is flushed; 0: when the system likes.
    pub sync_binlog: Option<u64>,
    /// From how many seconds on a statement is slow.
    pub long_query_time: Option<String>,
    /// Whether slow statements are written down.
    pub slow_query_log: Option<bool>,
}

impl Meaning {
    /// What status and variables say.
    pub fn of(looks: &Looks, variables: &Statistics, plugin: Option<Plugin>) -> Meaning {
        let fsyncs = "Innodb_data_fsyncs";
        Meaning {
            version: variables.get("version").cloned(),
            uptime_s: looks.number("Uptime"),
            window: looks.window,
            queries_per_s: looks.per_s("Questions"),
            buffer_pool: BufferPool::of(looks, variables),
            rows: Rows::of(looks),
            fsyncs: looks.grew(fsyncs),
            fsyncs_per_s: looks.per_s(fsyncs),
            log_waits: looks.grew("Innodb_log_waits"),
            connections: Connections::of(looks, variables),
            slow_queries: looks.grew("Slow_queries"),
            settings: Settings::of(variables),
            plugin,
        }
    }
}

impl Rows {
    fn of(looks: &Looks) -> Rows {
        let grew = |innodb, all| looks.grew(innodb).or_else(|| looks.grew(all));
        Rows {
            read: grew("Innodb_rows_read", "Rows_read"),
            inserted: grew("Innodb_rows_inserted", "Handler_write"),
            updated: grew("Innodb_rows_updated", "Handler_update"),
            deleted: grew("Innodb_rows_deleted", "Handler_delete"),
        }
    }
}

impl BufferPool {
    fn of(looks: &Looks, variables: &Statistics) -> BufferPool {
        let reads = looks.grew("Innodb_buffer_pool_read_requests");
        let from_disk = looks.grew("Innodb_buffer_pool_reads");
        let found = reads.zip(from_disk);
        let found = found.map(|(all, disk)| all.saturating_sub(disk));
        let pages = looks.number("Innodb_buffer_pool_pages_total");
        let share = |name| ratio(looks.number(name), pages);
        BufferPool {
            bytes: number(variables, "innodb_buffer_pool_size"),
            reads,
            hit_ratio: ratio(found, reads),
            dirty_ratio: share("Innodb_buffer_pool_pages_dirty"),
            free_ratio: share("Innodb_buffer_pool_pages_free"),
            waits: looks.grew("Innodb_buffer_pool_wait_free"),
        }
    }
}

impl Connections {
    fn of(looks: &Looks, variables: &Statistics) -> Connections {
        Connections {
            open: looks.number("Threads_connected"),
            running: looks.number("Threads_running"),
            most: looks.number("Max_used_connections"),
            limit: number(variables, "max_connections"),
            attempts: looks.grew("Connections"),
            aborted_connects: looks.grew("Aborted_connects"),
            aborted_clients: looks.grew("Aborted_clients"),
            refused_at_limit: looks.grew("Connection_errors_max_connections"),
        }
    }
}

impl Settings {
    fn of(variables: &Statistics) -> Settings {
        let on = |name| variables.get(name).map(|value| value == "ON");
        Settings {
            flush: number(variables, "innodb_flush_log_at_trx_commit"),
            binlog: on("log_bin"),
            sync_binlog: number(variables, "sync_binlog"),
            long_query_time: variables.get("long_query_time").cloned(),
            slow_query_log: on("slow_query_log"),
        }
    }
}

impl Told for Meaning {
    fn rows(&self) -> Vec<(&'static str, String)> {
        let rate = |rate: Option<f64>| rate.map(|rate| format!("{rate:.1}"));
        let on = |on: Option<bool>| on.map(|on| if on { "on" } else { "off" }.to_owned());
        let (pool, rows, links) = (&self.buffer_pool, &self.rows, &self.connections);
        let pool_reads = pool.reads.map(|n| format!("{n} reads of pages"));
        let uptime = self.uptime_s.map(|s| format!("{s} s"));
        let most = links.most.map(|most| format!(", {most} at most"));
        let open = of(count(links.open), count(links.limit));
        let open = open.map(|open| open + &most.unwrap_or_default());
        let changed = [
            ("inserted", rows.inserted),
            ("updated", rows.updated),
            ("deleted", rows.deleted),
        ];
        let changed = changed.map(|(what, n)| format!("{} {what}", known(count(n))));
        vec![
            ("version", known(self.version.clone())),
            ("uptime", known(uptime)),
            ("over", window(self.window)),
            ("statements a second", known(rate(self.queries_per_s))),
            ("buffer pool", known(pool.bytes.map(size))),
            (
                "its hit ratio",
                known(of(percent(pool.hit_ratio), pool_reads)),
            ),
            ("its dirty pages", known(percent(pool.dirty_ratio))),
            ("rows read", known(count(rows.read))),
            ("rows written", changed.join(", ")),
            ("fsyncs", known(count(self.fsyncs))),
            ("fsyncs a second", known(rate(self.fsyncs_per_s))),
            ("log waits", known(count(self.log_waits))),
            ("connections", known(open)),
            ("failed to connect", known(count(links.aborted_connects))),
            ("broken off", known(count(links.aborted_clients))),
            ("slow statements", known(count(self.slow_queries))),
            ("flush at commit", known(count(self.settings.flush))),
            ("binary log", known(on(self.settings.binlog))),
            (
                "memcached plugin",
                known(self.plugin.as_ref().map(Plugin::in_words)),
            ),
        ]
    }

    fn tables(&self) -> Vec<(&'static str, Vec<String>)> {
        Vec::new()
    }
}

impl Plugin {
    fn in_words(&self) -> String {
        let (status, port) = (self.status.to_lowercase(), self.port);
        let gets = of(
            percent(self.hit_ratio),
            self.gets.map(|n| format!("{n} gets")),
        );
        let gets = gets.or(self.gets.map(|n| format!("{n} gets")));
        let (gets, sets) = (known(gets), known(count(self.sets)));
        format!("{status} on port {port}, {gets}, {sets} sets")
    }
}
