//! What a difference means a day: the answer first, then the arithmetic line by line, each figure
//! with where it comes from.

use crate::formats::{markdown, terminal};
use crate::number::{UNKNOWN, count, duration, nanos, things, three};
use crate::text::{Sentence, clean};
use crate::view::{Block, Chapter, Fact, View};
use crate::{Document, RenderOptions};
use roundtrip_model::Result;
use roundtrip_model::names::unknown;
use roundtrip_model::projection::{Estimate, Load, Projection, Saving, WithinQuota};
use serde::Serialize;

/// The formats of a projection.
const FORMATS: [&str; 3] = ["terminal", "markdown", "json"];
const SCHEMA_VERSION: u32 = 1;

/// Checks that there is such a format.
pub fn projection_format(format: &str) -> Result<()> {
    match FORMATS.contains(&format) {
        true => Ok(()),
        false => Err(unknown("format", format, FORMATS)),
    }
}

#[derive(Serialize)]
struct Json<'a> {
    schema_version: u32,
    run: &'a str,
    load: &'a Load,
    projections: &'a [Projection],
}

/// Projections of a run in a format.
pub fn projection(
    document: &Document,
    load: &Load,
    projections: &[Projection],
    format: &str,
    options: &RenderOptions,
) -> Result<Vec<u8>> {
    projection_format(format)?;
    let view = || view_of(document, load, projections);
    Ok(match format {
        "json" => {
            let found = Json {
                schema_version: SCHEMA_VERSION,
                run: &document.run.id,
                load,
                projections,
            };
            // Every map has text for keys, so this cannot fail.
            let mut bytes = serde_json::to_vec_pretty(&found).unwrap_or_default();
            bytes.push(b'\n');
            bytes
        }
        "markdown" => markdown::render(&view()),
        _ => terminal::render(&view(), options),
    })
}

fn view_of(document: &Document, load: &Load, projections: &[Projection]) -> View {
    View {
        title: "What it means a day".to_owned(),
        question: clean(document.experiment.title.trim()),
        byline: clean(&format!(
            "run {} · {} over {}",
            document.run.id,
            things_of(load.per_day, "op"),
            things(u64::from(load.servers), "server")
        )),
        chapters: projections.iter().map(|p| chapter(load, p)).collect(),
    }
}

fn chapter(load: &Load, p: &Projection) -> Chapter {
    Chapter {
        title: clean(&format!(
            "{}, {} ({}): {} instead of {}",
            p.phase,
            p.placement,
            p.placement.in_words(),
            p.variant,
            p.baseline
        )),
        blocks: vec![
            Block::Prose(vec![answer(p)]),
            Block::Facts(
                arithmetic(load, p)
                    .into_iter()
                    .map(|(name, value)| Fact {
                        name: clean(&name),
                        value: clean(&value),
                    })
                    .collect(),
            ),
        ],
    }
}

/// The answer in a sentence.
fn answer(p: &Projection) -> Sentence {
    let saved = p.saved_s_per_day;
    let start = Sentence::default();
    let Some(ends) = ends(saved, time) else {
        return start
            .strong(format!("{} a day", time(saved.mean)))
            .text(" by a single block, which gives no interval: run more blocks to rely on it.");
    };
    if saved.may_be_nothing() {
        return start.strong("Nothing is saved for certain").text(format!(
            ": {} a day, and anything from {ends} may be the truth; below 0 it is lost.",
            time(saved.mean)
        ));
    }
    let (word, shown) = match saved.mean < 0.0 {
        true => (" loses ", saved.times(-1.0)),
        false => (" saves ", saved),
    };
    let ends = self::ends(shown, time).unwrap_or_default();
    start
        .name(&p.variant)
        .text(word)
        .strong(format!("{} a day", time(shown.mean)))
        .text(format!(" (95% interval {ends})."))
}

type Line = (String, String);

fn line(name: impl Into<String>, value: String) -> Line {
    (name.into(), value)
}

