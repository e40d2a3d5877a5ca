//! What was measured, on what, and with which settings.

use super::{Fact, settings};
use crate::Document;
use crate::number::{UNKNOWN, bytes, count, duration, figure, moment, nanos, percent, things};
use crate::text::{Sentence, clean};
use roundtrip_model::Metric;
use roundtrip_model::contract::Redirects;
use roundtrip_model::experiment::faults::{FaultVariant, Faults};
use roundtrip_model::record::{EndReason, RunState};
use roundtrip_model::workload::{
    Generate, KeyRecipe, Pace, Phase, Sizes, ValueRecipe, Values, Workload,
};
use std::collections::BTreeMap;

pub(super) fn fact(name: impl AsRef<str>, value: impl AsRef<str>) -> Fact {
    let (name, value) = (clean(name.as_ref()), clean(value.as_ref()));
    let value = if value.trim().is_empty() {
        UNKNOWN.to_owned()
    } else {
        value
    };
    Fact { name, value }
}

/// Facts by chapter.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Phases, keys, values, variants.
    pub work: Vec<Fact>,
    /// The machine.
    pub machine: Vec<Fact>,
    /// Versions read at run time.
    pub versions: Vec<Fact>,
    /// Settings that can change a result.
    pub settings: Vec<Fact>,
    /// What a worker's loop costs by itself.
    pub loops: Vec<Fact>,
    /// The run itself.
    pub run: Vec<Fact>,
}

/// The facts of a document.
pub fn facts_of(document: &Document) -> Facts {
    let environment = &document.run.environment;
    let of_map = |map: &BTreeMap<String, String>| map.iter().map(|(k, v)| fact(k, v)).collect();
    let loops = environment.loop_ns_per_op.iter();
    Facts {
        work: work(document),
        machine: machine(document),
        versions: of_map(&environment.versions),
        settings: settings::settings(document),
        loops: loops
            .map(|(language, ns)| fact(language, format!("{} an op", nanos(*ns))))
            .collect(),
        run: run(document),
    }
}

fn machine(document: &Document) -> Vec<Fact> {
    let e = &document.run.environment;
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    vec![
        fact("system", &e.os),
        fact("kernel", &e.kernel),
        fact("processor", &e.cpu_model),
        fact(
            "processors",
            if e.cpus == 0 {
                String::new()
            } else {
                e.cpus.to_string()
            },
        ),
        fact("memory", e.memory_bytes.map(bytes).unwrap_or_default()),
        fact("virtualization", text(&e.virtualization)),
        fact("governor", text(&e.governor)),
        fact(
            "load before",
            e.load_1m.map(|l| format!("{l:.2}")).unwrap_or_default(),
        ),
        fact("roundtrip", format!("{} {}", e.roundtrip, e.build)),
    ]
}

fn work(document: &Document) -> Vec<Fact> {
    let experiment = &document.experiment;
    if let Some(faults) = experiment
        .faults
        .as_ref()
        .filter(|_| experiment.is_of_faults())
    {
        return work_of_faults(faults);
    }
    let workload = &experiment.workload;
    let mut facts: Vec<Fact> = workload
        .phases
        .iter()
        .map(|p| fact(format!("phase {}", p.name), phase(p)))
        .collect();
    facts.extend(workload.phases.iter().filter_map(|p| {
        let words = beside(document, p)?;
        Some(fact(format!("beside phase {}", p.name), words))
    }));
    facts.push(fact("keys", keys(workload)));
    facts.push(fact("values", values(workload)));
    facts.push(fact("latencies", latencies(workload)));
    facts.push(fact("connections", workload.concurrency.to_string()));
    let variants = experiment.variants.iter();
    facts.extend(variants.map(|v| fact(format!("variant {}", v.name), v.path.to_string())));
    facts.extend(redirects(document));
    facts.push(fact(
        "smallest difference that matters",
        percent(experiment.delta),
    ));
    if let Some(source) = &experiment.source {
        facts.push(fact("published by", source));
    }
    facts
}

