//! Where Roundtrip, its servers and its clients may run, as the kernel says it of every thread of
//! theirs, in each placement. METHOD.md, point 7.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Home, Running, children, program, soon};
use std::collections::BTreeMap;
use std::fs;

/// `Cpus_allowed_list` of every thread of a process; `None` where it has gone meanwhile.
fn allowed(pid: u32) -> Option<Vec<String>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut lists = Vec::new();
    for thread in threads.flatten() {
        let status = fs::read_to_string(thread.path().join("status")).ok()?;
        let list = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        lists.push(list?.trim().to_owned());
    }
    (!lists.is_empty()).then_some(lists)
}

/// The kernel's notation: `0-2,5`.
fn in_words(cpus: &[usize]) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for cpu in cpus {
        match runs.last_mut() {
            Some((_, end)) if *end + 1 == *cpu => *end = *cpu,
            _ => runs.push((*cpu, *cpu)),
        }
    }
    let words = runs.iter().map(|(a, b)| match a == b {
        true => a.to_string(),
        false => format!("{a}-{b}"),
    });
    words.collect::<Vec<_>>().join(",")
}

/// The threads' lists of a server and a client that were seen at the same time.
fn seen(
    placement: &str,
    client: &str,
    client_program: &str,
) -> BTreeMap<&'static str, Vec<String>> {
    let home = Home::new();
    let other = format!("{client}?transport=unix");
    let mut command = home.command(&[
        "compare",
        client,
        &other,
        "--store",
        "memcached",
        "--op",
        "get",
        "--count",
        "20000",
        "--placement",
        placement,
        "--budget",
        "300s",
        "--quiet",
    ]);
    let mut run = Running::start(&mut command);
    let roundtrip = run.id();
    // All of them at once, when the host has come as far as pinning itself: it watches.
    let found = soon("a server, a client and the watch", || {
        let host = fs::read_dir(format!("/proc/{roundtrip}/task")).ok()?;
        let is_watching = host.flatten().any(|thread| {
            fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim() == "watch")
        });
        let pids = children(roundtrip);
        let of = |name: &str| pids.iter().copied().find(|pid| program(*pid) == name);
        is_watching.then_some(())?;
        Some(BTreeMap::from([
            ("server", allowed(of("memcached")?)?),
            ("client", allowed(of(client_program)?)?),
            ("host", allowed(roundtrip)?),
        ]))
    });
    run.kill();
    found
}

#[test]
fn every_thread_is_where_the_placement_says() {
    let all = roundtrip_process::cpus::available().0;
    let (servers, clients) = all.split_at(all.len() / 2);
    let last = &all[all.len() - 1..];
    let split = match all.len() {
        1 => (&all[..], &all[..]),
        _ => (servers, clients),
    };
    for (placement, (servers, clients)) in [
        ("split", split),
        ("shared", (last, last)),
        ("free", (&all[..], &all[..])),
    ] {
        for (client, client_program) in [("native", "roundtrip"), ("php/memcached", "php")] {
            let found = seen(placement, client, client_program);
            let is = |whose: &str, cpus: &[usize]| {
                let lists = &found[whose];
                let expected = in_words(cpus);
                assert!(
                    lists.iter().all(|list| *list == expected),
                    "{placement}, {whose} of {client}: {lists:?}, not {expected}"
                );
            };
            is("server", servers);
            is("client", clients);
            // memcached has a thread that listens, worker threads, and others for its chores.
            assert!(found["server"].len() > 2, "{found:?}");
            if all.len() > 1 && placement != "free" {
                // The host is off the clients' processors, with every thread of its own.
                let clients = in_words(clients);
                assert!(!found["host"].contains(&clients), "{placement}: {found:?}");
            }
        }
    }
}
