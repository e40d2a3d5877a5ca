//! Starting a store: on a free loopback port or a private socket, in a process group of its own,
//! and not given out before it answers.

use crate::certificate;
use crate::log;
use crate::manifest::{AsRoot, Life, Manifest, Process, Protocol};
use crate::options::{StartOptions, Transport};
use crate::place::{MAX_SOCKET_PATH_BYTES, Place};
use crate::probe::{ANSWER_WITHIN, Identity, join, probe};
use crate::program;
use crate::store::{Server, Store, StoreDir, read_settings};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{Exit, NOBODY, Owned, Settings, free_port, is_root};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a start is tried when another program takes the port first.
const PORT_ATTEMPTS: u32 = 5;
/// How long one question may take before the server is asked again, and looked at whether it
/// died: another program may hold the port and be silent.
const READY_ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// Starts a store and waits until it answers. It lives as long as the value and as the thread
/// that called this: the kernel ties a child to the thread that started it.
pub fn start(manifest: &Manifest, options: &StartOptions) -> Result<Store> {
    match &manifest.life {
        Life::Process(process) => start_process(manifest, process, options, &mut free_port),
        Life::Embedded(embedded) => {
            let dir = StoreDir::make(options.dir, &manifest.name, None)?;
            let path = dir.path().join(&embedded.file).display().to_string();
            Ok(Store::embedded(manifest, Endpoint::File { path }, dir))
        }
    }
}

/// Why a server is not ready.
enum NotReady {
    Died(Exit),
    Late(Problem),
}

fn start_process(
    manifest: &Manifest,
    process: &Process,
    options: &StartOptions,
    next_port: &mut dyn FnMut() -> Result<u16>,
) -> Result<Store> {
    let program = program::locate(
        &manifest.name,
        &process.program,
        options.program.as_deref(),
        &options.self_exe,
    )?;
    let within = options
        .ready_within
        .unwrap_or(Duration::from_millis(process.ready_within_ms));
    let mut nodes = Vec::new();
    let mut identity = None;
    for _ in 0..process.nodes {
        let (server, place, node) =
            start_node(manifest, process, options, &program, within, next_port)?;
        nodes.push((server, place));
        identity.get_or_insert(node);
    }
    let endpoints: Vec<Endpoint> = nodes.iter().map(|(_, p)| p.probe_endpoint()).collect();
    if manifest.protocol.joins() {
        join(manifest.protocol, &endpoints)?;
        let servers = nodes.iter_mut().map(|(server, _)| &mut server.owned);
        let mut servers: Vec<&mut Owned> = servers.collect();
        let ready = wait_until_ready(manifest.protocol, &endpoints, &mut servers, within);
        if let Err(why) = ready {
            let places = nodes.iter().map(|(_, place)| place);
            return Err(not_ready(manifest, &program, places, why, within));
        }
    }
    let mut asking = probe(manifest.protocol, &endpoints, ANSWER_WITHIN);
    let settings = read_settings(manifest, asking.as_mut());
    let none = || Problem::new(Kind::Internal, "a store has no server");
    let identity = identity.ok_or_else(none)?;
    Store::started(manifest, nodes, asking, identity, settings)
}

/// Starts one server and waits until it answers for itself.
fn start_node(
    manifest: &Manifest,
    process: &Process,
    options: &StartOptions,
    program: &Path,
    within: Duration,
    next_port: &mut dyn FnMut() -> Result<u16>,
) -> Result<(Server, Place, Identity)> {
    for _ in 0..PORT_ATTEMPTS {
        let port = match options.transport {
            Transport::Tcp | Transport::Tls => Some(next_port()?),
            Transport::Unix => None,
        };
        let peer_port = match manifest.protocol.joins() {
            true => Some(next_port()?),
            false => None,
        };
        let (mut server, place) = spawn(manifest, process, options, program, [port, peer_port])?;
        let protocol = manifest.protocol.of_a_node();
        let endpoints = [place.probe_endpoint()];
        match wait_until_ready(protocol, &endpoints, &mut [&mut server.owned], within) {
            Ok(identity) => return Ok((server, place, identity)),
            // It does not hold the port itself any more, so whoever does took it first.
            Err(NotReady::Died(_)) if port.into_iter().chain(peer_port).any(is_taken) => {}
            Err(why) => return Err(not_ready(manifest, program, [&place], why, within)),
        }
    }
    Err(Problem::new(
        Kind::Failed,
        format!(
            "{} could not be started: {PORT_ATTEMPTS} free ports were taken by other programs",
            manifest.name
        ),
    )
    .next("close programs that hold many ports open, and try again"))
}

