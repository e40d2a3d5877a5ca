//! The part of an experiment that says what is done, how often and when.

use super::paths::has_only_faults;
use super::{MAX_COUNT, Source};
use crate::experiment::shapes::Arrivals;
use crate::experiment::text::{ExperimentText, PhaseText};
use crate::names::Op;
use crate::problem::{Kind, Problem, Result};
use crate::workload::{Beside, Pace, Phase};
use std::collections::HashSet;
use std::ops::RangeInclusive;
use toml::Spanned;

const MAX_PHASES: usize = 32;
const MAX_TTL_S: u32 = 30 * 86_400;
/// What YCSB has.
const SCAN_KEYS: u32 = 100;
const MAX_SCAN_KEYS: u32 = 10_000;
/// What study 4 has.
const KEYS_PER_OP: u32 = 3;
const MAX_KEYS_PER_OP: u32 = 1000;
/// Over as many visits as an experiment can have, a sum of these stays within 64 bits.
const MOST_ADDED: RangeInclusive<i64> = -1_000_000..=1_000_000;
const MAX_RATE_PER_S: f64 = 100e6;

pub(super) fn phases(source: &Source<'_>, raw: &ExperimentText) -> Result<Vec<Phase>> {
    if (raw.phase.is_empty() && !has_only_faults(raw)) || raw.phase.len() > MAX_PHASES {
        let what = format!(
            "{} phases are not between 1 and {MAX_PHASES}",
            raw.phase.len()
        );
        let next = "add a [[phase]] with `op` and `count`";
        return Err(Problem::new(Kind::Usage, what).at(source.file).next(next));
    }
    let mut names = HashSet::new();
    let mut phases = Vec::new();
    for spanned in &raw.phase {
        let phase = phase(source, spanned)?;
        if !names.insert(phase.name.clone()) {
            let what = format!("two phases are called `{}`", phase.name);
            return Err(source.bad(spanned.span(), what, "give one of them another `name`"));
        }
        phases.push(phase);
    }
    Ok(phases)
}

fn phase(source: &Source<'_>, spanned: &Spanned<PhaseText>) -> Result<Phase> {
    let raw = spanned.get_ref();
    let name = raw.name.clone().unwrap_or_else(|| raw.op.name().to_owned());
    let pace = pace(source, raw)?;
    let count = count(source, spanned, &name, &pace)?;
    if let Some(ttl_s) = &raw.ttl_s
        && *ttl_s.get_ref() > MAX_TTL_S
    {
        let what = format!("ttl_s {} is over {MAX_TTL_S}", ttl_s.get_ref());
        let next = "memcached takes a longer time for a date; 30 days are the most";
        return Err(source.bad(ttl_s.span(), what, next));
    }
    let mix = mix(source, spanned)?;
    Ok(Phase {
        name,
        op: raw.op,
        scan_keys: scan_keys(source, raw, &mix)?,
        hit_ratio: hit_ratio(source, raw, &mix)?,
        mix,
        keys_per_op: keys_per_op(source, raw)?,
        keys: keys(source, raw)?,
        add: add(source, raw)?,
        beside: beside(source, raw)?,
        count,
        warmup: raw.warmup.unwrap_or((count / 100).clamp(1, 1000)),
        ttl_s: raw.ttl_s.as_ref().map(|ttl_s| *ttl_s.get_ref()),
        pace,
        only: raw.only.iter().map(|name| name.get_ref().clone()).collect(),
    })
}

fn keys_per_op(source: &Source<'_>, raw: &PhaseText) -> Result<u32> {
    let Some(keys) = &raw.keys_per_op else {
        return Ok(if raw.op == Op::GetMany {
            KEYS_PER_OP
        } else {
            1
        });
    };
    if !raw.op.takes_keys() {
        let what = format!("an operation of `{}` has one key", raw.op);
        let next = "leave keys_per_op out, or use `get_many` or `read_modify_write`";
        return Err(source.bad(keys.span(), what, next));
    }
    if !(1..=MAX_KEYS_PER_OP).contains(keys.get_ref()) {
        let what = format!("keys_per_op is not between 1 and {MAX_KEYS_PER_OP}");
        return Err(source.bad(keys.span(), what, "write how many keys an op has"));
    }
    Ok(*keys.get_ref())
}

