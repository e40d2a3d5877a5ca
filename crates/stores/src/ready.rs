//! Waiting until servers answer, and saying why they do not.

use crate::launch::Launch;
use crate::log;
use crate::manifest::Protocol;
use crate::probe::{Identity, probe};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem};
use roundtrip_process::{Exit, Owned};
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long one question may take before the server is asked again, and looked at whether it
/// died: another program may hold the port and be silent.
const READY_ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// Why a server is not ready.
pub enum NotReady {
    /// It ended.
    Died(Exit),
    /// It did not answer in time; why not, last.
    Late(Problem),
}

impl NotReady {
    /// As a person is told it.
    pub fn problem(self, launch: &Launch) -> Problem {
        let name = &launch.store;
        let what = match self {
            NotReady::Died(exit) => format!("{name} {} before it was ready", exit.in_words()),
            NotReady::Late(last) => format!(
                "{name} was not ready within {:.1} s: {}",
                launch.ready_within.as_secs_f64(),
                last.what
            ),
        };
        Problem::new(Kind::Failed, what)
            .at(launch.program.display().to_string())
            .next(
                "look at its last words; start the program by hand to see whether it works at all",
            )
            .with_log(log::tail(&launch.place.log()))
    }
}

/// Waits until the servers of a store answer as one.
pub fn wait_until_ready(
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
