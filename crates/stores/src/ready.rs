//! Waiting until servers answer, and saying why they do not.

use crate::launch::Launch;
use crate::log;
use crate::manifest::{Door, Protocol};
use crate::probe::{Asked, Identity, probe};
use roundtrip_model::{Kind, Problem};
use roundtrip_process::{Exit, Owned};
use std::collections::BTreeMap;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long one question may take before the server is asked again, and looked at whether it
/// died: another program may hold the port and be silent.
const READY_ANSWER_WITHIN: Duration = Duration::from_millis(500);

/// How long a door may stay shut after the server itself answers.
const DOOR_WITHIN: Duration = Duration::from_secs(5);

/// Why a server is not ready.
pub enum NotReady {
    /// It ended.
    Died(Exit),
    /// It did not answer in time; why not, last.
    Late(Box<Problem>),
    /// A door of it did not open; its name, and why not, last.
    Shut(String, Box<Problem>),
}

impl NotReady {
    /// As a person is told it of servers that are one store: what joins them knows best what to
    /// look at, and any of them may have had the last word.
    pub fn problem_of_all(self, launches: &[&Launch]) -> Option<Problem> {
        let next = match &self {
            NotReady::Late(last) => last.next_step.clone(),
            _ => None,
        };
        let problem = self.problem(launches.first()?);
        let tails = launches.iter().map(|launch| log::tail(&launch.place.log()));
        let problem = problem.with_log(tails.collect::<Vec<_>>().join("\n"));
        Some(match next {
            Some(next) => problem.next(next),
            None => problem,
        })
    }

    /// As a person is told it.
    pub fn problem(self, launch: &Launch) -> Problem {
        let name = &launch.store;
        let what = match self {
            NotReady::Died(exit) => format!("{name} {} before it was ready", exit.in_words()),
            NotReady::Shut(door, last) => {
                let what = format!("{name} opened no door for {door}: {}", last.what);
                return Problem::new(Kind::Failed, what)
                    .at(launch.program.display().to_string())
                    .next("look at its last words: what opens the door may not have been loaded")
                    .with_log(log::tail(&launch.place.log()));
            }
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
    asked: &Asked,
    servers: &mut [&mut Owned],
    within: Duration,
) -> std::result::Result<Identity, NotReady> {
    let mut asking = probe(protocol, asked, READY_ANSWER_WITHIN);
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    let internal = |e: io::Error| {
        NotReady::Late(Box::new(Problem::new(
            Kind::Internal,
            format!("a server cannot be awaited: {e}"),
        )))
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
            return Err(NotReady::Late(Box::new(problem)));
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Waits until a server answers at every way in.
pub fn wait_for_one(
    protocol: Protocol,
    doors: &BTreeMap<String, Door>,
    launch: &Launch,
    owned: &mut Owned,
) -> std::result::Result<Identity, NotReady> {
    let within = launch.ready_within;
    let servers = &mut [owned];
    let identity = wait_until_ready(protocol, &launch.asked(), servers, within)?;
    for (name, door) in doors {
        let asked = Asked::at(launch.place.door(name).as_slice());
        let open = wait_until_ready(door.protocol, &asked, servers, within.min(DOOR_WITHIN));
        open.map_err(|why| match why {
            NotReady::Late(last) => NotReady::Shut(name.clone(), last),
            why => why,
        })?;
    }
    launch.is_ready();
    Ok(identity)
}
