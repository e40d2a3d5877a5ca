use super::*;

fn phase(op: Op, outcomes: &[(&str, u64)], cache: &[(&str, u64)]) -> PhaseRecord {
    let map = |pairs: &[(&str, u64)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    PhaseRecord {
        name: "p".into(),
        op,
        ops: 100,
        keys_per_op: 1,
        beside: None,
        depth: 1,
        concurrency: 1,
        carried: None,
        pace: roundtrip_model::workload::Pace::Closed,
        lateness: None,
        gaps: Vec::new(),
        gap_totals: None,
        redirects: Default::default(),
        wall_ns: 1,
        user_ns: None,
        sys_ns: None,
        server_cpu_ns: None,
        process: None,
        client_max_rss_bytes: None,
        outcomes: map(outcomes),
        cache_outcomes: map(cache),
        latency: None,
        response: None,
        machine: None,
        slices_ns: Vec::new(),
        steady: None,
        terms: Default::default(),
        witness: BTreeMap::new(),
        samples: Vec::new(),
    }
}

fn names() -> WitnessNames {
    [
        (Quantity::Get, "cmd_get"),
        (Quantity::Hits, "get_hits"),
        (Quantity::Set, "cmd_set"),
        (Quantity::Items, "curr_items"),
        (Quantity::DeleteHits, "delete_hits"),
        (Quantity::DeleteMisses, "delete_misses"),
    ]
    .map(|(quantity, name)| (quantity, name.to_owned()))
    .into()
}

/// What a server counted that had 5 of each before.
fn grew(pairs: &[(&str, u64)]) -> Witness {
    Witness {
        before: pairs.iter().map(|(k, _)| ((*k).to_owned(), 5)).collect(),
        after: pairs
            .iter()
            .map(|(k, v)| ((*k).to_owned(), v + 5))
            .collect(),
    }
}

fn said(
    phase: &PhaseRecord,
    new_keys: u64,
    store: &Witness,
    cache: Option<&Witness>,
) -> Option<String> {
    let names = names();
    let account = |store, witness| Account {
        store,
        witness,
        names: &names,
    };
    let cache = cache.map(|witness| account("cache", witness));
    objection(
        phase,
        &Expected {
            ops: BTreeMap::from([(phase.op, 100)]),
            new_keys: Some(new_keys),
            transactions: None,
        },
        &account("memcached", store),
        cache.as_ref(),
    )
}

#[test]
fn counts_that_agree_raise_no_objection() {
    let get = phase(Op::Get, &[("hit", 90), ("miss", 10)], &[]);
    assert_eq!(
        said(&get, 0, &grew(&[("cmd_get", 100), ("get_hits", 90)]), None),
        None
    );
    let set = phase(Op::Set, &[("stored", 100)], &[]);
    assert_eq!(
        said(
            &set,
            60,
            &grew(&[("cmd_set", 100), ("curr_items", 60)]),
            None
        ),
        None
    );
}

#[test]
fn a_client_that_claims_more_than_the_server_saw_is_found() {
    let get = phase(Op::Get, &[("hit", 100)], &[]);
    let objection = said(&get, 0, &grew(&[("cmd_get", 1), ("get_hits", 1)]), None).unwrap();
    assert_eq!(
        objection,
        "memcached counted 1 `cmd_get`, the client claims 100"
    );
}

#[test]
fn a_client_that_lies_about_hits_or_items_is_found() {
    let get = phase(Op::Get, &[("hit", 100)], &[]);
    let objection = said(&get, 0, &grew(&[("cmd_get", 100), ("get_hits", 99)]), None).unwrap();
    assert!(objection.contains("99 `get_hits`"), "{objection}");
    let set = phase(Op::Set, &[("stored", 100)], &[]);
    let objection = said(
        &set,
        100,
        &grew(&[("cmd_set", 100), ("curr_items", 1)]),
        None,
    )
    .unwrap();
    assert!(objection.contains("1 `curr_items`"), "{objection}");
}

#[test]
fn a_client_that_sends_no_delete_and_says_that_nothing_was_there_is_found() {
    let delete = phase(Op::Delete, &[("not_found", 100)], &[]);
    let silent = grew(&[("delete_hits", 0), ("delete_misses", 0)]);
    let objection = said(&delete, 0, &silent, None).unwrap();
    assert!(objection.contains("0 `delete_misses`"), "{objection}");
}

#[test]
fn wrong_values_failures_and_missing_operations_void_a_phase_by_themselves() {
    for (outcomes, word) in [
        (vec![("hit", 99), ("wrong", 1)], "wrong value"),
        (vec![("hit", 99), ("error:timeout", 1)], "failed: timeout"),
        (vec![("hit", 99)], "accounts for 99 of the 100"),
    ] {
        let witness = grew(&[("cmd_get", 100), ("get_hits", 99)]);
        let objection = said(&phase(Op::Get, &outcomes, &[]), 0, &witness, None).unwrap();
        assert!(objection.contains(word), "{objection}");
    }
}

#[test]
fn a_counter_that_cannot_be_read_is_no_agreement() {
    let get = phase(Op::Get, &[("hit", 100)], &[]);
    assert!(said(&get, 0, &Witness::default(), None).is_some());
}

#[test]
fn read_aside_is_checked_on_both_sides() {
    let cache = [("hit", 90), ("miss", 10), ("stored", 10)];
    let aside = phase(Op::ReadAside, &[("hit", 100)], &cache);
    let right = grew(&[("cmd_get", 100), ("get_hits", 90), ("cmd_set", 10)]);
    let store = grew(&[("cmd_get", 10), ("get_hits", 10)]);
    assert_eq!(said(&aside, 0, &store, Some(&right)), None);
    let more = grew(&[("cmd_get", 100), ("get_hits", 91), ("cmd_set", 10)]);
    assert!(said(&aside, 0, &store, Some(&more)).is_some());
    assert!(said(&aside, 0, &grew(&[("cmd_get", 11)]), Some(&right)).is_some());
}

/// What is said of a mix of 60 gets, 20 sets, 10 inserts and 10 read_modify_write.
fn said_of_mix(outcomes: &[(&str, u64)], counted: &[(&str, u64)]) -> Option<String> {
    let ops = [
        (Op::Get, 60),
        (Op::Set, 20),
        (Op::Insert, 10),
        (Op::ReadModifyWrite, 10),
    ];
    let expected = Expected {
        ops: ops.into(),
        new_keys: Some(10),
        transactions: None,
    };
    let names = names();
    let witness = grew(counted);
    let store = Account {
        store: "memcached",
        witness: &witness,
        names: &names,
    };
    objection(&phase(Op::Mix, outcomes, &[]), &expected, &store, None)
}

#[test]
fn a_mix_is_held_against_every_counter() {
    let all_right = [("hit", 50), ("miss", 10), ("stored", 40)];
    let counted = |get: u64, hits: u64, set: u64, items: u64| {
        [
            ("cmd_get", get),
            ("get_hits", hits),
            ("cmd_set", set),
            ("curr_items", items),
        ]
    };
    assert_eq!(said_of_mix(&all_right, &counted(70, 60, 40, 10)), None);
    for wrong in [
        counted(60, 60, 40, 10),
        counted(70, 50, 40, 10),
        counted(70, 60, 30, 10),
        counted(70, 60, 40, 9),
    ] {
        assert!(said_of_mix(&all_right, &wrong).is_some(), "{wrong:?}");
    }
    // Two of read_modify_write found nothing, and so wrote nothing.
    let absent = [("hit", 50), ("miss", 10), ("stored", 38), ("not_found", 2)];
    assert_eq!(said_of_mix(&absent, &counted(70, 58, 38, 10)), None);
    assert!(said_of_mix(&absent, &counted(70, 58, 40, 10)).is_some());
    let lost = [("hit", 50), ("miss", 10), ("stored", 39)];
    assert!(said_of_mix(&lost, &counted(70, 60, 40, 10)).is_some());
}

#[test]
fn an_insert_is_a_write_of_a_new_key() {
    let insert = phase(Op::Insert, &[("stored", 100)], &[]);
    let counted = |set, items| grew(&[("cmd_set", set), ("curr_items", items)]);
    assert_eq!(said(&insert, 100, &counted(100, 100), None), None);
    assert!(said(&insert, 100, &counted(100, 99), None).is_some());
    assert!(said(&insert, 100, &counted(99, 100), None).is_some());
}

#[test]
fn a_store_that_counts_only_calls_to_remove_is_asked_how_many_keys_are_gone() {
    let names: WitnessNames = [(Quantity::Deletes, "removals"), (Quantity::Items, "keys")]
        .map(|(quantity, name)| (quantity, name.to_owned()))
        .into();
    let record = phase(Op::Delete, &[("done", 90), ("not_found", 10)], &[]);
    let expected = Expected {
        ops: BTreeMap::from([(Op::Delete, 100)]),
        new_keys: None,
        transactions: None,
    };
    let said = |removals: u64, left: u64| {
        let counted = |removals, keys| {
            [("removals", removals), ("keys", keys)]
                .map(|(name, count)| (name.to_owned(), count))
                .into()
        };
        let witness = Witness {
            before: counted(5, 200),
            after: counted(5 + removals, left),
        };
        let account = Account {
            store: "redis",
            witness: &witness,
            names: &names,
        };
        objection(&record, &expected, &account, None)
    };
    assert_eq!(said(100, 110), None);
    assert!(said(99, 110).unwrap().contains("99 `removals`"));
    let told = said(100, 111).unwrap();
    assert!(told.contains("89 of its `keys` fewer"), "{told}");
    assert!(said(100, 201).unwrap().contains("an unknown number"));
}

#[test]
fn transactions_that_were_asked_for_are_counted() {
    let names: WitnessNames = [(Quantity::Transactions, "calls_exec".to_owned())].into();
    let record = phase(Op::Set, &[("stored", 100)], &[]);
    let said = |asked, counted| {
        let expected = Expected {
            ops: BTreeMap::from([(Op::Set, 100)]),
            new_keys: None,
            transactions: asked,
        };
        let witness = grew(&[("calls_exec", counted)]);
        let account = Account {
            store: "redis",
            witness: &witness,
            names: &names,
        };
        objection(&record, &expected, &account, None)
    };
    assert_eq!(said(None, 0), None);
    assert_eq!(said(Some(10), 10), None);
    assert!(said(Some(10), 9).unwrap().contains("9 `calls_exec`"));
}

#[test]
fn keys_that_are_read_together_may_be_counted_by_the_call() {
    let many = PhaseRecord {
        keys_per_op: 20,
        ..phase(Op::GetMany, &[("hit", 100)], &[])
    };
    let mut names = names();
    names.insert(Quantity::ManyReads, "selects".to_owned());
    let objection_to = |selects| {
        let witness = grew(&[("selects", selects), ("cmd_get", 3), ("get_hits", 3)]);
        let account = Account {
            store: "mysql",
            witness: &witness,
            names: &names,
        };
        let expected = Expected {
            ops: BTreeMap::from([(Op::GetMany, 100)]),
            new_keys: None,
            transactions: None,
        };
        objection(&many, &expected, &account, None)
    };
    assert_eq!(objection_to(5), None);
    let said = objection_to(4).unwrap();
    assert_eq!(said, "mysql counted 4 `selects`, the client claims 5");
}
