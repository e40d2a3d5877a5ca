use super::*;

fn of(phases: &str, store: &str) -> Vec<Step> {
    let text = format!(
        "name = \"m\"\n{phases}\n[[variant]]\nname = \"v\"\nclient = \"native\"\n{store}\n"
    );
    let e = Experiment::parse(&text, "m.toml").unwrap();
    steps(&e, "v", e.path("v").unwrap(), 1, "p:")
}

fn shape(steps: &[Step]) -> Vec<(String, u64)> {
    steps
        .iter()
        .map(|step| match step {
            Step::Prepare { target, stream, .. } => (format!("{target:?}"), stream.count),
            Step::Measure { phase, .. } => (phase.name.clone(), phase.count),
            Step::Check { stream } => ("Check".to_owned(), stream.count),
        })
        .collect()
}

#[test]
fn a_get_after_a_set_of_the_same_keys_needs_no_preparation() {
    let phases = "[[phase]]\nop=\"set\"\ncount=100\n[[phase]]\nop=\"get\"\ncount=100";
    let steps = of(phases, "store=\"memcached\"");
    assert_eq!(shape(&steps), [("set".into(), 100), ("get".into(), 100)]);
    let Step::Measure { new_keys, .. } = &steps[0] else {
        unreachable!()
    };
    assert_eq!(*new_keys, Some(100));
}

#[test]
fn a_get_alone_is_prepared() {
    let steps = of("[[phase]]\nop=\"get\"\ncount=100", "store=\"memcached\"");
    assert_eq!(shape(&steps), [("Store".into(), 100), ("get".into(), 100)]);
}

#[test]
fn a_get_after_a_delete_is_prepared_again() {
    let phases = "[[phase]]\nop=\"delete\"\ncount=50\nwarmup=5\n[[phase]]\nop=\"get\"\ncount=100";
    let steps = of(phases, "store=\"memcached\"");
    let expected = [
        ("Store", 100),
        ("Store", 5),
        ("delete", 50),
        ("Store", 100),
        ("get", 100),
    ];
    assert_eq!(
        shape(&steps),
        expected.map(|(name, n)| (name.to_owned(), n))
    );
}

#[test]
fn a_get_after_an_incr_is_prepared_again() {
    let phases = "[values]\nrecipe=\"zero\"\n[[phase]]\nop=\"incr\"\ncount=100\nwarmup=5\n\
                  [[phase]]\nop=\"get\"\ncount=100";
    let names: Vec<String> = shape(&of(phases, "store=\"memcached\""))
        .into_iter()
        .map(|s| s.0)
        .collect();
    assert_eq!(names, ["Store", "Store", "incr", "Check", "Store", "get"]);
}

#[test]
fn a_phase_about_fewer_keys_visits_those_alone_and_its_sums_are_checked() {
    let phases = "[values]\nrecipe=\"crc32\"\n[[phase]]\nop=\"incr\"\ncount=100\nkeys=1\n\
                  [[phase]]\nop=\"set\"\ncount=100\n\
                  [[phase]]\nop=\"read_modify_write\"\ncount=100\nkeys_per_op=3\nadd=5\nkeys=30";
    let steps = of(phases, "store=\"redis\"");
    let all = [
        ("Store", 1),
        ("Store", 1),
        ("incr", 100),
        ("Check", 1),
        ("set", 100),
        ("Store", 3),
        ("read_modify_write", 100),
        ("Check", 30),
    ];
    assert_eq!(shape(&steps), all.map(|(name, n)| (name.to_owned(), n)));
    let Some(Step::Check { stream }) = steps.last() else {
        unreachable!()
    };
    // 300 visits of 30 keys.
    let sums = stream.operations().map(|op| op.value.into_owned());
    let firsts = stream.value_maker();
    for (index, sum) in (0..).zip(sums) {
        let first: u64 = String::from_utf8(firsts.make(index))
            .unwrap()
            .parse()
            .unwrap();
        assert_eq!(sum, (first + 50).to_string().into_bytes());
    }
}

#[test]
fn how_many_keys_are_new_is_said_only_where_it_is_certain() {
    let new_keys = |phases: &str| -> Vec<Option<u64>> {
        let steps = of(phases, "store=\"memcached\"");
        let measured = steps.iter().filter_map(|step| match step {
            Step::Measure { new_keys, .. } => Some(*new_keys),
            Step::Prepare { .. } | Step::Check { .. } => None,
        });
        measured.collect()
    };
    let set = "[[phase]]\nop=\"set\"\ncount=100";
    let twice = format!("{set}\n[[phase]]\nname=\"again\"\nop=\"set\"\ncount=100");
    assert_eq!(new_keys(&twice), [Some(100), Some(0)]);
    let uniform = format!("[keys]\ndistribution=\"uniform\"\n{set}");
    assert_eq!(new_keys(&uniform), [None]);
    let partly = format!("[keys]\ncount=100\n[[phase]]\nop=\"delete\"\ncount=5\n{set}");
    assert_eq!(new_keys(&partly), [None, None]);
    assert_eq!(new_keys(&format!("{set}\nttl_s=1")), [None]);
}

#[test]
fn read_aside_finds_every_key_in_the_store_and_the_hot_ones_in_the_cache() {
    let phases = "[[phase]]\nop=\"read_aside\"\ncount=1000\nhit_ratio=0.9";
    let steps = of(phases, "store=\"sqlite\"\ncache=\"floor\"");
    let expected = [
        ("Store", 900),
        ("Store", 100),
        ("Cache", 900),
        ("read_aside", 1000),
    ];
    assert_eq!(
        shape(&steps),
        expected.map(|(name, n)| (name.to_owned(), n))
    );
    let Step::Measure { stream, .. } = &steps[3] else {
        unreachable!()
    };
    let Step::Prepare { stream: cold, .. } = &steps[1] else {
        unreachable!()
    };
    let missed: Vec<_> = stream.operations().filter(|op| !op.expect_hit).collect();
    assert_eq!(missed.len(), 100);
    for (op, there) in missed.iter().zip(cold.operations()) {
        assert_eq!((&op.key, &op.value), (&there.key, &there.value));
    }
}

