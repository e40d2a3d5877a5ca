//! `roundtrip inspect`: into a server that is there. Reads only.

use crate::args::{InspectArgs, TextOrJson, View};
use crate::output;
use roundtrip_lab::stores::inspect::{self, Look, Server, text};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem, Result};
use serde::Serialize;
use std::io::{BufWriter, Write};

pub fn run(args: &InspectArgs) -> Result<()> {
    let target = inspect::locate(&args.address, args.allow_remote)?;
    let at = &target.endpoint;
    match (target.server, args.view) {
        (Server::Memcached, View::Display) => tell(args, &inspect::display(at)?, text::slabs),
        (Server::Memcached, View::Stats) => {
            tell(args, &inspect::stats(at, args.interval)?, text::stats)
        }
        (Server::Memcached, View::Dump) => dump(at, args.format),
        (Server::Redis, View::Dump) => no_dump("a Redis", "redis-cli --rdb FILE"),
        (Server::Mysql, View::Dump) => no_dump("a MySQL", "mysqldump"),
        (Server::Redis, view) => look(args, view, inspect::redis::stats(at, args.interval)?),
        (Server::Mysql, view) => look(args, view, inspect::mysql::stats(&target, args.interval)?),
    }
}

fn look<M: text::Told + Serialize>(args: &InspectArgs, view: View, look: Look<M>) -> Result<()> {
    let look = match view {
        View::Display => look.in_short(),
        _ => look,
    };
    tell(args, &look, text::look)
}

fn tell<T: Serialize>(args: &InspectArgs, what: &T, text: fn(&T) -> String) -> Result<()> {
    match args.format {
        TextOrJson::Json => output::json(what),
        TextOrJson::Terminal => output::write(text(what).as_bytes()),
    }
}

fn no_dump(server: &str, tool: &str) -> Result<()> {
    let what = format!("`inspect` does not dump {server}: that needs the server's own tool");
    Err(Problem::new(Kind::Usage, what).next(format!(
        "use `{tool}`, which writes a copy that can be read back, structures and all"
    )))
}

fn dump(target: &Endpoint, format: TextOrJson) -> Result<()> {
    let mut out = BufWriter::new(output::Pipe::default());
    let dumped = match format {
        TextOrJson::Terminal => inspect::dump(target, &mut out),
        TextOrJson::Json => inspect::dump_json(target, &mut out),
    };
    let flushed = out.flush();
    if out.get_ref().is_broken() {
        return Ok(());
    }
    let summary = dumped?;
    output::written(flushed)?;
    output::note(&format!(
        "{} items, {} bytes of values; {} vanished while they were read",
        summary.items, summary.value_bytes, summary.vanished
    ));
    Ok(())
}
