//! Bad input and trouble: each gets what, where and what next, a documented exit code, and leaves
//! nothing lost and nothing running.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Home, LONG, Ran, Running, SHORT, children, program, runs, soon, trials};
use rustix::process::Signal;
use std::fs;
use std::process::{Command, Stdio};

const EXPERIMENT: &str = "\
name = \"mine\"
placement = \"free\"
max_blocks = 2

[[phase]]
op = \"get\"
count = 100

[[variant]]
client = \"native\"
store = \"floor\"

[[variant]]
name = \"other\"
client = \"native\"
store = \"floor\"
options = { depth = 10 }
";

fn refused_experiment(from: &str, to: &str, code: i32, words: &[&str]) {
    let home = Home::new();
    assert!(EXPERIMENT.contains(from));
    home.file("mine.toml", &EXPERIMENT.replacen(from, to, 1));
    home.run(&["run", "mine.toml"]).refused(code, words);
    assert_eq!(trials(&home.archive()), 0);
}

#[test]
fn an_unknown_key_in_an_experiment() {
    refused_experiment(
        "count = 100",
        "coutn = 100",
        2,
        &["mine.toml:7:1", "did you mean `count`?"],
    );
}

#[test]
fn a_phase_with_0_operations() {
    refused_experiment(
        "count = 100",
        "count = 0",
        2,
        &["mine.toml:7:9", "0 operations"],
    );
}

#[test]
fn an_unknown_op() {
    refused_experiment(
        "\"get\"",
        "\"gte\"",
        2,
        &["mine.toml:6:6", "did you mean `get`?"],
    );
}

#[test]
fn an_unknown_store() {
    refused_experiment(
        "\"floor\"",
        "\"flor\"",
        2,
        &["mine.toml:9:1", "did you mean `floor`?"],
    );
}

#[test]
fn an_unknown_client() {
    refused_experiment(
        "\"native\"",
        "\"nativ\"",
        2,
        &["mine.toml:9:1", "did you mean `native`?"],
    );
    let library = "\"php/memcachd\"";
    refused_experiment("\"native\"", library, 2, &["did you mean `php/memcached`?"]);
}

#[test]
fn an_unknown_option_of_a_client_and_an_unknown_value_of_one() {
    refused_experiment("depth = 10", "dept = 10", 2, &["did you mean `depth`?"]);
    refused_experiment(
        "depth = 10",
        "transport = \"unx\"",
        2,
        &["did you mean `unix`?"],
    );
}

#[test]
fn an_experiment_that_is_not_there() {
    let home = Home::new();
    home.run(&["run", "quikstart"])
        .refused(2, &["did you mean `quickstart`?"]);
    home.run(&["run", "no/such.toml"])
        .refused(2, &["no/such.toml"]);
}

#[test]
fn a_wrong_argument() {
    let home = Home::new();
    home.run(&["rnu"]).refused(2, &["rnu"]);
    home.run(&["compare", "native@floor", "native@sqlite", "--op", "gett"])
        .refused(2, &["did you mean `get`?"]);
    home.run(&["report", "--format", "htm"])
        .refused(2, &["did you mean `html`?"]);
}

#[test]
fn a_store_binary_that_is_missing() {
    let home = Home::new();
    // What cannot be executed is not there; seen so by this process alone.
    let script = "mount --bind /dev/null /usr/bin/memcached && exec \"$0\" \"$@\"";
    let args = [
        "compare",
        "native",
        "native?depth=2",
        "--store",
        "memcached",
    ];
    let ran = Ran::of(
        in_a_namespace(script, &home.command(&args))
            .output()
            .unwrap(),
    );
    ran.refused(3, &["memcached", "apt-get install -y memcached"]);
}

#[test]
fn a_store_that_dies_at_start() {
    let home = Home::new();
    let script =
        "[ \"$1\" = -V ] && { echo memcached 1.6.18; exit 0; }\necho 'no more memory' >&2\nexit 71";
    let path = home.program("memcached", script);
    let ran = Ran::of(
        home.command(&[
            "compare",
            "native",
            "native?depth=2",
            "--store",
            "memcached",
        ])
        .env("PATH", path)
        .output()
        .unwrap(),
    );
    ran.refused(4, &["exit code 71", "no more memory"]);
}

