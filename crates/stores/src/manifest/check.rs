//! What a manifest must say beyond what its types do.

use super::{Life, Manifest, Process};
use crate::place::{DOOR_NAMES, INITIALISE_NAMES, NAMES, check_placeholders};

/// The most servers of one store.
const MOST_NODES: u32 = 16;

impl Manifest {
    pub(super) fn check(&self) -> Result<(), String> {
        let Life::Process(process) = &self.life else {
            return Ok(());
        };
        if !(1..=MOST_NODES).contains(&process.nodes)
            || (process.nodes == 1 && self.protocol.joins())
        {
            return Err("`nodes` is not what its protocol can put together".to_owned());
        }
        if !self.speaks.is_empty() && !self.speaks.contains(&self.protocol) {
            return Err("`speaks` does not name what the probe speaks".to_owned());
        }
        placeholders(process)?;
        transports(process)?;
        self.check_doors(process)?;
        if let Some(initialise) = &process.initialise {
            for arg in &initialise.args {
                check_placeholders(arg, &INITIALISE_NAMES)?;
            }
        }
        let statements = process.accounts.iter().flat_map(|accounts| &accounts.sql);
        let once = process
            .initialise
            .iter()
            .flat_map(|initialise| &initialise.sql);
        if let Some(bad) = statements.chain(once).find(|sql| sql.contains([';', '\n'])) {
            return Err(format!("a statement has a `;` or two lines: `{bad}`"));
        }
        process.program.check()
    }

    fn check_doors(&self, process: &Process) -> Result<(), String> {
        for (name, door) in &self.doors {
            if process.nodes > 1 {
                return Err("a store of several servers has no doors".to_owned());
            }
            for arg in door.tcp.iter().chain(door.unix.iter().flatten()) {
                check_placeholders(arg, &DOOR_NAMES)?;
            }
            must_say(&door.tcp, &["{door_port}"], name)?;
            if let Some(unix) = &door.unix {
                must_say(unix, &["{door_socket}"], name)?;
            }
        }
        Ok(())
    }
}

fn placeholders(process: &Process) -> Result<(), String> {
    let all = process.args.iter().chain(&process.tcp);
    let others = process.unix.iter().chain(&process.tls).flatten();
    for arg in all.chain(others) {
        check_placeholders(arg, &NAMES)?;
    }
    for arg in process
        .options
        .values()
        .flat_map(|option| option.every_arg())
    {
        // They are handed over as they stand.
        check_placeholders(&arg, &[])?;
    }
    Ok(())
}

fn transports(process: &Process) -> Result<(), String> {
    must_say(&process.tcp, &["{port}"], "tcp")?;
    if process.probe_on_socket {
        must_say(&process.tcp, &["{socket}"], "tcp")?;
    }
    if let Some(unix) = &process.unix {
        must_say(unix, &["{socket}"], "unix")?;
    }
    if let Some(tls) = &process.tls {
        must_say(tls, &["{port}", "{socket}", "{cert}", "{key}"], "tls")?;
    }
    if process.initialise.is_some() {
        must_say(&process.args, &["{data}"], "args")?;
    }
    if process.accounts.is_some() {
        must_say(&process.args, &["{login_sql}"], "args")?;
    }
    Ok(())
}

fn must_say(args: &[String], what: &[&str], key: &str) -> Result<(), String> {
    let is_said = |what: &&str| args.iter().any(|arg| arg.contains(*what));
    match what.iter().find(|what| !is_said(what)) {
        Some(what) => Err(format!("`{key}` does not say {what}")),
        None => Ok(()),
    }
}
