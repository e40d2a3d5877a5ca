//! The method, proved on the loop itself: with a server and a time that are made up, everything
//! that the loop measures has a known answer. The loop, the protocols, the paces and the record
//! are the ones that measure real servers; only the transport is made up.
//!
//! `docs/method.md` has the table of what is proved where.

mod latency;
mod merging;
mod paced;
mod simulated;
mod witness;

use super::{Closed, Course, Mender, Ops, Pace, Plan, Record, Settings, Texts, pace};
use crate::protocol::{Memcached, Protocol, Resp, Task};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{
    Distribution, KeyRecipe, Keys, Pace as Asked, Sizes, ValueRecipe, Values,
};
use roundtrip_model::{Histogram, Op};
use simulated::{Fate, Queue, START_NS, Server, Simulated, Speech};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const KEYSPACE: u64 = 100;

/// What is run against the server.
#[derive(Clone)]
struct Load {
    op: Op,
    count: u64,
    connections: usize,
    depth: usize,
    pace: Asked,
    mender: Option<Mender>,
    send_cost_ns: u64,
}

fn load(count: u64, connections: usize, depth: usize) -> Load {
    Load {
        op: Op::Get,
        count,
        connections,
        depth,
        pace: Asked::Closed,
        mender: None,
        send_cost_ns: 0,
    }
}

/// An honest server, where each request takes the time that its number says.
fn server(takes_ns: fn(u64) -> u64) -> Server {
    let stream = stream(Op::Get, 1);
    let mut texts = Texts::of(&stream);
    let items = (0..KEYSPACE)
        .map(|index| {
            let value = stream.value_maker().make(index);
            (texts.keys.get(index).to_vec(), value)
        })
        .collect();
    Server {
        speech: Speech::Memcached,
        queue: Queue::Connection,
        takes_ns,
        stall: None,
        fate: |_| Fate::Honest,
        items,
        piece_bytes: None,
    }
}

fn stream(op: Op, count: u64) -> Stream {
    Stream {
        seed: 7,
        op,
        keys: Keys {
            recipe: KeyRecipe::Hex,
            bytes: 32,
            distribution: Distribution::Uniform,
            count: None,
        },
        values: Values {
            recipe: ValueRecipe::Bytes,
            bytes: 100,
            size: Sizes::Constant,
            compressible: 0.0,
            text: String::new(),
        },
        mix: Vec::new(),
        insert_first: 0,
        scan_keys: 0,
        keys_per_op: 1,
        add: 0,
        records_before: 0,
        prefix: String::new(),
        count,
        first: 0,
        keyspace: KEYSPACE,
        hit_ratio: 1.0,
        cold_first: 0,
        part: (0, 1),
    }
}

/// Runs a part of a load, as a thread of so many does; gives its record and how many requests the
/// server did.
fn run_part(load: &Load, server: Server, part: u64, of: u64) -> (Record, u64) {
    let plan = Plan::read(&load.pace, 7, load.count).unwrap();
    match plan {
        Plan::Closed => run_at(load, server, Closed, part, of),
        Plan::Open(timed) => run_at(load, server, timed.part(part, of), part, of),
    }
}

fn run(load: &Load, server: Server) -> Record {
    let (record, counted) = run_part(load, server, 0, 1);
    assert_eq!(counted, load.count, "each op is one request");
    record
}

fn run_at<C: Pace>(load: &Load, server: Server, pace: C, part: u64, of: u64) -> (Record, u64) {
    let task = Task {
        ttl_s: 0,
        add: 0,
        prepare: false,
    };
    match server.speech {
        Speech::Memcached => run_in(load, server, pace, Memcached::new(task), part, of),
        Speech::Resp => run_in(load, server, pace, Resp::new(task), part, of),
    }
}

fn run_in<P: Protocol, C: Pace>(
    load: &Load,
    server: Server,
    pace: C,
    protocol: P,
    part: u64,
    of: u64,
) -> (Record, u64) {
    let stream = stream(load.op, load.count);
    let settings = Settings {
        depth: load.depth,
        group: 1,
        keys: 1,
        travel: super::Travel::Together,
        first_connection: 0,
        mender: load.mender.clone(),
    };
    let ops = Ops::new(&stream, false, part, of);
    let down = vec![false; load.connections];
    let mut course = Course::new(settings, protocol, pace, ops, Texts::of(&stream), &down);
    let mut io = Simulated::new(server, load.connections, load.send_cost_ns);
    course.run(&mut io, START_NS).unwrap();
    course.fence(&mut io).unwrap();
    let (record, _) = course.finish().unwrap();
    (record, io.counted)
}

/// The moments of a pace, counted from the start.
fn moments(asked: &Asked, count: u64) -> Vec<u64> {
    let Plan::Open(timed) = Plan::read(asked, 7, count).unwrap() else {
        panic!("{asked:?} has no moments");
    };
    let mut timed: pace::Timed = timed.part(0, 1);
    let next = |_| {
        let due_ns = timed.due_ns();
        timed.advance();
        due_ns
    };
    (0..count).map(next).collect()
}

/// All of the true latencies, in a histogram of the same resolution.
fn histogram(latencies_ns: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    latencies_ns.iter().for_each(|ns| histogram.record(*ns));
    histogram
}

/// A latency that is not below the share `q` of all, from all of them.
fn true_quantile(latencies_ns: &[u64], q: f64) -> u64 {
    let mut sorted = latencies_ns.to_vec();
    sorted.sort_unstable();
    // 1e-6: 0.99 * 100 is not always 99 in binary.
    let rank = (sorted.len() as f64 * q - 1e-6).ceil() as usize;
    sorted[rank.max(1) - 1]
}

/// Whether a measured latency is the true one, to the resolution of 3 significant digits.
fn assert_is(measured_ns: Option<u64>, true_ns: u64, what: &str) {
    let measured_ns = measured_ns.unwrap_or_else(|| panic!("{what} is not known"));
    let off_ns = measured_ns.abs_diff(true_ns);
    assert!(
        off_ns * 1000 <= true_ns,
        "{what}: measured {measured_ns} ns, the truth is {true_ns} ns"
    );
}