fn keys(source: &Source<'_>, raw: &PhaseText) -> Result<Option<u64>> {
    match &raw.keys {
        None => Ok(None),
        Some(keys) if raw.op == Op::Insert => {
            let what = "an insert is about keys that are not there yet";
            Err(source.bad(keys.span(), what, "leave keys out"))
        }
        Some(keys) if (1..=MAX_COUNT).contains(keys.get_ref()) => Ok(Some(*keys.get_ref())),
        Some(keys) => {
            let what = format!("{} keys are not between 1 and {MAX_COUNT}", keys.get_ref());
            Err(source.bad(keys.span(), what, "leave it out for all of them"))
        }
    }
}

fn add(source: &Source<'_>, raw: &PhaseText) -> Result<i64> {
    match &raw.add {
        None => Ok(0),
        Some(add) if raw.op == Op::ReadModifyWrite && !MOST_ADDED.contains(add.get_ref()) => {
            let what = format!(
                "add is not from {} to {}",
                MOST_ADDED.start(),
                MOST_ADDED.end()
            );
            Err(source.bad(
                add.span(),
                what,
                "sums have to stay within 64 bits: add less",
            ))
        }
        Some(add) if raw.op == Op::ReadModifyWrite => Ok(*add.get_ref()),
        Some(add) => {
            let what = format!("`{}` adds nothing to what it reads", raw.op);
            Err(source.bad(
                add.span(),
                what,
                "leave add out, or use `read_modify_write`",
            ))
        }
    }
}

fn beside(source: &Source<'_>, raw: &PhaseText) -> Result<Option<Beside>> {
    let Some(spanned) = &raw.beside else {
        return Ok(None);
    };
    let beside = spanned.get_ref();
    if !(1..=MAX_COUNT).contains(&beside.count)
        || !matches!(beside.op, Op::Get | Op::Set | Op::Join)
    {
        let what = "beside a phase there is a count of `get`, `set` or `join`";
        let next = "write beside = { client = \"native\", op = \"set\", count = 100000 }";
        return Err(source.bad(spanned.span(), what, next));
    }
    let options = beside.options.iter().map(|(k, v)| (k.clone(), v.text()));
    Ok(Some(Beside {
        client: beside.client.clone(),
        op: beside.op,
        count: beside.count,
        options: options.collect(),
    }))
}

fn count(
    source: &Source<'_>,
    spanned: &Spanned<PhaseText>,
    name: &str,
    pace: &Pace,
) -> Result<u64> {
    let raw = spanned.get_ref();
    let per_s = match pace {
        Pace::Fixed { per_s } | Pace::Poisson { per_s } => Some(*per_s),
        Pace::Closed | Pace::Schedule { .. } => None,
    };
    let (count, span) = match (&raw.count, &raw.duration_s, per_s) {
        (Some(count), None, _) => (*count.get_ref(), count.span()),
        (None, Some(duration_s), Some(per_s)) => {
            // A duration below 0 gives 0.
            let count = (duration_s.get_ref() * per_s).round() as u64;
            (count, duration_s.span())
        }
        (None, Some(duration_s), None) => {
            let what = format!("phase `{name}` has a duration and no rate");
            let next = "add rate_per_s, or write a count in the place of duration_s";
            return Err(source.bad(duration_s.span(), what, next));
        }
        (Some(_), Some(duration_s), _) => {
            let what = format!("phase `{name}` has a count and a duration");
            return Err(source.bad(duration_s.span(), what, "leave one of them out"));
        }
        (None, None, _) => {
            let what = format!("phase `{name}` does not say how many ops it has");
            return Err(source.bad(spanned.span(), what, "add count = 100000"));
        }
    };
    if count == 0 || count > MAX_COUNT {
        let what = format!("phase `{name}` has {count} operations, not between 1 and {MAX_COUNT}");
        let next = "write how many ops to do, as in count = 100000";
        return Err(source.bad(span, what, next));
    }
    Ok(count)
}

