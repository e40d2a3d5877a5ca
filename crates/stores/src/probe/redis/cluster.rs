//! Several Redis that make one store: put together, asked together, counted together.

use super::{Answer, Connection, RedisProbe};
use crate::probe::{Identity, Probe};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_wire::resp::SLOTS;
use std::collections::BTreeMap;
use std::time::Duration;

/// The probe of a Redis Cluster: a probe of each node.
pub struct ClusterProbe(Vec<RedisProbe>);

impl ClusterProbe {
    /// A probe that connects at its first question.
    pub fn new(endpoints: &[Endpoint], answer_within: Duration) -> ClusterProbe {
        let node = |endpoint| RedisProbe::new(endpoint, answer_within);
        ClusterProbe(endpoints.iter().map(node).collect())
    }

    fn first(&mut self) -> Result<&mut RedisProbe> {
        let none = || Problem::new(Kind::Internal, "a cluster has no node");
        self.0.first_mut().ok_or_else(none)
    }
}

impl Probe for ClusterProbe {
    /// All nodes have to say that every slot is some node's and every node is there.
    fn identify(&mut self) -> Result<Identity> {
        for node in &mut self.0 {
            node.ask(|connection| {
                let state = connection.text(&["CLUSTER", "INFO"])?;
                match state.lines().any(|line| line == "cluster_state:ok") {
                    true => Ok(()),
                    false => Err(connection.0.problem("the cluster is not yet whole")),
                }
            })?;
        }
        Ok(Identity {
            pid: None,
            ..self.first()?.identify()?
        })
    }

    /// The sums over the nodes.
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
        let what = "keys are not removed one by one from a cluster: it is always Roundtrip's own";
        Err(Problem::new(Kind::Refused, what))
    }

    fn is_cheap(&self) -> bool {
        true
    }
}

/// Makes a cluster of nodes that do not know each other: each gets an equal share of the slots,
/// and is introduced to the first.
pub fn join(endpoints: &[Endpoint], answer_within: Duration) -> Result<()> {
    let count = endpoints.len().max(1);
    let first_slot = |node: usize| usize::from(SLOTS) * node / count;
    let mut meeting: Option<[String; 3]> = None;
    for (node, endpoint) in endpoints.iter().enumerate() {
        let Endpoint::Tcp { host, port } = endpoint else {
            let what = "the nodes of a cluster listen on ports";
            return Err(Problem::new(Kind::Internal, what));
        };
        let mut connection = Connection::open(endpoint, answer_within)?;
        let (first, last) = (first_slot(node), first_slot(node + 1) - 1);
        let (first, last) = (first.to_string(), last.to_string());
        connection.order(&["CLUSTER", "ADDSLOTSRANGE", &first, &last])?;
        match &meeting {
            None => {
                let told = match connection.ask(&["CONFIG", "GET", "cluster-port"])? {
                    Answer::Texts(told) => told.into_iter().nth(1),
                    _ => None,
                };
                let no_port = || connection.0.problem("the node does not tell its bus port");
                let bus = told.ok_or_else(no_port)?;
                meeting = Some([host.clone(), port.to_string(), bus]);
            }
            Some([host, port, bus]) => connection.order(&["CLUSTER", "MEET", host, port, bus])?,
        }
    }
    Ok(())
}
