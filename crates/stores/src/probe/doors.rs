//! A store with other ways in: what is counted at each stands beside its own counters.

use super::{Identity, Probe};
use roundtrip_model::Result;
use roundtrip_model::record::Counters;
use std::collections::BTreeMap;

/// The probe of a store and of its doors.
pub struct DoorsProbe {
    store: Box<dyn Probe>,
    doors: Vec<(String, Box<dyn Probe>)>,
}

impl DoorsProbe {
    /// A probe of all of them.
    pub fn new(store: Box<dyn Probe>, doors: Vec<(String, Box<dyn Probe>)>) -> DoorsProbe {
        DoorsProbe { store, doors }
    }
}

impl Probe for DoorsProbe {
    fn identify(&mut self) -> Result<Identity> {
        self.store.identify()
    }

    fn counters(&mut self) -> Result<Counters> {
        let mut all = self.store.counters()?;
        for (name, door) in &mut self.doors {
            let counted = door.counters()?.into_iter();
            all.extend(counted.map(|(counter, count)| (format!("{name}.{counter}"), count)));
        }
        Ok(all)
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        self.store.settings()
    }

    fn delete(&mut self, keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        self.store.delete(keys)
    }

    fn is_cheap(&self) -> bool {
        self.store.is_cheap() && self.doors.iter().all(|(_, door)| door.is_cheap())
    }
}
