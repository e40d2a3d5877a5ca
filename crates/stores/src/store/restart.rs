//! A store that is killed in the middle, and started again on what it left behind.

use super::{Holding, Server, Store};
use crate::manifest::Manifest;
use crate::probe::{ANSWER_WITHIN, probe};
use crate::ready::wait_for_one;
use crate::start::wait_for_all;
use roundtrip_model::{Kind, Problem, Result};
use std::io;
use std::time::Duration;

/// How long the kernel may take to end a process that it was told to kill.
const DEAD_WITHIN: Duration = Duration::from_secs(10);

impl Store {
    /// Kills every server of it at once, with no chance to write anything more, and comes back
    /// when all are dead. Their directories stay as they are.
    pub fn kill(&mut self) -> Result<()> {
        let servers = started_servers(&self.manifest, &mut self.holding, "killed")?;
        servers.iter().for_each(|server| server.owned.kill());
        for server in servers {
            let name = &server.launch.store;
            let failed = |e: io::Error| {
                Problem::new(Kind::Internal, format!("{name} cannot be awaited: {e}"))
            };
            let lives = || Problem::new(Kind::Internal, format!("{name} does not die of SIGKILL"));
            let exit = server.owned.wait(DEAD_WITHIN).map_err(failed)?;
            exit.ok_or_else(lives)?;
        }
        Ok(())
    }

    /// Starts every server again as it was started first, on the same directory and the same
    /// ports, and waits until the store answers. One that still runs is killed before.
    pub fn start_again(&mut self) -> Result<()> {
        self.kill()?;
        let protocol = self.manifest.protocol;
        let servers = started_servers(&self.manifest, &mut self.holding, "started again")?;
        for server in &mut *servers {
            server.owned = server.launch.spawn()?;
        }
        for Server { owned, launch, .. } in &mut *servers {
            let ready = wait_for_one(protocol.of_a_node(), &self.manifest.doors, launch, owned);
            ready.map_err(|why| why.problem(launch))?;
        }
        if protocol.joins() {
            wait_for_all(protocol, servers)?;
        }
        // Its old connection is gone.
        self.probe = probe(protocol, &self.asked, ANSWER_WITHIN);
        Ok(())
    }
}

fn started_servers<'s>(
    manifest: &Manifest,
    holding: &'s mut Holding,
    what: &str,
) -> Result<&'s mut Vec<Server>> {
    match holding {
        Holding::Started(servers) => Ok(servers),
        Holding::Embedded(_) | Holding::Attached { .. } => {
            let name = &manifest.name;
            let what = format!("{name} cannot be {what}: it is no server of Roundtrip's own");
            let step = "use a store whose server Roundtrip starts";
            Err(Problem::new(Kind::Usage, what).next(step))
        }
    }
}
