//! A phase that is ready to go, and what is written of it afterwards.

use super::WorkerError;
use super::crew::Part;
use super::options::MOST_KEYS;
use crate::engine::{Counts, Ops, Plan, Record, Texts, Travel, slices};
use crate::outcome::Tally;
use crate::protocol::Task;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roundtrip_model::Op;
use roundtrip_model::contract::{Done, LatencyHistograms, PhaseCommand, Purpose, Redirects};
use roundtrip_model::stream::{MAX_VALUE_BYTES, Stream};
use roundtrip_model::workload::Generate;
use roundtrip_wire::memcached::key_is_valid;

/// Preparations send so many at once on a connection, where a store can.
const PREPARE_DEPTH: usize = 64;
/// The most ops in flight in all.
const MOST_IN_FLIGHT: usize = 4 << 20;

/// A phase with everything made that can be made before the clock starts.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) command: PhaseCommand,
    pub(super) texts: Texts,
    pub(super) pace: Plan,
    /// How many ops each connection may have in flight.
    pub(super) depth: usize,
    /// How many keys each of them has, and how these travel.
    pub(super) keys: usize,
    pub(super) travel: Travel,
    /// The ops of each thread.
    pub(super) parts: Vec<Ops>,
    pub(super) threads: usize,
    pub(super) seed: u64,
    mix: Vec<(Op, f64)>,
    written: Option<LatencyHistograms>,
    count: u64,
}

impl Ready {
    /// Plans the ops for so many threads and connections (those to the nodes of a cluster are one),
    /// each of which can have many in flight or only one.
    pub(super) fn new(
        mut command: PhaseCommand,
        threads: usize,
        connections: usize,
        pipelines: bool,
    ) -> Result<Ready, WorkerError> {
        let Some(mut stream) = command.plan.take() else {
            return Err(WorkerError::protocol(
                "a phase has no plan, and this client reads no stream files",
            ));
        };
        check(&command, &stream)?;
        stream.op = command.op;
        let keys = stream.keys_per_op as usize;
        let (travel, mut depth) = travel(&command, keys)?;
        if depth.saturating_mul(connections).saturating_mul(keys) > MOST_IN_FLIGHT {
            return Err(WorkerError::usage(format!(
                "{connections} connections of depth {depth} are more than {MOST_IN_FLIGHT} ops in \
                 flight"
            )));
        }
        if command.purpose == Purpose::Prepare {
            depth = match pipelines {
                true => depth.max(PREPARE_DEPTH),
                false => 1,
            };
        }
        if command.add != 0 && command.op == Op::ReadModifyWrite {
            let apart = apart(&command, &stream, connections)?;
            depth = depth.min(apart / keys).max(1);
        }
        let in_loop = command.generate == Generate::InLoop;
        let part = |part| Ops::new(&stream, in_loop, part, threads as u64);
        Ok(Ready {
            texts: match in_loop {
                true => Texts::in_loop(),
                false => Texts::of(&stream),
            },
            pace: Plan::read(&command.pace, stream.seed, stream.len())?,
            depth,
            keys,
            travel,
            parts: (0..threads as u64).map(part).collect(),
            threads,
            seed: stream.seed,
            mix: stream.mix.clone(),
            written: None,
            count: 0,
            command,
        })
    }

    /// The ops that it may have.
    pub(super) fn ops(&self) -> impl Iterator<Item = Op> + '_ {
        let mix = self.mix.iter().map(|(op, _)| *op);
        std::iter::once(self.command.op).chain(mix)
    }

    /// What the phase is to a protocol.
    pub(super) fn task(&self) -> Task {
        Task {
            ttl_s: self.command.ttl_s,
            add: self.command.add,
            prepare: self.command.purpose == Purpose::Prepare,
        }
    }

    /// Puts together what the threads gave.
    pub(super) fn done(&mut self, parts: Vec<Part>) -> Done {
        let paced = matches!(self.pace, Plan::Open(_));
        let mut whole = Record::new(0);
        let (mut ends_ns, mut cache) = (Vec::new(), Tally::default());
        let (mut user_ns, mut sys_ns, mut max_rss_bytes) = (0, 0, 0);
        let started_ns = parts.iter().map(|part| part.record.started_ns).min();
        let started_ns = started_ns.unwrap_or(0);
        for mut part in parts {
            user_ns += part.usage.user_ns;
            sys_ns += part.usage.sys_ns;
            max_rss_bytes = max_rss_bytes.max(part.usage.max_rss_bytes);
            cache.merge(&part.cache);
            ends_ns.push(std::mem::take(&mut part.record.slice_ends_ns));
            whole.merge(part.record);
        }
        self.count = whole.finished();
        let text = |counts: &Counts| STANDARD.encode(counts.to_histogram().to_bytes());
        self.written = Some(LatencyHistograms {
            service: text(&whole.service),
            response: paced.then(|| text(&whole.response)),
            slices_ns: slices(started_ns, &ends_ns),
        });
        Done {
            started_ns,
            ended_ns: whole.last_ns,
            user_ns,
            sys_ns,
            complaint: whole.complaint.take(),
            outcomes: whole.tally.by_name(),
            cache_outcomes: cache.by_name(),
            max_rss_bytes: (max_rss_bytes > 0).then_some(max_rss_bytes),
            redirects: Redirects {
                moved: whole.moved,
                asked: whole.asked,
            },
            carried: None,
            lateness: paced.then(|| whole.lateness()),
            gap_totals: (whole.gaps.totals().count > 0).then(|| whole.gaps.totals()),
            gaps: whole.gaps.into_listed(),
        }
    }

    /// Writes the latencies where they were asked for; says how many.
    pub(super) fn write_latencies(&self) -> Result<u64, WorkerError> {
        let (Some(path), Some(written)) = (&self.command.latencies, &self.written) else {
            return Ok(0);
        };
        let cannot = |e: &dyn std::fmt::Display| {
            WorkerError::io(format!("the latencies cannot be written: {path}: {e}"))
        };
        let text = serde_json::to_vec(written).map_err(|e| cannot(&e))?;
        std::fs::write(path, text).map_err(|e| cannot(&e))?;
        Ok(self.count)
    }
}

