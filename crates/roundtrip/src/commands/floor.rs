//! `roundtrip floor` and the hidden `roundtrip worker`: the ends of the native path.

use crate::args::FloorArgs;
use crate::output;
use roundtrip_lab::load::{self, FloorOptions, Listen};
use roundtrip_model::Result;
use std::process::ExitCode;

pub fn run(args: &FloorArgs) -> Result<()> {
    let options = FloorOptions {
        protocols: args.protocol.parse()?,
        io: args.io.parse()?,
        delay: args.delay.as_deref().map(str::parse).transpose()?,
        stall: args.stall.as_deref().map(str::parse).transpose()?,
        garble: args.garble,
        drop: args.drop,
        double: args.double,
        slow_read: args.slow_read,
        ..FloorOptions::new(args.listen.parse::<Listen>()?)
    };
    load::run_floor(options, |floor| {
        // The address alone, for whoever starts a client with it. Who reads it may be gone; the
        // floor serves all the same.
        let _ = output::line(floor.address());
        output::note(&format!("over {}", floor.io()));
    })
}

/// Serves the host on standard input and output.
pub fn worker() -> ExitCode {
    ExitCode::from(load::serve_worker(
        std::io::stdin().lock(),
        std::io::stdout().lock(),
    ))
}