fn pace(source: &Source<'_>, raw: &PhaseText) -> Result<Pace> {
    if let (Some(schedule), Some(_)) = (&raw.schedule, &raw.rate_per_s) {
        let what = "a phase has either a rate or a schedule";
        return Err(source.bad(schedule.span(), what, "leave one of them out"));
    }
    if let (Some(arrivals), None) = (&raw.arrivals, &raw.rate_per_s) {
        let what = "arrivals without a rate";
        return Err(source.bad(arrivals.span(), what, "add rate_per_s = 20000"));
    }
    if let Some(schedule) = &raw.schedule {
        let file = schedule.get_ref().clone();
        return Ok(Pace::Schedule { file });
    }
    let Some(rate) = &raw.rate_per_s else {
        return Ok(Pace::Closed);
    };
    let per_s = *rate.get_ref();
    if !(per_s > 0.0 && per_s <= MAX_RATE_PER_S) {
        let what = format!("{per_s} ops a second are not above 0 and at most {MAX_RATE_PER_S}");
        return Err(source.bad(rate.span(), what, "write a rate, as in rate_per_s = 20000"));
    }
    Ok(match raw.arrivals.as_ref().map(Spanned::get_ref) {
        None | Some(Arrivals::Fixed) => Pace::Fixed { per_s },
        Some(Arrivals::Poisson) => Pace::Poisson { per_s },
    })
}

fn mix(source: &Source<'_>, spanned: &Spanned<PhaseText>) -> Result<Vec<(Op, f64)>> {
    const NEXT: &str = "write the ops with their weights, as in mix = { get = 0.95, set = 0.05 }";
    let raw = spanned.get_ref();
    let mix = match (raw.op, &raw.mix) {
        (Op::Mix, Some(mix)) => mix,
        (Op::Mix, None) => {
            return Err(source.bad(spanned.span(), "a mix does not say of what", NEXT));
        }
        (_, None) => return Ok(Vec::new()),
        (op, Some(mix)) => {
            let what = format!("`{op}` is not mixed with others");
            return Err(source.bad(mix.span(), what, "write op = \"mix\", or leave `mix` out"));
        }
    };
    if let Some(op) = mix.get_ref().keys().find(|op| !op.can_mix()) {
        let what = format!("`{op}` cannot be one of the ops of a mix");
        let next = "reads of a mix must know what they have to find: \
                    use get, set, insert, read_modify_write and scan";
        return Err(source.bad(mix.span(), what, next));
    }
    let is_weight = |weight: &f64| weight.is_finite() && *weight > 0.0;
    if mix.get_ref().is_empty() || !mix.get_ref().values().all(is_weight) {
        return Err(source.bad(mix.span(), "a weight of a mix is not above 0", NEXT));
    }
    Ok(mix.get_ref().iter().map(|(op, w)| (*op, *w)).collect())
}

fn has(raw: &PhaseText, mix: &[(Op, f64)], op: Op) -> bool {
    raw.op == op || mix.iter().any(|(mixed, _)| *mixed == op)
}

fn scan_keys(source: &Source<'_>, raw: &PhaseText, mix: &[(Op, f64)]) -> Result<u32> {
    let scans = has(raw, mix, Op::Scan);
    match &raw.scan_keys {
        None if scans => Ok(SCAN_KEYS),
        None => Ok(0),
        Some(n) if !scans => {
            let what = "scan_keys means nothing without `scan`";
            Err(source.bad(n.span(), what, "leave it out"))
        }
        Some(n) if (1..=MAX_SCAN_KEYS).contains(n.get_ref()) => Ok(*n.get_ref()),
        Some(n) => {
            let what = format!("scan_keys is not between 1 and {MAX_SCAN_KEYS}");
            Err(source.bad(n.span(), what, format!("leave it out for {SCAN_KEYS}")))
        }
    }
}

fn hit_ratio(source: &Source<'_>, raw: &PhaseText, mix: &[(Op, f64)]) -> Result<f64> {
    let Some(ratio) = &raw.hit_ratio else {
        return Ok(1.0);
    };
    if !(0.0..=1.0).contains(ratio.get_ref()) {
        let what = format!("hit_ratio {} is not between 0 and 1", ratio.get_ref());
        return Err(source.bad(ratio.span(), what, "write a share, as in hit_ratio = 0.9"));
    }
    if !has(raw, mix, Op::Get) && raw.op != Op::ReadAside {
        let what = format!("a hit ratio means nothing for `{}`", raw.op);
        let next = "leave it out, or use `get` or `read_aside`";
        return Err(source.bad(ratio.span(), what, next));
    }
    Ok(*ratio.get_ref())
}
