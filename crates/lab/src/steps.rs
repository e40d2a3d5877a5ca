//! What a trial does, step by step: which data to bring into place, and which streams to run.
//! Pure: from the experiment, the seed and the path to a list.

use roundtrip_model::contract::Target;
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Beside, Distribution, Keys, Phase, Values, Workload};
use roundtrip_model::{Experiment, Op, Path};

/// Keys of warm-ups that write start here, far from those that are measured.
const WARMUP_FIRST: u64 = 1 << 40;
/// Keys that are not there (or not in the cache) start here, a stretch for each phase.
const COLD_FIRST: u64 = 1 << 41;
const COLD_STRETCH: u64 = 1 << 34;
/// Keys that warm-ups insert, a stretch for each phase.
const WARMUP_STRETCH: u64 = 1 << 32;
/// Keys that live shorter than this may be gone before a phase ends.
const SHORT_TTL_S: u32 = 600;

/// One step of a trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Bring keys into place, unmeasured.
    Prepare {
        /// The store or the cache.
        target: Target,
        /// What to set.
        stream: Stream,
        /// Time to live.
        ttl_s: u32,
        /// Who does it, where that is not the path's own client.
        by: Option<Box<Beside>>,
    },
    /// Run a phase in fresh client processes.
    Measure {
        /// The phase.
        phase: Phase,
        /// Its warm-up.
        warmup: Box<Stream>,
        /// Its operations.
        stream: Box<Stream>,
        /// How many keys that were not there it writes; `None` where that cannot be known.
        new_keys: Option<u64>,
    },
    /// Read every key that a phase added to, unmeasured: its number must be exact.
    Check {
        /// What to get.
        stream: Stream,
    },
}

/// Makes the steps of one trial.
struct Planner<'a> {
    work: &'a Workload,
    seed: u64,
    prefix: &'a str,
    has_cache: bool,
    /// Keys `0 .. in_store` are in the store with their values, and so for the cache.
    in_store: u64,
    in_cache: u64,
    /// As many of them have their row in the other table too, for joins.
    joined: u64,
    /// Whether keys from `in_store` upwards may be there too.
    may_hold_more: bool,
    steps: Vec<Step>,
}

/// How many keys a workload is about.
pub fn keyspace(work: &Workload) -> u64 {
    let visits = work.phases.iter().filter(|phase| phase.op != Op::Insert);
    let visited = visits.map(|phase| phase.keys.unwrap_or(phase.hits())).max();
    work.keys.count.unwrap_or(visited.unwrap_or(1)).max(1)
}

/// How many of them a phase is about.
fn keys_of(work: &Workload, phase: &Phase) -> u64 {
    let all = keyspace(work);
    phase.keys.map_or(all, |keys| keys.min(all))
}

/// The steps of a trial of a contestant; `prefix` goes before every key.
pub fn steps(
    experiment: &Experiment,
    contestant: &str,
    path: &Path,
    seed: u64,
    prefix: &str,
) -> Vec<Step> {
    let mut planner = Planner {
        work: &experiment.workload,
        seed,
        prefix,
        has_cache: path.cache.is_some(),
        in_store: 0,
        in_cache: 0,
        joined: 0,
        may_hold_more: false,
        steps: Vec::new(),
    };
    for (number, phase) in experiment.workload.phases.iter().enumerate() {
        if experiment.does(contestant, phase) {
            planner.add(number as u64, phase);
        }
    }
    planner.steps
}

