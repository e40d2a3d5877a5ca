//! The built binary as a user calls it when all goes well, on real servers and real libraries.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Home, Ran, Running, SHORT, children, runs, soon, trials};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A memcached of the test's own, on a free port; gone when dropped.
struct Memcached {
    child: Child,
    port: u16,
}

impl Memcached {
    fn start() -> Memcached {
        let port = roundtrip_process::free_port().unwrap();
        let child = Command::new("memcached")
            .args([
                "-l",
                "127.0.0.1",
                "-U",
                "0",
                "-u",
                "nobody",
                "-p",
                &port.to_string(),
            ])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let server = Memcached { child, port };
        soon("memcached", || TcpStream::connect(("127.0.0.1", port)).ok());
        server
    }

    fn address(&self) -> String {
        format!("memcached://127.0.0.1:{}", self.port)
    }

    /// Says something and returns what is answered up to `END`, `OK` or the like.
    fn ask(&self, request: &str) -> String {
        use std::io::{BufRead, BufReader};
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut lines = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            lines.push_str(&line);
            lines.push('\n');
            if ["END", "STORED", "NOT_STORED"].contains(&line.as_str()) {
                break;
            }
        }
        lines
    }

    fn count(&self, counter: &str) -> u64 {
        let stats = self.ask("stats\r\n");
        let line = stats
            .lines()
            .find_map(|l| l.strip_prefix(&format!("STAT {counter} ")))
            .unwrap();
        line.trim().parse().unwrap()
    }
}

impl Drop for Memcached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn schema() -> jsonschema::Validator {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/result.schema.json"
    );
    let schema = json(&std::fs::read_to_string(file).unwrap());
    jsonschema::validator_for(&schema).unwrap()
}

fn has_valid_json(home: &Home) -> Value {
    let result = json(&home.good(&["report", "--format", "json"]));
    let errors: Vec<String> = schema()
        .iter_errors(&result)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    result
}

#[test]
fn the_quickstart_answers_its_question_from_an_empty_folder() {
    let home = Home::new();
    let ran = home.run(&SHORT);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for words in [
        "floor-pipelined",
        "control",
        "sqlite",
        "synchronous",
        "waiting",
        "--seed 7",
    ] {
        assert!(ran.out.contains(words), "`{words}` is not in:\n{}", ran.out);
    }
    let page = ran
        .err
        .lines()
        .find_map(|line| line.strip_prefix("report: "))
        .unwrap();
    assert!(std::fs::read_to_string(page).unwrap().contains("<svg"));
    assert_eq!(std::fs::read_dir(home.path("work")).unwrap().count(), 0);
    assert_eq!(trials(&home.archive()), 10);

    let result = has_valid_json(&home);
    assert_eq!(result["run"]["experiment"], "quickstart");
    let aside = &result["trials"]
        .as_array()
        .unwrap()
        .iter()
        .find(|t| t["variant"] == "sqlite-behind-floor")
        .unwrap()["phases"][0];
    assert_eq!(aside["cache_outcomes"]["hit"], 180);
    assert_eq!(aside["cache_outcomes"]["miss"], 20);
    assert_eq!(aside["outcomes"]["hit"], 200);
}