fn arithmetic(load: &Load, p: &Projection) -> Vec<Line> {
    let per_day = amount(load.per_day);
    let mut lines = difference("time", "mean time an op", p, &p.time_ns_per_op);
    if p.concurrency > 1 {
        let shared = things(u64::from(p.concurrency), "connection");
        lines.push(line(
            "mind",
            format!("{shared} shared the loop: the time is the loop's over its ops, not that of one request"),
        ));
    }
    let (saved, server) = (p.saved_s_per_day, p.saved_s_per_server);
    lines.push(line(
        "time saved a day",
        format!(
            "{per_day} x {} = {} = {}{}",
            exact(p.time_ns_per_op.saved.mean),
            seconds(saved.mean),
            time(saved.mean),
            in_brackets(saved, time)
        ),
    ));
    lines.push(line(
        "on each server",
        format!(
            "{} / {} = {} = {}{}",
            seconds(saved.mean),
            load.servers,
            seconds(server.mean),
            time(server.mean),
            in_brackets(server, time)
        ),
    ));
    if let Some(published) = &p.published {
        let total = published.saved_s_per_day();
        lines.push(line(
            "published a day",
            format!(
                "{} / {} x {} s = {} = {}, over {}: {}",
                amount(published.per_day),
                amount(published.unit_ops),
                three(published.published_saved_s),
                seconds(total),
                time(total),
                things(u64::from(published.servers), "server"),
                published.source
            ),
        ));
    }
    lines.extend(money(load, p));
    lines.extend(p.within_quota.iter().flat_map(|q| quota(load, p, q)));
    lines
}

/// The figures of both and their difference.
fn difference(what: &str, name: &str, p: &Projection, saving: &Saving) -> Vec<Line> {
    let blocks = things(u64::from(saving.blocks), "block");
    let of = |variant: &str, mean: f64| {
        let from = format!("{}, the mean of {blocks} of this run", exact(mean));
        line(format!("{name}, {variant}"), from)
    };
    let method = match saving.saved.low {
        Some(_) => format!(", by Student's t over the differences within {blocks}"),
        None => ", without an interval: it is of one block".to_owned(),
    };
    let saved = format!(
        "{} - {} = {}{}{method}",
        exact(saving.baseline.mean),
        exact(saving.variant.mean),
        exact(saving.saved.mean),
        in_brackets(saving.saved, nanos)
    );
    vec![
        of(&p.baseline, saving.baseline.mean),
        of(&p.variant, saving.variant.mean),
        line(format!("{what} saved an op"), saved),
    ]
}

fn money(load: &Load, p: &Projection) -> Vec<Line> {
    let Some(price) = load.price_per_cpu_hour else {
        return Vec::new();
    };
    let (Some(cpu), Some(money)) = (p.cpu_ns_per_op, p.money_per_day) else {
        let why = "the CPU of client or server is not known in this run".to_owned();
        return vec![line("money saved a day", format!("{UNKNOWN}: {why}"))];
    };
    let mut lines = difference("CPU", "client + server CPU an op", p, &cpu);
    let hours = cpu.saved.mean * load.per_day / 3600e9;
    let in_money = |x: f64| {
        format!("{} {}", three(x), load.currency)
            .trim_end()
            .to_owned()
    };
    lines.push(line(
        "money saved a day",
        format!(
            "{} x {} = {} h of CPU, x {} = {}{}",
            amount(load.per_day),
            exact(cpu.saved.mean),
            three(hours),
            in_money(price),
            in_money(money.mean),
            in_brackets(money, in_money)
        ),
    ));
    lines
}

fn quota(load: &Load, p: &Projection, quota: &WithinQuota) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(hours) = load.quota_cpu_hours {
        let cpu = p.cpu_ns_per_op;
        for (name, ops, an_op) in [
            (&p.baseline, quota.baseline_by_cpu, cpu.map(|c| c.baseline)),
            (&p.variant, quota.variant_by_cpu, cpu.map(|c| c.variant)),
        ] {
            let value = match ops.zip(an_op) {
                Some((ops, an_op)) => format!(
                    "{} h / {} of client and server CPU an op = {} ops a day{}",
                    three(hours),
                    exact(an_op.mean),
                    amount(ops.mean),
                    in_brackets(ops, amount)
                ),
                None => format!("{UNKNOWN}: the CPU an op is not known in this run"),
            };
            lines.push(line(format!("within the CPU quota, {name}"), value));
        }
    }
    if let (Some(asked), Some(ops)) = (load.quota_bytes, quota.by_bytes) {
        let value = format!(
            "{} B / {} B an op = {} ops a day, of either",
            amount(asked.bytes),
            amount(asked.bytes_per_op),
            amount(ops)
        );
        lines.push(line("within the quota of bytes", value));
    }
    lines
}

