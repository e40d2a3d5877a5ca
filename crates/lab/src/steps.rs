//! What a trial does, step by step: which data to bring into place, and which streams to run.
//! Pure: from the experiment, the seed and the path to a list.

use roundtrip_model::contract::Target;
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::{Distribution, Keys, Phase, Values, Workload};
use roundtrip_model::{Experiment, Op, Path};

/// Keys of warm-ups that write start here, far from those that are measured.
const WARMUP_FIRST: u64 = 1 << 40;
/// Keys that are not there (or not in the cache) start here, a stretch for each phase.
const COLD_FIRST: u64 = 1 << 41;
const COLD_STRETCH: u64 = 1 << 34;
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
    /// Whether keys from `in_store` upwards may be there too.
    may_hold_more: bool,
    steps: Vec<Step>,
}

/// How many keys a workload is about.
pub fn keyspace(work: &Workload) -> u64 {
    let visited = work.phases.iter().map(Phase::hits).max().unwrap_or(1);
    work.keys.count.unwrap_or(visited).max(1)
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
        });
    }

    fn add(&mut self, number: u64, phase: &Phase) {
        let keyspace = keyspace(self.work);
        let ttl_s = phase.ttl_s.unwrap_or(0);
        let cold_first = COLD_FIRST + number * COLD_STRETCH;
        if phase.op.needs_data() && self.in_store < keyspace {
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
        let warmup = self.warmup(phase, ttl_s);
        let stream = Stream {
            hit_ratio: phase.hit_ratio,
            cold_first,
            ..self.stream(phase.op, 0, keyspace, phase.count)
        };
        let new_keys = self.note_writes(phase, keyspace);
        self.steps.push(Step::Measure {
            phase: phase.clone(),
            warmup: Box::new(warmup),
            stream: Box::new(stream),
            new_keys,
        });
    }

    /// Reads warm up on the keys that they will read, which changes nothing. What writes warms up
    /// on keys of its own, so that the measured keys are as they were.
    fn warmup(&mut self, phase: &Phase, ttl_s: u32) -> Stream {
        match phase.op {
            Op::Get | Op::ReadAside => self.stream(phase.op, 0, keyspace(self.work), phase.warmup),
            Op::Scan => self.stream(phase.op, 0, keyspace(self.work), phase.warmup),
            Op::Set | Op::Insert => {
                self.stream(phase.op, WARMUP_FIRST, phase.warmup.max(1), phase.warmup)
            }
            Op::Delete | Op::Incr | Op::ReadModifyWrite | Op::Mix => {
                self.prepare(Target::Store, WARMUP_FIRST, phase.warmup, ttl_s);
                self.stream(phase.op, WARMUP_FIRST, phase.warmup.max(1), phase.warmup)
            }
        }
    }

    /// Notes what a phase leaves behind; says how many new keys it writes, where that is certain.
    fn note_writes(&mut self, phase: &Phase, keyspace: u64) -> Option<u64> {
        // A key that expires during the phase is not counted at its end.
        let expires = phase.ttl_s.is_some_and(|ttl_s| ttl_s < SHORT_TTL_S);
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
            Op::Get | Op::ReadAside | Op::Scan | Op::ReadModifyWrite => Some(0),
            Op::Insert | Op::Mix => None,
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
mod tests {
    use super::*;

    fn of(phases: &str, store: &str) -> Vec<Step> {
        let text = format!(
            "name = \"m\"\n{phases}\n[[variant]]\nname = \"v\"\nclient = \"native\"\n{store}\n"
        );
        let e = Experiment::parse(&text, "m.toml").unwrap();
        steps(&e, "v", e.path("v").unwrap(), 1, "p:")
    }

    fn shape(steps: &[Step]) -> Vec<(String, u64)> {
        steps
            .iter()
            .map(|step| match step {
                Step::Prepare { target, stream, .. } => (format!("{target:?}"), stream.count),
                Step::Measure { phase, .. } => (phase.name.clone(), phase.count),
            })
            .collect()
    }

    #[test]
    fn a_get_after_a_set_of_the_same_keys_needs_no_preparation() {
        let phases = "[[phase]]\nop=\"set\"\ncount=100\n[[phase]]\nop=\"get\"\ncount=100";
        let steps = of(phases, "store=\"memcached\"");
        assert_eq!(shape(&steps), [("set".into(), 100), ("get".into(), 100)]);
        let Step::Measure { new_keys, .. } = &steps[0] else {
            unreachable!()
        };
        assert_eq!(*new_keys, Some(100));
    }

    #[test]
    fn a_get_alone_is_prepared() {
        let steps = of("[[phase]]\nop=\"get\"\ncount=100", "store=\"memcached\"");
        assert_eq!(shape(&steps), [("Store".into(), 100), ("get".into(), 100)]);
    }

    #[test]
    fn a_get_after_a_delete_is_prepared_again() {
        let phases =
            "[[phase]]\nop=\"delete\"\ncount=50\nwarmup=5\n[[phase]]\nop=\"get\"\ncount=100";
        let steps = of(phases, "store=\"memcached\"");
        let expected = [
            ("Store", 100),
            ("Store", 5),
            ("delete", 50),
            ("Store", 100),
            ("get", 100),
        ];
        assert_eq!(
            shape(&steps),
            expected.map(|(name, n)| (name.to_owned(), n))
        );
    }

    #[test]
    fn a_get_after_an_incr_is_prepared_again() {
        let phases = "[values]\nrecipe=\"zero\"\n[[phase]]\nop=\"incr\"\ncount=100\nwarmup=5\n\
                      [[phase]]\nop=\"get\"\ncount=100";
        let names: Vec<String> = shape(&of(phases, "store=\"memcached\""))
            .into_iter()
            .map(|s| s.0)
            .collect();
        assert_eq!(names, ["Store", "Store", "incr", "Store", "get"]);
    }

    #[test]
    fn how_many_keys_are_new_is_said_only_where_it_is_certain() {
        let new_keys = |phases: &str| -> Vec<Option<u64>> {
            let steps = of(phases, "store=\"memcached\"");
            let measured = steps.iter().filter_map(|step| match step {
                Step::Measure { new_keys, .. } => Some(*new_keys),
                Step::Prepare { .. } => None,
            });
            measured.collect()
        };
        let set = "[[phase]]\nop=\"set\"\ncount=100";
        let twice = format!("{set}\n[[phase]]\nname=\"again\"\nop=\"set\"\ncount=100");
        assert_eq!(new_keys(&twice), [Some(100), Some(0)]);
        let uniform = format!("[keys]\ndistribution=\"uniform\"\n{set}");
        assert_eq!(new_keys(&uniform), [None]);
        let partly = format!("[keys]\ncount=100\n[[phase]]\nop=\"delete\"\ncount=5\n{set}");
        assert_eq!(new_keys(&partly), [None, None]);
        assert_eq!(new_keys(&format!("{set}\nttl_s=1")), [None]);
    }

    #[test]
    fn read_aside_finds_every_key_in_the_store_and_the_hot_ones_in_the_cache() {
        let phases = "[[phase]]\nop=\"read_aside\"\ncount=1000\nhit_ratio=0.9";
        let steps = of(phases, "store=\"sqlite\"\ncache=\"floor\"");
        let expected = [
            ("Store", 900),
            ("Store", 100),
            ("Cache", 900),
            ("read_aside", 1000),
        ];
        assert_eq!(
            shape(&steps),
            expected.map(|(name, n)| (name.to_owned(), n))
        );
        let Step::Measure { stream, .. } = &steps[3] else {
            unreachable!()
        };
        let Step::Prepare { stream: cold, .. } = &steps[1] else {
            unreachable!()
        };
        let missed: Vec<_> = stream.operations().filter(|op| !op.expect_hit).collect();
        assert_eq!(missed.len(), 100);
        for (op, there) in missed.iter().zip(cold.operations()) {
            assert_eq!((&op.key, &op.value), (&there.key, &there.value));
        }
    }

    #[test]
    fn without_a_cache_read_aside_prepares_the_store_only() {
        let phases = "[[phase]]\nop=\"read_aside\"\ncount=1000\nhit_ratio=0.9";
        assert_eq!(of(phases, "store=\"sqlite\"").len(), 3);
    }

    #[test]
    fn a_warm_up_that_writes_leaves_the_measured_keys_alone() {
        let steps = of(
            "[[phase]]\nop=\"set\"\ncount=100\nwarmup=10",
            "store=\"memcached\"",
        );
        let Step::Measure { warmup, stream, .. } = &steps[0] else {
            unreachable!()
        };
        let measured: Vec<_> = stream.operations().map(|op| op.key).collect();
        assert!(warmup.operations().all(|op| !measured.contains(&op.key)));
        assert!(measured.iter().all(|key| key.starts_with(b"p:")));
    }
}
