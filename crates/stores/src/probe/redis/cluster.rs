//! Several Redis that make one store: put together, asked together, counted together.

use super::{Answer, Connection, RedisProbe};
use crate::probe::several::Several;
use crate::probe::{Identity, Probe, in_words};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::record::Counters;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_wire::resp::SLOTS;
use std::collections::BTreeMap;
use std::time::Duration;

/// The probe of a Redis Cluster: a probe of each node.
pub struct ClusterProbe(Several<Box<RedisProbe>>);

impl ClusterProbe {
    /// A probe that connects at its first question.
    pub fn new(endpoints: &[Endpoint], answer_within: Duration) -> ClusterProbe {
        let node = |endpoint| Box::new(RedisProbe::new(endpoint, answer_within));
        ClusterProbe(Several(endpoints.iter().map(node).collect()))
    }
}

impl Probe for ClusterProbe {
    /// All nodes have to say that every slot is some node's and every node is there.
    fn identify(&mut self) -> Result<Identity> {
        let of = self.0.0.len();
        let mut not_yet = Vec::new();
        for node in &mut self.0.0 {
            let place = in_words(&node.endpoint);
            not_yet.extend(node.ask(state)?.map(|state| format!("{place} {state}")));
        }
        match not_yet.is_empty() {
            true => self.0.identify(),
            false => Err(Problem::new(
                Kind::Failed,
                format!("of {of} nodes {}", not_yet.join("; ")),
            )
            .next(
                "each node must reach the others at their bus ports on this machine: look for a \
                 firewall on its loopback, and at what the nodes said last",
            )),
        }
    }

    /// The sums over the nodes.
    fn counters(&mut self) -> Result<Counters> {
        self.0.counters()
    }

    fn settings(&mut self) -> Result<BTreeMap<String, String>> {
        self.0.settings()
    }

    fn delete(&mut self, keys: &mut dyn Iterator<Item = Vec<u8>>) -> Result<u64> {
        self.0.delete(keys)
    }

    fn is_cheap(&self) -> bool {
        self.0.is_cheap()
    }
}

/// Why a node cannot serve yet, in its own figures; `None` where it can.
fn state(connection: &mut Connection) -> Result<Option<String>> {
    let told = connection.text(&["CLUSTER", "INFO"])?;
    let of = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or("nothing").trim().to_owned()
    };
    let state = of("cluster_state:");
    Ok((state != "ok").then(|| {
        format!(
            "knows {} and says that {} of {SLOTS} slots are served (state {state})",
            of("cluster_known_nodes:"),
            of("cluster_slots_ok:"),
        )
    }))
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
