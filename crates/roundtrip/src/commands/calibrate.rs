//! `roundtrip calibrate`: what this machine's measurements are worth.

use super::common;
use crate::args::CalibrateArgs;
use crate::progress::Progress;
use crate::{output, signals};
use roundtrip_lab::calibrate::{self, Wishes};
use roundtrip_model::Result;

pub fn run(args: &CalibrateArgs) -> Result<()> {
    roundtrip_report::calibration_format(&args.format)?;
    let stop = signals::stop_flag()?;
    let progress = Progress::new(args.quiet);
    let found = calibrate::run(Wishes {
        self_exe: common::self_exe()?,
        budget: args.budget,
        stop: &stop,
        say: &mut |what, remaining| progress.say_with(what, remaining),
    });
    progress.finish();
    let bytes = roundtrip_report::calibration(&found?, &args.format, &output::look())?;
    output::write(&bytes)
}
