//! How requests came and were carried: response beside service time, the generator's lateness,
//! threads and connections, and times without one.

use super::figures::{Figures, Scene};
use super::tables::{columns, name_cell, plain};
use super::{Cell, Table};
use crate::number::{UNKNOWN, count, nanos, things};
use roundtrip_model::Histogram;
use roundtrip_model::record::PhaseRecord;
use roundtrip_model::workload::Pace;

/// How many gaps are listed.
const LISTED: usize = 12;
/// Quantiles of the table of times; each is shown only with samples enough above it.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// One of the histograms of a phase.
type Of = fn(&PhaseRecord) -> Option<&Histogram>;

/// Valid trials of a contestant in a scene.
fn valid<'a>(figures: &'a Figures<'_>, scene: Scene<'a>, name: &'a str) -> Vec<&'a PhaseRecord> {
    let trials = figures.trials(scene, name);
    trials
        .filter(|(trial, _)| trial.is_valid())
        .map(|(_, phase)| phase)
        .collect()
}

fn median(mut all: Vec<u64>) -> Option<f64> {
    all.sort_unstable();
    all.get(all.len() / 2).map(|ns| *ns as f64)
}

fn ns_cell(ns: Option<f64>) -> Cell {
    plain(ns.map_or(UNKNOWN.to_owned(), nanos))
}

/// The pace of a scene, where it is one for all.
fn pace(figures: &Figures<'_>, scene: Scene<'_>) -> Pace {
    let names = figures.in_scene(scene);
    let paces = names
        .iter()
        .flat_map(|(_, name)| valid(figures, scene, name));
    paces
        .map(|phase| phase.pace.clone())
        .next()
        .unwrap_or_default()
}

/// What a reader must know of the latencies of a scene.
pub fn label(figures: &Figures<'_>, scene: Scene<'_>) -> &'static str {
    match pace(figures, scene) {
        Pace::Closed => "closed loop: these figures cannot show a queue",
        _ => "service time, from sending to reply",
    }
}

/// Service and response times out to the far quantiles; `None` where there is nothing beyond what
/// the table of an operation shows.
pub fn far_times(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    let mut is_new = false;
    for (_, name) in figures.in_scene(scene) {
        let phases = valid(figures, scene, &name);
        let kinds: [(&str, Of); 2] = [
            ("service", |phase| phase.latency.as_ref()),
            ("response", |phase| phase.response.as_ref()),
        ];
        for (kind, of) in kinds {
            let histograms: Vec<&Histogram> = phases.iter().filter_map(|phase| of(phase)).collect();
            if histograms.is_empty() {
                continue;
            }
            let far = histograms.iter().any(|h| h.quantile(0.999).is_some());
            is_new |= far || kind == "response";
            let at = |q| median(histograms.iter().filter_map(|h| h.quantile(q)).collect());
            let mut row = vec![name_cell(&name), plain(kind)];
            row.extend(QUANTILES.map(|(_, q)| ns_cell(at(q))));
            let longest = histograms.iter().filter_map(|h| h.max()).max();
            row.push(ns_cell(longest.map(|ns| ns as f64)));
            rows.push(row);
        }
    }
    let mut heads = vec!["time"];
    heads.extend(QUANTILES.map(|(name, _)| name));
    heads.push("longest");
    let caption = match pace(figures, scene) {
        Pace::Closed => "Far out: service time (a closed loop has no response time)",
        _ => "Response time, from the moment at which an op was to start, and service time",
    };
    is_new.then(|| Table {
        caption: caption.to_owned(),
        columns: columns("variant", &heads),
        rows,
    })
}

/// How late the generator itself was.
pub fn lateness(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for (_, name) in figures.in_scene(scene) {
        let phases = valid(figures, scene, &name);
        let all: Vec<_> = phases.iter().filter_map(|phase| phase.lateness).collect();
        if let Some(latest) = all.iter().map(|late| late.max_ns).max() {
            rows.push(vec![
                name_cell(&name),
                plain(asked(&phases[0].pace)),
                ns_cell(median(all.iter().map(|late| late.mean_ns).collect())),
                ns_cell(median(all.iter().filter_map(|late| late.p50_ns).collect())),
                ns_cell(median(all.iter().map(|late| late.p99_ns).collect())),
                ns_cell(Some(latest as f64)),
            ]);
        }
    }
    (!rows.is_empty()).then(|| Table {
        caption: "How late the generator itself was".to_owned(),
        columns: columns("variant", &["pace", "mean", "p50", "p99", "latest"]),
        rows,
    })
}

fn asked(pace: &Pace) -> String {
    let rate = |per_s: &f64| format!("{} /s", count(per_s.round() as u64));
    match pace {
        Pace::Closed => "closed loop".to_owned(),
        Pace::Fixed { per_s } => format!("{}, even", rate(per_s)),
        Pace::Poisson { per_s } => format!("{}, Poisson", rate(per_s)),
        Pace::Schedule { .. } => "a schedule".to_owned(),
    }
}

/// How the requests were carried, where the clients tell.
pub fn carried(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for (_, name) in figures.in_scene(scene) {
        let phases = valid(figures, scene, &name);
        let told = phases
            .iter()
            .find_map(|phase| Some((phase.carried.as_ref()?, phase)));
        rows.extend(told.map(|(carried, phase)| {
            vec![
                name_cell(&name),
                plain(&carried.io),
                plain(count(carried.threads.into())),
                plain(count(carried.connections.into())),
                plain(count(phase.depth.into())),
            ]
        }));
    }
    (!rows.is_empty()).then(|| Table {
        caption: "How requests were carried".to_owned(),
        columns: columns(
            "variant",
            &["io", "threads", "connections", "in flight on each"],
        ),
        rows,
    })
}

/// Times without a connection, in every trial, void ones too.
pub fn gaps(figures: &Figures<'_>, scene: Scene<'_>) -> Option<Table> {
    let (mut rows, mut unlisted) = (Vec::new(), 0);
    for (_, name) in figures.in_scene(scene) {
        for (trial, phase) in figures.trials(scene, &name) {
            unlisted += phase
                .gap_totals
                .map_or(0, |all| all.count.saturating_sub(phase.gaps.len() as u64));
            rows.extend(phase.gaps.iter().map(|gap| {
                vec![
                    name_cell(&name),
                    plain(count(u64::from(trial.block) + 1)),
                    plain(count(gap.connection.into())),
                    ns_cell(Some(gap.at_ns as f64)),
                    ns_cell(Some(gap.lasted_ns as f64)),
                    plain(count(gap.attempts.into())),
                ]
            }));
        }
    }
    let all = rows.len();
    rows.truncate(LISTED);
    let mut more = match all.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(
            " ({} more: `--format json` has all)",
            things(more as u64, "gap")
        ),
    };
    if unlisted > 0 {
        more += &format!(
            " (and {} shorter, which are only counted)",
            things(unlisted, "gap")
        );
    }
    let heads = ["block", "connection", "lost at", "back after", "attempts"];
    (all > 0).then(|| Table {
        caption: format!("Times without a connection{more}"),
        columns: columns("variant", &heads),
        rows,
    })
}
