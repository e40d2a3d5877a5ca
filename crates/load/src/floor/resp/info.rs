//! The counters, under the names that Redis gives them, so that one witness reads both.

use super::call::{Call, Outcome};
use super::commands::COMMANDS;
use super::connection::LIKE_REDIS;
use crate::floor::answer::{Service, VERSION};
use crate::usage;
use std::fmt::Write;

/// Writes one section.
type Tell = fn(&Service, &mut String);

/// The sections in order; the last is told only when it is asked for, as Redis does.
const SECTIONS: [(&str, Tell); 7] = [
    ("Server", server),
    ("Clients", clients),
    ("Memory", memory),
    ("Stats", stats),
    ("CPU", cpu),
    ("Keyspace", keyspace),
    ("Commandstats", commandstats),
];

pub(super) fn info(call: &mut Call<'_, '_>) -> Outcome {
    let asked = |title: &str| {
        let mut words = call.arguments(1).map(<[u8]>::to_ascii_lowercase);
        words.any(|word| {
            matches!(word.as_slice(), b"all" | b"everything")
                || word == b"default" && title != "Commandstats"
                || word == title.to_ascii_lowercase().as_bytes()
        }) || call.request.len() == 1 && title != "Commandstats"
    };
    let mut text = String::new();
    for (title, write) in SECTIONS {
        if asked(title) {
            let break_before = if text.is_empty() { "" } else { "\r\n" };
            let _ = write!(text, "{break_before}# {title}\r\n");
            write(call.service, &mut text);
        }
    }
    call.text(&text)
}

fn line(text: &mut String, name: &str, value: impl std::fmt::Display) {
    // Writing to a String cannot fail.
    let _ = write!(text, "{name}:{value}\r\n");
}

fn server(service: &Service, text: &mut String) {
    line(text, "redis_version", LIKE_REDIS);
    line(text, "redis_mode", "standalone");
    line(text, "server_name", VERSION);
    line(text, "io", service.io);
    line(
        text,
        "process_id",
        rustix::process::getpid().as_raw_nonzero(),
    );
    let up_s = service.memory.now_s().saturating_sub(service.started_s);
    line(text, "uptime_in_seconds", up_s);
}

fn clients(service: &Service, text: &mut String) {
    line(text, "connected_clients", service.counters.curr_connections);
}

fn memory(service: &Service, text: &mut String) {
    line(text, "used_memory", service.memory.bytes());
    line(text, "maxmemory", service.memory.limit_bytes());
    line(text, "maxmemory_policy", "noeviction");
}

fn stats(service: &Service, text: &mut String) {
    let c = &service.counters;
    let calls: u64 = service.calls.iter().map(|calls| calls.calls).sum();
    for (name, value) in [
        ("total_connections_received", c.total_connections),
        ("total_commands_processed", calls),
        ("total_net_input_bytes", c.bytes_read),
        ("total_net_output_bytes", c.bytes_written),
        ("rejected_connections", c.rejected_connections),
        ("evicted_keys", 0),
        ("keyspace_hits", c.keyspace_hits),
        ("keyspace_misses", c.keyspace_misses),
        ("requests", c.requests),
    ]
    .into_iter()
    .chain(service.faults.done.named())
    {
        line(text, name, value);
    }
}

fn cpu(_: &Service, text: &mut String) {
    let Some(usage) = usage::now() else {
        return;
    };
    for (name, ns) in [
        ("used_cpu_sys", usage.sys_ns),
        ("used_cpu_user", usage.user_ns),
    ] {
        let seconds = format!("{}.{:06}", ns / 1_000_000_000, ns / 1000 % 1_000_000);
        line(text, name, seconds);
    }
}

fn keyspace(service: &Service, text: &mut String) {
    let keys = service.memory.len();
    if keys > 0 {
        let ending = service.memory.iter().filter(|item| item.expires_ms() != 0);
        line(
            text,
            "db0",
            format_args!("keys={keys},expires={}", ending.count()),
        );
    }
}

fn commandstats(service: &Service, text: &mut String) {
    for (command, calls) in COMMANDS.iter().zip(&service.calls) {
        if calls.calls > 0 {
            let name = format!("cmdstat_{}", command.name.to_ascii_lowercase());
            let (calls, failed) = (calls.calls, calls.failed);
            line(
                text,
                &name,
                format_args!("calls={calls},failed_calls={failed}"),
            );
        }
    }
}
