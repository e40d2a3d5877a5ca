use super::*;
use crate::workload::Pace;

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

fn with_keys(keys: &str) -> String {
    GOOD.replace(
        "[keys]\nrecipe = \"md5\"\n[values]\nrecipe = \"crc32\"",
        &format!("[keys]\n{keys}"),
    )
}

fn with_phase(phase: &str) -> String {
    with_keys("").replace("op = \"get\"\ncount = 1000", phase)
}

fn phase_of(text: &str) -> crate::workload::Phase {
    let e = Experiment::parse(&with_phase(&format!("name = \"get\"\n{text}")), "mine.toml");
    e.unwrap().workload.phases[1].clone()
}

fn phase_refused(text: &str) -> String {
    let problem = refused(&with_phase(&format!("name = \"get\"\n{text}")));
    assert!(problem.place.is_some() && problem.next_step.is_some());
    problem.what
}

#[test]
fn a_distribution_is_a_word_or_a_table() {
    let of = |text: &str| {
        let e = Experiment::parse(&with_keys(&format!("distribution = {text}")), "mine.toml");
        e.unwrap().workload.keys.distribution
    };
    assert_eq!(of("\"uniform\""), Distribution::Uniform);
    assert_eq!(of("\"zipf\""), Distribution::Zipf { exponent: 0.99 });
    assert_eq!(
        of("{ zipf = { exponent = 1.2 } }"),
        Distribution::Zipf { exponent: 1.2 }
    );
    let settle = Some(50);
    assert_eq!(
        of("{ latest = { settle = 50 } }"),
        Distribution::Latest {
            exponent: 0.99,
            settle
        }
    );
    assert_eq!(
        of("{ hotspot = { keys = 0.2, ops = 0.8 } }"),
        Distribution::Hotspot {
            keys: 0.2,
            ops: 0.8
        }
    );
}

#[test]
fn a_distribution_that_is_none_is_refused_with_what_to_write() {
    let of = |text: &str| refused(&with_keys(&format!("distribution = {text}")));
    assert!(of("\"zip\"").to_string().contains("did you mean `zipf`?"));
    let unknown = of("{ zipf = { exponnent = 1.2 } }");
    assert_eq!(unknown.next_step.unwrap(), "did you mean `exponent`?");
    for bad in [
        "{ zipf = { exponent = 0.0 } }",
        "{ zipf = { exponent = nan } }",
        "{ hotspot = { keys = 0.0, ops = 0.8 } }",
        "{ hotspot = { keys = 0.2 } }",
        "{ zipf = {}, hotspot = { keys = 0.2, ops = 0.8 } }",
        "0.99",
    ] {
        assert!(of(bad).place.is_some(), "{bad}");
    }
}

#[test]
fn values_have_bytes_or_a_size() {
    let of = |text: &str| {
        let text = with_keys(&format!("\n[values]\n{text}"));
        Experiment::parse(&text, "mine.toml").map(|e| e.workload.values)
    };
    let uniform = of("size = { uniform = [10, 2000] }").unwrap();
    assert_eq!((uniform.bytes, uniform.size.is_constant()), (2000, false));
    let lengths = of("size = { histogram = [[100, 0.9], [1000, 0.1]] }\ncompressible = 0.5");
    assert_eq!(lengths.unwrap().compressible, 0.5);
    for bad in [
        "bytes = 10\nsize = { uniform = [10, 20] }",
        "size = { uniform = [20, 10] }",
        "size = { uniform = [20, 1000001] }",
        "size = { lognormal = { median_bytes = 100, sigma = 0.0, max_bytes = 1000 } }",
        "size = { lognormal = { median_bytes = 100, sigma = 1.0, max_bytes = 10 } }",
        "size = { histogram = [[100, 0.0]] }",
        "size = { histogram = [] }",
        "recipe = \"zero\"\nsize = { uniform = [10, 20] }",
        "recipe = \"crc32\"\ncompressible = 0.5",
        "compressible = 0.1",
    ] {
        let problem = of(bad).unwrap_err();
        assert!(
            problem.place.is_some() && problem.next_step.is_some(),
            "{bad}"
        );
    }
}

#[test]
fn a_mix_says_of_what() {
    let mix = phase_of("op = \"mix\"\ncount = 10\nmix = { get = 0.95, insert = 0.05 }");
    assert_eq!(mix.mix, [(Op::Get, 0.95), (Op::Insert, 0.05)]);
    assert_eq!(
        mix.ops().collect::<Vec<_>>(),
        [Op::Mix, Op::Get, Op::Insert]
    );
    let scan = phase_of("op = \"mix\"\ncount = 10\nmix = { scan = 0.95, insert = 0.05 }");
    assert_eq!((mix.scan_keys, scan.scan_keys), (0, 100));
    assert_eq!(
        phase_refused("op = \"mix\"\ncount = 10"),
        "a mix does not say of what"
    );
    assert_eq!(
        phase_refused("op = \"get\"\ncount = 10\nmix = { get = 1.0 }"),
        "`get` is not mixed with others"
    );
    assert_eq!(
        phase_refused("op = \"mix\"\ncount = 10\nmix = { get = 0.5, delete = 0.5 }"),
        "`delete` cannot be one of the ops of a mix"
    );
    assert_eq!(
        phase_refused("op = \"mix\"\ncount = 10\nmix = { get = 0.0 }"),
        "a weight of a mix is not above 0"
    );
    assert_eq!(
        phase_refused("op = \"mix\"\ncount = 10\nmix = { set = 1.0 }\nhit_ratio = 0.5"),
        "a hit ratio means nothing for `mix`"
    );
}

