//! What a node knows of the cluster that it is in.

use crate::probe::redis::Connection;
use roundtrip_model::Result;
use roundtrip_wire::resp::SLOTS;
use serde::Serialize;

/// The most nodes that are told.
const MAX_NODES: usize = 1000;

/// A cluster, as one of its nodes sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// `ok`, or `fail`.
    pub state: String,
    /// Slots that some node has, of 16384.
    pub slots_assigned: u64,
    /// Slots whose node is there.
    pub slots_ok: u64,
    /// Every node that it knows.
    pub nodes: Vec<Node>,
}

/// A node of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Node {
    /// HOST:PORT.
    pub address: String,
    /// `master` or `slave`, as the server says it.
    pub role: String,
    /// Whether it is the node that was asked.
    pub asked: bool,
    /// Whether the node that was asked reaches it.
    pub reachable: bool,
    /// Slots that it serves.
    pub slots: u64,
}

impl Node {
    /// In words, on one line.
    pub fn in_words(&self) -> String {
        let state = match (self.asked, self.reachable) {
            (true, _) => "asked here",
            (false, true) => "reached",
            (false, false) => "NOT REACHED",
        };
        let (address, role, slots) = (&self.address, &self.role, self.slots);
        format!("{address:<24} {role:<8} {slots:>6} slots  {state}")
    }
}

/// The cluster of the node; `None` where it is alone.
pub fn read(connection: &mut Connection, enabled: Option<&str>) -> Result<Option<Cluster>> {
    if enabled != Some("1") {
        return Ok(None);
    }
    let info = connection.text(&["CLUSTER", "INFO"])?;
    let nodes = connection.text(&["CLUSTER", "NODES"])?;
    Ok(Some(Cluster::parse(&info, &nodes)))
}

impl Cluster {
    fn parse(info: &str, nodes: &str) -> Cluster {
        let field = |name: &str| {
            info.lines()
                .filter_map(|line| line.split_once(':'))
                .find_map(|(found, value)| (found == name).then_some(value.trim()))
        };
        let count = |name| field(name).and_then(|n| n.parse().ok()).unwrap_or(0);
        Cluster {
            state: field("cluster_state").unwrap_or("unknown").to_owned(),
            slots_assigned: count("cluster_slots_assigned"),
            slots_ok: count("cluster_slots_ok"),
            nodes: nodes
                .lines()
                .take(MAX_NODES)
                .filter_map(Node::parse)
                .collect(),
        }
    }

    /// Slots that no node has, or whose node is gone.
    pub fn slots_missing(&self) -> u64 {
        u64::from(SLOTS).saturating_sub(self.slots_ok)
    }
}

impl Node {
    /// ID ADDRESS@BUS FLAGS MASTER PING PONG EPOCH LINK SLOT...
    fn parse(line: &str) -> Option<Node> {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, address, flags, _, _, _, _, link, slots @ ..] = words.as_slice() else {
            return None;
        };
        let flags: Vec<&str> = flags.split(',').collect();
        let has = |flag| flags.contains(&flag);
        let role = ["master", "slave"].into_iter().find(|role| has(role))?;
        Some(Node {
            address: address.split('@').next()?.to_owned(),
            role: role.to_owned(),
            asked: has("myself"),
            // `fail?` too: a node that is only suspected does not answer this one.
            reachable: *link == "connected" && !flags.iter().any(|flag| flag.starts_with("fail")),
            slots: slots.iter().filter_map(|range| slots_of(range)).sum(),
        })
    }
}

/// `5`, `0-5460`; a slot that moves (`[93->-NODE]`) counts where it still is.
fn slots_of(range: &str) -> Option<u64> {
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    Some(last.checked_sub(first)?.min(u64::from(SLOTS)) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_their_slots_are_read() {
        let info =
            "cluster_state:fail\r\ncluster_slots_assigned:16384\r\ncluster_slots_ok:10923\r\n";
        let nodes = "a 127.0.0.1:7001@17001 myself,master - 0 0 1 connected 0-5460 [93->-b]\n\
            b 127.0.0.1:7002@17002,name master,fail? - 0 0 2 connected 5461-10922 5\n\
            c 127.0.0.1:7003@17003 slave a 0 0 3 disconnected\nnonsense\n";
        let cluster = Cluster::parse(info, nodes);
        assert_eq!(
            (cluster.state.as_str(), cluster.slots_missing()),
            ("fail", 5461)
        );
        let facts = |n: &Node| (n.role.clone(), n.asked, n.reachable, n.slots);
        let all: Vec<_> = cluster.nodes.iter().map(facts).collect();
        let expected = [
            ("master", true, true, 5461),
            ("master", false, false, 5463),
            ("slave", false, false, 0),
        ];
        let owned =
            expected.map(|(role, asked, there, slots)| (role.to_owned(), asked, there, slots));
        assert_eq!(all, owned);
        assert_eq!(cluster.nodes[0].address, "127.0.0.1:7001");
    }
}