#[test]
fn study_1_runs_on_real_memcached_and_real_php() {
    let home = Home::new();
    let args = ["run", "php-memcached", "--count", "2000", "--blocks", "2"];
    let text = home.good(&args);
    for words in [
        "php/memcached",
        "php/memcache (control)",
        "native",
        "published",
        "whole process",
        "prepared",
    ] {
        assert!(text.contains(words), "`{words}` is not in:\n{text}");
    }
    let result = has_valid_json(&home);
    // 3 variants and the control, in both placements in the first block, in one in the second.
    assert_eq!(result["trials"].as_array().unwrap().len(), 12);
    for trial in result["trials"].as_array().unwrap() {
        let phases = trial["phases"].as_array().unwrap();
        assert_eq!(phases[0]["outcomes"]["stored"], 2000, "{trial}");
        assert_eq!(phases[1]["outcomes"]["hit"], 2000, "{trial}");
        let witness = &phases[0]["witness"]["store"];
        let grew = |counter: &str| {
            witness["after"][counter].as_u64().unwrap()
                - witness["before"][counter].as_u64().unwrap()
        };
        assert_eq!((grew("cmd_set"), grew("curr_items")), (2000, 2000));
    }
    // 2 phases, 2 variants beside the baseline, 2 placements, 2 metrics.
    let comparisons = result["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 16);
    assert!(
        comparisons
            .iter()
            .all(|c| c["control"]["ratio"].as_f64().is_some())
    );
    assert_eq!(result["published"].as_array().unwrap().len(), 24);
}

#[test]
fn keys_made_in_the_loop_are_the_published_ones_too() {
    let home = Home::new();
    let server = Memcached::start();
    let store = format!("memcached={}", server.address());
    let args = [
        "run",
        "php-memcached",
        "--count",
        "300",
        "--blocks",
        "1",
        "--placement",
        "free",
        "--generate",
        "in-loop",
    ];
    let text = home.good(&args);
    assert!(
        text.contains("in the loop") || text.contains("in-loop"),
        "{text}"
    );
    // On a store that is not ours keys carry a prefix, which the published loop did not make.
    home.run(&[&args[..], &["--store", &store]].concat())
        .refused(7, &["in-loop", "prefix"]);
}

#[test]
fn compare_needs_no_file() {
    let home = Home::new();
    let text = home.good(&[
        "compare",
        "php/memcached",
        "php/memcached?serializer=igbinary&tcp_nodelay=true",
        "--store",
        "memcached",
        "--op",
        "set,get,delete",
        "--count",
        "500",
        "--value-bytes",
        "50",
        "--key-bytes",
        "20",
        "--blocks",
        "2",
        "--delta",
        "10%",
        "--budget",
        "60s",
        "--concurrency",
        "2",
    ]);
    assert!(
        text.contains("php/memcached?serializer=igbinary&tcp_nodelay=true"),
        "{text}"
    );
    let result = has_valid_json(&home);
    let phases = result["trials"][0]["phases"].as_array().unwrap();
    let outcome = |i: usize, name: &str| phases[i]["outcomes"][name].as_u64();
    assert_eq!(outcome(0, "stored"), Some(500));
    assert_eq!(outcome(1, "hit"), Some(500));
    assert_eq!(outcome(2, "done"), Some(500));
    assert!(phases.iter().all(|phase| phase["concurrency"] == 2));
}

#[test]
fn a_unix_socket_is_a_transport_like_another() {
    let home = Home::new();
    home.good(&[
        "compare",
        "native",
        "native?transport=unix",
        "php/memcached?transport=unix",
        "php/memcache?transport=unix",
        "--store",
        "memcached",
        "--op",
        "set,get",
        "--count",
        "300",
        "--blocks",
        "2",
    ]);
    assert_eq!(trials(&home.archive()), 10);
}

#[test]
fn a_hit_ratio_is_held_and_witnessed() {
    let home = Home::new();
    home.good(&[
        "compare",
        "native",
        "php/memcached",
        "--store",
        "memcached",
        "--op",
        "get",
        "--count",
        "1000",
        "--hit-ratio",
        "0.7",
        "--blocks",
        "1",
    ]);
    let result = has_valid_json(&home);
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(trial["validity"]["state"], "valid", "{trial}");
        assert_eq!(trial["phases"][0]["outcomes"]["hit"], 700);
        assert_eq!(trial["phases"][0]["outcomes"]["miss"], 300);
    }
}

