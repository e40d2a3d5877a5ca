//! Redis Cluster: RESP with several nodes, each of which has some of the slots that keys fall into.

use super::{Answer, Flight, Protocol, Redirect, Resp, Task};
use crate::engine::{Fence, Texts};
use crate::io::{CONNECT_TIMEOUT, Hello, LinkOptions, connect};
use crate::outcome::ErrorKind;
use crate::worker::WorkerError;
use roundtrip_model::Op;
use roundtrip_model::contract::Endpoint;
use roundtrip_wire::resp::{self, Reply, SLOTS, SlotRanges, hash_slot, write_command};
use roundtrip_wire::{Limits, Parsed};
use std::io::{self, Read, Write};
use std::net::TcpStream;

const ASKING: &[u8] = b"*1\r\n$6\r\nASKING\r\n";
const ASKED: &[u8] = b"+OK\r\n";
/// The most nodes that are connected to.
const MOST_NODES: usize = 1000;
/// The longest answer to the question which node has which slots.
const LONGEST_MAP_BYTES: usize = 16 << 20;

/// Which node has which slot.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    nodes: Vec<(String, u16)>,
    /// The number of the node of each slot.
    slots: Vec<u16>,
}

impl Map {
    /// Asks the node at an endpoint.
    pub(crate) fn read(
        endpoint: &Endpoint,
        link: LinkOptions,
        hello: Option<&Hello>,
    ) -> Result<Map, WorkerError> {
        let Endpoint::Tcp { host, port } = endpoint else {
            return Err(WorkerError::usage(
                "a cluster is reached by tcp; leave transport out",
            ));
        };
        let failed =
            |what: &dyn std::fmt::Display| WorkerError::connect(format!("{host}:{port}: {what}"));
        let mut socket = TcpStream::from(connect(endpoint, link, hello, CONNECT_TIMEOUT)?);
        let mut request = Vec::new();
        write_command(&mut request, &[b"CLUSTER", b"SLOTS"]);
        socket
            .set_read_timeout(Some(CONNECT_TIMEOUT))
            .and_then(|()| socket.write_all(&request))
            .map_err(|e| failed(&e))?;
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        while bytes.len() < LONGEST_MAP_BYTES {
            match socket.read(&mut chunk) {
                Ok(0) => return Err(failed(&"the node closed the connection")),
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(&e)),
            }
            match Reply::parse(&bytes, &Limits::default()) {
                Parsed::Complete(reply, _) => {
                    return Map::of(&reply, host).map_err(|what| failed(&what));
                }
                Parsed::NeedMore => {}
                Parsed::Bad(bad) => return Err(failed(&bad.because)),
            }
        }
        Err(failed(&"the node has more slots to tell than there are"))
    }

    /// The map that a node gave, which was reached by this host.
    fn of(reply: &Reply<'_>, host: &str) -> Result<Map, String> {
        if let Some(error) = reply.error() {
            return Err(String::from_utf8_lossy(error).into_owned());
        }
        let ranges = SlotRanges::check(reply).ok_or("the node told no slots")?;
        let mut map = Map {
            nodes: Vec::new(),
            slots: vec![u16::MAX; usize::from(SLOTS)],
        };
        for range in ranges.iter() {
            let name = match range.primary.host {
                "" => host,
                name => name,
            };
            let number = match map.number(name, range.primary.port) {
                Some(number) => number,
                None if map.nodes.len() == MOST_NODES => return Err("too many nodes".to_owned()),
                None => {
                    map.nodes.push((name.to_owned(), range.primary.port));
                    (map.nodes.len() - 1) as u16
                }
            };
            map.slots[usize::from(range.first)..=usize::from(range.last)].fill(number);
        }
        match map.slots.iter().position(|node| *node == u16::MAX) {
            None => Ok(map),
            Some(slot) => Err(format!("no node has slot {slot}")),
        }
    }

    fn number(&self, host: &str, port: u16) -> Option<u16> {
        let is_it = |node: &(String, u16)| node.1 == port && node.0 == host;
        self.nodes.iter().position(is_it).map(|n| n as u16)
    }

    /// The number of a node that another one named; one that there is not, where nobody knows it.
    fn named(&self, host: &str, port: u16) -> u16 {
        let number = match host {
            // That of the node which says so: it stands for all of them here.
            "" => self
                .nodes
                .iter()
                .position(|node| node.1 == port)
                .map(|n| n as u16),
            host => self.number(host, port),
        };
        number.unwrap_or(u16::MAX)
    }

    /// Where the nodes are, by number.
    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        let endpoint = |(host, port): &(String, u16)| Endpoint::Tcp {
            host: host.clone(),
            port: *port,
        };
        self.nodes.iter().map(endpoint).collect()
    }
}

/// One phase.
#[derive(Debug)]
pub(crate) struct Cluster {
    resp: Resp,
    map: Map,
    limits: Limits,
}

impl Cluster {
    pub(crate) fn new(task: Task, map: Map) -> Cluster {
        Cluster {
            resp: Resp::new(task),
            map,
            limits: Limits::default(),
        }
    }

    /// What an error is, if it sends the op elsewhere.
    fn redirect(&mut self, bytes: &[u8]) -> Option<Answer> {
        let (reply, used) = match Reply::parse(bytes, &self.limits) {
            Parsed::Complete(reply, used) => (reply, used),
            Parsed::NeedMore => return Some(Answer::NeedMore),
            Parsed::Bad(_) => return Some(Answer::Lost(ErrorKind::Protocol)),
        };
        let told = resp::Redirect::parse(reply.error()?)?;
        let node = self.map.named(told.host, told.port);
        if !told.ask && usize::from(node) < self.map.nodes.len() {
            self.map.slots[usize::from(told.slot)] = node;
        }
        let redirect = Redirect {
            node,
            asking: told.ask,
        };
        Some(Answer::Elsewhere(redirect, used))
    }

    fn answer(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer {
        if bytes.first() == Some(&b'-')
            && let Some(answer) = self.redirect(bytes)
        {
            return answer;
        }
        self.resp.reply(bytes, flight, texts)
    }
}

impl Protocol for Cluster {
    const SPREADS: bool = true;
    const MAKES_AHEAD: bool = true;
    const FENCE: Option<Fence> = Resp::FENCE;

    #[inline]
    fn nodes(&self) -> usize {
        self.map.nodes.len()
    }

    #[inline]
    fn node(&mut self, index: u64, texts: &mut Texts) -> usize {
        usize::from(self.map.slots[usize::from(hash_slot(texts.keys.get(index)))])
    }

    fn ask(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(ASKING);
    }

    fn complaint(&mut self) -> Option<String> {
        self.resp.complaint()
    }

    #[inline]
    fn request(&mut self, op: Op, index: u64, texts: &mut Texts, out: &mut Vec<u8>) {
        self.resp.request(op, index, texts, out);
    }

    #[inline]
    fn reply(&mut self, bytes: &[u8], flight: &Flight, texts: &mut Texts) -> Answer {
        if !flight.asking {
            return self.answer(bytes, flight, texts);
        }
        let Some(rest) = bytes.strip_prefix(ASKED) else {
            return match ASKED.starts_with(bytes) {
                true => Answer::NeedMore,
                false => Answer::Lost(ErrorKind::Protocol),
            };
        };
        match self.answer(rest, flight, texts) {
            Answer::Ended(outcome, used) => Answer::Ended(outcome, ASKED.len() + used),
            Answer::Then(op, used) => Answer::Then(op, ASKED.len() + used),
            Answer::Elsewhere(to, used) => Answer::Elsewhere(to, ASKED.len() + used),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
