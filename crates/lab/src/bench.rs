//! The bench that trials are run on: the experiment, the worker host, private files, the stores
//! that the user named, and how to be stopped.

use crate::carrying::Carrying;
use crate::door::door;
use crate::engine::TrialRunner;
use crate::placement::Cpus;
use crate::plan::TrialPlan;
use crate::reconcile::WitnessNames;
use crate::steps::{self, Step};
use crate::trial::{self, Servers};
use roundtrip_model::contract::LatencyForm;
use roundtrip_model::record::{TrialRecord, Validity};
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::Workload;
use roundtrip_model::{Experiment, Kind, Op, Path, Problem, Result};
use roundtrip_process::PrivateDir;
use roundtrip_stores::{Manifest, StartOptions, Store};
use roundtrip_workers::{Host, Latencies};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The least memory that a cache is given, taken only as it fills.
const MEMORY_MB: u64 = 1024;
/// What a server adds to each item, at most: headers, an index, and the room lost to size classes.
const ITEM_OVERHEAD_BYTES: u64 = 160;
/// How long keys live on a store that is not ours, when the workload does not say.
const FOREIGN_TTL_S: u32 = 3600;

/// What stands before keys on a store that is not ours: `roundtrip:`, 12 digits and `:`.
pub const FOREIGN_PREFIX_BYTES: u32 = 23;

/// Stores that are there already, by store name: their addresses.
pub type Addresses = BTreeMap<String, String>;

/// What trials share.
pub struct Bench<'a> {
    /// What is run.
    pub experiment: &'a Experiment,
    /// The run's seed.
    pub seed: u64,
    /// Workers.
    pub host: Host,
    /// Set when the person wants it to stop.
    pub stop: &'a AtomicBool,
    self_exe: PathBuf,
    dir: PrivateDir,
    addresses: &'a Addresses,
    allow_remote: bool,
    /// Before every key on a store that is not ours.
    foreign_prefix: String,
    deadline: Option<Duration>,
    /// Stream files that were written, by what they hold: all variants read the same file.
    streams: HashMap<String, String>,
    stores_started: u32,
}

/// What a bench is made from.
pub struct BenchOptions<'a> {
    /// Roundtrip's own executable, which is the native worker and the floor server too.
    pub self_exe: PathBuf,
    /// Stores that are there already.
    pub addresses: &'a Addresses,
    /// Whether such a store may be on another machine.
    pub allow_remote: bool,
    /// The longest that a phase may take.
    pub deadline: Option<Duration>,
    /// Set when the person wants it to stop.
    pub stop: &'a AtomicBool,
}

impl<'a> Bench<'a> {
    /// A bench for an experiment.
    pub fn new(experiment: &'a Experiment, seed: u64, options: &BenchOptions<'a>) -> Result<Self> {
        let dir = PrivateDir::new()?;
        Ok(Bench {
            experiment,
            seed,
            host: Host::new(options.self_exe.clone(), &dir)?,
            stop: options.stop,
            self_exe: options.self_exe.clone(),
            dir,
            addresses: options.addresses,
            allow_remote: options.allow_remote,
            foreign_prefix: format!("roundtrip:{:012x}:", crate::random()? & 0xffff_ffff_ffff),
            deadline: options.deadline,
            streams: HashMap::new(),
            stores_started: 0,
        })
    }