fn spawn(
    manifest: &Manifest,
    process: &Process,
    options: &StartOptions,
    program: &Path,
    [port, peer_port]: [Option<u16>; 2],
) -> Result<(Server, Place)> {
    let run_as = (process.as_root == AsRoot::Nobody && is_root()).then_some(NOBODY);
    let dir = StoreDir::make(options.dir, &manifest.name, run_as)?;
    let place = Place {
        dir: dir.path().to_owned(),
        port,
        tls: options.transport == Transport::Tls,
        peer_port,
        memory_mb: options.memory_mb.div_ceil(process.nodes.max(1)),
    };
    let listen = match options.transport {
        Transport::Tcp => &process.tcp,
        Transport::Unix => socket_args(manifest, process.unix.as_ref(), "unix", &place)?,
        Transport::Tls => {
            let args = socket_args(manifest, process.tls.as_ref(), "tls", &place)?;
            certificate::make(&place.dir, run_as)?;
            args
        }
    };
    let failed = |e: io::Error| {
        Problem::new(
            Kind::Failed,
            format!("{} cannot be started: {e}", manifest.name),
        )
        .at(program.display().to_string())
        .next("look whether the program can be executed, and whether the disk is full")
    };
    let log = File::create(place.log()).map_err(failed)?;
    let mut command = Command::new(program);
    command
        .args(process.args.iter().chain(listen).map(|arg| place.fill(arg)))
        .args(&options.extra_args)
        .current_dir(&place.dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(failed)?)
        .stderr(log);
    let settings = Settings {
        cpus: options.cpus.clone(),
        run_as,
    };
    let owned = Owned::spawn(&mut command, &settings).map_err(failed)?;
    let grace = Duration::from_millis(process.stop_grace_ms);
    let log = place.log();
    Ok((
        Server {
            owned,
            grace,
            log,
            dir,
        },
        place,
    ))
}

/// The arguments of a transport that puts a socket into the private directory.
fn socket_args<'p>(
    manifest: &Manifest,
    args: Option<&'p Vec<String>>,
    transport: &str,
    place: &Place,
) -> Result<&'p Vec<String>> {
    let refuse = |what: String, step: &str| Err(Problem::new(Kind::Usage, what).next(step));
    let Some(args) = args else {
        let what = format!("{} cannot listen with transport={transport}", manifest.name);
        return refuse(what, "use transport=tcp");
    };
    let socket = place.socket();
    if socket.as_os_str().len() > MAX_SOCKET_PATH_BYTES {
        let what = format!(
            "the path of a unix socket is too long: {}",
            socket.display()
        );
        return refuse(what, "point TMPDIR at a directory with a shorter path");
    }
    Ok(args)
}

fn wait_until_ready(
    protocol: Protocol,
    endpoints: &[Endpoint],
    servers: &mut [&mut Owned],
    within: Duration,
) -> std::result::Result<Identity, NotReady> {
    let mut asking = probe(protocol, endpoints, READY_ANSWER_WITHIN);
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let internal = |e: io::Error| {
        NotReady::Late(Problem::new(
            Kind::Internal,
            format!("a server cannot be awaited: {e}"),
        ))
    };
    loop {
        let answer = asking.identify();
        for owned in &mut *servers {
            if let Some(exit) = owned.try_wait().map_err(internal)? {
                return Err(NotReady::Died(exit));
            }
        }
        let is_one = |pid| servers.iter().any(|owned| owned.pid() == pid);
        let problem = match answer {
            Ok(identity) if identity.pid.is_none_or(is_one) => {
                return Ok(identity);
            }
            Ok(_) => Problem::new(Kind::Failed, "another server answers there"),
            Err(problem) => problem,
        };
        if start.elapsed() >= within {
            return Err(NotReady::Late(problem));
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn is_taken(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err_and(|e| e.kind() == ErrorKind::AddrInUse)
}

fn not_ready<'p>(
    manifest: &Manifest,
    program: &Path,
    places: impl IntoIterator<Item = &'p Place>,
    why: NotReady,
    within: Duration,
) -> Problem {
    let name = &manifest.name;
    let usual = "look at its last words; start the program by hand to see whether it works at all";
    let (what, next) = match why {
        NotReady::Died(exit) => {
            let what = format!("{name} {} before it was ready", exit.in_words());
            (what, usual.to_owned())
        }
        NotReady::Late(last) => {
            let within_s = within.as_secs_f64();
            let what = format!("{name} was not ready within {within_s:.1} s: {}", last.what);
            // What joins several servers knows better what to look at.
            let next = last.next_step.filter(|_| manifest.protocol.joins());
            (what, next.unwrap_or_else(|| usual.to_owned()))
        }
    };
    let places = places.into_iter();
    let tails: Vec<String> = places.map(|place| log::tail(&place.log())).collect();
    Problem::new(Kind::Failed, what)
        .at(program.display().to_string())
        .next(next)
        .with_log(tails.join("\n"))
}

#[cfg(test)]
mod tests;
