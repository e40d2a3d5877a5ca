//! What a command line changes in an experiment. The change is made in the experiment's text, so
//! that the text kept with the run is the one that was run.

use roundtrip_model::workload::Generate;
use roundtrip_model::{Experiment, Kind, Placement, Problem, Result};
use toml::{Table, Value};

/// What may be changed; what is absent or empty stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Operations of every phase.
    pub count: Option<u64>,
    /// The number of operations that each phase says for its published form.
    pub full: bool,
    /// Where keys and values are made.
    pub generate: Option<Generate>,
    /// Placements to run in.
    pub placements: Vec<Placement>,
    /// The smallest difference that matters.
    pub delta: Option<f64>,
    /// Time that the blocks may take.
    pub budget_s: Option<f64>,
    /// The last planned look.
    pub max_blocks: Option<u32>,
}

/// The experiment with the changes.
pub fn apply(experiment: Experiment, overrides: &Overrides) -> Result<Experiment> {
    if *overrides == Overrides::default() {
        return Ok(experiment);
    }
    let internal = |what: String| Problem::new(Kind::Internal, what);
    let mut table: Table = experiment.text.parse().map_err(|e| {
        internal(format!(
            "an experiment that was read cannot be read again: {e}"
        ))
    })?;
    change(&mut table, overrides);
    let text = toml::to_string(&table)
        .map_err(|e| internal(format!("an experiment cannot be written: {e}")))?;
    Experiment::parse(
        &text,
        &format!("{} with the options given", experiment.name),
    )
}

fn change(table: &mut Table, overrides: &Overrides) {
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key.to_owned(), value);
        }
    };
    let placements: Vec<Value> = overrides
        .placements
        .iter()
        .map(|p| Value::String(p.name().to_owned()))
        .collect();
    set(
        "placement",
        (!placements.is_empty()).then_some(Value::Array(placements)),
    );
    set(
        "delta",
        overrides
            .delta
            .map(|delta| Value::String(format!("{}%", delta * 100.0))),
    );
    set("budget_s", overrides.budget_s.map(Value::Float));
    set(
        "max_blocks",
        overrides.max_blocks.map(|n| Value::Integer(n.into())),
    );
    set(
        "generate",
        overrides.generate.map(|generate| {
            let name = if generate == Generate::InLoop {
                "in-loop"
            } else {
                "prepared"
            };
            Value::String(name.to_owned())
        }),
    );
    let phases = table.get_mut("phase").and_then(Value::as_array_mut);
    for phase in phases.into_iter().flatten().filter_map(Value::as_table_mut) {
        let full = phase.remove("full_count").filter(|_| overrides.full);
        let asked = overrides.count.map(|count| Value::Integer(count as i64));
        if let Some(count) = asked.or(full) {
            phase.remove("duration_s");
            phase.insert("count".to_owned(), count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_text_is_the_one_that_was_changed() {
        let study = crate::catalog::built_in("php-memcached").unwrap().unwrap();
        let changed = apply(
            study,
            &Overrides {
                count: Some(500),
                full: false,
                generate: Some(Generate::InLoop),
                placements: vec![Placement::Shared],
                delta: Some(0.1),
                budget_s: Some(9.0),
                max_blocks: Some(5),
            },
        )
        .unwrap();
        let again = Experiment::parse(&changed.text, "again").unwrap();
        assert_eq!(again.workload, changed.workload);
        assert!(
            changed
                .workload
                .phases
                .iter()
                .all(|phase| phase.count == 500)
        );
        assert_eq!(
            (changed.delta, changed.budget_s, changed.max_blocks),
            (0.1, 9.0, 5)
        );
        assert_eq!(changed.workload.generate, Generate::InLoop);
        assert_eq!(changed.published.len(), 12);
    }

    #[test]
    fn the_published_form_is_run_on_demand_and_an_own_count_goes_first() {
        let text = "name=\"m\"\n[[phase]]\nop=\"get\"\ncount=10\nfull_count=100\n\
                    [[variant]]\nclient=\"native\"\nstore=\"floor\"";
        let count = |overrides: &Overrides| {
            let experiment = Experiment::parse(text, "m.toml").unwrap();
            apply(experiment, overrides).unwrap().workload.phases[0].count
        };
        let full = Overrides {
            full: true,
            ..Overrides::default()
        };
        assert_eq!(count(&Overrides::default()), 10);
        assert_eq!(count(&full), 100);
        let both = Overrides {
            count: Some(7),
            ..full
        };
        assert_eq!(count(&both), 7);
    }

    #[test]
    fn a_count_of_0_is_refused() {
        let study = crate::catalog::built_in("php-memcached").unwrap().unwrap();
        assert!(
            apply(
                study,
                &Overrides {
                    count: Some(0),
                    ..Overrides::default()
                }
            )
            .is_err()
        );
    }
}
