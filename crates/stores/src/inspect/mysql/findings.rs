//! What is wrong with a MySQL, in sentences: what was counted, and what to do.

use super::meaning::Meaning;
use crate::inspect::figures::{Looks, NEARLY_FULL};
use crate::inspect::text::size;

/// Below this share of pages found in memory the disk is what a read waits for.
const LOW_POOL_HIT_RATIO: f64 = 0.99;
/// With fewer reads of pages the share says nothing: the pool begins empty.
const ENOUGH_PAGE_READS: u64 = 100_000;
/// Above this share of pages not yet written, writing lags behind.
const DIRTY: f64 = 0.75;
/// From this share of connections on that fail or break off, something does it again and again.
const MANY_ABORTED: f64 = 0.01;

/// A sentence for everything that is wrong.
pub fn findings(meaning: &Meaning, looks: &Looks) -> Vec<String> {
    [
        pool_too_small(meaning),
        pool_waits(meaning),
        dirty(meaning),
        log_waits(meaning),
        refused_connections(meaning),
        many_connections(meaning),
        aborted_connects(meaning),
        aborted_clients(meaning),
        slow(meaning),
        deadlocks(meaning, looks),
        silent_plugin(meaning),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn pool_too_small(meaning: &Meaning) -> Option<String> {
    let pool = &meaning.buffer_pool;
    let reads = pool.reads.filter(|n| *n >= ENOUGH_PAGE_READS)?;
    let ratio = pool.hit_ratio.filter(|r| *r < LOW_POOL_HIT_RATIO)?;
    let bytes = pool.bytes.map_or("?".to_owned(), size);
    Some(format!(
        "Only {:.1}% of {reads} reads of pages found them in memory: the buffer pool ({bytes}) is \
         smaller than what is read. Raise innodb_buffer_pool_size, or look for statements that read \
         whole tables.",
        ratio * 100.0
    ))
}

fn pool_waits(meaning: &Meaning) -> Option<String> {
    let waits = meaning.buffer_pool.waits.filter(|n| *n > 0)?;
    let when = meaning.window.in_words();
    Some(format!(
        "Somebody waited {waits} times for a free page {when}: the buffer pool is too small, or \
         the disk too slow to empty it. Raise innodb_buffer_pool_size or innodb_io_capacity."
    ))
}

fn dirty(meaning: &Meaning) -> Option<String> {
    let ratio = meaning.buffer_pool.dirty_ratio.filter(|r| *r >= DIRTY)?;
    Some(format!(
        "{:.1}% of the buffer pool is not yet written to disk: writing lags behind, and a restart \
         will take long. Raise innodb_io_capacity if the disk can do more.",
        ratio * 100.0
    ))
}

fn log_waits(meaning: &Meaning) -> Option<String> {
    let waits = meaning.log_waits.filter(|n| *n > 0)?;
    let when = meaning.window.in_words();
    Some(format!(
        "Writes waited {waits} times for room in the buffer of the log {when}: raise \
         innodb_log_buffer_size, or write less in one transaction."
    ))
}

fn refused_connections(meaning: &Meaning) -> Option<String> {
    let refused = meaning.connections.refused_at_limit.filter(|n| *n > 0)?;
    let when = meaning.window.in_words();
    Some(format!(
        "It refused {refused} connections {when} because it had as many as it may have: raise \
         max_connections, or keep fewer open."
    ))
}

fn many_connections(meaning: &Meaning) -> Option<String> {
    let links = &meaning.connections;
    let (open, limit) = links.open.zip(links.limit)?;
    (limit > 0 && open as f64 >= NEARLY_FULL * limit as f64).then(|| {
        format!(
            "{open} of {limit} connections that it may have are open: soon it will refuse more. \
             Raise max_connections, or look for those that are not closed (SHOW PROCESSLIST)."
        )
    })
}

/// How many, where they are many of the attempts.
fn many(aborted: Option<u64>, attempts: Option<u64>) -> Option<(u64, u64)> {
    let (aborted, attempts) = aborted.filter(|n| *n > 0).zip(attempts)?;
    (aborted as f64 >= MANY_ABORTED * attempts as f64).then_some((aborted, attempts))
}

fn aborted_connects(meaning: &Meaning) -> Option<String> {
    let links = &meaning.connections;
    let (failed, attempts) = many(links.aborted_connects, links.attempts)?;
    Some(format!(
        "{failed} of {attempts} attempts to connect failed: a wrong password, an unknown user or \
         database, or somebody who does not speak MySQL. log_error_verbosity=3 writes down who \
         (MariaDB: log_warnings=2)."
    ))
}

fn aborted_clients(meaning: &Meaning) -> Option<String> {
    let links = &meaning.connections;
    let (broken, attempts) = many(links.aborted_clients, links.attempts)?;
    Some(format!(
        "{broken} of {attempts} connections ended without a word: the client died or did not \
         close, was idle for longer than wait_timeout, or sent more than max_allowed_packet."
    ))
}

fn slow(meaning: &Meaning) -> Option<String> {
    let slow = meaning.slow_queries.filter(|n| *n > 0)?;
    let settings = &meaning.settings;
    let limit = settings.long_query_time.as_deref().unwrap_or("?");
    let step = match settings.slow_query_log {
        Some(true) => "`mysqldumpslow` sums up its slow query log",
        _ => "SET GLOBAL slow_query_log = ON writes down which",
    };
    let when = meaning.window.in_words();
    Some(format!(
        "{slow} statements took longer than {limit} s {when}: {step}; EXPLAIN says why."
    ))
}

fn deadlocks(meaning: &Meaning, looks: &Looks) -> Option<String> {
    let deadlocks = looks.grew("Innodb_deadlocks").filter(|n| *n > 0)?;
    let when = meaning.window.in_words();
    Some(format!(
        "{deadlocks} transactions were rolled back {when} because they waited for each other: \
         SHOW ENGINE INNODB STATUS shows the last; touch rows in the same order everywhere."
    ))
}

fn silent_plugin(meaning: &Meaning) -> Option<String> {
    let plugin = meaning.plugin.as_ref().filter(|p| !p.answers)?;
    let port = plugin.port;
    Some(format!(
        "The memcached plugin is loaded and does not answer on port {port}: look into the log of \
         the server for what it says of daemon_memcached, and whether the port is somebody else's."
    ))
}

/// What to know when reading the numbers.
pub fn notes(meaning: &Meaning) -> Vec<String> {
    let mut all: Vec<String> = meaning.window.note().into_iter().collect();
    let settings = &meaning.settings;
    if let Some(flush @ (0 | 2)) = settings.flush {
        let crash = if flush == 0 { "server" } else { "machine" };
        all.push(format!(
            "innodb_flush_log_at_trx_commit is {flush}: a crash of the {crash} loses up to a \
             second of writes that were acknowledged."
        ));
    }
    if let Some(plugin) = &meaning.plugin {
        if settings.binlog == Some(true) && plugin.binlog == Some(false) {
            all.push(
                "SQL writes into the binary log and the memcached plugin does not \
                 (innodb_api_enable_binlog is off): replicas do not see what it writes, and the two \
                 do not cost the same."
                    .to_owned(),
            );
        }
        if plugin.answers {
            let port = plugin.port;
            all.push(format!(
                "What the memcached plugin counts was read from port {port}, over its whole life."
            ));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::figures::{Statistics, Window};
    use crate::inspect::mysql::plugin::Plugin;

    const VARIABLES: [(&str, &str); 5] = [
        ("max_connections", "100"),
        ("innodb_buffer_pool_size", "134217728"),
        ("long_query_time", "10.000000"),
        ("slow_query_log", "OFF"),
        ("innodb_flush_log_at_trx_commit", "1"),
    ];
    const HEALTHY: [(&str, &str); 8] = [
        ("Innodb_buffer_pool_read_requests", "100000"),
        ("Innodb_buffer_pool_reads", "1000"),
        ("Innodb_buffer_pool_pages_total", "1000"),
        ("Innodb_buffer_pool_pages_dirty", "700"),
        ("Threads_connected", "89"),
        ("Connections", "1000"),
        ("Aborted_connects", "9"),
        ("Aborted_clients", "9"),
    ];

    fn owned(fields: &[(&str, &str)]) -> Statistics {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        fields.iter().map(owned).collect()
    }

    fn found(fields: &[(&str, &str)], plugin: Option<Plugin>) -> (Vec<String>, Vec<String>) {
        let looks = Looks {
            now: owned(fields),
            before: None,
            window: Window::Uptime { seconds: 10.0 },
        };
        let fields: Vec<_> = VARIABLES.iter().chain(fields).copied().collect();
        let meaning = Meaning::of(&looks, &owned(&fields), plugin);
        (findings(&meaning, &looks), notes(&meaning))
    }

    #[test]
    fn a_healthy_server_has_no_findings() {
        assert_eq!(found(&HEALTHY, None).0, Vec::<String>::new());
        assert_eq!(found(&[], None).0, Vec::<String>::new());
    }

    #[test]
    fn each_trouble_has_one_sentence_with_its_figures_and_a_next_step() {
        for (name, value, said) in [
            (
                "Innodb_buffer_pool_reads",
                "1100",
                "Only 98.9% of 100000 reads of pages",
            ),
            (
                "Innodb_buffer_pool_wait_free",
                "3",
                "waited 3 times for a free page",
            ),
            (
                "Innodb_buffer_pool_pages_dirty",
                "750",
                "75.0% of the buffer pool",
            ),
            (
                "Innodb_log_waits",
                "4",
                "waited 4 times for room in the buffer of the log",
            ),
            (
                "Connection_errors_max_connections",
                "2",
                "refused 2 connections",
            ),
            ("Threads_connected", "90", "90 of 100 connections"),
            (
                "Aborted_connects",
                "10",
                "10 of 1000 attempts to connect failed",
            ),
            (
                "Aborted_clients",
                "10",
                "10 of 1000 connections ended without a word",
            ),
            (
                "Slow_queries",
                "5",
                "5 statements took longer than 10.000000 s",
            ),
            ("Innodb_deadlocks", "6", "6 transactions were rolled back"),
        ] {
            let fields: Vec<_> = HEALTHY.into_iter().chain([(name, value)]).collect();
            let (found, _) = found(&fields, None);
            assert_eq!(found.len(), 1, "{name}: {found:?}");
            assert!(found[0].contains(said), "{}", found[0]);
        }
    }

    #[test]
    fn what_decides_durability_is_noted() {
        let plugin = Plugin {
            status: "ACTIVE".to_owned(),
            port: 5,
            answers: false,
            gets: None,
            hit_ratio: None,
            sets: None,
            connections: None,
            read_batch: Some(1),
            write_batch: Some(1),
            binlog: Some(false),
            statistics: Statistics::new(),
        };
        let fields = [("log_bin", "ON"), ("innodb_flush_log_at_trx_commit", "2")];
        let (found, notes) = found(&fields, Some(plugin));
        assert!(found[0].contains("does not answer on port 5"), "{found:?}");
        assert!(
            notes[1].contains("a crash of the machine loses"),
            "{notes:?}"
        );
        assert!(notes[2].contains("innodb_api_enable_binlog"), "{notes:?}");
    }
}
