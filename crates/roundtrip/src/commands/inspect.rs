//! `roundtrip inspect`: into a server that is there. Reads only.

use crate::args::{InspectArgs, TextOrJson, View};
use crate::output;
use roundtrip_lab::stores::{self, inspect};
use roundtrip_model::Result;
use roundtrip_model::contract::Endpoint;
use std::io::{BufWriter, Write};

pub fn run(args: &InspectArgs) -> Result<()> {
    let target = stores::locate(&args.address, args.allow_remote)?;
    match (args.view, args.format) {
        (View::Display, TextOrJson::Json) => output::json(&inspect::display(&target)?),
        (View::Display, TextOrJson::Terminal) => {
            output::write(inspect::text::slabs(&inspect::display(&target)?).as_bytes())
        }
        (View::Stats, TextOrJson::Json) => output::json(&inspect::stats(&target, args.interval)?),
        (View::Stats, TextOrJson::Terminal) => {
            output::write(inspect::text::stats(&inspect::stats(&target, args.interval)?).as_bytes())
        }
        (View::Dump, format) => dump(&target, format),
    }
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
