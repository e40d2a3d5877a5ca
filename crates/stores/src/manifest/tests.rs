use super::*;

#[test]
fn every_embedded_manifest_parses_and_is_named_like_its_folder() {
    let paths: Vec<_> = Files::iter().collect();
    let parsed: Vec<_> = parse_all().map(Result::unwrap).collect();
    assert_eq!(parsed.len(), paths.len(), "{paths:?}");
    assert_eq!(parsed, registry());
    for (manifest, path) in parsed.iter().zip(paths) {
        assert_eq!(format!("{}/store.toml", manifest.name), path);
        assert!(!manifest.title.is_empty());
        assert!(manifest.is_built_in() || !manifest.install().unwrap().is_empty());
        assert!(
            manifest.counter(Quantity::Items).is_some(),
            "{path} has no witness"
        );
    }
}

#[test]
fn a_mistyped_store_is_answered_with_the_nearest() {
    assert_eq!(find("memcached").unwrap().name, "memcached");
    let problem = find("memcache").unwrap_err();
    assert_eq!(problem.kind, Kind::Usage);
    assert_eq!(problem.what, "there is no store `memcache`");
    assert!(
        problem
            .next_step
            .unwrap()
            .starts_with("did you mean `memcached`?")
    );
}

#[test]
fn what_is_wrong_with_a_manifest_is_said() {
    let good = String::from_utf8(Files::get("memcached/store.toml").unwrap().data.into()).unwrap();
    let wrong = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        Manifest::parse(&good.replace(from, to), "x")
            .unwrap_err()
            .what
    };
    assert!(wrong("name =", "nmae =").contains("unknown field `nmae`"));
    assert!(wrong("ready_within_ms", "ready_ms").contains("unknown field `ready_ms`"));
    assert!(wrong("hits = \"get_hits\"", "hist = \"get_hits\"").contains("unknown variant `hist`"));
    assert!(wrong("protocol = \"memcached\"", "protocol = \"ftp\"").contains("ftp"));
    assert!(wrong("{memory_mb}", "{memory}").contains("`{memory}`"));
    assert!(wrong("\"{port}\"", "\"1\"").contains("{port}"));
    assert!(wrong("\"{socket}\"", "\"s\"").contains("{socket}"));
    assert!(wrong("{version}", "1.6").contains("{version}"));
}
