use super::*;
use roundtrip_model::Experiment;
use std::collections::BTreeMap;

fn experiment(op: &str, beside: &str) -> Experiment {
    let text = format!(
        "name = \"b\"\n[[phase]]\nop = \"{op}\"\ncount = 10\nbeside = {beside}\n\
         [[variant]]\nname = \"a\"\nclient = \"native\"\nstore = \"floor\"\n\
         [[variant]]\nname = \"b\"\nclient = \"native\"\nstore = \"floor\"\n"
    );
    Experiment::parse(&text, "b.toml").unwrap()
}

const SETS: &str = "{ client = \"native\", op = \"set\", count = 500 }";

fn record(op: Op, outcomes: &[(&str, u64)]) -> BesideRecord {
    BesideRecord {
        client: "native".to_owned(),
        op,
        ops: 500,
        wall_ns: 1,
        outcomes: outcomes
            .iter()
            .map(|(name, n)| ((*name).to_owned(), *n))
            .collect(),
        outlasted: true,
    }
}

fn counters(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs
        .iter()
        .map(|(name, n)| ((*name).to_owned(), *n))
        .collect()
}

fn names() -> WitnessNames {
    let all = [
        (Quantity::Get, "cmd_get"),
        (Quantity::Hits, "get_hits"),
        (Quantity::Set, "cmd_set"),
    ];
    all.map(|(quantity, name)| (quantity, name.to_owned()))
        .into()
}

#[test]
fn it_goes_over_the_keys_of_the_phase_however_that_visits_them() {
    let experiment = experiment("get_many", SETS);
    let phase = &experiment.workload.phases[0];
    let path = &experiment.variants[0].path;
    let steps = crate::steps::steps(&experiment, "a", path, 1, "p:");
    let crate::steps::Step::Measure { stream, .. } = &steps[1] else {
        panic!("{steps:?}");
    };
    let own = stream_of(phase.beside.as_ref().unwrap(), stream);
    assert_eq!((own.op, own.len(), own.records()), (Op::Set, 500, 500));
    assert_eq!((own.first, own.keyspace), (stream.first, stream.keyspace));
    let there: Vec<_> = stream.operations().map(|op| (op.key, op.value)).collect();
    assert!(
        own.operations()
            .all(|op| op.expect_hit && there.contains(&(op.key, op.value)))
    );
}

#[test]
fn keys_are_there_for_it_even_where_the_phase_writes_them() {
    let experiment = experiment("set", SETS);
    let path = &experiment.variants[0].path;
    let steps = crate::steps::steps(&experiment, "a", path, 1, "");
    assert!(
        matches!(steps[0], crate::steps::Step::Prepare { .. }),
        "{steps:?}"
    );
    assert!(matches!(
        steps[1],
        crate::steps::Step::Measure {
            new_keys: Some(0),
            ..
        }
    ));
}

#[test]
fn only_phases_that_keep_their_values_have_company() {
    for (op, can) in [
        ("get", true),
        ("set", true),
        ("join", true),
        ("delete", false),
        ("set_seen", false),
    ] {
        let fits = fits(&experiment(op, SETS).workload.phases[0]);
        assert_eq!(fits.is_ok(), can, "{op}");
    }
}

#[test]
fn a_miss_or_an_error_beside_voids_the_trial() {
    assert_eq!(objection(&record(Op::Set, &[("stored", 500)]), "get"), None);
    assert_eq!(objection(&record(Op::Join, &[("hit", 500)]), "get"), None);
    let told = objection(
        &record(Op::Set, &[("stored", 499), ("error:full", 1)]),
        "get",
    )
    .unwrap();
    assert!(
        told.starts_with("of 500 `set` beside phase `get` only 499"),
        "{told}"
    );
    assert!(objection(&record(Op::Get, &[("hit", 499), ("miss", 1)]), "get").is_some());
    // It says that it did more than it was told to.
    assert!(objection(&record(Op::Set, &[("stored", 501)]), "get").is_some());
}

#[test]
fn what_it_did_is_not_held_against_the_phase() {
    let witness = Witness {
        before: counters(&[("cmd_get", 5), ("get_hits", 5), ("cmd_set", 7)]),
        after: counters(&[("cmd_get", 515), ("get_hits", 515), ("cmd_set", 507)]),
    };
    let grew =
        |witness: &Witness| ["cmd_get", "get_hits", "cmd_set"].map(|name| witness.grew(name));
    let (gets, _) = without(&record(Op::Get, &[]), &names(), witness.clone(), names());
    assert_eq!(grew(&gets), [Some(10), Some(10), Some(500)]);
    let (sets, _) = without(&record(Op::Set, &[]), &names(), witness.clone(), names());
    assert_eq!(grew(&sets), [Some(510), Some(510), Some(0)]);
    // Sets that did not reach the store are no growth below zero that could pass for right.
    let few = Witness {
        after: counters(&[("cmd_set", 100)]),
        ..witness.clone()
    };
    let (few, _) = without(&record(Op::Set, &[]), &names(), few, names());
    assert_eq!(few.grew("cmd_set"), None);
    // A client at another door is counted by other counters.
    let door = WitnessNames::from([(Quantity::Set, "memcached.cmd_set".to_owned())]);
    let (other, _) = without(&record(Op::Set, &[]), &door, witness.clone(), names());
    assert_eq!(grew(&other), [Some(510), Some(510), Some(500)]);
    let (_, left) = without(&record(Op::Join, &[]), &names(), witness, names());
    assert_eq!(left.into_keys().collect::<Vec<_>>(), [Quantity::Set]);
}
