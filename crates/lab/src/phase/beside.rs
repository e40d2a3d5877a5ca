//! What goes on beside a phase: one more client process on the same store, over the phase's own keys,
//! from just before the phase's clients start until its own ops are done.

use super::Clients;
use crate::bench::Bench;
use crate::beside::{client_of, stream_of};
use roundtrip_model::Result;
use roundtrip_model::contract::Purpose;
use roundtrip_model::record::BesideRecord;
use roundtrip_model::stream::Stream;
use roundtrip_model::workload::Beside;
use roundtrip_workers::Worker;

/// The client process, ready to go.
pub(super) struct Company {
    worker: Worker,
    beside: Beside,
}

impl Company {
    /// Opens it and gets it ready.
    pub(super) fn start(
        clients: &mut Clients<'_, '_>,
        beside: &Beside,
        phase: &Stream,
    ) -> Result<Company> {
        let path = client_of(beside, clients.path);
        let mut clients = Clients {
            bench: &mut *clients.bench,
            path: &path,
            cpus: clients.cpus,
            servers: &mut *clients.servers,
        };
        let stream = stream_of(beside, phase);
        let mut command = clients.command(beside.op, Purpose::Measure, &stream, 0)?;
        command.name = format!("{} beside", beside.op);
        let mut worker = clients.open(path.connections()?.unwrap_or(1))?;
        worker.ready(command)?;
        Ok(Company {
            worker,
            beside: beside.clone(),
        })
    }

    pub(super) fn go(&mut self) -> Result<()> {
        self.worker.go()
    }

    /// Waits for its end; `phase_ended_ns` is when the phase's own clients had theirs.
    pub(super) fn end(mut self, bench: &Bench<'_>, phase_ended_ns: u64) -> Result<BesideRecord> {
        let deadline = bench.deadline(self.beside.count);
        let done = self.worker.done(deadline, bench.stop)?;
        self.worker.written()?;
        self.worker.close()?;
        Ok(BesideRecord {
            client: self.beside.client,
            op: self.beside.op,
            ops: self.beside.count,
            wall_ns: done.ended_ns.saturating_sub(done.started_ns),
            outcomes: done.outcomes,
            outlasted: done.ended_ns >= phase_ended_ns,
        })
    }
}
