//! How many client processes a path has, and how many connections each of them carries. Pure.

use roundtrip_model::contract::ClientInfo;
use roundtrip_model::workload::{Phase, Workload};
use roundtrip_model::{Experiment, Kind, Path, Problem, Result, Warning, WarningKind};

/// The most client processes at once.
const MAX_PROCESSES: u32 = 256;

/// How the connections of a path are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrying {
    /// Client processes.
    pub processes: u32,
    /// Connections of each.
    pub connections: u32,
}

impl Carrying {
    /// One process where the client can carry them all, and otherwise one for each connection.
    pub fn of(path: &Path, work: &Workload, client: &ClientInfo) -> Result<Carrying> {
        let wanted = connections(path, work)?;
        if client.connections >= wanted {
            return Ok(Carrying {
                processes: 1,
                connections: wanted,
            });
        }
        if wanted <= MAX_PROCESSES {
            return Ok(Carrying {
                processes: wanted,
                connections: 1,
            });
        }
        let name = &path.client;
        let what = format!(
            "`{name}` would need {wanted} processes for as many connections, over {MAX_PROCESSES}"
        );
        Err(Problem::new(Kind::Usage, what)
            .at(path.to_string())
            .next("ask for fewer connections, or use `native`, which carries them in one process"))
    }
}

/// The connections of a path: its own number, or that of the experiment.
fn connections(path: &Path, work: &Workload) -> Result<u32> {
    Ok(path.connections()?.unwrap_or(work.concurrency))
}

/// Whether a client can start the ops of a phase when they are to start.
pub fn can_pace(path: &Path, phase: &Phase, client: &ClientInfo, carrying: Carrying) -> Result<()> {
    if phase.pace.is_closed() || (client.paces && carrying.processes == 1) {
        return Ok(());
    }
    let (name, phase) = (&path.client, &phase.name);
    let what = match client.paces {
        false => format!("`{name}` cannot start the ops of phase `{phase}` at a pace"),
        true => format!("several processes of `{name}` cannot share the pace of phase `{phase}`"),
    };
    Err(Problem::new(Kind::Usage, what)
        .at(path.to_string())
        .next("leave the rate or schedule out, or use `native`"))
}

/// A variant and its baseline with their requests in flight.
struct Unequal<'e> {
    baseline: &'e str,
    usual: String,
    variant: &'e str,
    in_flight: String,
}

/// More variants of one baseline than these stand in one line: where the depth is the factor, all
/// but one differ.
const FEW: usize = 3;

fn told(experiment: &Experiment, alike: &[Unequal<'_>]) -> Vec<Warning> {
    let warning = |subject: &str, detail| Warning::new(WarningKind::UnequalTerms, subject, detail);
    if alike.len() > FEW {
        let all: Vec<String> = alike
            .iter()
            .map(|u| format!("`{}` {}", u.variant, u.in_flight))
            .collect();
        let detail = format!(
            "it has up to {} requests in flight; {}",
            alike[0].usual,
            all.join(", ")
        );
        return vec![warning(alike[0].baseline, detail)];
    }
    let one = |u: &Unequal<'_>| {
        let name = match u.baseline == experiment.baseline {
            true => "the baseline".to_owned(),
            false => format!("its baseline `{}`", u.baseline),
        };
        let (in_flight, usual) = (&u.in_flight, &u.usual);
        let (number, words) = in_flight.split_once(' ').unwrap_or((in_flight, ""));
        let detail = format!("it has up to {number} requests in flight {words}, {name} {usual}");
        warning(u.variant, detail)
    };
    alike.iter().map(one).collect()
}

