use super::*;

const GOOD: &str = r#"
name = "mine"
delta = "3%"
placement = ["shared", "split"]

[keys]
recipe = "md5"
[values]
recipe = "crc32"

[[phase]]
op = "set"
count = 1000
ttl_s = 1800
[[phase]]
op = "get"
count = 1000

[[variant]]
client = "php/memcache"
store = "memcached"
[[variant]]
client = "php/memcached"
store = "memcached"
options = { tcp_nodelay = true }

[[published]]
phase = "get"
variant = "php/memcached"
figures = { process_real_s = 4.667 }
"#;

fn refused(text: &str) -> Problem {
    Experiment::parse(text, "mine.toml").unwrap_err()
}

#[test]
fn a_good_experiment_is_read_with_its_defaults() {
    let e = Experiment::parse(GOOD, "mine.toml").unwrap();
    assert_eq!((e.delta, e.baseline.as_str()), (0.03, "php/memcache"));
    assert_eq!(e.placements, [Placement::Shared, Placement::Split]);
    assert_eq!(e.workload.phases[1].warmup, 10);
    assert_eq!(
        e.contestants(),
        ["php/memcache", "php/memcache (control)", "php/memcached"]
    );
    assert_eq!(e.path("php/memcache (control)"), e.path("php/memcache"));
    assert_eq!(e.variants[1].path.options["tcp_nodelay"], "true");
    assert_eq!(e.published[0].metric, Metric::ProcessRealS);
    assert_eq!(e.looks(), LOOKS);
}

#[test]
fn an_unknown_key_is_answered_with_its_place_and_the_nearest_name() {
    let problem = refused(&GOOD.replace("count = 1000\nttl_s", "cuont = 1000\nttl_s"));
    assert!(
        problem.what.starts_with("unknown field `cuont`"),
        "{problem}"
    );
    assert_eq!(problem.place.as_deref(), Some("mine.toml:13:1"));
    assert_eq!(problem.next_step.as_deref(), Some("did you mean `count`?"));
}

#[test]
fn an_unknown_op_is_answered_with_the_nearest_name() {
    let problem = refused(&GOOD.replace("op = \"get\"", "op = \"gett\""));
    assert_eq!(
        problem.next_step.as_deref(),
        Some("did you mean `get`?"),
        "{problem}"
    );
    assert!(
        problem
            .place
            .as_deref()
            .unwrap()
            .starts_with("mine.toml:16:"),
        "{problem}"
    );
}

#[test]
fn a_phase_with_0_operations_is_refused_at_its_count() {
    let problem = refused(&GOOD.replace("count = 1000\nttl_s", "count = 0\nttl_s"));
    assert_eq!(
        problem.place.as_deref(),
        Some("mine.toml:13:9"),
        "{problem}"
    );
}

#[test]
fn names_that_point_nowhere_are_refused() {
    for (from, to, noun) in [
        ("delta", "baseline = \"php/memcachd\"\ndelta", "variant"),
        ("phase = \"get\"", "phase = \"git\"", "phase"),
        ("process_real_s", "process_real", "metric"),
        (
            "op = \"get\"",
            "op = \"get\"\nonly = [\"php/memcach\"]",
            "variant",
        ),
    ] {
        let problem = refused(&GOOD.replacen(from, to, 1));
        assert!(
            problem.what.starts_with(&format!("there is no {noun}")),
            "{problem}"
        );
        assert!(
            problem.next_step.unwrap().starts_with("did you mean"),
            "{to}"
        );
    }
}

#[test]
fn figures_out_of_range_are_refused() {
    for (from, to) in [
        ("3%", "300%"),
        ("3%", "x"),
        ("name = \"mine\"", "name = \"../mine\""),
        ("delta = \"3%\"", "budget_s = 0.0"),
        ("delta = \"3%\"", "budget_s = nan"),
        ("delta = \"3%\"", "max_blocks = 0"),
        ("delta = \"3%\"", "every = { split = 0 }"),
        ("delta = \"3%\"", "concurrency = 0"),
        ("delta = \"3%\"", "metrics = []"),
        ("recipe = \"md5\"", "recipe = \"md5\"\nbytes = 31"),
        ("recipe = \"md5\"", "bytes = 8"),
        ("recipe = \"crc32\"", "bytes = 2000000"),
        ("op = \"get\"", "op = \"get\"\nhit_ratio = 1.5"),
        ("ttl_s = 1800", "hit_ratio = 0.5"),
        ("ttl_s = 1800", "ttl_s = 2592001"),
        ("client = \"php/memcached\"", "client = \"php/memcache\""),
        (
            "options = { tcp_nodelay = true }",
            "options = { depth = 0 }",
        ),
    ] {
        let problem = refused(&GOOD.replacen(from, to, 1));
        assert_eq!(problem.kind, Kind::Usage, "{to}");
        assert!(
            problem.place.is_some() && problem.next_step.is_some(),
            "{to}: {problem}"
        );
    }
}

#[test]
fn a_matrix_is_the_product_of_its_factors() {
    let matrix =
        "[matrix]\nclient = [\"a\", \"b\"]\nstore = [\"s\"]\noptions = { depth = [1, 16] }\n";
    let text = format!("name = \"m\"\n[[phase]]\nop = \"get\"\ncount = 1\n{matrix}");
    let e = Experiment::parse(&text, "m.toml").unwrap();
    let names: Vec<_> = e.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(
        names,
        ["a@s?depth=1", "a@s?depth=16", "b@s?depth=1", "b@s?depth=16"]
    );
}

#[test]
fn keys_are_made_in_the_loop_only_as_published() {
    let in_loop = GOOD.replace("delta", "generate = \"in-loop\"\ndelta");
    assert!(Experiment::parse(&in_loop, "m.toml").is_ok());
    refused(&in_loop.replace("recipe = \"md5\"", "recipe = \"hex\""));
}

#[test]
fn an_endless_text_is_refused() {
    refused(&" ".repeat(2 << 20));
}

#[test]
fn a_placement_may_take_part_in_every_second_block_only() {
    let text = GOOD.replace("delta", "every = { split = 2 }\ndelta");
    let e = Experiment::parse(&text, "m.toml").unwrap();
    let both = [Placement::Shared, Placement::Split];
    assert_eq!(e.placements_of(0), both);
    assert_eq!(e.placements_of(1), [Placement::Shared]);
    assert_eq!(e.placements_of(2), both);
}
