//! `[faults]`: the trials of `roundtrip faults`, in each of which one fault strikes. What a person
//! writes is in [`super::text`]; what it becomes, checked, is here.

use super::expand::Source;
use super::text::{FaultVariantText, FaultsText};
use crate::fault::{FaultKind, Travel};
use crate::names::Op;
use crate::path::Path;
use crate::problem::Result;
use crate::stream::Stream;
use crate::workload::{Distribution, KeyRecipe, Keys, ValueRecipe, Values};
use std::collections::HashSet;
use std::ops::RangeInclusive;
use toml::Spanned;

const DEFAULT_TRIALS: u32 = 50;
const TRIALS: RangeInclusive<u32> = 1..=1000;
const COUNT: RangeInclusive<u64> = 10..=10_000_000;
const DEFAULT_VALUE_BYTES: u32 = 100;
const VALUE_BYTES: RangeInclusive<u32> = 8..=1_000_000;
const KEY_BYTES: u32 = 32;
const MOST_VARIANTS: usize = 64;
/// A trial has at least so many batches, so that there is a middle for a fault to strike in.
const LEAST_BATCHES: u64 = 4;

/// What is lost by which fault: the trials that ask that.
#[derive(Clone, Debug, PartialEq)]
pub struct Faults {
    /// The op of every variant that does not say another: `set` or `insert`.
    pub op: Op,
    /// Writes of a trial.
    pub count: u64,
    /// Trials of each variant and kind.
    pub trials: u32,
    /// Length of a value.
    pub value_bytes: u32,
    /// The variants.
    pub variants: Vec<FaultVariant>,
}

/// A path, and the faults that strike it.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultVariant {
    /// Its name.
    pub name: String,
    /// The path.
    pub path: Path,
    /// The op: `set` or `insert`.
    pub op: Op,
    /// The faults, in order.
    pub kinds: Vec<FaultKind>,
    /// Where it is written, for messages.
    pub place: String,
}

impl FaultVariant {
    /// How its ops travel, and how many together.
    pub fn travel(&self) -> Result<(Travel, u32)> {
        let depth = self.path.depth()?;
        let is_transaction = self.path.options.get("transaction").map(String::as_str);
        Ok(match is_transaction {
            Some("true") => (Travel::Transaction, depth),
            _ if depth > 1 => (Travel::Pipeline, depth),
            _ => (Travel::Sequential, 1),
        })
    }
}

impl Faults {
    /// Every variant with each of its kinds, in the order of the file.
    pub fn pairs(&self) -> Vec<(&FaultVariant, FaultKind)> {
        let of = |v| move |kind: &FaultKind| (v, *kind);
        self.variants
            .iter()
            .flat_map(|v| v.kinds.iter().map(of(v)))
            .collect()
    }

    /// How many trials there are in all.
    pub fn all_trials(&self) -> u64 {
        self.pairs().len() as u64 * u64::from(self.trials)
    }

    /// The variant of a name.
    pub fn variant(&self, name: &str) -> Option<&FaultVariant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Writes `first .. first + count` of a trial, or reads of the same keys.
    pub fn stream(&self, op: Op, seed: u64, first: u64, count: u64) -> Stream {
        Stream {
            op,
            seed,
            mix: Vec::new(),
            scan_keys: 0,
            keys_per_op: 1,
            add: 0,
            records_before: 0,
            keys: Keys {
                recipe: KeyRecipe::Hex,
                bytes: KEY_BYTES,
                distribution: Distribution::Sequential,
                count: None,
            },
            values: Values::of(ValueRecipe::Bytes, self.value_bytes),
            prefix: String::new(),
            count,
            first,
            keyspace: count,
            hit_ratio: 1.0,
            cold_first: first + count,
            insert_first: first,
            part: (0, 1),
        }
    }
}

pub(super) fn faults(source: &Source<'_>, raw: &Spanned<FaultsText>) -> Result<Faults> {
    let text = raw.get_ref();
    let op = write_op(source, &text.op)?;
    let all_kinds = match &text.kinds {
        Some(kinds) => kinds_of(source, kinds)?,
        None => FaultKind::ALL.to_vec(),
    };
    let faults = Faults {
        op,
        count: within(source, "count", &COUNT, &text.count)?,
        trials: optional(source, "trials", &TRIALS, &text.trials, DEFAULT_TRIALS)?,
        value_bytes: optional(
            source,
            "value_bytes",
            &VALUE_BYTES,
            &text.value_bytes,
            DEFAULT_VALUE_BYTES,
        )?,
        variants: text
            .variant
            .iter()
            .map(|variant| fault_variant(source, variant, op, &all_kinds))
            .collect::<Result<_>>()?,
    };
    if !(1..=MOST_VARIANTS).contains(&faults.variants.len()) {
        let what = format!(
            "{} variants are not between 1 and {MOST_VARIANTS}",
            faults.variants.len()
        );
        let next = "add a [[faults.variant]] with `client` and `store`";
        return Err(source.bad(raw.span(), what, next));
    }
    names_differ(&faults)?;
    has_a_middle(&faults)?;
    Ok(faults)
}