#[test]
fn a_client_that_lies_is_found_by_its_witness() {
    let home = Home::new();
    let liar = Path::new(env!("CARGO_MANIFEST_DIR")).join("../workers/tests/liar");
    let ran = Ran::of(
        home.command(&[
            "compare",
            "liar/memcached@memcached",
            "native@memcached",
            "--op",
            "get",
            "--count",
            "100",
            "--blocks",
            "3",
        ])
        .env("ROUNDTRIP_WORKERS", liar)
        .output()
        .unwrap(),
    );
    ran.refused(
        5,
        &[
            "every trial of `liar/memcached",
            "counted",
            "the client claims",
        ],
    );
}

#[test]
fn on_a_server_that_is_the_users_only_our_keys_come_and_go() {
    let home = Home::new();
    let server = Memcached::start();
    server.ask("set theirs 5 0 3\r\nabc\r\n");
    let store = format!("memcached={}", server.address());
    let text = home.good(&[
        "compare",
        "native",
        "php/memcached",
        "--store",
        &store,
        "--op",
        "set,get",
        "--count",
        "300",
        "--blocks",
        "2",
    ]);
    assert!(text.contains("1 items that are not Roundtrip's"), "{text}");
    assert!(server.count("cmd_set") > 300);
    assert_eq!(server.count("curr_items"), 1);
    assert!(
        server
            .ask("get theirs\r\n")
            .starts_with("VALUE theirs 5 3\nabc")
    );
    assert_eq!(server.count("cmd_flush"), 0);
}

#[test]
fn what_a_killed_run_leaves_on_a_users_server_has_a_time_to_live() {
    let home = Home::new();
    let server = Memcached::start();
    let store = format!("memcached={}", server.address());
    let args = [
        "compare",
        "native",
        "native?depth=2",
        "--store",
        &store,
        "--count",
        "200000",
    ];
    let mut child = Running::start(&mut home.command(&args));
    soon("keys", || (server.count("curr_items") > 100).then_some(()));
    child.kill();
    let dump = home.good(&["inspect", &server.address(), "dump"]);
    let ours: Vec<&str> = dump
        .lines()
        .filter(|line| line.starts_with("add roundtrip:"))
        .collect();
    assert!(ours.len() > 100);
    for line in ours {
        let expires: u64 = line.split(' ').nth(3).unwrap().parse().unwrap();
        assert!(expires > 0, "{line}");
    }
}