#[test]
fn a_store_that_dies_in_the_middle_of_a_trial() {
    let home = Home::new();
    let pids = home.path("bin/pids");
    fs::write(&pids, "").unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&pids, fs::Permissions::from_mode(0o666)).unwrap();
    let script = format!(
        "[ \"$1\" = -V ] && exec /usr/bin/memcached -V\necho $$ >> {}\nexec /usr/bin/memcached \"$@\"",
        pids.display()
    );
    let path = home.program("memcached", &script);
    let args = [
        "compare",
        "native",
        "native?depth=2",
        "--store",
        "memcached",
        "--count",
        "2000000",
    ];
    let child = Running::start(home.command(&args).env("PATH", path));
    // Some servers are only tried; a trial's has a worker beside it.
    let server: u32 = soon("a trial's server", || {
        let pid = fs::read_to_string(&pids)
            .ok()?
            .lines()
            .last()?
            .parse()
            .ok()?;
        let family = children(child.id());
        (family.contains(&pid) && family.len() >= 2).then_some(pid)
    });
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(server as i32).unwrap(),
        Signal::KILL,
    )
    .unwrap();
    let ran = child.end();
    ran.refused(4, &["memcached", "signal 9", "roundtrip resume"]);
}

#[test]
fn a_php_extension_that_is_missing() {
    let home = Home::new();
    let empty = home.path("bin");
    let ran = Ran::of(
        home.command(&[
            "compare",
            "php/memcache",
            "php/memcached",
            "--store",
            "memcached",
        ])
        .env("PHP_INI_SCAN_DIR", empty)
        .output()
        .unwrap(),
    );
    ran.refused(3, &["php/memcache", "apt-get install"]);
}

/// A worker of a language of its own, as a shell script; after `described` it does `then`.
fn with_worker(then: &str, args: &[&str]) -> Ran {
    let home = Home::new();
    let workers = home.path("workers");
    fs::create_dir_all(workers.join("odd")).unwrap();
    fs::create_dir_all(workers.join("vectors")).unwrap();
    fs::write(workers.join("vectors/values.json"), "[]").unwrap();
    fs::write(workers.join("odd/worker.toml"), ODD_MANIFEST).unwrap();
    let script = format!("{ODD_WORKER}\n{then}\n");
    fs::write(workers.join("odd/worker.sh"), script).unwrap();
    let base = [
        "compare",
        "odd/lib@floor",
        "odd/lib@floor?x=1",
        "--count",
        "10",
        "--blocks",
        "2",
    ];
    Ran::of(
        home.command(&[&base, args].concat())
            .env("ROUNDTRIP_WORKERS", &workers)
            .output()
            .unwrap(),
    )
}

const ODD_MANIFEST: &str = include_str!("odd/worker.toml");
const ODD_WORKER: &str = include_str!("odd/worker.sh");

#[test]
fn a_worker_that_writes_garbage() {
    with_worker("echo 'PHP Warning: oops'", &[]).refused(4, &["PHP Warning: oops", "odd"]);
}

#[test]
fn a_worker_that_hangs() {
    let opened = "echo '{\"event\":\"opened\",\"connect_ns\":1}'; read -r line; echo '{\"event\":\"ready\"}'; \
                  read -r line; sleep 600";
    with_worker(opened, &["--deadline", "1s"]).refused(4, &["within 1 s", "--deadline"]);
}

#[test]
fn a_worker_that_is_killed() {
    with_worker("echo 'about to die' >&2; kill -9 $$", &[])
        .refused(4, &["signal 9", "about to die"]);
}

#[test]
fn an_archive_that_cannot_be_written() {
    let home = Home::new();
    fs::write(home.path("file"), "").unwrap();
    let ran = Ran::of(
        home.command(&SHORT)
            .env("ROUNDTRIP_HOME", home.path("file/home"))
            .output()
            .unwrap(),
    );
    ran.refused(6, &["file/home", "ROUNDTRIP_HOME"]);
}

#[test]
fn a_full_disk() {
    let home = Home::new();
    // A file system of 300 KiB, seen by this process alone.
    let script = "mount -t tmpfs -o size=300k tmpfs \"$ROUNDTRIP_HOME\" && exec \"$0\" \"$@\"";
    let args = [&SHORT[..4], &["--budget", "300s", "--delta", "0.01%"]].concat();
    let ran = Ran::of(
        in_a_namespace(script, &home.command(&args))
            .output()
            .unwrap(),
    );
    ran.refused(6, &["full"]);
}

/// A command as a shell script's `"$0" "$@"`, where it may mount things that it alone sees.
fn in_a_namespace(script: &str, command: &Command) -> Command {
    let mut wrapped = Command::new("unshare");
    wrapped
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    wrapped
}

#[test]
fn an_archive_of_a_newer_version() {
    let home = Home::new();
    home.good(&SHORT);
    let db = rusqlite::Connection::open(home.archive()).unwrap();
    db.pragma_update(None, "user_version", 9999).unwrap();
    drop(db);
    home.run(&["runs"]).refused(6, &["newer", "archive.sqlite"]);
}

#[test]
fn a_corrupted_archive() {
    let home = Home::new();
    fs::write(
        home.archive(),
        "this is no database, and it is longer than a header".repeat(100),
    )
    .unwrap();
    home.run(&["runs"]).refused(6, &["archive.sqlite"]);
    home.run(&SHORT).refused(6, &["archive.sqlite"]);
}