impl Planner<'_> {
    fn stream(&self, op: Op, first: u64, keyspace: u64, count: u64) -> Stream {
        Stream {
            op,
            seed: self.seed,
            keys: self.work.keys,
            values: self.work.values.clone(),
            mix: Vec::new(),
            scan_keys: 0,
            keys_per_op: 1,
            add: 0,
            records_before: 0,
            insert_first: first + keyspace,
            prefix: self.prefix.to_owned(),
            count,
            first,
            keyspace,
            hit_ratio: 1.0,
            cold_first: COLD_FIRST,
            part: (0, 1),
        }
    }

    fn prepare(&mut self, target: Target, first: u64, count: u64, ttl_s: u32) {
        if count == 0 {
            return;
        }
        // Every key once and in order, however the phase will visit them.
        let mut stream = self.stream(Op::Set, first, count, count);
        stream.keys.distribution = Distribution::Sequential;
        self.steps.push(Step::Prepare {
            target,
            stream,
            ttl_s,
            by: None,
        });
    }

    /// Brings rows into place in both tables by a client that joins them. What else put keys there
    /// may know of one table alone.
    fn prepare_joins(&mut self, phase: &Phase, keyspace: u64, ttl_s: u32) {
        let joins = |op: Op| matches!(op, Op::Join | Op::SetSeen);
        let by_itself = phase.ops().any(joins);
        let beside = phase.beside.as_ref().filter(|beside| joins(beside.op));
        if self.joined >= keyspace || !(by_itself || beside.is_some()) {
            return;
        }
        self.prepare(Target::Store, 0, keyspace, ttl_s);
        if let (false, Some(Step::Prepare { by, .. })) = (by_itself, self.steps.last_mut()) {
            *by = beside.cloned().map(Box::new);
        }
        (self.in_store, self.joined) = (self.in_store.max(keyspace), keyspace);
        self.may_hold_more = false;
    }

    fn add(&mut self, number: u64, phase: &Phase) {
        let keyspace = keys_of(self.work, phase);
        let ttl_s = phase.ttl_s.unwrap_or(0);
        let cold_first = COLD_FIRST + number * COLD_STRETCH;
        self.prepare_joins(phase, keyspace, ttl_s);
        let needs_data = phase.op.needs_data() || phase.beside.is_some();
        if needs_data && self.in_store < keyspace {
            self.prepare(
                Target::Store,
                self.in_store,
                keyspace - self.in_store,
                ttl_s,
            );
            self.in_store = keyspace;
            self.may_hold_more = false;
        }
        if phase.op == Op::ReadAside {
            self.prepare(Target::Store, cold_first, phase.count - phase.hits(), ttl_s);
            if self.has_cache && self.in_cache < keyspace {
                self.prepare(
                    Target::Cache,
                    self.in_cache,
                    keyspace - self.in_cache,
                    ttl_s,
                );
                self.in_cache = keyspace;
            }
        }
        let warmup = self.warmup(number, phase, ttl_s);
        let stream = Stream {
            hit_ratio: phase.hit_ratio,
            cold_first,
            insert_first: self.insert_first(number),
            ..self.of_phase(phase, 0, keyspace, phase.count)
        };
        let new_keys = self.note_writes(phase, &stream);
        self.steps.push(Step::Measure {
            phase: phase.clone(),
            warmup: Box::new(warmup),
            stream: Box::new(stream),
            new_keys,
        });
        self.check(phase);
    }

    /// What was added to is read again: nothing may be lost, and nothing added twice.
    fn check(&mut self, phase: &Phase) {
        let add = match phase.op {
            Op::Incr => 1,
            _ => phase.add,
        };
        let is_in_order = self.work.keys.distribution == Distribution::Sequential;
        if add == 0 || !is_in_order {
            return;
        }
        let keyspace = keys_of(self.work, phase);
        let stream = Stream {
            add,
            records_before: phase.records(),
            ..self.stream(Op::Get, 0, keyspace, keyspace)
        };
        self.steps.push(Step::Check { stream });
    }

    fn of_phase(&self, phase: &Phase, first: u64, keyspace: u64, count: u64) -> Stream {
        Stream {
            mix: phase.mix.clone(),
            scan_keys: phase.scan_keys,
            keys_per_op: phase.keys_per_op,
            add: phase.add,
            ..self.stream(phase.op, first, keyspace, count)
        }
    }

    /// New keys come after those of the keyspace and those that phases before this one insert, the
    /// same for every variant, whether it does those phases or not.
    fn insert_first(&self, number: u64) -> u64 {
        let before = self.work.phases.iter().take(number as usize);
        let inserts = before.map(|phase| self.of_phase(phase, 0, 1, phase.count).inserts());
        keyspace(self.work) + inserts.sum::<u64>()
    }

    /// What leaves every key as it was warms up on the keys that are measured. What does not warms
    /// up on keys of its own.
    fn warmup(&mut self, number: u64, phase: &Phase, ttl_s: u32) -> Stream {
        let records = phase.warmup * u64::from(phase.keys_per_op);
        let own = (WARMUP_FIRST, records.max(1));
        let (first, keyspace) = match phase.op {
            Op::ReadModifyWrite if phase.add != 0 => {
                self.prepare(Target::Store, WARMUP_FIRST, records, ttl_s);
                own
            }
            Op::Get
            | Op::GetMany
            | Op::Join
            | Op::SetSeen
            | Op::ReadAside
            | Op::Scan
            | Op::ReadModifyWrite
            | Op::Mix => (0, keys_of(self.work, phase)),
            Op::Set | Op::Insert => own,
            Op::Delete | Op::Incr => {
                self.prepare(Target::Store, WARMUP_FIRST, phase.warmup, ttl_s);
                own
            }
        };
        Stream {
            insert_first: WARMUP_FIRST + (number + 1) * WARMUP_STRETCH,
            ..self.of_phase(phase, first, keyspace, phase.warmup)
        }
    }

    /// Notes what a phase leaves behind; says how many new keys it writes, where that is certain.
    fn note_writes(&mut self, phase: &Phase, stream: &Stream) -> Option<u64> {
        // A key that expires during the phase is not counted at its end.
        let expires = phase.ttl_s.is_some_and(|ttl_s| ttl_s < SHORT_TTL_S);
        let keyspace = stream.keyspace;
        match phase.op {
            Op::Set if self.work.keys.distribution == Distribution::Sequential => {
                let reached = phase.count.min(keyspace);
                let new_keys = reached.saturating_sub(self.in_store);
                let certain = !self.may_hold_more && !expires;
                self.in_store = self.in_store.max(reached);
                self.may_hold_more &= self.in_store < keyspace;
                certain.then_some(new_keys)
            }
            Op::Set => {
                self.may_hold_more = true;
                None
            }
            // Some keys are gone, or do not hold their first value any more: what reads them next
            // is prepared again.
            Op::Delete | Op::Incr => {
                self.in_store = 0;
                self.may_hold_more = true;
                None
            }
            Op::ReadModifyWrite if phase.add != 0 => {
                self.in_store = 0;
                self.may_hold_more = true;
                Some(0)
            }
            // Each set wrote a value that nothing had before.
            Op::SetSeen => {
                self.in_store = 0;
                self.may_hold_more = true;
                Some(0)
            }
            // Of a mix all but the inserts are of keys that are there.
            Op::Insert | Op::Mix => (!expires).then(|| stream.inserts()),
            Op::Get | Op::GetMany | Op::Join | Op::ReadAside | Op::Scan | Op::ReadModifyWrite => {
                Some(0)
            }
        }
    }
}

/// The parts of a stream, one a client.
pub fn parts(stream: &Stream, clients: u32) -> Vec<Stream> {
    let of = u64::from(clients);
    (0..of)
        .map(|part| Stream {
            part: (part, of),
            ..stream.clone()
        })
        .collect()
}

/// A stream for measuring what a worker's loop costs with a client that does nothing.
pub fn loop_cost(keys: Keys, values: Values, seed: u64, count: u64) -> Stream {
    Stream {
        op: Op::Get,
        seed,
        keys,
        values,
        mix: Vec::new(),
        scan_keys: 0,
        keys_per_op: 1,
        add: 0,
        records_before: 0,
        insert_first: count,
        prefix: String::new(),
        count,
        first: 0,
        keyspace: count,
        hit_ratio: 1.0,
        cold_first: COLD_FIRST,
        part: (0, 1),
    }
}

#[cfg(test)]
mod tests;