/// A large number with its thousands apart; a small one with three digits.
fn amount(x: f64) -> String {
    match x.is_finite() && x.abs() >= 100.0 {
        true if x < 0.0 => format!("-{}", count(-x.round() as u64)),
        true => count(x.round() as u64),
        false => three(x),
    }
}

fn things_of(n: f64, thing: &str) -> String {
    let plural = if n == 1.0 { "" } else { "s" };
    format!("{} {thing}{plural} a day", amount(n))
}

fn seconds(s: f64) -> String {
    format!("{} s", amount(s))
}

/// A time with five digits: what is multiplied by a million must show what the product comes from.
fn exact(ns: f64) -> String {
    let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3), ("ns", 1.0)];
    let fits = |(_, size): &(&str, f64)| ns.abs() >= *size;
    let (unit, size) = units.into_iter().find(fits).unwrap_or(("ns", 1.0));
    let x = ns / size;
    let digits = x.abs().max(1.0).log10().floor() as usize;
    format!("{x:.*} {unit}", 4_usize.saturating_sub(digits))
}

/// Seconds in hours, minutes and seconds, with their sign.
fn time(s: f64) -> String {
    let sign = if s < 0.0 { "-" } else { "" };
    format!("{sign}{}", duration((s.abs() * 1000.0).round() as u64))
}

/// Both ends of an interval, where there is one.
fn ends(estimate: Estimate, words: impl Fn(f64) -> String) -> Option<String> {
    let (low, high) = estimate.low.zip(estimate.high)?;
    Some(format!("{} to {}", words(low), words(high)))
}

fn in_brackets(estimate: Estimate, words: impl Fn(f64) -> String) -> String {
    ends(estimate, words)
        .map(|ends| format!(" (95% interval {ends})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_arithmetic() {
        let exact = [5_595_612.0, 84_000.0, -1_234.5, 999.0, 0.0, 2.5e9].map(exact);
        assert_eq!(
            exact,
            [
                "5.5956 ms",
                "84.000 us",
                "-1.2345 us",
                "999.00 ns",
                "0.0000 ns",
                "2.5000 s"
            ]
        );
        assert_eq!(
            [1_570.4, -1_570.0, 12.34].map(amount),
            ["1,570", "-1,570", "12.3"]
        );
        assert_eq!([1_570.0, -90.0].map(time), ["26 min 10 s", "-1 min 30 s"]);
    }

    fn projected(saved_s: Estimate) -> String {
        let an_op = saved_s.times(1e9 / 1_570_000.0);
        let baseline = Estimate {
            mean: 2e6,
            low: None,
            high: None,
        };
        let p = Projection {
            phase: "set".to_owned(),
            placement: roundtrip_model::Placement::Shared,
            variant: "pipeline".to_owned(),
            baseline: "sequential".to_owned(),
            concurrency: 1,
            time_ns_per_op: Saving {
                baseline,
                variant: baseline,
                saved: an_op,
                blocks: 5,
            },
            cpu_ns_per_op: None,
            saved_s_per_day: saved_s,
            saved_s_per_server: saved_s.times(0.2),
            money_per_day: None,
            within_quota: None,
            published: None,
        };
        let words = answer(&p).0.into_iter().map(|part| match part {
            crate::text::Part::Text(text)
            | crate::text::Part::Name(text)
            | crate::text::Part::Strong(text) => text,
        });
        words.collect()
    }

    #[test]
    fn the_answer_says_what_is_certain() {
        let of = |mean, low, high| {
            projected(Estimate {
                mean,
                low: Some(low),
                high: Some(high),
            })
        };
        assert_eq!(
            of(1_570.0, 1_500.0, 1_640.0),
            "pipeline saves 26 min 10 s a day (95% interval 25 min 0 s to 27 min 20 s)."
        );
        assert_eq!(
            of(-1_570.0, -1_640.0, -1_500.0),
            "pipeline loses 26 min 10 s a day (95% interval 25 min 0 s to 27 min 20 s)."
        );
        assert_eq!(
            of(60.0, -60.0, 180.0),
            "Nothing is saved for certain: 1 min 0 s a day, and anything from -1 min 0 s to \
             3 min 0 s may be the truth; below 0 it is lost."
        );
        let one = projected(Estimate {
            mean: 60.0,
            low: None,
            high: None,
        });
        assert!(
            one.contains("a single block, which gives no interval"),
            "{one}"
        );
    }
}