fn write_op(source: &Source<'_>, raw: &Spanned<Op>) -> Result<Op> {
    let op = *raw.get_ref();
    match op {
        Op::Set | Op::Insert => Ok(op),
        _ => {
            let what = format!("what a crash loses is counted in writes, and not in `{op}`");
            Err(source.bad(raw.span(), what, "write \"set\" or \"insert\""))
        }
    }
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(
    source: &Source<'_>,
    key: &str,
    range: &RangeInclusive<T>,
    raw: &Spanned<T>,
) -> Result<T> {
    match range.contains(raw.get_ref()) {
        true => Ok(*raw.get_ref()),
        false => {
            let (least, most) = (range.start(), range.end());
            let what = format!("`{key}` of [faults] is not between {least} and {most}");
            Err(source.bad(raw.span(), what, format!("write {key} = {least} or more")))
        }
    }
}

fn optional<T: PartialOrd + Copy + std::fmt::Display>(
    source: &Source<'_>,
    key: &str,
    range: &RangeInclusive<T>,
    raw: &Option<Spanned<T>>,
    default: T,
) -> Result<T> {
    raw.as_ref()
        .map_or(Ok(default), |raw| within(source, key, range, raw))
}

/// A list of kinds that is not empty and names none twice.
fn kinds_of(source: &Source<'_>, raw: &Spanned<Vec<FaultKind>>) -> Result<Vec<FaultKind>> {
    let kinds = raw.get_ref();
    let distinct: HashSet<_> = kinds.iter().collect();
    if kinds.is_empty() || distinct.len() < kinds.len() {
        let what = "the kinds of faults are empty, or one stands twice";
        let next = "write kinds = [\"client\", \"server\", \"connection\"] or fewer";
        return Err(source.bad(raw.span(), what, next));
    }
    Ok(kinds.clone())
}

fn fault_variant(
    source: &Source<'_>,
    spanned: &Spanned<FaultVariantText>,
    usual_op: Op,
    all_kinds: &[FaultKind],
) -> Result<FaultVariant> {
    let raw = spanned.get_ref();
    let options = raw.options.iter();
    Ok(FaultVariant {
        name: raw.name.clone().unwrap_or_else(|| raw.client.clone()),
        path: Path {
            client: raw.client.clone(),
            store: raw.store.clone(),
            cache: None,
            options: options.map(|(k, v)| (k.clone(), v.text())).collect(),
        },
        op: match &raw.op {
            Some(op) => write_op(source, op)?,
            None => usual_op,
        },
        kinds: match &raw.kinds {
            Some(kinds) => kinds_of(source, kinds)?,
            None => all_kinds.to_vec(),
        },
        place: source.place(spanned.span()),
    })
}

fn names_differ(faults: &Faults) -> Result<()> {
    let mut names = HashSet::new();
    match faults
        .variants
        .iter()
        .find(|v| !names.insert(v.name.as_str()))
    {
        None => Ok(()),
        Some(twice) => Err(crate::Problem::new(
            crate::Kind::Usage,
            format!("two variants of [faults] are called `{}`", twice.name),
        )
        .at(twice.place.clone())
        .next("give one of them another `name`")),
    }
}

fn has_a_middle(faults: &Faults) -> Result<()> {
    for variant in &faults.variants {
        let at_variant = |problem: crate::Problem| problem.at(variant.place.clone());
        let (_, depth) = variant.travel().map_err(at_variant)?;
        if faults.count < LEAST_BATCHES * u64::from(depth) {
            let what = format!(
                "{} writes of which {depth} travel together have no middle for a fault to strike in",
                faults.count
            );
            return Err(at_variant(
                crate::Problem::new(crate::Kind::Usage, what).next(format!(
                    "write count = {} or more",
                    LEAST_BATCHES * u64::from(depth)
                )),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    const HEAD: &str = "name = \"f\"\n[faults]\nop = \"set\"\ncount = 1000\n";
    const VARIANT: &str = "[[faults.variant]]\nclient = \"php/predis\"\nstore = \"redis\"\n";

    fn parsed(text: &str) -> Result<Experiment> {
        Experiment::parse(text, "f.toml")
    }

    #[test]
    fn faults_alone_are_an_experiment_with_their_usual_numbers() {
        let experiment = parsed(&format!("{HEAD}{VARIANT}")).unwrap();
        assert!(experiment.is_of_faults() && experiment.variants.is_empty());
        let faults = experiment.faults.unwrap();
        assert_eq!((faults.trials, faults.value_bytes), (50, 100));
        assert_eq!(faults.variants[0].name, "php/predis");
        assert_eq!(faults.variants[0].kinds, FaultKind::ALL);
        assert_eq!(faults.variants[0].op, Op::Set);
        assert_eq!(faults.all_trials(), 150);
    }

    #[test]
    fn a_variant_has_kinds_and_a_way_to_travel_of_its_own() {
        let options = |text: &str| {
            let text = format!(
                "{HEAD}{VARIANT}op = \"insert\"\nkinds = [\"server\"]\noptions = {{ {text} }}\n"
            );
            let faults = parsed(&text).unwrap().faults.unwrap();
            assert_eq!(faults.variants[0].kinds, [FaultKind::Server]);
            assert_eq!(faults.variants[0].op, Op::Insert);
            faults.variants[0].travel().unwrap()
        };
        assert_eq!(options(""), (Travel::Sequential, 1));
        assert_eq!(options("depth = 100"), (Travel::Pipeline, 100));
        let transaction = options("depth = 100, transaction = true");
        assert_eq!(transaction, (Travel::Transaction, 100));
    }

    #[test]
    fn beside_phases_they_change_nothing_of_the_experiment() {
        let text = format!(
            "name = \"f\"\n[[phase]]\nop = \"set\"\ncount = 5\n[[variant]]\nclient = \"native\"\n\
             store = \"floor\"\n[faults]\nop = \"insert\"\ncount = 1000\n{VARIANT}"
        );
        let experiment = parsed(&text).unwrap();
        assert!(!experiment.is_of_faults());
        assert_eq!(experiment.faults.unwrap().op, Op::Insert);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_place() {
        let head = |op: &str, rest: &str| {
            format!("name = \"f\"\n[faults]\nop = \"{op}\"\n{rest}\n{VARIANT}")
        };
        for (text, words) in [
            (head("get", "count = 1000"), "counted in writes"),
            (head("set", "count = 5"), "`count` of [faults]"),
            (head("set", "count = 1000\ntrials = 0"), "`trials`"),
            (head("set", "count = 1000\nkinds = []"), "kinds of faults"),
            (
                head("set", "count = 1000\nkinds = [\"server\", \"server\"]"),
                "stands twice",
            ),
            (head("set", "count = 1000\ntrails = 5"), "unknown field"),
            (format!("{HEAD}{VARIANT}{VARIANT}"), "are called"),
            (HEAD.to_owned(), "0 variants"),
            (
                format!("{HEAD}{VARIANT}options = {{ depth = 251 }}\n"),
                "no middle",
            ),
            (format!("{HEAD}{VARIANT}strom = 1\n"), "unknown field"),
        ] {
            let problem = parsed(&text).unwrap_err();
            assert!(problem.what.contains(words), "{text}: {problem}");
            assert!(problem.place.unwrap().starts_with("f.toml"), "{text}");
        }
        let problem = parsed(&head("set", "count = 1000\nkinds = [\"sever\"]")).unwrap_err();
        assert_eq!(problem.next_step.unwrap(), "did you mean `server`?");
    }

    #[test]
    fn reads_of_a_part_have_the_keys_and_values_of_its_writes() {
        let faults = parsed(&format!("{HEAD}{VARIANT}")).unwrap().faults.unwrap();
        for op in [Op::Set, Op::Insert] {
            let writes: Vec<_> = faults.stream(op, 7, 0, 20).operations().collect();
            let reads: Vec<_> = faults.stream(Op::Get, 7, 5, 10).operations().collect();
            for (write, read) in writes[5..15].iter().zip(&reads) {
                assert_eq!((&write.key, &write.value), (&read.key, &read.value));
                assert!(read.expect_hit);
            }
            let values: HashSet<_> = writes.iter().map(|w| w.value.clone()).collect();
            assert_eq!(values.len(), 20);
        }
    }
}
