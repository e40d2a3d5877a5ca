use super::*;
use crate::placement::Cpus;
use roundtrip_model::Placement;
use roundtrip_process::{Owned, Settings};
use std::io::Read;
use std::process::{Command, Stdio};

/// A child that works until it said so, and then sleeps.
fn worker(cpus: &CpuSet) -> Owned {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "read go; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo x; sleep 600",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let settings = Settings {
        cpus: Some(cpus.clone()),
        run_as: None,
    };
    Owned::spawn(&mut command, &settings).unwrap()
}

fn watched(placement: Placement) -> MachineState {
    let cpus = Cpus::of(placement);
    let mut child = worker(&cpus.clients);
    let watch = Watch::start(Who {
        cpus,
        clients: vec![child.pid()],
        servers: Some(Vec::new()),
    });
    drop(child.take_stdin());
    let mut byte = [0; 1];
    child.take_stdout().unwrap().read_exact(&mut byte).unwrap();
    watch.stop()
}

#[test]
fn time_of_a_processor_is_counted_once() {
    for placement in [Placement::Split, Placement::Shared] {
        let state = watched(placement);
        let cpus = state.clients.cpus.len() as u64;
        let ours = state.clients.ours_ns.unwrap();
        assert!(ours > 10_000_000, "{state:?}");
        // Idle and ours are disjoint: together never more than there was, but for a tick at
        // each end of each processor.
        let known = ours + state.clients.idle_ns.unwrap() + state.clients.stolen_ns.unwrap();
        let there = state.elapsed_ns * cpus;
        let slack = there / 33 + 2 * cpus * roundtrip_model::machine::TICK_NS;
        assert!(known <= there + slack, "{known} of {there}: {state:?}");
        assert!(state.clients_queued_ns.is_some() && state.readings >= 2);
    }
}

#[test]
fn a_process_that_is_not_ours_leaves_its_time_unknown() {
    let watch = Watch::start(Who {
        cpus: Cpus::of(Placement::Shared),
        clients: vec![std::process::id()],
        servers: None,
    });
    let state = watch.stop();
    assert_eq!(state.servers.ours_ns, None);
    assert_eq!(state.servers_queued_ns, None);
}

fn kinds(state: &MachineState) -> Vec<WarningKind> {
    warnings(state, "v", "get")
        .into_iter()
        .map(|w| w.kind)
        .collect()
}

#[test]
fn a_quiet_machine_gives_no_warning_and_a_loud_one_says_why() {
    let second = 1_000_000_000;
    let quiet = MachineState {
        elapsed_ns: second,
        clients: ProcessorTime {
            cpus: vec![1],
            idle_ns: Some(700_000_000),
            stolen_ns: Some(0),
            ours_ns: Some(290_000_000),
        },
        throttled_ns: Some(0),
        swapped_pages: Some(0),
        memory_stalled_ns: Some(0),
        frequency_khz: Some((3_000_000, 3_050_000)),
        ..MachineState::default()
    };
    assert_eq!(kinds(&quiet), []);
    let mut loud = quiet.clone();
    loud.clients.idle_ns = Some(500_000_000);
    loud.clients.stolen_ns = Some(30_000_000);
    loud.servers = ProcessorTime {
        cpus: vec![0],
        idle_ns: Some(second / 2),
        stolen_ns: Some(0),
        ours_ns: Some(0),
    };
    loud.throttled_ns = Some(1);
    loud.swapped_pages = Some(3);
    loud.memory_stalled_ns = Some(second / 10);
    loud.frequency_khz = Some((1_000_000, 3_000_000));
    use WarningKind::*;
    assert_eq!(
        kinds(&loud),
        [
            OtherLoad,
            StealTime,
            OtherLoad,
            Throttled,
            FrequencyChanged,
            Swap,
            MemoryPressure
        ]
    );
    assert_eq!(
        warnings(&loud, "v", "get")[0].detail,
        "others used 18% of the clients' processors during `get`"
    );
}
