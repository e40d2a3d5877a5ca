//! Whether a client can be what a path asks for.

use crate::host::Host;
use roundtrip_model::contract::ClientInfo;
use roundtrip_model::names::unknown;
use roundtrip_model::{Kind, Op, Path, Problem, Result};
use std::collections::BTreeSet;

/// Options that are the host's to act on and are never sent to a worker: the transport decides the
/// endpoint, a depth, which not every client has, comes with each phase, and connections are those
/// of one process or of as many processes.
pub const HOST_OPTIONS: [&str; 3] = ["depth", "transport", "connections"];

impl Host {
    /// The client of a path, once it is sure that it is there, reaches the path's stores, can do
    /// the ops and takes the options.
    pub fn client_for(&self, path: &Path, ops: &[Op]) -> Result<ClientInfo> {
        let client = self.client(&path.client)?;
        let fits = reaches(&client, path)
            .and_then(|()| can(&client, path, ops))
            .and_then(|()| takes(&client, path))
            .and_then(|()| sends_ahead(&client, path));
        fits.map(|()| client)
            .map_err(|problem| problem.at(path.to_string()))
    }
}

fn reaches(client: &ClientInfo, path: &Path) -> Result<()> {
    for store in [Some(&path.store), path.cache.as_ref()]
        .into_iter()
        .flatten()
    {
        if !client.stores.contains(store) {
            let known = client.stores.iter().map(String::as_str);
            let mut problem = unknown("store", store, known);
            problem.what = format!("`{}` does not reach the store `{store}`", path.client);
            return Err(problem);
        }
    }
    Ok(())
}

fn can(client: &ClientInfo, path: &Path, ops: &[Op]) -> Result<()> {
    let names: Vec<&str> = client.ops.iter().map(|op| op.name()).collect();
    match ops.iter().find(|op| !client.ops.contains(op)) {
        None => Ok(()),
        Some(op) => Err(
            Problem::new(Kind::Usage, format!("`{}` has no op `{op}`", path.client))
                .next(format!("it has: {}", names.join(", "))),
        ),
    }
}

/// A store's other door, which an option `protocol` leads to, is the client's own to judge.
fn sends_ahead(client: &ClientInfo, path: &Path) -> Result<()> {
    let by_itself = path.cache.is_none() && !path.options.contains_key("protocol");
    let waits = by_itself && client.one_at_a_time.contains(&path.store);
    match path.depth()? {
        depth @ 2.. if waits => {
            let what = format!(
                "`{}` asks {} one op at a time, and depth is {depth}",
                path.client, path.store
            );
            Err(Problem::new(Kind::Usage, what).next("leave depth out"))
        }
        _ => Ok(()),
    }
}

fn takes(client: &ClientInfo, path: &Path) -> Result<()> {
    for (name, value) in &path.options {
        // Every client sends one operation and awaits its reply; few can do otherwise.
        if name == "transport" || name == "connections" || (name == "depth" && value == "1") {
            continue;
        }
        let Some(values) = client.options.get(name) else {
            // A client may list the host's options among its own.
            let own = client.options.keys().map(String::as_str);
            let all: BTreeSet<&str> = own.chain(["transport", "connections"]).collect();
            return Err(unknown("option", name, all));
        };
        if !values.is_empty() && !values.contains(value) {
            let noun = format!("value of `{name}`");
            return Err(unknown(&noun, value, values.iter().map(String::as_str)));
        }
    }
    Ok(())
}