    /// The path of a contestant.
    pub fn path(&self, contestant: &str) -> Result<&'a Path> {
        self.experiment.path(contestant).ok_or_else(|| {
            Problem::new(
                Kind::Internal,
                format!("a trial of `{contestant}`, which is no variant"),
            )
        })
    }

    /// The longest that a phase of `count` ops may take.
    pub fn deadline(&self, count: u64) -> Duration {
        self.deadline
            .unwrap_or_else(|| Duration::from_secs(60) + Duration::from_millis(10 * count))
    }

    fn is_foreign(&self, path: &Path) -> bool {
        std::iter::once(&path.store)
            .chain(&path.cache)
            .any(|name| self.addresses.contains_key(name))
    }

    /// What goes before every key of a path: nothing where all its stores are ours.
    pub fn prefix(&self, path: &Path) -> &str {
        if self.is_foreign(path) {
            &self.foreign_prefix
        } else {
            ""
        }
    }

    /// The time to live of what a path writes: never for ever on a store that is not ours.
    pub fn ttl_s(&self, path: &Path, asked_s: u32) -> u32 {
        if asked_s == 0 && self.is_foreign(path) {
            FOREIGN_TTL_S
        } else {
            asked_s
        }
    }

    /// What the counters of a store are called that bear witness to what the client of a path does.
    pub fn witness_names(&self, store: &str, path: &Path) -> WitnessNames {
        let Ok(manifest) = roundtrip_stores::find(store) else {
            return WitnessNames::new();
        };
        let client = self.host.client(&path.client).ok();
        manifest.witness_of(client.and_then(|client| door(path, &client, manifest)))
    }

    /// Starts a store, or attaches to the one that the user named.
    pub fn start(&mut self, name: &str, path: &Path, cpus: &Cpus) -> Result<Store> {
        if let Some(address) = self.addresses.get(name) {
            return roundtrip_stores::attach(address, self.allow_remote);
        }
        let manifest = roundtrip_stores::find(name)?;
        self.stores_started += 1;
        roundtrip_stores::start(
            manifest,
            &StartOptions {
                transport: path.transport().parse()?,
                extra_args: store_args(manifest, path),
                cpus: Some(cpus.servers.clone()),
                memory_mb: memory_mb(&self.experiment.workload),
                ..StartOptions::new(self.self_exe.clone(), &self.dir)
            },
        )
    }

    /// Removes what a trial wrote from stores that are not ours: those keys and no other.
    pub fn clean_up(&self, servers: &mut Servers, plan: &TrialPlan) -> Result<()> {
        let path = self.path(&plan.contestant)?;
        if !self.is_foreign(path) {
            return Ok(());
        }
        let prefix = self.prefix(path);
        let steps = steps::steps(self.experiment, &plan.contestant, path, self.seed, prefix);
        for store in servers.each().filter(|store| store.is_attached()) {
            for step in &steps {
                let streams: &[&Stream] = match step {
                    Step::Prepare { stream, .. } | Step::Check { stream } => &[stream],
                    Step::Measure { warmup, stream, .. } => &[warmup, stream],
                };
                for stream in streams {
                    store.delete_keys(stream.operations().map(|op| op.key.into_owned()))?;
                }
            }
        }
        Ok(())
    }

    /// A file of the bench's own.
    pub fn file(&self, name: &str) -> String {
        self.dir.path().join(name).to_string_lossy().into_owned()
    }

    /// The file of a stream, written the first time it is asked for.
    pub fn stream_file(&mut self, stream: &Stream) -> Result<String> {
        let what = format!("{stream:?}");
        if let Some(file) = self.streams.get(&what) {
            return Ok(file.clone());
        }
        let file = self.file(&format!("stream-{}", self.streams.len()));
        roundtrip_workers::write_stream(file.as_ref(), stream)?;
        self.streams.insert(what, file.clone());
        Ok(file)
    }

    /// Reads the latencies of a phase.
    pub fn read_latencies(
        &self,
        file: &str,
        form: LatencyForm,
        count: u64,
        slices: usize,
    ) -> Result<Latencies> {
        roundtrip_workers::read_latencies(file.as_ref(), form, count, slices)
    }

    /// How the connections of a path are carried.
    pub fn carrying(&self, path: &Path) -> Result<Carrying> {
        let client = self.host.client(&path.client)?;
        Carrying::of(path, &self.experiment.workload, &client)
    }

    /// The operations of a phase as a client gets them: the stream itself where it makes them
    /// from that, and the stream's file otherwise. One of the two is empty.
    pub fn work(&mut self, path: &Path, stream: &Stream) -> Result<(String, Option<Box<Stream>>)> {
        let clients = self.host.describe(path.language())?.clients;
        let client = clients.iter().find(|c| c.name == path.library());
        match client.is_some_and(|client| client.plans) {
            true => Ok((String::new(), Some(Box::new(stream.clone())))),
            false => Ok((self.stream_file(stream)?, None)),
        }
    }
}

/// Memory for a cache that is to hold all that a workload writes, so that it never evicts.
fn memory_mb(work: &Workload) -> u32 {
    let item = u64::from(work.keys.bytes) + u64::from(work.values.bytes) + ITEM_OVERHEAD_BYTES;
    let beyond = work.phases.iter().map(|phase| match phase.op {
        Op::Insert | Op::Mix => phase.warmup + phase.count,
        Op::ReadAside => phase.warmup + phase.count - phase.hits(),
        _ => phase.warmup,
    });
    let keys = steps::keyspace(work).saturating_add(beyond.sum());
    let machine_mb =
        crate::environment::memory_bytes().map_or(MEMORY_MB, |bytes| (bytes >> 20) * 3 / 4);
    let needed_mb = (keys.saturating_mul(item) >> 20).min(machine_mb);
    needed_mb.max(MEMORY_MB).try_into().unwrap_or(u32::MAX)
}

/// The arguments that set a path's options of one of its servers.
fn store_args(manifest: &Manifest, path: &Path) -> Vec<String> {
    path.options
        .iter()
        .filter_map(|(name, value)| manifest.option(name, value))
        .flatten()
        .collect()
}

/// A path with the options of the client alone: those of its servers are not the client's affair.
pub fn client_path(path: &Path) -> Path {
    let manifests: Vec<&Manifest> = std::iter::once(&path.store)
        .chain(&path.cache)
        .filter_map(|name| roundtrip_stores::find(name).ok())
        .collect();
    let mut path = path.clone();
    path.options
        .retain(|name, value| manifests.iter().all(|m| m.option(name, value).is_none()));
    path
}

impl TrialRunner for Bench<'_> {
    fn run(&mut self, plan: &TrialPlan) -> Result<TrialRecord> {
        let trial = trial::run(self, plan)?;
        debug_assert!(trial.validity != Validity::Valid || !trial.phases.is_empty());
        Ok(trial)
    }
}
