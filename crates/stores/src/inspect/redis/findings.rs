//! What is wrong with a Redis, in sentences: what was counted, and what to do.

use super::meaning::Meaning;
use crate::inspect::figures::{ENOUGH_READS, LOW_HIT_RATIO, Looks, NEARLY_FULL};
use crate::probe::redis::part;

/// Below this much memory in use its fragmentation says nothing: the program itself is most of it.
const ENOUGH_MEMORY_BYTES: u64 = 64 << 20;
/// Above this much process memory for each byte in use, memory is wasted; below the other one,
/// part of it is swapped out.
const FRAGMENTED: f64 = 1.5;
const SWAPPED: f64 = 0.9;

/// A sentence for everything that is wrong.
pub fn findings(meaning: &Meaning, looks: &Looks) -> Vec<String> {
    [
        cluster(meaning),
        unreached(meaning),
        loading(looks),
        refused_writes(meaning, looks),
        evictions(meaning),
        nearly_full(meaning),
        hit_ratio(meaning),
        rejected(meaning),
        many_clients(meaning),
        fragmentation(meaning),
        unsaved(meaning),
        replication(looks),
        slow(meaning),
        latency(meaning),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn cluster(meaning: &Meaning) -> Option<String> {
    let cluster = meaning.cluster.as_ref().filter(|c| c.state != "ok")?;
    let (state, missing) = (&cluster.state, cluster.slots_missing());
    Some(format!(
        "The cluster is not whole (cluster_state:{state}): {missing} slots have no node that is \
         there, and most commands are refused. `redis-cli --cluster check HOST:PORT` names them; \
         start the nodes that are gone, or give their slots to others (`--cluster fix`)."
    ))
}

fn unreached(meaning: &Meaning) -> Option<String> {
    let nodes = &meaning.cluster.as_ref()?.nodes;
    let gone: Vec<&str> = nodes
        .iter()
        .filter(|node| !node.reachable && !node.asked)
        .map(|node| node.address.as_str())
        .collect();
    (!gone.is_empty()).then(|| {
        format!(
            "This node does not reach {}: look whether they run, and whether their bus ports (the \
             port and 10000) are open between the nodes.",
            gone.join(", ")
        )
    })
}

fn loading(looks: &Looks) -> Option<String> {
    let loading = looks.text("loading") == Some("1");
    loading.then(|| {
        "It is still reading its data from disk, and refuses commands until it has.".to_owned()
    })
}

/// Since the server started, also when it was watched: a write that was refused is remembered.
fn refused_writes(meaning: &Meaning, looks: &Looks) -> Option<String> {
    let refused = part(looks.text("errorstat_OOM")?, "count").filter(|n| *n > 0)?;
    let policy = meaning.memory.policy.as_deref().unwrap_or("unknown");
    Some(format!(
        "It refused {refused} commands for want of memory (OOM): raise maxmemory, or let it throw \
         keys away (maxmemory-policy is {policy}; allkeys-lru suits a cache)."
    ))
}

fn evictions(meaning: &Meaning) -> Option<String> {
    let evicted = meaning.evictions.filter(|n| *n > 0)?;
    let rate = meaning
        .evictions_per_s
        .map_or(String::new(), |rate| format!(" ({rate:.1} a second)"));
    let when = meaning.window.in_words();
    Some(format!(
        "It threw {evicted} keys away before their time {when}{rate}: it has too little memory \
         (raise maxmemory), or holds what is never read."
    ))
}

fn nearly_full(meaning: &Meaning) -> Option<String> {
    let ratio = meaning.memory.used_ratio.filter(|r| *r >= NEARLY_FULL)?;
    let then = match meaning.memory.policy.as_deref() {
        Some("noeviction") => "new writes will be refused (raise maxmemory, or set a policy)",
        _ => "new keys will push old ones out (raise maxmemory if they are still read)",
    };
    let percent = ratio * 100.0;
    Some(format!("Its memory is {percent:.1}% full: {then}."))
}

fn hit_ratio(meaning: &Meaning) -> Option<String> {
    let reads = meaning.reads.count.filter(|n| *n >= ENOUGH_READS)?;
    let ratio = meaning.reads.hit_ratio.filter(|r| *r < LOW_HIT_RATIO)?;
    Some(format!(
        "Only {:.1}% of {reads} reads found their key: look at the time to live of the keys, at \
         evictions, and at whether what is written is what is read.",
        ratio * 100.0
    ))
}

fn rejected(meaning: &Meaning) -> Option<String> {
    let rejected = meaning.rejected_connections.filter(|n| *n > 0)?;
    let when = meaning.window.in_words();
    Some(format!(
        "It turned {rejected} clients away {when} because it had as many as it may have: raise \
         maxclients (and the limit of open files), or keep fewer connections open."
    ))
}

fn many_clients(meaning: &Meaning) -> Option<String> {
    let (now, most) = meaning.connections.zip(meaning.max_connections)?;
    (most > 0 && now as f64 >= NEARLY_FULL * most as f64).then(|| {
        format!(
            "{now} of {most} clients that it may have are connected: soon it will turn clients \
             away. Raise maxclients, or look for connections that are not closed (CLIENT LIST)."
        )
    })
}

fn fragmentation(meaning: &Meaning) -> Option<String> {
    meaning
        .memory
        .used_bytes
        .filter(|bytes| *bytes >= ENOUGH_MEMORY_BYTES)?;
    let ratio = meaning.memory.fragmentation?;
    let why = if ratio > FRAGMENTED {
        "memory is fragmented: `CONFIG SET activedefrag yes` mends it while it runs"
    } else if ratio < SWAPPED {
        "part of its data is swapped out, which is slow: give the machine more memory, or \
         lower maxmemory"
    } else {
        return None;
    };
    Some(format!(
        "The process takes {ratio:.2} bytes for each byte in use: {why}."
    ))
}

fn unsaved(meaning: &Meaning) -> Option<String> {
    let kept = &meaning.persistence;
    let what = if kept.append_only_file == Some(true) && kept.append_only_file_ok == Some(false) {
        "to write its append-only file"
    } else if kept.last_save_ok == Some(false) {
        "to make a snapshot"
    } else {
        return None;
    };
    Some(format!(
        "It failed {what}: what was written since would be lost in a crash, and it may refuse \
         writes (MISCONF). Look into its log, at the free space, and at the rights of its folder."
    ))
}

fn replication(looks: &Looks) -> Option<String> {
    let down = looks.text("master_link_status") == Some("down");
    down.then(|| {
        "It is a replica that does not reach its master: what it answers is old. Look whether the \
         master runs, and at `masterauth`."
            .to_owned()
    })
}

fn slow(meaning: &Meaning) -> Option<String> {
    let log = meaning.slow.as_ref()?;
    let slowest = log.slowest.first()?;
    let limit = log
        .slower_than_us
        .map_or(String::new(), |us| format!(" (over {us} us)"));
    let (entries, command, took) = (log.entries, &slowest.command, slowest.took_us);
    Some(format!(
        "{entries} slow commands{limit} are in its log, the slowest a {command} of {took} us: \
         everybody waits while one runs. SLOWLOG GET shows their arguments; take fewer elements at \
         once, or SCAN in place of KEYS."
    ))
}

fn latency(meaning: &Meaning) -> Option<String> {
    let worst = meaning.latency_events.iter().max_by_key(|e| e.max_ms)?;
    let (event, max) = (&worst.event, worst.max_ms);
    Some(format!(
        "It noticed delays in itself, the longest {max} ms ({event}): LATENCY DOCTOR says what \
         each kind means and what to do."
    ))
}

/// What to know when reading the numbers.
pub fn notes(meaning: &Meaning) -> Vec<String> {
    let mut all: Vec<String> = meaning.window.note().into_iter().collect();
    if meaning.memory.used_bytes.is_some() && meaning.memory.limit_bytes.is_none() {
        all.push(
            "It has no limit of memory (maxmemory 0): it grows until the machine has no more."
                .to_owned(),
        );
    }
    if meaning.cluster.is_some() {
        all.push("Memory, keys and counts are those of the node that was asked.".to_owned());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::figures::Window;
    use crate::inspect::redis::slow::{LatencyEvent, SlowCommand, SlowLog};

    fn looks(fields: &[(&str, &str)]) -> Looks {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Looks {
            now: fields.iter().map(owned).collect(),
            before: None,
            window: Window::Uptime { seconds: 10.0 },
        }
    }

    fn found(fields: &[(&str, &str)]) -> Vec<String> {
        let looks = looks(fields);
        findings(&Meaning::of(&looks), &looks)
    }

    const HEALTHY: [(&str, &str); 12] = [
        ("keyspace_hits", "800"),
        ("keyspace_misses", "200"),
        ("evicted_keys", "0"),
        ("used_memory", "89000000"),
        ("maxmemory", "100000000"),
        ("mem_fragmentation_ratio", "1.2"),
        ("connected_clients", "89"),
        ("maxclients", "100"),
        ("rejected_connections", "0"),
        ("rdb_last_bgsave_status", "ok"),
        ("loading", "0"),
        ("errorstat_ERR", "count=7"),
    ];

    #[test]
    fn a_healthy_server_has_no_findings() {
        assert_eq!(found(&HEALTHY), Vec::<String>::new());
        assert_eq!(found(&[]), Vec::<String>::new());
    }

    #[test]
    fn each_trouble_has_one_sentence_with_its_figures_and_a_next_step() {
        for (trouble, said) in [
            (
                vec![("evicted_keys", "25")],
                "threw 25 keys away before their time since it started (2.5 a second)",
            ),
            (
                vec![("keyspace_hits", "799"), ("keyspace_misses", "201")],
                "Only 79.9% of 1000 reads",
            ),
            (
                vec![("used_memory", "90000000")],
                "90.0% full: new keys will push old ones out",
            ),
            (
                vec![
                    ("used_memory", "95000000"),
                    ("maxmemory_policy", "noeviction"),
                ],
                "95.0% full: new writes will be refused",
            ),
            (vec![("connected_clients", "90")], "90 of 100 clients"),
            (vec![("rejected_connections", "3")], "turned 3 clients away"),
            (
                vec![("mem_fragmentation_ratio", "1.60")],
                "1.60 bytes for each byte in use: memory is fragmented",
            ),
            (vec![("mem_fragmentation_ratio", "0.50")], "swapped out"),
            (
                vec![("rdb_last_bgsave_status", "err")],
                "failed to make a snapshot",
            ),
            (
                vec![
                    ("aof_enabled", "1"),
                    ("aof_last_write_status", "err"),
                    ("aof_last_bgrewrite_status", "ok"),
                ],
                "append-only file",
            ),
            (
                vec![("master_link_status", "down")],
                "does not reach its master",
            ),
            (vec![("loading", "1")], "still reading its data"),
            (
                vec![("errorstat_OOM", "count=4")],
                "refused 4 commands for want of memory",
            ),
        ] {
            let fields: Vec<_> = HEALTHY.into_iter().chain(trouble).collect();
            let found = found(&fields);
            assert_eq!(found.len(), 1, "{said}: {found:?}");
            assert!(found[0].contains(said), "{}", found[0]);
        }
    }

    #[test]
    fn what_took_long_is_named() {
        let looks = looks(&HEALTHY);
        let command = SlowCommand {
            command: "KEYS".to_owned(),
            took_us: 31_000,
            at_unix_s: 1,
        };
        let event = LatencyEvent {
            event: "fork".to_owned(),
            last_ms: 5,
            max_ms: 120,
        };
        let meaning = Meaning {
            slow: Some(SlowLog {
                entries: 7,
                slower_than_us: Some(10_000),
                slowest: vec![command],
            }),
            latency_events: vec![event],
            ..Meaning::of(&looks)
        };
        let found = findings(&meaning, &looks);
        assert!(
            found[0].contains("7 slow commands (over 10000 us)"),
            "{found:?}"
        );
        assert!(found[0].contains("a KEYS of 31000 us"), "{found:?}");
        assert!(found[1].contains("120 ms (fork)"), "{found:?}");
    }
}
