//! What a machine's measurements are worth: the answer first, then what it rests on, then what to
//! do about what is bad.

use crate::RenderOptions;
use crate::formats::{markdown, terminal};
use crate::number::{UNKNOWN, count, moment, nanos, percent, three};
use crate::text::{Sentence, clean};
use crate::view::{self, Block, Cell, Chapter, Column, Fact, Stack, Table, Tone, View};
use roundtrip_model::Result;
use roundtrip_model::calibration::{Calibration, Detectable, FloorCost, Smallest};
use roundtrip_model::names::unknown;

/// The formats of a calibration.
const FORMATS: [&str; 3] = ["terminal", "json", "markdown"];

/// Checks that there is such a format, before a minute is spent.
pub fn calibration_format(format: &str) -> Result<()> {
    match FORMATS.contains(&format) {
        true => Ok(()),
        false => Err(unknown("format", format, FORMATS)),
    }
}

/// A calibration in a format.
pub fn calibration(found: &Calibration, format: &str, options: &RenderOptions) -> Result<Vec<u8>> {
    calibration_format(format)?;
    Ok(match format {
        "json" => {
            // Every map has text for keys, so this cannot fail.
            let mut bytes = serde_json::to_vec_pretty(found).unwrap_or_default();
            bytes.push(b'\n');
            bytes
        }
        "markdown" => markdown::render(&view_of(found)),
        _ => terminal::render(&view_of(found), options),
    })
}

fn view_of(found: &Calibration) -> View {
    let mut chapters = vec![
        chapter("What this machine can tell apart", smallest(found)),
        chapter("The least a round trip costs here", floors(found)),
        chapter("The machine by itself", own(found)),
    ];
    let last = match found.warnings.is_empty() {
        true => vec![prose(
            "Nothing that was looked at speaks against this machine.",
        )],
        false => vec![Block::Notices(view::notices_of(found.warnings.iter()))],
    };
    chapters.push(chapter("What to do", last));
    let e = &found.environment;
    let seconds = found.took_ms as f64 / 1000.0;
    View {
        title: "What measurements on this machine are worth".to_owned(),
        question: String::new(),
        byline: clean(&format!(
            "{} · {} · {} processors · took {seconds:.0} s",
            moment(found.started_unix_ms),
            e.cpu_model,
            e.cpus
        )),
        chapters,
    }
}

fn chapter(title: &str, blocks: Vec<Block>) -> Chapter {
    Chapter {
        title: title.to_owned(),
        blocks,
    }
}

fn prose(text: impl AsRef<str>) -> Block {
    Block::Prose(vec![Sentence::plain(text)])
}

fn table(caption: &str, heads: &[&str], rows: Vec<Vec<String>>) -> Block {
    let column = |(i, head): (usize, &&str)| Column {
        head: clean(head),
        right: i > 0,
    };
    let cell = |text: String| Cell {
        tone: if text == UNKNOWN {
            Tone::Dim
        } else {
            Tone::Plain
        },
        text: clean(&text),
    };
    Block::Table(Table {
        caption: caption.to_owned(),
        columns: heads.iter().enumerate().map(column).collect(),
        rows: rows
            .into_iter()
            .map(|row| row.into_iter().map(cell).collect())
            .collect(),
    })
}

/// The answer in a sentence, and how it grows with patience.
fn smallest(found: &Calibration) -> Vec<Block> {
    let told = |s: &Smallest| Some((s.in_a_minute?.difference, s.placement));
    let apart: Vec<(f64, _)> = found.smallest.iter().filter_map(told).collect();
    if apart.is_empty() {
        let text = "Too few trials came to a good end to say what can be told apart.";
        return vec![prose(text)];
    }
    let mut answer = Sentence::plain("In a minute this machine can tell ");
    for (i, (difference, placement)) in apart.iter().enumerate() {
        if i > 0 {
            answer = answer.text(", ");
        }
        answer = answer
            .strong(percent(*difference))
            .text(format!(" apart ({placement})"));
    }
    let answer = answer.text(
        ": a difference of that size between two variants is found nine times in ten, by what a \
         verdict asks.",
    );
    let after = |blocks: u32, s: &Smallest| -> Option<Detectable> {
        s.after.iter().copied().find(|after| after.blocks == blocks)
    };
    let mut blocks: Vec<u32> = found
        .smallest
        .iter()
        .flat_map(|s| s.after.iter().map(|after| after.blocks))
        .collect();
    blocks.sort_unstable();
    blocks.dedup();
    let heads: Vec<String> = ["placement", "noise", "pairs", "a block"]
        .map(str::to_owned)
        .into_iter()
        .chain(blocks.iter().map(|n| format!("{n} blocks")))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows = found.smallest.iter().map(|s| {
        let mut row = vec![
            s.placement.name().to_owned(),
            percent(s.noise),
            count(s.pairs.into()),
            format!("{} s", three(s.block_s)),
        ];
        row.extend(blocks.iter().map(|n| {
            after(*n, s).map_or(UNKNOWN.to_owned(), |d| {
                format!("{} in {}", percent(d.difference), seconds(d.takes_s))
            })
        }));
        row
    });
    let caption = "The smallest difference that is found, and how long it takes";
    vec![
        Block::Prose(vec![answer]),
        table(caption, &heads, rows.collect()),
        prose(
            "The noise is how much two trials of the native client against the floor differ. \
             Clients that do more differ more, and take longer.",
        ),
    ]
}

