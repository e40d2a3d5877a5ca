//! Before anything runs: can every variant be had on this machine? What it learns on the way
//! (versions, settings) goes into the run's environment.

use crate::bench::{Addresses, client_path};
use crate::beside;
use crate::carrying::{self, Carrying};
use crate::door::door;
use crate::pace;
use roundtrip_model::contract::{ClientInfo, Described};
use roundtrip_model::experiment::Variant;
use roundtrip_model::names::unknown;
use roundtrip_model::record::Environment;
use roundtrip_model::workload::Phase;
use roundtrip_model::{Experiment, Kind, Op, Path, Problem, Result, Warning, WarningKind};
use roundtrip_stores::Transport;
use roundtrip_workers::Host;
use std::collections::BTreeSet;
use std::path::Path as FilePath;

/// Checks every variant; a problem says which one and what to do.
pub fn verify(
    experiment: &Experiment,
    host: &Host,
    self_exe: &FilePath,
    addresses: &Addresses,
    environment: &mut Environment,
) -> Result<Vec<Warning>> {
    let mut warnings = Vec::new();
    for variant in &experiment.variants {
        let ops = ops(experiment, &variant.name);
        verify_path(&variant.path, &ops, host, self_exe, addresses, environment)
            .and_then(|()| can_be_carried(experiment, variant, host, addresses))
            .map_err(|problem| problem.at(variant.place.clone()))?;
        warnings.extend(tcp_delay(&variant.name, &variant.path, host)?);
    }
    unused_addresses(experiment, addresses)?;
    Ok(warnings)
}

/// A library that can send small packets at once, and is left to its own default.
fn tcp_delay(variant: &str, path: &Path, host: &Host) -> Result<Option<Warning>> {
    const OPTION: &str = "tcp_nodelay";
    let client = host.client(&path.client)?;
    let is_left = client.options.contains_key(OPTION) && !path.options.contains_key(OPTION);
    // The native client's default is to send at once, and says so.
    let may_delay = is_left && path.transport() == "tcp" && path.language() != "native";
    Ok(may_delay.then(|| {
        let detail = format!("its {OPTION} is as the library has it by itself");
        Warning::new(WarningKind::TcpDelay, variant, detail)
    }))
}

fn ops(experiment: &Experiment, variant: &str) -> BTreeSet<Op> {
    experiment
        .workload
        .phases
        .iter()
        .filter(|p| p.concerns(variant))
        .flat_map(Phase::ops)
        .collect()
}

/// Whether a variant can have its connections, and keep the pace of every phase that it does.
fn can_be_carried(
    experiment: &Experiment,
    variant: &Variant,
    host: &Host,
    addresses: &Addresses,
) -> Result<()> {
    let path = &variant.path;
    let client = host.client(&path.client)?;
    let carrying = Carrying::of(path, &experiment.workload, &client)?;
    has_room(path, carrying, addresses)?;
    let phases = experiment.workload.phases.iter();
    for phase in phases.filter(|phase| phase.concerns(&variant.name)) {
        if let Some(beside) = &phase.beside {
            beside::fits(phase)?;
            let other = beside::client_of(beside, path);
            host.client_for(&client_path(&other), &[beside.op])?;
        }
        carrying::can_pace(path, phase, &client, carrying)?;
        pace::lasts(&phase.pace, phase.count)?;
    }
    Ok(())
}

/// Whether the stores that Roundtrip starts take so many connections: one more would wait in the
/// kernel's queue for a reply that never comes.
fn has_room(path: &Path, carrying: Carrying, addresses: &Addresses) -> Result<()> {
    let wanted = carrying.processes * carrying.connections;
    for name in std::iter::once(&path.store).chain(&path.cache) {
        let most = roundtrip_stores::find(name)?.max_connections;
        if let Some(most) = most.filter(|most| wanted > *most && !addresses.contains_key(name)) {
            let what =
                format!("{name} takes at most {most} connections, and {wanted} are asked for");
            return Err(Problem::new(Kind::Usage, what)
                .at(path.to_string())
                .next("ask for fewer connections"));
        }
    }
    Ok(())
}

/// Refuses an option that would set a server which is not Roundtrip's to set.
fn is_ours_to_set(path: &Path, name: &str) -> Result<()> {
    let manifest = roundtrip_stores::find(name)?;
    let set = |(option, value): &(&String, &String)| manifest.option(option, value).is_some();
    match path.options.iter().find(set) {
        None => Ok(()),
        Some((option, _)) => {
            let what = format!("{name} is there already, and its `{option}` is not ours to set");
            Err(Problem::new(Kind::Usage, what)
                .at(path.to_string())
                .next(format!("leave {option} out")))
        }
    }
}

/// Refuses a value that an option of a server does not take.
fn takes_values(path: &Path, name: &str) -> Result<()> {
    let manifest = roundtrip_stores::find(name)?;
    for (option, value) in &path.options {
        let known = manifest.server_option(option).and_then(|o| o.values());
        let known: Vec<&str> = known.into_iter().flatten().collect();
        if !known.is_empty() && !known.contains(&value.as_str()) {
            let what = format!("value of {name}'s {option}");
            return Err(unknown(&what, value, known).at(path.to_string()));
        }
    }
    Ok(())
}

