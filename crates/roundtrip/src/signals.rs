//! Ctrl-C: the first one asks the run to stop and keeps what is finished; the second ends at once.

use roundtrip_model::{Kind, Problem, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that is set when the person wants to stop.
pub fn stop_flag() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let exit_code = i32::from(Kind::Interrupted.exit_code());
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the shutdown fires only when the flag was set before.
        flag::register_conditional_shutdown(signal, exit_code, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Problem::new(Kind::Internal, format!("signals cannot be caught: {e}")))?;
    }
    Ok(stop)
}