#[test]
fn a_reader_of_a_dump_that_goes_away_is_no_failure() {
    let home = Home::new();
    let server = Memcached::start();
    for i in 0..40 {
        server.ask(&format!("set key{i} 0 0 5000\r\n{}\r\n", "x".repeat(5000)));
    }
    let mut child = Running::start(&mut home.command(&["inspect", &server.address(), "dump"]));
    drop(child.child().stdout.take());
    let ran = child.end();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn every_op_and_distribution_agrees_with_its_witness() {
    let home = Home::new();
    home.good(&[
        "compare",
        "native",
        "php/memcached",
        "php/memcache",
        "--store",
        "memcached",
        "--op",
        "set,incr,get,delete",
        "--count",
        "200",
        "--blocks",
        "1",
    ]);
    let uniform = home.file("uniform.toml", UNIFORM);
    home.good(&["run", &uniform]);
    let result = has_valid_json(&home);
    for trial in result["trials"].as_array().unwrap() {
        assert_eq!(trial["validity"]["state"], "valid", "{trial}");
    }
}

const UNIFORM: &str = "\
name = \"uniform\"
placement = \"free\"
max_blocks = 1
[keys]
distribution = \"uniform\"
count = 50
[[phase]]
op = \"set\"
count = 200
[[phase]]
op = \"get\"
count = 200
[matrix]
client = [\"native\", \"php/memcached\"]
store = [\"memcached\"]
";

#[test]
fn the_fidelity_table_has_every_type_for_every_serializer() {
    let home = Home::new();
    let table = json(&home.good(&[
        "fidelity",
        "php/memcache",
        "php/memcached",
        "--format",
        "json",
    ]));
    let columns = table["columns"].as_array().unwrap();
    let paths: Vec<&str> = columns
        .iter()
        .map(|c| c["path"].as_str().unwrap())
        .collect();
    for serializer in ["php", "json", "igbinary", "msgpack"] {
        let path = format!("php/memcached@memcached?serializer={serializer}");
        assert!(paths.contains(&path.as_str()), "{paths:?}");
    }
    assert!(
        paths
            .iter()
            .any(|path| path.starts_with("php/memcache@memcached")),
        "{paths:?}"
    );
    for column in columns {
        for row in column["rows"].as_array().unwrap() {
            // The published four come back as they were, whatever the serializer.
            if ["int", "string", "list"].contains(&row["name"].as_str().unwrap()) {
                assert_eq!(row["same"], true, "{}: {row}", column["path"]);
            }
        }
    }
    let text = home.good(&["fidelity", "php/memcache", "php/memcached"]);
    assert!(text.contains("memcached igbinary"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn inspect_shows_what_is_in_a_server_and_dumps_it_again() {
    let home = Home::new();
    let (server, other) = (Memcached::start(), Memcached::start());
    for i in 0..200 {
        server.ask(&format!("set key{i} {i} 0 6\r\na\r\nb{:02}\r\n", i % 100));
    }
    server.ask("get key1\r\n");
    server.ask("get nothing\r\n");
    let display = home.good(&["inspect", &server.address(), "display"]);
    assert!(
        display.contains("200") && display.contains("Item_Size"),
        "{display}"
    );
    let stats = home.good(&["inspect", &server.address(), "stats"]);
    assert!(stats.contains("50.0%") || stats.contains("50%"), "{stats}");
    let facts = json(&home.good(&["inspect", &server.address(), "stats", "--format", "json"]));
    assert_eq!(facts["statistics"]["curr_items"], 200, "{facts}");
    let dump = home.good(&["inspect", &server.address(), "dump"]);
    assert_eq!(dump.matches("add key").count(), 200);
    for item in dump.split_inclusive("\r\n").collect::<Vec<_>>().chunks(3) {
        assert_eq!(other.ask(&item.concat()), "STORED\n");
    }
    assert_eq!(other.ask("get key7\r\n"), server.ask("get key7\r\n"));
    for line in home
        .good(&["inspect", &server.address(), "dump", "--format", "json"])
        .lines()
    {
        assert!(json(line)["key"].as_str().unwrap().starts_with("key"));
    }
}

#[test]
fn a_run_goes_out_and_comes_in_as_one_file() {
    let (home, other) = (Home::new(), Home::new());
    home.good(&SHORT);
    let file = home.good(&["export", "last", "--output", "run.file"]);
    let file = home.path("work").join(file.trim());
    let id = other.good(&["import", file.to_str().unwrap()]);
    let report = |home: &Home| home.good(&["report", id.trim(), "--format", "json"]);
    assert_eq!(report(&home), report(&other));
    let again = other.run(&["import", file.to_str().unwrap()]);
    assert_eq!(trials(&other.archive()), 10, "{again:?}");
}

#[test]
fn every_format_reports_a_run() {
    let home = Home::new();
    home.good(&SHORT);
    for (format, words) in [
        ("terminal", "sqlite"),
        ("markdown", "|"),
        ("html", "<!doctype html>"),
        ("json", "\"comparisons\""),
        ("csv", "run,experiment,"),
    ] {
        let text = home.good(&["report", "last", "--format", format]);
        assert!(text.to_lowercase().contains(words), "{format}: {text}");
    }
    home.good(&[
        "report",
        "--format",
        "html",
        "--output",
        "deep/down/report.html",
    ]);
    assert!(home.path("work/deep/down/report.html").exists());
}

#[test]
fn no_line_is_wider_than_80_columns() {
    let home = Home::new();
    home.good(&SHORT);
    home.good(&[&SHORT[..7], &["8"]].concat());
    for args in [
        vec!["report"],
        vec!["show"],
        vec!["runs"],
        vec!["doctor"],
        vec!["list", "stores"],
        vec!["list", "experiments"],
        vec!["--help"],
        vec!["compare", "--help"],
    ] {
        let ran = Ran::of(home.command(&args).env("COLUMNS", "80").output().unwrap());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for line in ran.out.lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
    }
    let runs = home.good(&["runs"]);
    let ids: Vec<&str> = runs
        .lines()
        .filter(|l| l.trim_start().starts_with("20"))
        .collect();
    assert_eq!(ids.len(), 2, "{runs}");
    let first = ids[1].split_whitespace().next().unwrap();
    let diff = Ran::of(
        home.command(&["diff", first, "last"])
            .env("COLUMNS", "80")
            .output()
            .unwrap(),
    );
    assert!(
        diff.out.contains("floor-pipelined") && diff.out.lines().all(|l| l.chars().count() <= 80)
    );
}

#[test]
fn the_same_seed_gives_the_same_plan() {
    let (home, other) = (Home::new(), Home::new());
    let order = |home: &Home| -> Vec<(u64, String)> {
        home.good(&SHORT);
        let result = json(&home.good(&["report", "--format", "json"]));
        let trials = result["trials"].as_array().unwrap().clone();
        trials
            .iter()
            .map(|t| {
                (
                    t["block"].as_u64().unwrap(),
                    t["variant"].as_str().unwrap().to_owned(),
                )
            })
            .collect()
    };
    assert_eq!(order(&home), order(&other));
}

#[test]
fn doctor_and_list_name_every_part() {
    let home = Home::new();
    let doctor = home.good(&["doctor"]);
    for name in [
        "memcached",
        "sqlite",
        "floor",
        "php/memcache",
        "php/memcached",
        "native",
    ] {
        assert!(doctor.contains(name), "{doctor}");
    }
    let facts = json(&home.good(&["doctor", "--format", "json"]));
    let ready = |of: &str, name: &str| {
        facts[of]
            .as_array()
            .unwrap()
            .iter()
            .any(|p| p["name"] == name && p["ready"] == true)
    };
    assert!(
        ready("stores", "memcached") && ready("clients", "php/memcached"),
        "{facts}"
    );
    assert!(
        home.good(&["list", "experiments"])
            .starts_with("quickstart")
    );
    assert!(home.good(&["list", "clients"]).contains("igbinary"));
    assert!(home.good(&["completions", "bash"]).contains("_roundtrip"));
}

#[test]
fn doctor_names_the_command_for_what_is_missing() {
    let home = Home::new();
    let ran = Ran::of(
        home.command(&["doctor"])
            .env("PHP_INI_SCAN_DIR", home.path("bin"))
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.out.contains("apt-get install php-memcache"),
        "{}",
        ran.out
    );
}

#[test]
fn the_floor_serves_memcached_clients() {
    let home = Home::new();
    let mut child = home
        .command(&["floor", "--listen", "127.0.0.1:0"])
        .spawn()
        .unwrap();
    let mut line = String::new();
    let out = child.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).unwrap();
    let port: u16 = line.trim().rsplit(':').next().unwrap().parse().unwrap();
    let floor = Memcached { child, port };
    assert_eq!(floor.ask("set a 0 0 1\r\nx\r\n"), "STORED\n");
    assert_eq!(floor.ask("get a\r\n"), "VALUE a 0 1\nx\nEND\n");
    let pid = floor.child.id();
    assert!(children(pid).is_empty() && runs(pid));
    home.run(&["floor", "--listen", "0.0.0.0:0"])
        .refused(7, &["this machine only"]);
    home.run(&["floor", "--delay", "constant:many"])
        .refused(2, &["many"]);
}
