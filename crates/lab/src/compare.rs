//! An experiment out of a command line: any two paths and more, no file needed. What comes out is
//! the text of an experiment, so that `compare` has no second way through the lab.

use roundtrip_model::workload::{Distribution, Generate, Pace};
use roundtrip_model::{Experiment, Kind, Op, Path, Placement, Problem, Result};
use std::fmt::Write;

/// Where what was asked stands.
const PLACE: &str = "the command line";

/// What `roundtrip compare` was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The paths, the baseline first.
    pub paths: Vec<Path>,
    /// The ops, in order: a phase each.
    pub ops: Vec<Op>,
    /// The ops of one phase with their weights, in the place of `ops`.
    pub mix: Vec<(Op, f64)>,
    /// Which keys are visited; in order unless said.
    pub distribution: Option<Distribution>,
    /// How many keys there are; as many as are visited unless said.
    pub keys: Option<u64>,
    /// When ops start.
    pub pace: Pace,
    /// Operations a phase.
    pub count: u64,
    /// Length of a key.
    pub key_bytes: u32,
    /// Length of a value.
    pub value_bytes: u32,
    /// Time to live of what is written, in seconds.
    pub ttl_s: Option<u32>,
    /// The share of reads that find their key.
    pub hit_ratio: Option<f64>,
    /// Connections.
    pub concurrency: u32,
    /// The last planned look.
    pub blocks: Option<u32>,
    /// The smallest difference that matters.
    pub delta: f64,
    /// Time that the blocks may take.
    pub budget_s: f64,
    /// Placements to run in.
    pub placements: Vec<Placement>,
    /// Whether keys are `md5(i)` and values `crc32(i)`, made where this says; otherwise keys and
    /// values have the lengths above.
    pub published_recipe: Option<Generate>,
}

/// The experiment that answers it.
pub fn experiment(asked: &Comparison) -> Result<Experiment> {
    if asked.paths.len() < 2 {
        return Err(Problem::new(Kind::Usage, "a comparison needs two paths")
            .next("name another one, as in `roundtrip compare php/memcache php/memcached --store memcached`"));
    }
    // Lines of a text that nobody wrote would mislead.
    let at_the_command_line = |problem: Problem| problem.at(PLACE);
    let mut experiment = Experiment::parse(&text(asked), PLACE).map_err(at_the_command_line)?;
    for variant in &mut experiment.variants {
        variant.place = PLACE.to_owned();
    }
    Ok(experiment)
}

fn text(asked: &Comparison) -> String {
    let quoted = |text: &str| toml_string(text);
    let list = asked
        .placements
        .iter()
        .map(|p| quoted(p.name()))
        .collect::<Vec<_>>()
        .join(", ");
    let names: Vec<String> = asked
        .paths
        .iter()
        .map(|path| name(path, &asked.paths))
        .collect();
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    line("name = \"compare\"".to_owned());
    line(format!("title = {}", quoted(&names.join(" against "))));
    line(format!(
        "question = {}",
        quoted(&format!("Which is faster: {}?", names.join(" or ")))
    ));
    line(format!("delta = \"{}%\"", asked.delta * 100.0));
    line(format!("placement = [{list}]"));
    line(format!("baseline = {}", quoted(&names[0])));
    line(format!("budget_s = {:?}", asked.budget_s));
    line(format!("concurrency = {}", asked.concurrency));
    if let Some(blocks) = asked.blocks {
        line(format!("max_blocks = {blocks}"));
    }
    recipes(asked, &mut line);
    match asked.mix.is_empty() {
        true => asked.ops.iter().for_each(|op| line(phase(asked, *op))),
        false => line(phase(asked, Op::Mix)),
    }
    for (path, name) in asked.paths.iter().zip(&names) {
        line(variant(path, name));
    }
    text
}

fn recipes(asked: &Comparison, line: &mut impl FnMut(String)) {
    match asked.published_recipe {
        Some(generate) => {
            if generate == Generate::InLoop {
                line("generate = \"in-loop\"".to_owned());
            }
            line("\n[keys]\nrecipe = \"md5\"".to_owned());
            visits(asked, line);
            line("\n[values]\nrecipe = \"crc32\"".to_owned());
        }
        None => {
            line(format!("\n[keys]\nbytes = {}", asked.key_bytes));
            visits(asked, line);
            match asked.ops.contains(&Op::Incr) {
                true => line("\n[values]\nrecipe = \"zero\"".to_owned()),
                false => line(format!("\n[values]\nbytes = {}", asked.value_bytes)),
            }
        }
    }
}

fn visits(asked: &Comparison, line: &mut impl FnMut(String)) {
    if let Some(keys) = asked.keys {
        line(format!("count = {keys}"));
    }
    let shape = match asked.distribution {
        None => return,
        Some(Distribution::Sequential) => "\"sequential\"".to_owned(),
        Some(Distribution::Uniform) => "\"uniform\"".to_owned(),
        Some(Distribution::Zipf { exponent }) => {
            format!("{{ zipf = {{ exponent = {exponent:?} }} }}")
        }
        Some(Distribution::Hotspot { keys, ops }) => {
            format!("{{ hotspot = {{ keys = {keys:?}, ops = {ops:?} }} }}")
        }
        Some(Distribution::Latest { exponent, .. }) => {
            format!("{{ latest = {{ exponent = {exponent:?} }} }}")
        }
    };
    line(format!("distribution = {shape}"));
}

