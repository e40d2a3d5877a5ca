use super::*;
use crate::find;
use roundtrip_process::PrivateDir;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A program that is a shell script, which `nobody` may run too.
fn script(text: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let file = dir.path().join("server");
    fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    (dir, file)
}

fn start_script(text: &str, transport: Transport, ready_within: Duration) -> Problem {
    let (_kept, file) = script(text);
    let dir = PrivateDir::new().unwrap();
    let options = StartOptions {
        transport,
        program: Some(file),
        ready_within: Some(ready_within),
        ..StartOptions::new("/no/self", &dir)
    };
    let problem = start(find("memcached").unwrap(), &options).err().unwrap();
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        0,
        "a directory is left"
    );
    problem
}

fn process() -> &'static Process {
    match &find("memcached").unwrap().life {
        Life::Process(process) => process,
        Life::Embedded(_) => panic!("memcached is a process"),
    }
}

/// Starts memcached on these ports, one after the other.
fn start_on(ports: &[u16]) -> Result<Store> {
    let dir = PrivateDir::new().unwrap();
    let mut ports = ports.iter().copied();
    let mut next = || ports.next().map_or_else(free_port, Ok);
    let options = StartOptions::new("/no/self", &dir);
    start_process(find("memcached").unwrap(), process(), &options, &mut next)
}

#[test]
fn a_server_that_dies_at_start_shows_its_last_words() {
    let text = "echo starting; echo 'no license found' >&2; exit 3";
    for transport in [Transport::Tcp, Transport::Unix] {
        let problem = start_script(text, transport, Duration::from_secs(60));
        assert_eq!(problem.kind, Kind::Failed);
        assert_eq!(
            problem.what,
            "memcached ended with exit code 3 before it was ready"
        );
        assert_eq!(problem.log.unwrap(), "starting\nno license found");
    }
}

#[test]
fn a_server_that_never_answers_hits_the_deadline_and_is_gone() {
    let marker = tempfile::NamedTempFile::new().unwrap();
    fs::set_permissions(marker.path(), fs::Permissions::from_mode(0o666)).unwrap();
    let text = format!(
        "echo $$ > {}; echo hello; sleep 600",
        marker.path().display()
    );
    let problem = start_script(&text, Transport::Tcp, Duration::from_secs(2));
    assert!(
        problem
            .what
            .starts_with("memcached was not ready within 2.0 s: no connection")
    );
    assert_eq!(problem.log.unwrap(), "hello");
    let pid = fs::read_to_string(marker.path()).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists());
}

#[test]
fn a_program_that_is_missing_or_no_program_is_said_to_be_so() {
    let dir = PrivateDir::new().unwrap();
    let mut options = StartOptions::new("/no/self", &dir);
    options.program = Some("/no/such/memcached".into());
    let problem = start(find("memcached").unwrap(), &options).err().unwrap();
    assert_eq!(problem.kind, Kind::Missing);
    let problem = start(find("floor").unwrap(), &StartOptions::new("/no/self", &dir));
    let problem = problem.err().unwrap();
    assert!(
        problem
            .what
            .starts_with("floor cannot be started: No such file"),
        "{problem}"
    );
}

#[test]
fn a_port_that_another_server_took_is_given_up() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().port();
    let store = start_on(&[taken, taken]).unwrap();
    assert_ne!(
        store.endpoint(),
        Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: taken
        }
    );
}

#[test]
fn another_memcached_on_the_port_is_not_taken_for_ours() {
    let other = start_on(&[]).unwrap();
    let Endpoint::Tcp { port, .. } = other.endpoint() else {
        panic!("it listens on a port");
    };
    let mut ours = start_on(&[port]).unwrap();
    assert_ne!(ours.endpoint(), other.endpoint());
    assert!(ours.is_alive().is_none());
}

#[test]
fn when_every_port_is_taken_it_gives_up() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().port();
    let problem = start_on(&[taken; PORT_ATTEMPTS as usize]).err().unwrap();
    assert!(
        problem.what.contains("5 free ports were taken"),
        "{problem}"
    );
}

#[test]
fn a_socket_path_that_is_too_long_is_refused() {
    let place = Place {
        dir: PathBuf::from(format!("/{}", "d".repeat(100))),
        port: None,
        peer_port: None,
        tls: false,
        probe_on_socket: false,
        doors: Default::default(),
        memory_mb: 64,
    };
    let problem = socket_args(
        find("memcached").unwrap(),
        process().unix.as_ref(),
        "unix",
        &place,
    )
    .unwrap_err();
    assert!(
        problem
            .what
            .starts_with("the path of a unix socket is too long")
    );
}

#[test]
fn a_store_that_speaks_no_tls_says_so() {
    let dir = PrivateDir::new().unwrap();
    let options = StartOptions {
        transport: Transport::Tls,
        ..StartOptions::new("/no/self", &dir)
    };
    let problem = start(find("memcached").unwrap(), &options).err().unwrap();
    assert_eq!(problem.kind, Kind::Usage);
    assert_eq!(problem.what, "memcached cannot listen with transport=tls");
}

