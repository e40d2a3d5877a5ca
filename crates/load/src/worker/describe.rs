//! What this worker is and can do.

use super::options::{CLIENTS, MOST_CONNECTIONS, ONE_AT_A_TIME, OPTIONS, STORES};
use crate::engine::SPIN_NS;
use crate::io::Uring;
use roundtrip_model::Op;
use roundtrip_model::contract::{ClientInfo, Described, VERSION};
use std::collections::BTreeMap;

/// More would only wait in buffers.
const MOST_DEPTH: u32 = 1_000_000;
/// The ops that it can do.
const OPS: [Op; 12] = [
    Op::Get,
    Op::Set,
    Op::Delete,
    Op::Incr,
    Op::ReadAside,
    Op::Insert,
    Op::ReadModifyWrite,
    Op::Scan,
    Op::Mix,
    Op::Join,
    Op::SetSeen,
    Op::GetMany,
];

pub(super) fn describe() -> Described {
    let version = env!("CARGO_PKG_VERSION");
    let build = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let client = |name: &str| ClientInfo {
        name: name.to_owned(),
        available: true,
        version: Some(version.to_owned()),
        reason: None,
        stores: STORES.map(str::to_owned).to_vec(),
        ops: OPS.to_vec(),
        options: OPTIONS
            .iter()
            .map(|(name, values)| {
                let values = values.iter().map(|value| (*value).to_owned()).collect();
                ((*name).to_owned(), values)
            })
            .collect(),
        connections: MOST_CONNECTIONS,
        plans: true,
        paces: true,
        depth: MOST_DEPTH,
        one_at_a_time: match name {
            "nothing" => Vec::new(),
            _ => ONE_AT_A_TIME.map(str::to_owned).to_vec(),
        },
        journals: false,
    };
    Described {
        contract: VERSION,
        language: "native".to_owned(),
        runtime: format!("roundtrip {version} ({build})"),
        settings: BTreeMap::from([
            ("build".to_owned(), build.to_owned()),
            // A kernel that refuses says why here; many connections then go over epoll.
            (
                "io_uring".to_owned(),
                Uring::new(1).map_or_else(|why| why, |_| "available".to_owned()),
            ),
            ("spin_before_due_ns".to_owned(), SPIN_NS.to_string()),
            ("sqlite".to_owned(), rusqlite::version().to_owned()),
        ]),
        clients: CLIENTS.iter().map(|name| client(name)).collect(),
    }
}