fn work_of_faults(faults: &Faults) -> Vec<Fact> {
    let (writes, trials) = (count(faults.count), faults.trials);
    let mut facts = vec![
        fact("writes of a trial", writes),
        fact("trials of each variant and fault", trials.to_string()),
        fact("values", format!("{} bytes", faults.value_bytes)),
    ];
    let variants = faults.variants.iter();
    let by = |v: &FaultVariant| format!("{} by {}", v.op, v.path);
    facts.extend(variants.map(|v| fact(format!("variant {}", v.name), by(v))));
    facts
}

/// How often the nodes of a cluster sent the ops of a variant to one another, where they did.
fn redirects(document: &Document) -> Vec<Fact> {
    let mut of: BTreeMap<&str, Redirects> = BTreeMap::new();
    for trial in &document.trials {
        let sum = of.entry(&trial.variant).or_default();
        for phase in &trial.phases {
            *sum = sum.and(phase.redirects);
        }
    }
    of.retain(|_, redirects| !redirects.are_none());
    let say = |(variant, redirects): (&str, Redirects)| {
        let Redirects { moved, asked } = redirects;
        let text = format!(
            "{} because a slot had moved, {} because it was on the move, in all trials",
            count(moved),
            count(asked)
        );
        fact(format!("redirects of {variant}"), text)
    };
    of.into_iter().map(say).collect()
}

fn phase(phase: &Phase) -> String {
    let mut text = format!("{} x {}", count(phase.count), phase.op);
    if !phase.mix.is_empty() {
        let total: f64 = phase.mix.iter().map(|(_, weight)| weight).sum();
        let shares = phase.mix.iter();
        let shares: Vec<String> = shares
            .map(|(op, weight)| format!("{op} {}", percent(weight / total)))
            .collect();
        text.push_str(&format!(" of {}", shares.join(", ")));
    }
    match &phase.pace {
        Pace::Closed => {}
        Pace::Fixed { per_s } => text.push_str(&format!(", {per_s} a second at equal distances")),
        Pace::Poisson { per_s } => text.push_str(&format!(", {per_s} a second at random moments")),
        Pace::Schedule { file } => text.push_str(&format!(", at the moments of {file}")),
    }
    text.push_str(&format!(", after {} to warm up", count(phase.warmup)));
    if let Some(ttl) = phase.ttl_s {
        text.push_str(&format!(", time to live {} s", count(u64::from(ttl))));
    }
    if phase.hit_ratio != 1.0 {
        text.push_str(&format!(", {} of them hits", percent(phase.hit_ratio)));
    }
    if !phase.only.is_empty() {
        text.push_str(&format!(", only by {}", phase.only.join(", ")));
    }
    text
}

/// What went on beside a phase, and how fast: the median of the trials that count.
fn beside(document: &Document, phase: &Phase) -> Option<String> {
    let beside = phase.beside.as_ref()?;
    let done = document.trials.iter().filter(|trial| trial.is_valid());
    let done = done.filter_map(|trial| trial.phase(&phase.name)?.beside.as_ref());
    let mut rates: Vec<f64> = done
        .filter(|record| record.wall_ns > 0)
        .map(|record| record.ops as f64 * 1e9 / record.wall_ns as f64)
        .collect();
    rates.sort_by(f64::total_cmp);
    let rate = rates.get(rates.len() / 2);
    let rate = rate.map_or(UNKNOWN.to_owned(), |rate| figure(Metric::OpsPerS, *rate));
    let options: Vec<String> = beside
        .options
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    let client = [beside.client.clone(), options.join("&")];
    let client: Vec<String> = client.into_iter().filter(|part| !part.is_empty()).collect();
    let (count, op, client) = (count(beside.count), beside.op, client.join("?"));
    Some(format!("{count} x {op} by {client}, {rate} in the median"))
}

fn keys(workload: &Workload) -> String {
    let made = match workload.keys.recipe {
        KeyRecipe::Md5 => "MD5 of the index".to_owned(),
        KeyRecipe::Hex => "pseudo-random hexadecimal digits".to_owned(),
        KeyRecipe::Number => "the index, a decimal number".to_owned(),
    };
    let order = workload.keys.distribution.in_words();
    let how_many = match workload.keys.count {
        Some(n) => format!("{} of them, ", count(n)),
        None => String::new(),
    };
    let bytes = workload.keys.bytes;
    format!("{made}, {bytes} bytes, {how_many}visited {order}")
}