#[test]
fn an_empty_archive_says_how_to_begin() {
    let home = Home::new();
    home.run(&["report"])
        .refused(2, &["no runs yet", "roundtrip run quickstart"]);
}

#[test]
fn two_roundtrips_at_once_on_one_archive() {
    let home = Home::new();
    let both: Vec<_> = (0..2)
        .map(|_| Running::start(&mut home.command(&SHORT)))
        .collect();
    for child in both {
        let ran = child.end();
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    assert_eq!(trials(&home.archive()), 20);
    home.run(&["show", "2"])
        .refused(2, &["several runs begin with `2`"]);
}

#[test]
fn killed_with_sigkill_it_leaves_no_server_and_no_worker() {
    let home = Home::new();
    let mut child = Running::start(&mut home.command(&LONG));
    let family = soon("servers and workers", || {
        let family = children(child.id());
        (family.len() >= 2).then_some(family)
    });
    let names: Vec<String> = family.iter().map(|pid| program(*pid)).collect();
    child.kill();
    soon(&format!("the end of {names:?}"), || {
        family.iter().all(|pid| !runs(*pid)).then_some(())
    });
}

#[test]
fn ctrl_c_keeps_finished_trials_and_says_how_to_go_on() {
    let home = Home::new();
    let child = Running::start(&mut home.command(&LONG));
    soon("two trials", || {
        (trials(&home.archive()) >= 2).then_some(())
    });
    let family = children(child.id());
    child.signal(Signal::INT);
    let ran = child.end();
    ran.refused(130, &["finished trials are kept", "roundtrip resume"]);
    assert!(family.iter().all(|pid| !runs(*pid)));
    let kept = trials(&home.archive());
    assert!(kept >= 2);
    assert!(home.good(&["show"]).contains("interrupted"));
}

#[test]
fn a_stopped_run_is_resumed_to_the_same_plan() {
    let home = Home::new();
    let args = [
        "run",
        "quickstart",
        "--count",
        "2000",
        "--blocks",
        "3",
        "--seed",
        "7",
    ];
    let child = Running::start(&mut home.command(&args));
    soon("two trials", || {
        (trials(&home.archive()) >= 2).then_some(())
    });
    child.signal(Signal::INT);
    assert_eq!(child.end().code, Some(130));
    assert!(trials(&home.archive()) < 15);
    home.good(&["resume"]);
    assert_eq!(trials(&home.archive()), 15);
    home.run(&["resume"]).refused(2, &["is finished"]);
}

#[test]
fn a_run_that_is_under_way_is_not_run_twice() {
    let home = Home::new();
    let child = Running::start(&mut home.command(&LONG));
    soon("a trial", || (trials(&home.archive()) >= 1).then_some(()));
    home.run(&["resume"]).refused(2, &["is under way"]);
    child.signal(Signal::INT);
    assert_eq!(child.end().code, Some(130));
}

#[test]
fn a_run_that_was_killed_is_resumed() {
    let home = Home::new();
    let args = [
        "run",
        "quickstart",
        "--count",
        "2000",
        "--blocks",
        "2",
        "--seed",
        "7",
    ];
    let mut child = Running::start(&mut home.command(&args));
    soon("a trial", || (trials(&home.archive()) >= 1).then_some(()));
    child.kill();
    home.good(&["resume"]);
    assert_eq!(trials(&home.archive()), 10);
}

#[test]
fn php_and_a_socket_server_go_with_a_killed_roundtrip() {
    let home = Home::new();
    let path = "php/memcached?transport=unix";
    let args = [
        "compare",
        path,
        "native",
        "--store",
        "memcached",
        "--count",
        "300000",
    ];
    let mut child = Running::start(&mut home.command(&args));
    let family = soon("memcached and PHP", || {
        let family = children(child.id());
        let names: Vec<String> = family.iter().map(|pid| program(*pid)).collect();
        let both = ["memcached", "php"]
            .iter()
            .all(|name| names.iter().any(|n| n == name));
        both.then_some(family)
    });
    child.kill();
    soon("their end", || {
        family.iter().all(|pid| !runs(*pid)).then_some(())
    });
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = Home::new();
    home.good(&SHORT);
    for format in ["terminal", "html", "json"] {
        let mut child = Running::start(&mut home.command(&["report", "--format", format]));
        drop(child.child().stdout.take());
        let ran = child.end();
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{format}");
    }
}

#[test]
fn a_remote_server_is_refused_without_leave() {
    let home = Home::new();
    home.run(&["inspect", "memcached://192.0.2.1:11211"])
        .refused(7, &["--allow-remote"]);
    let store = "memcached=memcached://192.0.2.1:11211";
    home.run(&["run", "php-memcached", "--store", store])
        .refused(7, &["--allow-remote"]);
}
