//! The parts of a round trip, held against clocks that are not their own. METHOD.md, "Where a
//! round trip goes".
//!
//! Waiting is what client and server CPU leave of the wall time, so the four parts sum to it by
//! themselves. What can be wrong is checked here: parts that exceed the wall, a client that says
//! another CPU time of itself than the kernel does of it, an idle time of the processors that does
//! not fit, and a phase too short for the clocks.

use crate::record::PhaseRecord;

/// The parts may be off by this share of the wall time.
pub const SLACK: f64 = 0.03;
/// User and system CPU are told apart by who is met at a tick of the kernel, every 4 ms where it
/// is usual: fewer than 25 ticks do not tell.
pub const SHORTEST_NS: u64 = 100_000_000;

/// What speaks against the parts of a sequential phase, if anything does; `None` too where the
/// parts are not known.
pub fn doubt(phase: &PhaseRecord) -> Option<String> {
    phase.waiting_ns()?;
    let wall = phase.wall_ns as f64;
    let client = phase.user_ns?.checked_add(phase.sys_ns?)? as f64;
    let busy = client + phase.server_cpu_ns? as f64;
    if phase.wall_ns < SHORTEST_NS {
        let ms = wall / 1e6;
        return Some(format!(
            "it took {ms:.0} ms, too short for the kernel to tell user from system CPU"
        ));
    }
    if busy > wall * (1.0 + SLACK) {
        return Some(format!(
            "client and server CPU are {:.0}% of the wall time: they overlap",
            busy / wall * 100.0
        ));
    }
    against_the_kernel(phase, client, busy)
}

fn against_the_kernel(phase: &PhaseRecord, client: f64, busy: f64) -> Option<String> {
    let wall = phase.wall_ns as f64;
    let machine = phase.machine.as_ref()?;
    if let Some(seen) = machine.clients_cpu_ns.map(|ns| ns as f64)
        && (seen - client).abs() > wall * SLACK
    {
        return Some(format!(
            "the client counts {:.0}% of the wall time as its CPU, the kernel {:.0}%",
            client / wall * 100.0,
            seen / wall * 100.0
        ));
    }
    // Too short, or not told: nothing to hold it against.
    machine.clients.accounted_share(machine.elapsed_ns)?;
    let is_shared = machine.clients.cpus == machine.servers.cpus && machine.clients.cpus.len() == 1;
    let not_running = (machine.clients.idle_ns? + machine.clients.stolen_ns?) as f64;
    let there = wall * machine.clients.cpus.len() as f64;
    let sum = match is_shared {
        true => busy + not_running,
        false => client + not_running,
    } / there;
    // On processors of its own a client that is woken costs time that is neither idle nor its
    // own: only too much is wrong there. On a shared one nothing may be missing either.
    let is_off = sum > 1.0 + SLACK || (is_shared && sum < 1.0 - SLACK);
    is_off.then(|| {
        let whose = if is_shared {
            "user, system, server"
        } else {
            "user, system"
        };
        format!(
            "{whose} and the idle time of the processor sum to {:.0}% of the wall time",
            sum * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{MachineState, ProcessorTime};
    use serde_json::json;

    /// A second of `get`, in milliseconds: user, system, server.
    fn phase(user: u64, sys: u64, server: u64) -> PhaseRecord {
        let ms = |ms: u64| ms * 1_000_000;
        serde_json::from_value(json!({
            "name": "get", "op": "get", "ops": 1000, "depth": 1, "concurrency": 1,
            "wall_ns": ms(1000), "user_ns": ms(user), "sys_ns": ms(sys),
            "server_cpu_ns": ms(server), "process": null, "client_max_rss_bytes": null,
            "outcomes": {}, "slices_ns": [], "steady": null, "witness": {}, "samples": []
        }))
        .unwrap()
    }

    fn on(mut phase: PhaseRecord, clients: u32, servers: u32, idle_ms: u64) -> PhaseRecord {
        let time = |cpu, idle_ms: u64| ProcessorTime {
            cpus: vec![cpu],
            idle_ns: Some(idle_ms * 1_000_000),
            stolen_ns: Some(0),
            ours_ns: Some(0),
        };
        phase.machine = Some(MachineState {
            elapsed_ns: phase.wall_ns,
            clients: time(clients, idle_ms),
            servers: time(servers, 500),
            clients_cpu_ns: Some(phase.user_ns.unwrap() + phase.sys_ns.unwrap()),
            ..MachineState::default()
        });
        phase
    }

    #[test]
    fn parts_that_fit_raise_no_doubt() {
        assert_eq!(doubt(&phase(100, 300, 400)), None);
        assert_eq!(doubt(&phase(200, 320, 500)), None);
        assert_eq!(doubt(&on(phase(100, 300, 400), 1, 1, 190)), None);
        // Waking up is neither idle nor the client's.
        assert_eq!(doubt(&on(phase(100, 300, 400), 1, 0, 550)), None);
    }

    #[test]
    fn parts_that_exceed_the_wall_overlap() {
        let said = doubt(&phase(100, 450, 500)).unwrap();
        assert!(said.starts_with("client and server CPU are 105%"), "{said}");
    }

    #[test]
    fn an_idle_time_that_does_not_fit_is_told() {
        let said = doubt(&on(phase(100, 300, 400), 1, 1, 100)).unwrap();
        assert!(
            said.contains("user, system, server") && said.contains("90%"),
            "{said}"
        );
        let said = doubt(&on(phase(100, 300, 400), 1, 0, 700)).unwrap();
        assert!(said.contains("110%"), "{said}");
    }

    #[test]
    fn a_client_that_miscounts_itself_is_found() {
        let mut lying = on(phase(100, 300, 400), 1, 0, 550);
        lying.machine.as_mut().unwrap().clients_cpu_ns = Some(500_000_000);
        assert!(
            doubt(&lying)
                .unwrap()
                .contains("40% of the wall time as its CPU, the kernel 50%")
        );
    }

    #[test]
    fn a_short_phase_and_one_whose_parts_are_not_known() {
        let mut short = phase(1, 1, 1);
        short.wall_ns = 50_000_000;
        assert!(doubt(&short).unwrap().starts_with("it took 50 ms"));
        let mut unknown = phase(100, 300, 400);
        unknown.server_cpu_ns = None;
        assert_eq!(doubt(&unknown), None);
        let mut piped = phase(900, 300, 400);
        piped.depth = 8;
        assert_eq!(doubt(&piped), None);
    }
}
