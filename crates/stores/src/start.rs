//! Starting a store: on a free loopback port or a private socket, in a process group of its own,
//! and not given out before it answers.

use crate::accounts::Logins;
use crate::certificate;
use crate::launch::Launch;
use crate::manifest::{AsRoot, Life, Manifest, Process, Protocol};
use crate::options::{StartOptions, Transport};
use crate::place::{MAX_SOCKET_PATH_BYTES, Place};
use crate::probe::{Identity, join};
use crate::program;
use crate::ready::{NotReady, wait_for_one, wait_until_ready};
use crate::store::{Server, Store, StoreDir, asked};
use crate::template::Recipe;
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use roundtrip_process::{NOBODY, Owned, Settings, free_port, is_root};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::time::Duration;

/// How often a start is tried when another program takes the port first.
const PORT_ATTEMPTS: u32 = 5;
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

fn start_process(
    manifest: &Manifest,
    process: &Process,
    options: &StartOptions,
    next_port: &mut dyn FnMut() -> Result<u16>,
) -> Result<Store> {
    let program = program::locate(
        manifest,
        &process.program,
        options.program.as_deref(),
        &options.self_exe,
    )?;
    let mut servers = Vec::new();
    let mut identity = None;
    for _ in 0..process.nodes {
        let (server, node) = start_node(manifest, process, options, &program, next_port)?;
        servers.push(server);
        identity.get_or_insert(node);
    }
    if manifest.protocol.joins() {
        join(manifest.protocol, &asked(&servers).endpoints)?;
        wait_for_all(manifest.protocol, &mut servers)?;
    }
    let none = || Problem::new(Kind::Internal, "a store has no server");
    let identity = identity.ok_or_else(none)?;
    Store::started(manifest, servers, identity)
}

/// Waits until servers that are one store answer as one.
pub(crate) fn wait_for_all(protocol: Protocol, servers: &mut [Server]) -> Result<()> {
    let asked = asked(servers);
    let Some(within) = servers.first().map(|server| server.launch.ready_within) else {
        return Ok(());
    };
    let mut owned: Vec<&mut Owned> = servers.iter_mut().map(|server| &mut server.owned).collect();
    let ready = wait_until_ready(protocol, &asked, &mut owned, within);
    let launches: Vec<&Launch> = servers.iter().map(|server| &server.launch).collect();
    let why = ready.err().and_then(|why| why.problem_of_all(&launches));
    why.map_or(Ok(()), Err)
}

/// Starts one server and waits until it answers for itself.
fn start_node(
    manifest: &Manifest,
    process: &Process,
    options: &StartOptions,
    program: &Path,
    next_port: &mut dyn FnMut() -> Result<u16>,
) -> Result<(Server, Identity)> {
    for _ in 0..PORT_ATTEMPTS {
        let mut server = spawn(manifest, process, options, program, next_port)?;
        let Server {
            launch,
            owned,
            grace,
            ..
        } = &mut server;
        match wait_for_one(
            manifest.protocol.of_a_node(),
            &manifest.doors,
            launch,
            owned,
        ) {
            Ok(identity) => return Ok((server, identity)),
            Err(NotReady::Late(why)) => return Err(NotReady::Late(why).problem(launch)),
            Err(why) => {
                // It must not hold a port itself any more, so whoever does took it first.
                let problem = why.problem(launch);
                owned.stop(*grace)?;
                if !launch.place.ports().any(is_taken) {
                    return Err(problem);
                }
            }
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
    next_port: &mut dyn FnMut() -> Result<u16>,
) -> Result<Server> {
    let run_as = (process.as_root == AsRoot::Nobody && is_root()).then_some(NOBODY);
    let dir = StoreDir::make(options.dir, &manifest.name, run_as)?;
    let place = place(manifest, process, options, dir.path(), next_port)?;
    let listen = match options.transport {
        Transport::Tcp => &process.tcp,
        Transport::Unix => socket_args(manifest, process.unix.as_ref(), "unix", &place)?,
        Transport::Tls => {
            let args = socket_args(manifest, process.tls.as_ref(), "tls", &place)?;
            certificate::make(&place.dir, run_as)?;
            args
        }
    };
    let program = program::within_reach(manifest, program.to_owned(), run_as, &place.dir)?;
    if let Some(initialise) = &process.initialise {
        let recipe = Recipe {
            manifest,
            initialise,
            program: &program,
            options,
            run_as,
        };
        recipe.copy_to(&place.data())?;
    }
    let mut args: Vec<String> = process
        .args
        .iter()
        .chain(listen)
        .map(|arg| place.fill(arg))
        .collect();
    for (name, door) in &manifest.doors {
        let door_args = match options.transport {
            Transport::Unix => socket_args(manifest, door.unix.as_ref(), "unix", &place)?,
            Transport::Tcp | Transport::Tls => &door.tcp,
        };
        args.extend(door_args.iter().map(|arg| place.fill_door(name, arg)));
    }
    args.extend(options.extra_args.iter().cloned());
    let launch = Launch {
        store: manifest.name.clone(),
        program,
        args,
        settings: Settings {
            cpus: options.cpus.clone(),
            run_as,
        },
        ready_within: options
            .ready_within
            .unwrap_or(Duration::from_millis(process.ready_within_ms)),
        logins: process.accounts.as_ref().map(Logins::make).transpose()?,
        place,
    };
    Ok(Server {
        owned: launch.spawn()?,
        launch,
        grace: Duration::from_millis(process.stop_grace_ms),
        dir,
    })
}

/// Where a server is to listen: at ports that are free now.
fn place(
    manifest: &Manifest,
    process: &Process,
    options: &StartOptions,
    dir: &Path,
    next_port: &mut dyn FnMut() -> Result<u16>,
) -> Result<Place> {
    let has_port = options.transport != Transport::Unix;
    let port = has_port.then(&mut *next_port).transpose()?;
    let peer_port = manifest
        .protocol
        .joins()
        .then(&mut *next_port)
        .transpose()?;
    let mut doors = BTreeMap::new();
    for name in manifest.doors.keys() {
        doors.insert(name.clone(), has_port.then(&mut *next_port).transpose()?);
    }
    let share_mb = options.memory_mb.div_ceil(process.nodes.max(1));
    Ok(Place {
        dir: dir.to_owned(),
        port,
        tls: options.transport == Transport::Tls,
        probe_on_socket: process.probe_on_socket,
        peer_port,
        doors,
        memory_mb: process
            .max_memory_mb
            .map_or(share_mb, |most| share_mb.min(most)),
    })
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

fn is_taken(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err_and(|e| e.kind() == ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests;
