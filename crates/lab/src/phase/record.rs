//! The record of a phase, made out of what its clients gave.

use super::Measured;
use roundtrip_model::Histogram;
use roundtrip_model::contract::{Carried, Done, Gap, GapTotals, Lateness, Redirects};
use roundtrip_model::record::{PhaseRecord, ProcessUsage};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::Phase;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// So many times without a connection are kept of a phase.
const MOST_GAPS: usize = 10_000;

/// Makes it.
pub(super) fn record(
    phase: &Phase,
    stream: &Stream,
    (depth, connections): (u32, u32),
    measured: Measured,
) -> PhaseRecord {
    let Measured {
        done,
        ended,
        server_cpu_ns,
        witness,
        samples,
        machine,
        beside,
    } = measured;
    let (mut latency, mut response) = (Histogram::new(), Histogram::new());
    let mut slices_ns = Vec::new();
    for client in &ended {
        latency.merge(&client.latencies.histogram);
        if let Some(paced) = &client.latencies.response {
            response.merge(paced);
        }
        add_slices(&mut slices_ns, &client.latencies.slices_ns);
    }
    let started = done.iter().map(|d| d.started_ns).min().unwrap_or(0);
    let finished = done.iter().map(|d| d.ended_ns).max().unwrap_or(0);
    PhaseRecord {
        name: phase.name.clone(),
        op: phase.op,
        ops: stream.count,
        keys_per_op: stream.keys_per_op,
        beside,
        depth,
        concurrency: connections,
        carried: carried(&done),
        pace: phase.pace.clone(),
        lateness: done.iter().filter_map(|d| d.lateness).reduce(later),
        gaps: gaps(&done),
        gap_totals: gap_totals(&done),
        redirects: done
            .iter()
            .fold(Redirects::default(), |sum, d| sum.and(d.redirects)),
        wall_ns: finished.saturating_sub(started),
        user_ns: Some(done.iter().map(|d| d.user_ns).fold(0, u64::saturating_add)),
        sys_ns: Some(done.iter().map(|d| d.sys_ns).fold(0, u64::saturating_add)),
        server_cpu_ns,
        process: ended.iter().map(|e| e.usage).reduce(|a, b| ProcessUsage {
            real_ns: a.real_ns.max(b.real_ns),
            user_ns: a.user_ns + b.user_ns,
            sys_ns: a.sys_ns + b.sys_ns,
        }),
        client_max_rss_bytes: ended.iter().map(|e| e.max_rss_bytes).max(),
        complaint: done.iter().find_map(|d| d.complaint.clone()),
        outcomes: sum(done.iter().map(|d| &d.outcomes)),
        cache_outcomes: sum(done.iter().map(|d| &d.cache_outcomes)),
        latency: (latency.count() > 0).then_some(latency),
        response: (response.count() > 0).then_some(response),
        machine: Some(machine),
        steady: roundtrip_stats::steady_state(&slices_ns),
        slices_ns,
        witness,
        // Filled in by `trial`, which knows the store's manifest.
        terms: BTreeMap::new(),
        samples,
    }
}

/// How all clients together carried the requests, where each of them tells.
fn carried(done: &[Done]) -> Option<Carried> {
    let told: Option<Vec<&Carried>> = done.iter().map(|d| d.carried.as_ref()).collect();
    told?.into_iter().cloned().reduce(|a, b| Carried {
        threads: a.threads + b.threads,
        connections: a.connections + b.connections,
        ..a
    })
}

/// The longest times without a connection, in the order in which they began.
fn gaps(done: &[Done]) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = done.iter().flat_map(|d| d.gaps.iter().copied()).collect();
    gaps.sort_by_key(|gap| Reverse(gap.lasted_ns));
    gaps.truncate(MOST_GAPS);
    gaps.sort_by_key(|gap| (gap.at_ns, gap.connection));
    gaps
}

/// All of them, those that are not listed too. A client that does not count them lists them.
fn gap_totals(done: &[Done]) -> Option<GapTotals> {
    let of = |d: &Done| {
        d.gap_totals.unwrap_or_else(|| GapTotals {
            count: d.gaps.len() as u64,
            lasted_ns: d.gaps.iter().map(|gap| gap.lasted_ns).sum(),
        })
    };
    let add = |a: GapTotals, b: GapTotals| GapTotals {
        count: a.count + b.count,
        lasted_ns: a.lasted_ns.saturating_add(b.lasted_ns),
    };
    let all = done.iter().map(of).reduce(add)?;
    (all.count > 0).then_some(all)
}

/// Of two clients that did like numbers of ops: the worse of each figure, which says no less than
/// the truth.
fn later(a: Lateness, b: Lateness) -> Lateness {
    Lateness {
        max_ns: a.max_ns.max(b.max_ns),
        p50_ns: a.p50_ns.zip(b.p50_ns).map(|(a, b)| a.max(b)),
        p99_ns: a.p99_ns.max(b.p99_ns),
        mean_ns: a.mean_ns.max(b.mean_ns),
        spun_ns: a.spun_ns.zip(b.spun_ns).map(|(a, b)| a.saturating_add(b)),
    }
}

fn add_slices(sum: &mut Vec<u64>, slices: &[u64]) {
    sum.resize(sum.len().max(slices.len()), 0);
    sum.iter_mut()
        .zip(slices)
        .for_each(|(sum, slice)| *sum = sum.saturating_add(*slice));
}

fn sum<'a>(maps: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut sum = BTreeMap::new();
    for (name, n) in maps.flatten() {
        // A worker may say any number; one that wraps around could pass for the right one.
        let counted: &mut u64 = sum.entry(name.clone()).or_default();
        *counted = counted.saturating_add(*n);
    }
    sum
}
