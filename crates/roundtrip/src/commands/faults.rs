//! `roundtrip faults`: what a crash loses.

use super::common::{self, From};
use crate::args::FaultsArgs;
use roundtrip_lab::bench::Addresses;
use roundtrip_lab::session::Wishes;
use roundtrip_lab::{catalog, faults};
use roundtrip_model::Result;

pub fn run(args: &FaultsArgs) -> Result<()> {
    roundtrip_report::format(&args.format)?;
    let experiment = faults::only(&catalog::load(&args.experiment)?, args.trials)?;
    let wishes = Wishes {
        self_exe: common::self_exe()?,
        seed: args.seed,
        // Nobody else's store is ever killed.
        addresses: Addresses::new(),
        allow_remote: false,
        deadline: args.deadline,
        command: common::this_command(),
    };
    common::session(From::Start(&experiment), &wishes, &args.format, args.quiet)
}