fn values(workload: &Workload) -> String {
    match workload.values.recipe {
        ValueRecipe::Crc32 => "CRC-32 of the index, an integer".to_owned(),
        ValueRecipe::Bytes => lengths(&workload.values),
        ValueRecipe::Zero => "the number 0".to_owned(),
        ValueRecipe::Text => format!("the same text of {} bytes", workload.values.bytes),
    }
}

/// What the latencies can show, and what they cannot.
fn latencies(workload: &Workload) -> &'static str {
    let paced = workload.phases.iter().filter(|p| !p.pace.is_closed());
    match paced.count() {
        0 => "service times of a closed loop: the queue that a stall would make does not show",
        n if n == workload.phases.len() => {
            "service times, and response times from the moment at which each op was to start"
        }
        _ => {
            "service times, of closed loops but for the phases with a rate: \
             those have response times too"
        }
    }
}

fn lengths(values: &Values) -> String {
    let number = |bytes: u32| count(u64::from(bytes));
    let how_long = match &values.size {
        Sizes::Constant => number(values.bytes),
        Sizes::Uniform {
            min_bytes,
            max_bytes,
        } => format!("{} to {}", number(*min_bytes), number(*max_bytes)),
        Sizes::Lognormal {
            median_bytes,
            sigma,
            max_bytes,
        } => format!(
            "log-normally many (median {}, sigma {sigma}, at most {})",
            number(*median_bytes),
            number(*max_bytes)
        ),
        Sizes::Histogram(lengths) => format!(
            "weighted lengths ({} of them, at most {}) of",
            lengths.len(),
            number(values.bytes)
        ),
    };
    let mut text = format!("{how_long} printable pseudo-random bytes");
    if values.compressible > 0.0 {
        let share = percent(values.compressible);
        text.push_str(&format!(", of which a compressor can remove {share}"));
    }
    text
}

/// Where keys and values were made, in a sentence: it changes what the figures hold.
pub fn generated(document: &Document) -> Sentence {
    match document.experiment.workload.generate {
        Generate::Prepared => Sentence::default()
            .text("Keys and values were ")
            .strong("prepared before the loop")
            .text(": the figures hold the call and the clock, and not the making of keys."),
        Generate::InLoop => Sentence::default()
            .text("Keys and values were ")
            .strong("made inside the loop")
            .text(", as published: the figures hold that work too."),
    }
}

fn run(document: &Document) -> Vec<Fact> {
    let run = &document.run;
    let ended = match (run.state, run.end_reason) {
        (_, Some(EndReason::Decided)) => "every comparison had an outcome",
        (_, Some(EndReason::Budget)) => "its budget of time was used up",
        (_, Some(EndReason::LastLook)) => "its last planned look was taken",
        (RunState::Finished, None) => "finished",
        (RunState::Running, None) => "it has not, or its process was killed",
        (RunState::Interrupted, None) => "it was stopped",
        (RunState::Failed, None) => "a store or worker failed",
    };
    let looks: Vec<String> = run.looks.iter().map(u32::to_string).collect();
    let looks = if looks.is_empty() {
        "none".to_owned()
    } else {
        format!("after {} blocks", looks.join(", "))
    };
    let mut facts = vec![
        fact("run", &run.id),
        fact("experiment", &run.experiment),
        fact("seed", run.seed.to_string()),
        fact("why it ended", ended),
    ];
    if document.experiment.is_of_faults() {
        return facts;
    }
    facts.extend([
        fact("looks", looks),
        fact("complete blocks", document.analysis.blocks.to_string()),
    ]);
    facts
}

/// Run, moment and extent, in a line.
pub fn byline(document: &Document) -> String {
    let run = &document.run;
    let mut line = format!("run {} · {}", run.id, moment(run.started_unix_ms));
    let took = run
        .ended_unix_ms
        .and_then(|end| end.checked_sub(run.started_unix_ms));
    if let Some(ms) = took {
        line.push_str(&format!(" · took {}", duration(ms)));
    }
    let valid = document.trials.iter().filter(|t| t.is_valid()).count() as u64;
    line.push_str(&format!(" · {}", things(valid, "valid trial")));
    let void = document.trials.len() as u64 - valid;
    if void > 0 {
        line.push_str(&format!(", {void} void"));
    }
    clean(&line)
}