/// Refuses what would choose a way into a store that is there already, or a table of it: its address
/// says the one, and of the others none is Roundtrip's to write to.
fn is_as_it_is(path: &Path, name: &str) -> Result<()> {
    let chosen = path
        .options
        .iter()
        .find(|(option, value)| match option.as_str() {
            "transport" => value.as_str() != "tcp",
            option => option == "table",
        });
    match chosen {
        None => Ok(()),
        Some((option, value)) => {
            let what =
                format!("{name} is there already, and `{option}={value}` is not to be had there");
            Err(Problem::new(Kind::Usage, what)
                .at(path.to_string())
                .next(format!(
                    "leave {option} out, or let Roundtrip start {name} itself"
                )))
        }
    }
}

/// Checks one path for some ops.
pub fn verify_path(
    path: &Path,
    ops: &BTreeSet<Op>,
    host: &Host,
    self_exe: &FilePath,
    addresses: &Addresses,
    environment: &mut Environment,
) -> Result<()> {
    for name in std::iter::once(&path.store).chain(&path.cache) {
        store(name, self_exe, addresses, environment)?;
        takes_values(path, name)?;
        if addresses.contains_key(name) {
            is_ours_to_set(path, name)?;
            is_as_it_is(path, name)?;
        }
    }
    let ops: Vec<Op> = ops.iter().copied().collect();
    let transport = path.transport().parse::<Transport>()?;
    let client = host.client_for(&client_path(path), &ops)?;
    speaks_tls_there(path, transport, &client)?;
    note_client(path, &host.describe(path.language())?, &client, environment);
    Ok(())
}

/// Refuses TLS where the client goes to a door: doors speak plainly, whatever the store itself does.
fn speaks_tls_there(path: &Path, transport: Transport, client: &ClientInfo) -> Result<()> {
    let manifest = roundtrip_stores::find(&path.store)?;
    match door(path, client, manifest) {
        Some(door) if transport == Transport::Tls => {
            let what = format!("{} speaks no TLS where it speaks {door}", path.store);
            Err(Problem::new(Kind::Usage, what).at(path.to_string()).next(
                "use transport=tcp or unix, or a client that speaks the store's own protocol",
            ))
        }
        _ => Ok(()),
    }
}

fn store(
    name: &str,
    self_exe: &FilePath,
    addresses: &Addresses,
    environment: &mut Environment,
) -> Result<()> {
    let manifest = roundtrip_stores::find(name)?;
    if let Some(address) = addresses.get(name) {
        environment
            .settings
            .insert(format!("{name} address"), address.clone());
        return Ok(());
    }
    let installed = roundtrip_stores::doctor(manifest, self_exe);
    if !installed.is_available() {
        let problem = Problem::new(Kind::Missing, format!("{} is not installed", manifest.name));
        return Err(match installed.install {
            Some(command) => problem.next(command),
            None => problem,
        });
    }
    if let Some(version) = installed.version {
        environment.versions.insert(name.to_owned(), version);
    }
    Ok(())
}

fn note_client(
    path: &Path,
    described: &Described,
    client: &ClientInfo,
    environment: &mut Environment,
) {
    environment
        .versions
        .insert(described.language.clone(), described.runtime.clone());
    if let Some(version) = client
        .version
        .as_ref()
        .filter(|_| path.client != described.language)
    {
        environment
            .versions
            .insert(path.client.clone(), version.clone());
    }
    for (name, value) in &described.settings {
        environment
            .settings
            .insert(format!("{} {name}", described.language), value.clone());
    }
}

/// An address for a store that no variant uses is a slip worth an error.
fn unused_addresses(experiment: &Experiment, addresses: &Addresses) -> Result<()> {
    let used = |name: &String| {
        experiment
            .variants
            .iter()
            .any(|v| v.path.store == *name || v.path.cache.as_ref() == Some(name))
    };
    match addresses.keys().find(|name| !used(name)) {
        None => Ok(()),
        Some(name) => Err(
            Problem::new(Kind::Usage, format!("no variant uses the store `{name}`"))
                .next("leave its address out, or use it in a variant"),
        ),
    }
}

/// What of the runtimes' settings could mislead.
pub fn warnings(environment: &Environment) -> Vec<Warning> {
    let on = |name: &str| environment.settings.get(name).map(String::as_str);
    let mut warnings = Vec::new();
    if on("php xdebug").is_some_and(|value| value != "off") {
        warnings.push(Warning::new(
            WarningKind::XdebugOn,
            "php",
            "Xdebug is loaded",
        ));
    }
    if on("php opcache.enable_cli").is_some_and(|value| ["0", "", "off"].contains(&value)) {
        let detail = "opcache.enable_cli is off, as PHP ships it";
        warnings.push(Warning::new(WarningKind::OpcacheOff, "php", detail));
    }
    warnings
}