fn seconds(s: f64) -> String {
    match s < 99.5 {
        true => format!("{s:.0} s"),
        false => format!("{:.0} min", s / 60.0),
    }
}

fn floors(found: &Calibration) -> Vec<Block> {
    let mut blocks = Vec::new();
    let ns = |x: Option<f64>| x.map_or(UNKNOWN.to_owned(), nanos);
    let rows = found.floors.iter().map(|f| {
        let client = f.client_user_ns_per_op.zip(f.client_sys_ns_per_op);
        vec![
            format!("{} ({})", f.client, f.placement),
            f.ops_per_s
                .map_or(UNKNOWN.to_owned(), |x| count(x.round() as u64)),
            ns(f.p50_ns),
            ns(f.p99_ns),
            ns(client.map(|(user, sys)| user + sys)),
            ns(f.server_cpu_ns_per_op),
            count(f.trials.into()),
        ]
    });
    blocks.push(table(
        "A get of 100 bytes from the floor, one at a time",
        &[
            "client",
            "ops/s",
            "p50",
            "p99",
            "client CPU",
            "server CPU",
            "trials",
        ],
        rows.collect(),
    ));
    let bars: Vec<_> = found.floors.iter().filter_map(bar).collect();
    if !bars.is_empty() {
        blocks.push(Block::Stack(Stack {
            title: "Where a round trip goes when the server does nothing".to_owned(),
            place: String::new(),
            bars,
        }));
    }
    let rows = found.loops.iter().map(|cost| {
        vec![
            cost.language.clone(),
            nanos(cost.ns_per_op),
            cost.runtime.clone(),
        ]
    });
    blocks.push(table(
        "What a worker's loop costs by itself",
        &["language", "an op", "runtime"],
        rows.collect(),
    ));
    blocks
}

fn bar(f: &FloorCost) -> Option<(String, [f64; 4])> {
    let parts = [
        f.client_user_ns_per_op?,
        f.client_sys_ns_per_op?,
        f.server_cpu_ns_per_op?,
        f.waiting_ns_per_op?,
    ];
    Some((clean(&format!("{} ({})", f.client, f.placement)), parts))
}

fn own(found: &Calibration) -> Vec<Block> {
    let clock = &found.clock;
    let fact = |name: &str, value: String| Fact {
        name: name.to_owned(),
        value: clean(&value),
    };
    let ns = |ns: u64| nanos(ns as f64);
    let facts = vec![
        fact("clock", clock.source.clone().unwrap_or(UNKNOWN.to_owned())),
        fact(
            "a call of it",
            format!(
                "{}, {} at the least",
                nanos(clock.call_ns),
                nanos(clock.quickest_call_ns)
            ),
        ),
        fact(
            "smallest step",
            clock.step_ns.map_or(UNKNOWN.to_owned(), ns),
        ),
        fact(
            "went backwards",
            format!(
                "{} of {} times",
                count(clock.backwards),
                count(clock.readings)
            ),
        ),
        fact(
            "governor",
            found
                .environment
                .governor
                .clone()
                .unwrap_or(UNKNOWN.to_owned()),
        ),
    ];
    let sleeps = found.sleeps.iter().map(|s| {
        vec![
            s.way.clone(),
            ns(s.asked_ns),
            ns(s.over_p50_ns),
            ns(s.over_p99_ns),
        ]
    });
    let wakes = found.wakes.iter().map(|w| {
        let cpus = match w.cpus.0 == w.cpus.1 {
            true => format!("processor {}", w.cpus.0),
            false => format!("processors {} and {}", w.cpus.0, w.cpus.1),
        };
        vec![format!("{}, {cpus}", w.way), ns(w.p50_ns), ns(w.p99_ns)]
    });
    let gaps = found.gaps.iter().map(|g| {
        vec![
            g.cpu.to_string(),
            count(g.over_10us),
            count(g.over_100us),
            count(g.over_1ms),
            ns(g.longest_ns),
            percent(g.lost_share()),
        ]
    });
    vec![
        Block::Facts(facts),
        table(
            "Sleeps last longer than asked",
            &["sleep", "asked", "over, p50", "over, p99"],
            sleeps.collect(),
        ),
        table(
            "A message to another thread and back",
            &["way", "p50", "p99"],
            wakes.collect(),
        ),
        table(
            "What a thread that never sleeps loses",
            &[
                "processor",
                "> 10 us",
                "> 100 us",
                "> 1 ms",
                "longest",
                "lost",
            ],
            gaps.collect(),
        ),
    ]
}