/// How the keys of an op travel, and how many ops may be in flight then. A request for several keys
/// is one thing in flight; of an op that sends one for each key, every key is.
fn travel(command: &PhaseCommand, keys: usize) -> Result<(Travel, usize), WorkerError> {
    let depth = command.depth as usize;
    match (command.op, depth) {
        (Op::GetMany, _) => Ok((Travel::Grouped, depth)),
        (_, 1) => Ok((Travel::Apart, 1)),
        _ if depth >= keys => Ok((Travel::Together, depth / keys)),
        _ => Err(WorkerError::usage(format!(
            "phase `{}` has {keys} keys an op, which go one after another with depth=1 or together \
             with depth={keys} or more, and not with depth={depth}",
            command.name
        ))),
    }
}

/// How many keys may be in flight where each op adds to the number that it reads: no key twice.
fn apart(
    command: &PhaseCommand,
    stream: &Stream,
    connections: usize,
) -> Result<usize, WorkerError> {
    if connections > 1 || command.generate == Generate::InLoop {
        return Err(WorkerError::usage(format!(
            "phase `{}` adds to numbers, and what comes of them is known only for one connection \
             and keys made before the loop; leave connections and generate out",
            command.name
        )));
    }
    if stream.keyspace < u64::from(stream.keys_per_op) {
        return Err(WorkerError::usage(format!(
            "phase `{}` has an op of {} keys and only {} keys, so that it adds to one of them twice; \
             write more keys",
            command.name, stream.keys_per_op, stream.keyspace
        )));
    }
    // With a pace each place is filled anew by itself, and not only when all were answered.
    Ok(match command.pace.is_closed() {
        true => usize::try_from(stream.keyspace).unwrap_or(usize::MAX),
        false => 1,
    })
}

/// Refuses what cannot be done, before the clock starts.
fn check(command: &PhaseCommand, stream: &Stream) -> Result<(), WorkerError> {
    if command.count == 0 || command.depth == 0 {
        return Err(WorkerError::usage(format!(
            "phase `{}` has a count or depth of 0",
            command.name
        )));
    }
    if stream.keys_per_op == 0 || stream.keys_per_op > MOST_KEYS {
        return Err(WorkerError::protocol(format!(
            "an op has from 1 to {MOST_KEYS} keys"
        )));
    }
    if stream.keys_per_op > 1 && (!command.op.takes_keys() || command.generate == Generate::InLoop)
    {
        return Err(WorkerError::usage(format!(
            "phase `{}` has several keys an op, which only get_many and read_modify_write have, and \
             not with keys made in the loop",
            command.name
        )));
    }
    let (part, of) = stream.part;
    if of == 0 || part >= of {
        return Err(WorkerError::protocol(format!(
            "there is no part {part} of {of}"
        )));
    }
    if stream.len() != command.count {
        return Err(WorkerError::protocol(format!(
            "the plan holds {} operations where the phase has {}",
            stream.len(),
            command.count
        )));
    }
    // What a key is made of besides its prefix is hexadecimal digits.
    if !key_is_valid(&stream.key_maker().make(stream.first)) {
        return Err(WorkerError::protocol(
            "operation 0 has a key that cannot be sent",
        ));
    }
    if stream.values.bytes > MAX_VALUE_BYTES {
        return Err(WorkerError::protocol(
            "operation 0 has a value that is too long",
        ));
    }
    Ok(())
}