#[test]
fn a_transport_has_a_name() {
    assert_eq!("tcp".parse::<Transport>().unwrap(), Transport::Tcp);
    assert_eq!("unix".parse::<Transport>().unwrap(), Transport::Unix);
    assert_eq!("tls".parse::<Transport>().unwrap(), Transport::Tls);
    assert!(
        "unx"
            .parse::<Transport>()
            .unwrap_err()
            .next_step
            .unwrap()
            .contains("`unix`")
    );
}

#[test]
fn a_door_that_another_server_took_is_given_up_with_its_port() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().port();
    let mut manifest = find("mysql").unwrap().clone();
    let Life::Process(process) = &mut manifest.life else {
        panic!("mysql is a process");
    };
    let process = process.clone();
    let dir = PrivateDir::new().unwrap();
    // The second port is that of the door.
    let mut asked = 0;
    let mut next = || {
        asked += 1;
        if asked == 2 { Ok(taken) } else { free_port() }
    };
    let mut options = StartOptions::new("/no/self", &dir);
    options.memory_mb = 64;
    let store = start_process(&manifest, &process, &options, &mut next)
        .unwrap_or_else(|problem| panic!("{problem}"));
    let host = "127.0.0.1".to_owned();
    let busy = Endpoint::Tcp { host, port: taken };
    assert_ne!(store.doors()["memcached"], busy);
    assert_eq!(asked, 4);
}

/// A cluster whose second node is started by a script, within a private directory.
fn start_cluster(second: &str, within: Duration) -> (Problem, Vec<String>) {
    let marker = tempfile::tempdir().unwrap();
    fs::set_permissions(marker.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let pids = marker.path().join("pids");
    let text = format!(
        "echo $$ >> {0}; [ $(wc -l < {0}) -ne 2 ] && exec redis-server \"$@\"; {second}",
        pids.display()
    );
    let (_kept, file) = script(&text);
    let dir = PrivateDir::new().unwrap();
    let options = StartOptions {
        program: Some(file),
        ready_within: Some(within),
        ..StartOptions::new("/no/self", &dir)
    };
    let problem = start(find("redis-cluster").unwrap(), &options)
        .err()
        .unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let pids = fs::read_to_string(&pids).unwrap();
    (problem, pids.lines().map(str::to_owned).collect())
}

fn assert_gone(pids: &[String]) {
    assert_eq!(pids.len(), 3);
    for pid in pids {
        assert!(!Path::new("/proc").join(pid).exists(), "{pid} is left");
    }
}

#[test]
fn a_cluster_whose_nodes_do_not_reach_each_other_says_which_and_leaves_nothing() {
    // Its bus speaks TLS, which the others do not understand.
    let certified = tempfile::tempdir().unwrap();
    fs::set_permissions(certified.path(), fs::Permissions::from_mode(0o755)).unwrap();
    certificate::make(certified.path(), is_root().then_some(NOBODY)).unwrap();
    let file = |name: &str| certified.path().join(name).display().to_string();
    let second = format!(
        "exec redis-server \"$@\" --tls-cluster yes --tls-cert-file {} --tls-key-file {} \
         --tls-ca-cert-file {}",
        file(certificate::CERTIFICATE),
        file(certificate::KEY),
        file(certificate::CA)
    );
    let (problem, pids) = start_cluster(&second, Duration::from_secs(5));
    assert_gone(&pids);
    let told = problem.to_string();
    assert!(
        told.contains("redis-cluster was not ready within 5.0 s"),
        "{told}"
    );
    assert!(problem.what.contains("127.0.0.1:"), "{told}");
    assert!(
        problem.what.contains("slots are served (state fail)"),
        "{told}"
    );
    assert!(problem.next_step.unwrap().contains("bus ports"), "{told}");
}

#[test]
fn a_node_that_is_no_node_of_a_cluster_ends_the_others_too() {
    let second = "exec redis-server \"$@\" --cluster-enabled no";
    let (problem, pids) = start_cluster(second, Duration::from_secs(60));
    assert_gone(&pids);
    assert!(
        problem.what.contains("cluster support disabled"),
        "{problem}"
    );
}

#[test]
fn several_servers_go_round_ports_that_others_took() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().port();
    for name in ["redis-cluster", "redis-shards", "memcached-shards"] {
        let manifest = find(name).unwrap();
        let Life::Process(process) = &manifest.life else {
            panic!("{name} is a process");
        };
        let dir = PrivateDir::new().unwrap();
        let options = StartOptions::new("/no/self", &dir);
        let mut asked = 0;
        // Of each server the first port is taken, and of the second the port for its peers too.
        let mut next = || {
            asked += 1;
            match asked {
                1 | 4 => Ok(taken),
                _ => free_port(),
            }
        };
        let store = start_process(manifest, process, &options, &mut next).unwrap();
        assert_eq!(store.pids().len(), 3, "{name}");
        assert_eq!(store.nodes().len(), 3, "{name}");
        store.stop().unwrap();
        let mut always = || Ok(taken);
        let problem = start_process(manifest, process, &options, &mut always);
        let problem = problem.err().unwrap();
        assert!(problem.what.contains("free ports were taken"), "{problem}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{name}");
    }
}