/// Variants that may have another number of requests in flight than what they are compared with.
pub fn unequal(experiment: &Experiment) -> Result<Vec<Warning>> {
    let of = |path: &Path| -> Result<(u64, String)> {
        let (connections, depth) = (connections(path, &experiment.workload)?, path.depth()?);
        let words = format!("{connections} connections x depth {depth}");
        Ok((u64::from(connections) * u64::from(depth), words))
    };
    let mut unequal: Vec<Unequal<'_>> = Vec::new();
    for variant in &experiment.variants {
        let own = experiment.baseline_of(&variant.name);
        let Some((baseline, its_path)) = own.and_then(|b| Some((b, experiment.path(b)?))) else {
            continue;
        };
        let (in_flight, words) = of(&variant.path)?;
        let (usual, usual_words) = of(its_path)?;
        if in_flight != usual {
            unequal.push(Unequal {
                baseline,
                usual: format!("{usual} ({usual_words})"),
                variant: &variant.name,
                in_flight: format!("{in_flight} ({words})"),
            });
        }
    }
    let mut warnings = Vec::new();
    for alike in unequal.chunk_by(|a, b| a.baseline == b.baseline) {
        warnings.extend(told(experiment, alike));
    }
    Ok(warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(options: &str) -> Experiment {
        let text = format!(
            "name = \"m\"\nconcurrency = 50\n[[phase]]\nop = \"get\"\ncount = 10\nrate_per_s = 5\n\
             [[variant]]\nname = \"a\"\nclient = \"native\"\nstore = \"floor\"\n\
             [[variant]]\nname = \"b\"\nclient = \"native\"\nstore = \"floor\"\n{options}"
        );
        Experiment::parse(&text, "m.toml").unwrap()
    }

    fn client(connections: u32, paces: bool) -> ClientInfo {
        serde_json::from_value(serde_json::json!({
            "name": "native", "available": true, "stores": [], "ops": [],
            "connections": connections, "paces": paces,
        }))
        .unwrap()
    }

    fn carrying(options: &str, connections: u32) -> Result<Carrying> {
        let e = experiment(options);
        Carrying::of(&e.variants[1].path, &e.workload, &client(connections, true))
    }

    #[test]
    fn one_process_carries_what_it_can_and_others_are_many() {
        let of = |options, connections| {
            let carrying = carrying(options, connections).unwrap();
            (carrying.processes, carrying.connections)
        };
        assert_eq!(of("", 10_000), (1, 50));
        assert_eq!(of("", 50), (1, 50));
        assert_eq!(of("", 49), (50, 1));
        assert_eq!(of("options = { connections = 3 }", 10_000), (1, 3));
        assert_eq!(of("options = { connections = 256 }", 1), (256, 1));
        let problem = carrying("options = { connections = 257 }", 1).unwrap_err();
        assert_eq!(problem.kind, Kind::Usage);
    }

    #[test]
    fn a_pace_needs_one_process_that_can_keep_it() {
        let e = experiment("");
        let can = |processes, paces| {
            let carrying = Carrying {
                processes,
                connections: 1,
            };
            let phase = &e.workload.phases[0];
            can_pace(&e.variants[0].path, phase, &client(1, paces), carrying)
        };
        assert!(can(1, true).is_ok());
        let cannot = can(1, false).unwrap_err();
        assert_eq!(
            cannot.what,
            "`native` cannot start the ops of phase `get` at a pace"
        );
        assert!(can(2, true).is_err());
    }

    #[test]
    fn unequal_requests_in_flight_are_told() {
        assert_eq!(unequal(&experiment("")).unwrap(), []);
        let same = "options = { connections = 5, depth = 10 }";
        assert_eq!(unequal(&experiment(same)).unwrap(), []);
        let told = unequal(&experiment("options = { depth = 16 }")).unwrap();
        assert_eq!(
            told[0].detail,
            "it has up to 800 requests in flight (50 connections x depth 16), \
             the baseline 50 (50 connections x depth 1)"
        );
        assert_eq!((told.len(), told[0].subject.as_str()), (1, "b"));
    }

    #[test]
    fn each_is_held_against_its_own_baseline() {
        let more = "options = { depth = 16 }\nagainst = \"b\"\n\
                    [[variant]]\nname = \"c\"\nclient = \"native\"\nstore = \"floor\"\n\
                    options = { depth = 16 }\nagainst = \"b\"\n\
                    [[variant]]\nname = \"d\"\nclient = \"native\"\nstore = \"floor\"\nagainst = \"b\"\n";
        let told = unequal(&experiment(more)).unwrap();
        assert_eq!((told.len(), told[0].subject.as_str()), (1, "d"));
        assert_eq!(
            told[0].detail,
            "it has up to 50 requests in flight (50 connections x depth 1), \
             its baseline `b` 800 (50 connections x depth 16)"
        );
    }

    #[test]
    fn many_of_one_baseline_stand_in_one_line() {
        let deeper = |depth: u32| {
            format!(
                "[[variant]]\nname = \"{depth}\"\nclient = \"native\"\nstore = \"floor\"\n\
                 options = {{ connections = 1, depth = {depth} }}\n"
            )
        };
        let more: String = [2, 4, 8, 16].map(deeper).concat();
        let told = unequal(&experiment(&more)).unwrap();
        assert_eq!((told.len(), told[0].subject.as_str()), (1, "a"));
        assert!(
            told[0]
                .detail
                .ends_with("`8` 8 (1 connections x depth 8), `16` 16 (1 connections x depth 16)"),
            "{told:?}"
        );
    }
}
