//! A store that can be used: started by Roundtrip, embedded in the client, or somebody's own.

use crate::launch::Launch;
use crate::log;
use crate::manifest::{Manifest, Protocol, Quantity};
use crate::place::Place;
use crate::probe::{ANSWER_WITHIN, Asked, Identity, Probe, in_words, probe, redis};
use crate::sampler::Sampler;
use roundtrip_model::contract::{Endpoint, Login};
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{Owned, PrivateDir, cpu_time_ns};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

mod restart;

/// A directory of one start of a store, gone when dropped.
pub(crate) struct StoreDir(PathBuf);

impl StoreDir {
    /// Makes one within the run's private directory.
    pub fn make(within: &PrivateDir, store: &str, uid: Option<u32>) -> Result<StoreDir> {
        static STARTS: AtomicU64 = AtomicU64::new(0);
        let name = format!("{store}-{}", STARTS.fetch_add(1, Ordering::Relaxed));
        within.make(&name, uid).map(StoreDir)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for StoreDir {
    fn drop(&mut self) {
        // What is left goes with the private directory that it is in.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server that Roundtrip started. The order of the fields is the order of their end: first the
/// process, then its directory.
pub(crate) struct Server {
    pub owned: Owned,
    pub launch: Launch,
    pub grace: Duration,
    #[allow(dead_code, reason = "kept for its end")]
    pub dir: StoreDir,
}

impl Server {
    /// Its last words.
    fn log_tail(&self) -> String {
        log::tail(&self.launch.place.log())
    }
}

/// Whom a probe asks: every server.
pub(crate) fn asked(servers: &[Server]) -> Asked {
    let places = servers.iter().map(|server| &server.launch.place);
    let first = servers.first().map(|server| server.launch.asked());
    Asked {
        endpoints: places.map(Place::probe_endpoint).collect(),
        ..first.unwrap_or_default()
    }
}

enum Holding {
    /// The nodes of a store: most have one.
    Started(Vec<Server>),
    Embedded(#[allow(dead_code, reason = "kept for its end")] StoreDir),
    Attached {
        foreign_items: Option<u64>,
    },
}

/// A store that can be used. Dropped, what Roundtrip started is gone, and what it did not start
/// goes on as before.
pub struct Store {
    manifest: Manifest,
    /// Where clients reach it; those of several servers can reach each of them.
    endpoint: Endpoint,
    nodes: Vec<Endpoint>,
    /// Whom the probe asks, and the sampler too: every node; and clients may have to speak TLS.
    asked: Asked,
    doors: BTreeMap<String, Endpoint>,
    login: Option<Login>,
    probe: Box<dyn Probe>,
    version: String,
    settings: BTreeMap<String, String>,
    holding: Holding,
}

impl Store {
    /// A store of servers of which clients go to the first, and the probe to all.
    pub(crate) fn started(
        manifest: &Manifest,
        servers: Vec<Server>,
        identity: Identity,
    ) -> Result<Store> {
        let none = || Problem::new(Kind::Internal, "a store has no server");
        let all: Vec<Endpoint> = servers
            .iter()
            .map(|server| server.launch.place.endpoint())
            .collect();
        let mut asked = asked(&servers);
        let place = servers.first().map(|server| &server.launch.place);
        let doors = manifest.doors.iter().filter_map(|(name, door)| {
            let endpoint = place?.door(name)?;
            Some((name.clone(), door.protocol, endpoint))
        });
        asked.doors = doors.collect();
        let mut probe = probe(manifest.protocol, &asked, ANSWER_WITHIN);
        let logins = servers
            .first()
            .and_then(|server| server.launch.logins.as_ref());
        Ok(Store {
            manifest: manifest.clone(),
            endpoint: all.first().cloned().ok_or_else(none)?,
            nodes: if all.len() > 1 { all } else { Vec::new() },
            settings: read_settings(manifest, probe.as_mut()),
            probe,
            doors: asked
                .doors
                .iter()
                .map(|(name, _, endpoint)| (name.clone(), endpoint.clone()))
                .collect(),
            asked,
            login: logins.map(|logins| logins.client.clone()),
            version: identity.version,
            holding: Holding::Started(servers),
        })
    }

    pub(crate) fn embedded(manifest: &Manifest, endpoint: Endpoint, dir: StoreDir) -> Store {
        let asked = Asked::at(from_ref(&endpoint));
        Store {
            manifest: manifest.clone(),
            probe: probe(manifest.protocol, &asked, ANSWER_WITHIN),
            asked,
            nodes: Vec::new(),
            doors: BTreeMap::new(),
            login: None,
            endpoint,
            version: embedded_version(manifest).unwrap_or_default(),
            settings: manifest.settings.fixed.clone(),
            holding: Holding::Embedded(dir),
        }
    }

    /// Connects to a store that is somebody's own.
    pub(crate) fn attached(
        manifest: &Manifest,
        endpoint: Endpoint,
        login: Option<Login>,
    ) -> Result<Store> {
        let login = match manifest.protocol {
            Protocol::Resp => redis::login(&endpoint, ANSWER_WITHIN)?,
            _ => login,
        };
        let asked = Asked {
            login: login.clone(),
            rows: manifest.rows.clone(),
            ..Asked::at(from_ref(&endpoint))
        };
        let mut probe = probe(manifest.protocol, &asked, ANSWER_WITHIN);
        let identity = probe.identify()?;
        let settings = read_settings(manifest, probe.as_mut());
        let counters = probe.counters()?;
        let items = manifest.counter(Quantity::Items);
        Ok(Store {
            manifest: manifest.clone(),
            asked,
            nodes: Vec::new(),
            doors: BTreeMap::new(),
            login,
            endpoint,
            probe,
            version: identity.version,
            settings,
            holding: Holding::Attached {
                foreign_items: items.and_then(|name| counters.get(name)).copied(),
            },
        })
    }

    /// Its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where clients reach it.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    /// Where every one of its servers is reached; empty where it has one.
    pub fn nodes(&self) -> Vec<Endpoint> {
        self.nodes.clone()
    }

    /// Where it is reached by another protocol than its usual one, by the protocol's name.
    pub fn doors(&self) -> BTreeMap<String, Endpoint> {
        self.doors.clone()
    }

    /// Who a client is to it, where it asks.
    pub fn login(&self) -> Option<Login> {
        self.login.clone()
    }

    /// Its version, in its own words.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Settings that can change a result.
    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// The counters that its manifest names as witnesses, by the store's own names.
    pub fn counters(&mut self) -> Result<Counters> {
        let counters = self.probe.counters();
        counters
            .map(|all| witnesses(&self.manifest, all))
            .map_err(|problem| {
                // That it died says more than that it does not answer.
                self.is_alive()
                    .unwrap_or_else(|| problem.with_log(self.log_tail()))
            })
    }

    /// CPU time of its servers so far; 0 where there is no server, `None` where it cannot be known.
    pub fn cpu_ns(&self) -> Option<u64> {
        match &self.holding {
            Holding::Started(servers) => servers
                .iter()
                .map(|server| cpu_time_ns(server.owned.pid()))
                .sum(),
            Holding::Embedded(_) => Some(0),
            Holding::Attached { .. } => None,
        }
    }

    /// Its processes: those that Roundtrip started.
    pub fn pids(&self) -> Vec<u32> {
        self.servers()
            .iter()
            .map(|server| server.owned.pid())
            .collect()
    }

    fn servers(&self) -> &[Server] {
        match &self.holding {
            Holding::Started(servers) => servers,
            _ => &[],
        }
    }

    /// `None` while it lives; else how it died and its last words. Of a store that Roundtrip did
    /// not start only its answers tell.
    pub fn is_alive(&mut self) -> Option<Problem> {
        let Holding::Started(servers) = &mut self.holding else {
            return None;
        };
        let (server, exit) = servers
            .iter_mut()
            .find_map(|server| Some((server.owned.try_wait().ok()??, server)))
            .map(|(exit, server)| (server, exit))?;
        let what = format!(
            "{} {} while it was needed",
            self.manifest.name,
            exit.in_words()
        );
        Some(
            Problem::new(Kind::Failed, what)
                .at(in_words(&self.endpoint))
                .next("look at its last words and at the kernel's log (memory may have run out)")
                .with_log(server.log_tail()),
        )
    }

    /// The last words of its servers; empty where there are none.
    pub fn log_tail(&self) -> String {
        let tails = self.servers().iter().map(Server::log_tail);
        tails.collect::<Vec<_>>().join("\n")
    }

    /// How many items somebody else's store held when Roundtrip connected to it.
    pub fn foreign_items(&self) -> Option<u64> {
        match self.holding {
            Holding::Attached { foreign_items } => foreign_items,
            _ => None,
        }
    }

    /// Whether it is somebody else's: keys then carry a prefix and a time to live, and only
    /// [`Store::delete_keys`] removes anything.
    pub fn is_attached(&self) -> bool {
        matches!(self.holding, Holding::Attached { .. })
    }

    /// Removes these keys and no others; says how many were there. In bounded memory, however
    /// many there are.
    pub fn delete_keys(&mut self, mut keys: impl Iterator<Item = Vec<u8>>) -> Result<u64> {
        self.probe.delete(&mut keys)
    }

    /// Samples the witness counters every `interval` on a connection of its own.
    pub fn sampler(&self, interval: Duration) -> Sampler {
        Sampler::start(&self.manifest, &self.asked, interval)
    }

    /// Ends what Roundtrip started and removes its directory; leaves alone what it did not start.
    pub fn stop(self) -> Result<()> {
        // Its connection goes first: a server may wait for its clients.
        drop(self.probe);
        match self.holding {
            Holding::Started(mut servers) => {
                let stop = |server: &mut Server| server.owned.stop(server.grace).map(drop);
                // Each is ended, whatever became of those before it.
                let ends: Vec<Result<()>> = servers.iter_mut().map(stop).collect();
                ends.into_iter().collect()
            }
            _ => Ok(()),
        }
    }
}

/// Keeps the counters that the manifest names.
pub(crate) fn witnesses(manifest: &Manifest, mut all: Counters) -> Counters {
    let derived = manifest.derived.iter();
    let sums: Counters = derived
        .filter_map(|(name, sum)| Some((name.clone(), sum.of(&all)?)))
        .collect();
    all.extend(sums);
    all.retain(|name, _| manifest.witness_counters().any(|named| named == name));
    all
}

/// The settings to report. One that the store does not tell is left out: not known is not shown.
pub(crate) fn read_settings(
    manifest: &Manifest,
    probe: &mut dyn Probe,
) -> BTreeMap<String, String> {
    let mut settings = manifest.settings.fixed.clone();
    if !manifest.settings.read.is_empty() {
        let told = probe.settings().unwrap_or_default();
        for (name, own_name) in &manifest.settings.read {
            if let Some(value) = told.get(own_name) {
                settings.insert(name.clone(), value.clone());
            }
        }
    }
    settings
}

/// The version of a store that is inside Roundtrip.
pub(crate) fn embedded_version(manifest: &Manifest) -> Option<String> {
    let mut probe = probe(manifest.protocol, &Asked::default(), ANSWER_WITHIN);
    probe.identify().ok().map(|identity| identity.version)
}