fn phase(asked: &Comparison, op: Op) -> String {
    let mut text = format!("\n[[phase]]\nop = \"{op}\"\ncount = {}", asked.count);
    if let Some(ttl_s) = asked.ttl_s {
        let _ = write!(text, "\nttl_s = {ttl_s}");
    }
    if op == Op::Mix {
        let mix = asked.mix.iter();
        let mix: Vec<String> = mix.map(|(op, w)| format!("{op} = {w:?}")).collect();
        let _ = write!(text, "\nmix = {{ {} }}", mix.join(", "));
    }
    match &asked.pace {
        Pace::Closed => {}
        Pace::Fixed { per_s } => {
            let _ = write!(text, "\nrate_per_s = {per_s:?}");
        }
        Pace::Poisson { per_s } => {
            let _ = write!(text, "\nrate_per_s = {per_s:?}\narrivals = \"poisson\"");
        }
        Pace::Schedule { file } => {
            let _ = write!(text, "\nschedule = {}", toml_string(file));
        }
    }
    if let Some(ratio) = asked.hit_ratio
        && matches!(op, Op::Get | Op::ReadAside | Op::Mix)
    {
        let _ = write!(text, "\nhit_ratio = {ratio:?}");
    }
    text
}

fn variant(path: &Path, name: &str) -> String {
    let mut text = format!(
        "\n[[variant]]\nname = {}\nclient = {}\nstore = {}",
        toml_string(name),
        toml_string(&path.client),
        toml_string(&path.store)
    );
    if let Some(cache) = &path.cache {
        let _ = write!(text, "\ncache = {}", toml_string(cache));
    }
    for (i, (key, value)) in path.options.iter().enumerate() {
        let head = if i == 0 { "\n[variant.options]" } else { "" };
        let _ = write!(
            text,
            "{head}\n{} = {}",
            toml_string(key),
            toml_string(value)
        );
    }
    text
}

/// The shortest name that tells a path from the others: without its store where all have the
/// same.
fn name(path: &Path, all: &[Path]) -> String {
    let same_store = all
        .iter()
        .all(|other| other.store == path.store && other.cache == path.cache);
    let full = path.to_string();
    if !same_store {
        return full;
    }
    let store = match &path.cache {
        Some(cache) => format!("@{}+{cache}", path.store),
        None => format!("@{}", path.store),
    };
    full.replacen(&store, "", 1)
}

fn toml_string(text: &str) -> String {
    // JSON's escapes are all TOML's too.
    serde_json::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(paths: &[&str]) -> Comparison {
        Comparison {
            paths: paths
                .iter()
                .map(|p| Path::parse(p, Some("memcached")).unwrap())
                .collect(),
            ops: vec![Op::Get, Op::Set],
            mix: Vec::new(),
            distribution: None,
            keys: None,
            pace: Pace::Closed,
            count: 1000,
            key_bytes: 32,
            value_bytes: 100,
            ttl_s: None,
            hit_ratio: Some(0.5),
            concurrency: 1,
            blocks: Some(7),
            delta: 0.05,
            budget_s: 60.0,
            placements: vec![Placement::Shared],
            published_recipe: None,
        }
    }

    #[test]
    fn the_text_parses_to_what_was_asked() {
        let e = experiment(&asked(&[
            "php/memcache",
            "php/memcached?serializer=igbinary",
        ]))
        .unwrap();
        assert_eq!(e.contestants()[2], "php/memcached?serializer=igbinary");
        assert_eq!(e.variants[1].path.options["serializer"], "igbinary");
        assert_eq!((e.delta, e.max_blocks, e.budget_s), (0.05, 7, 60.0));
        let ratios: Vec<_> = e.workload.phases.iter().map(|p| p.hit_ratio).collect();
        assert_eq!(ratios, [0.5, 1.0]);
    }

    #[test]
    fn distributions_mixes_and_rates_come_through_the_text() {
        let mut asked = asked(&["native", "native?depth=2"]);
        asked.mix = vec![(Op::Get, 0.95), (Op::Set, 0.05)];
        asked.keys = Some(500);
        asked.pace = Pace::Poisson { per_s: 2500.5 };
        for distribution in [
            Distribution::Zipf { exponent: 1.0 },
            Distribution::Hotspot {
                keys: 0.25,
                ops: 0.5,
            },
            Distribution::Latest {
                exponent: 0.99,
                settle: None,
            },
            Distribution::Uniform,
            Distribution::Sequential,
        ] {
            asked.distribution = Some(distribution);
            let work = experiment(&asked).unwrap().workload;
            assert_eq!(work.keys.distribution, distribution);
            assert_eq!(work.keys.count, Some(500));
            assert_eq!(work.phases.len(), 1);
            assert_eq!(work.phases[0].mix, asked.mix);
            assert_eq!(work.phases[0].pace, asked.pace);
        }
    }

    #[test]
    fn stores_stand_in_the_names_only_where_they_differ() {
        let e = experiment(&asked(&["native@floor", "native@sqlite+floor"])).unwrap();
        assert_eq!(e.baseline, "native@floor");
        assert_eq!(e.variants[1].path.cache.as_deref(), Some("floor"));
    }

    #[test]
    fn the_same_path_twice_and_one_path_alone_are_refused() {
        assert!(experiment(&asked(&["native", "native"])).is_err());
        assert!(experiment(&asked(&["native"])).is_err());
    }
}
