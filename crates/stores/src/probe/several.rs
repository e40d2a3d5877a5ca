//! Several servers that make one store: asked together, counted together.

use super::{Identity, Probe};
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use std::collections::BTreeMap;

/// A probe of each of them.
pub struct Several<P>(pub Vec<P>);

impl<P: Probe + ?Sized> Several<Box<P>> {
    fn first(&mut self) -> Result<&mut P> {
        let none = || Problem::new(Kind::Internal, "a store has no server");
        self.0.first_mut().map(AsMut::as_mut).ok_or_else(none)
    }
}

impl<P: Probe + ?Sized> Probe for Several<Box<P>> {
    /// All of them have to answer; the first tells who they are.
    fn identify(&mut self) -> Result<Identity> {
        for node in &mut self.0 {
            node.identify()?;
        }
        Ok(Identity {
            pid: None,
            ..self.first()?.identify()?
        })
    }

    /// The sums.
    fn counters(&mut self) -> Result<Counters> {
        let mut sums = Counters::new();
        for node in &mut self.0 {
            for (name, value) in node.counters()? {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(value);
            }
        }
        Ok(sums)
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        self.first()?.settings()
    }

    fn delete(&mut self, _: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        let what = "keys are not removed one by one from several servers: they are always \
                    Roundtrip's own";
        Err(Problem::new(Kind::Refused, what))
    }

    fn is_cheap(&self) -> bool {
        self.0.iter().all(|node| node.is_cheap())
    }
}