#[test]
fn without_a_cache_read_aside_prepares_the_store_only() {
    let phases = "[[phase]]\nop=\"read_aside\"\ncount=1000\nhit_ratio=0.9";
    assert_eq!(of(phases, "store=\"sqlite\"").len(), 3);
}

#[test]
fn a_warm_up_that_writes_leaves_the_measured_keys_alone() {
    let steps = of(
        "[[phase]]\nop=\"set\"\ncount=100\nwarmup=10",
        "store=\"memcached\"",
    );
    let Step::Measure { warmup, stream, .. } = &steps[0] else {
        unreachable!()
    };
    let measured: Vec<_> = stream.operations().map(|op| op.key).collect();
    assert!(warmup.operations().all(|op| !measured.contains(&op.key)));
    assert!(measured.iter().all(|key| key.starts_with(b"p:")));
}

fn measured(steps: &[Step]) -> Vec<(&Stream, &Stream, Option<u64>)> {
    let of = |step| match step {
        &Step::Measure {
            ref warmup,
            ref stream,
            new_keys,
            ..
        } => Some((&**warmup, &**stream, new_keys)),
        Step::Prepare { .. } | Step::Check { .. } => None,
    };
    steps.iter().filter_map(of).collect()
}

#[test]
fn a_mix_finds_every_key_of_the_keyspace_and_inserts_beyond_it() {
    let mix = |name: &str| {
        format!(
            "[[phase]]\nname=\"{name}\"\nop=\"mix\"\ncount=1000\nwarmup=100\n\
             mix={{ get = 0.9, insert = 0.1 }}\n"
        )
    };
    let phases = format!("[keys]\ncount=500\n{}{}", mix("a"), mix("b"));
    let steps = of(&phases, "store=\"memcached\"");
    let expected = [("Store", 500), ("a", 1000), ("b", 1000)];
    assert_eq!(
        shape(&steps),
        expected.map(|(name, n)| (name.to_owned(), n))
    );
    let Step::Prepare { stream: there, .. } = &steps[0] else {
        unreachable!()
    };
    let mut there: std::collections::HashSet<_> = there.operations().map(|op| op.key).collect();
    for (warmup, stream, new_keys) in measured(&steps) {
        assert_eq!(new_keys, Some(100));
        for op in warmup.operations().chain(stream.operations()) {
            match op.op {
                Some(Op::Insert) => assert!(there.insert(op.key), "inserted twice"),
                _ => assert!(there.contains(&op.key)),
            }
        }
    }
}

#[test]
fn inserts_alone_need_no_data_and_are_new_to_what_is_read_after_them() {
    let phases = "[[phase]]\nop=\"insert\"\ncount=100\n[[phase]]\nop=\"get\"\ncount=50";
    let steps = of(phases, "store=\"memcached\"");
    let expected = [("insert", 100), ("Store", 50), ("get", 50)];
    assert_eq!(
        shape(&steps),
        expected.map(|(name, n)| (name.to_owned(), n))
    );
    assert_eq!(measured(&steps)[0].2, Some(100));
    let expiring = of(
        &phases.replace("100", "100\nttl_s=5"),
        "store=\"memcached\"",
    );
    assert_eq!(measured(&expiring)[0].2, None);
}

#[test]
fn whatever_the_distribution_every_key_is_prepared() {
    for distribution in [
        "\"zipf\"",
        "\"latest\"",
        "{ hotspot = { keys = 0.1, ops = 0.9 } }",
    ] {
        let phases = format!(
            "[keys]\ncount=300\ndistribution={distribution}\n[[phase]]\nop=\"get\"\ncount=2000"
        );
        let steps = of(&phases, "store=\"memcached\"");
        let Step::Prepare { stream, .. } = &steps[0] else {
            unreachable!()
        };
        let there: std::collections::HashSet<_> = stream.operations().map(|op| op.key).collect();
        assert_eq!(there.len(), 300);
        let (_, visited, _) = measured(&steps)[0];
        assert!(visited.operations().all(|op| there.contains(&op.key)));
    }
}

#[test]
fn rows_that_are_joined_are_brought_into_place_by_who_joins_them() {
    let phases = "[[phase]]\nop=\"set\"\ncount=100\n\
                  [[phase]]\nname=\"beside\"\nop=\"set\"\ncount=100\n\
                  beside={client=\"native\",op=\"join\",count=200}\n\
                  [[phase]]\nop=\"join\"\ncount=100";
    let steps = of(phases, "store=\"mysql\"");
    let expected = [("set", 100), ("Store", 100), ("beside", 100), ("join", 100)];
    assert_eq!(
        shape(&steps),
        expected.map(|(name, n)| (name.to_owned(), n))
    );
    let Step::Prepare { by: Some(by), .. } = &steps[1] else {
        unreachable!()
    };
    assert_eq!((by.client.as_str(), by.op), ("native", Op::Join));
    // By itself, where its own client joins.
    let steps = of(
        "[[phase]]\nop=\"set\"\ncount=9\n[[phase]]\nop=\"join\"\ncount=9",
        "store=\"mysql\"",
    );
    assert!(matches!(steps[1], Step::Prepare { by: None, .. }));
}