#[test]
fn a_pace_is_a_rate_or_a_schedule() {
    let paced = phase_of("op = \"get\"\nrate_per_s = 2000\nduration_s = 1.5");
    assert_eq!(paced.pace, Pace::Fixed { per_s: 2000.0 });
    assert_eq!(paced.count, 3000);
    let poisson = phase_of("op = \"get\"\ncount = 10\nrate_per_s = 0.5\narrivals = \"poisson\"");
    assert_eq!(poisson.pace, Pace::Poisson { per_s: 0.5 });
    let scheduled = phase_of("op = \"get\"\ncount = 10\nschedule = \"times\"");
    let file = "times".to_owned();
    assert_eq!(scheduled.pace, Pace::Schedule { file });
    for (bad, what) in [
        ("duration_s = 5.0", "phase `get` has a duration and no rate"),
        (
            "count = 5\nduration_s = 5.0\nrate_per_s = 5",
            "phase `get` has a count and a duration",
        ),
        (
            "rate_per_s = 5",
            "phase `get` does not say how many ops it has",
        ),
        (
            "count = 5\nrate_per_s = 0",
            "0 ops a second are not above 0 and at most 100000000",
        ),
        (
            "duration_s = -1.0\nrate_per_s = 5",
            "phase `get` has 0 operations, not between 1 and 1000000000",
        ),
        (
            "count = 5\narrivals = \"poisson\"",
            "arrivals without a rate",
        ),
        (
            "count = 5\nrate_per_s = 5\nschedule = \"times\"",
            "a phase has either a rate or a schedule",
        ),
    ] {
        assert_eq!(phase_refused(&format!("op = \"get\"\n{bad}")), what);
    }
}

#[test]
fn a_matrix_is_compared_along_one_factor_and_a_variant_with_whom_it_names() {
    let text = "name=\"m\"\n[[phase]]\nop=\"get\"\ncount=10\n[matrix]\nclient=[\"native\"]\n\
                store=[\"floor\",\"redis\"]\noptions={ depth = [1, 8] }\nagainst={ depth = 1 }";
    let e = Experiment::parse(text, "m.toml").unwrap();
    let pairs: Vec<_> = e.variants.iter().map(|v| e.baseline_of(&v.name)).collect();
    let first = Some("native@floor?depth=1");
    let redis = Some("native@redis?depth=1");
    // The least of a factor is compared with the baseline of the experiment.
    assert_eq!(pairs, [None, first, first, redis]);
    assert_eq!(e.contestants().len(), 6);
    let wrong = text.replace("against={ depth = 1 }", "against={ depth = 2 }");
    let problem = Experiment::parse(&wrong, "m.toml").unwrap_err();
    assert!(problem.what.contains("native@floor?depth=2"), "{problem:?}");
    let own = "name=\"m\"\n[[phase]]\nop=\"get\"\ncount=10\n[[variant]]\nclient=\"native\"\n\
               store=\"floor\"\nagainst=\"native\"";
    // Who names itself is compared with nothing.
    let e = Experiment::parse(own, "m.toml").unwrap();
    assert_eq!(e.baseline_of("native"), None);
}

#[test]
fn rounds_are_kept_and_their_median_stands_for_them() {
    let text = "name=\"m\"\n[[phase]]\nop=\"get\"\ncount=10\n[[variant]]\nclient=\"native\"\n\
                store=\"floor\"\n[[published]]\nphase=\"get\"\nvariant=\"native\"\n\
                rounds={ loop_real_s = [3.0, 1.0, 2.0, 10.0] }";
    let e = Experiment::parse(text, "m.toml").unwrap();
    assert_eq!(e.published[0].value, 2.5);
    assert_eq!(e.published[0].rounds, [3.0, 1.0, 2.0, 10.0]);
}

#[test]
fn a_projection_is_read_and_checked() {
    let with = |table: &str| format!("{GOOD}\n[projection]\n{table}");
    let good = "per_day = 1570000\nservers = 5\nphase = \"get\"\nunit_ops = 10000\n\
                published_saved_s = 10.0\nsource = \"26 minutes\"\n";
    let e = Experiment::parse(&with(good), "m.toml").unwrap();
    let projection = e.projection.unwrap();
    assert_eq!(projection.saved_s_per_day(), 1570.0);
    assert!(projection.is_of("get", "anything") && !projection.is_of("set", "anything"));
    assert_eq!(Experiment::parse(GOOD, "m.toml").unwrap().projection, None);
    for (from, to) in [
        ("10000", "0"),
        ("1570000", "nan"),
        ("servers = 5", "servers = 0"),
        ("\"get\"", "\"gte\""),
        ("phase = \"get\"", "variant = \"php/memcace\""),
    ] {
        let problem = refused(&with(&good.replace(from, to)));
        assert!(problem.place.unwrap().starts_with("m"), "{from} {to}");
        assert!(problem.next_step.is_some());
    }
}
