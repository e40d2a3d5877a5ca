//! Workers that break the contract in every way there is: each is a small shell script.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{GOES_ON, LONG, open};
use roundtrip_model::contract::Endpoint;
use roundtrip_model::{Kind, Problem};
use roundtrip_process::{PrivateDir, Settings};
use roundtrip_workers::{Host, WORKERS_VARIABLE, Worker};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_millis(300);
const DESCRIBED: &str =
    r#"{"event":"described","contract":1,"language":"sh","runtime":"sh","clients":[]}"#;
const OPENED: &str = r#"{"event":"opened","connect_ns":5}"#;

/// A host with a language `sh` whose worker is this script.
fn host(dir: &PrivateDir, script: &str) -> Host {
    let folder = dir.path().join("added").join("sh");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("worker.sh"), script).unwrap();
    let manifest =
        "program = \"sh\"\nargs = [\"{dir}/worker.sh\"]\ninstall = \"apt-get install dash\"\n";
    fs::write(folder.join("worker.toml"), manifest).unwrap();
    with(dir).unwrap().patience(LONG)
}

fn with(dir: &PrivateDir) -> roundtrip_model::Result<Host> {
    Host::with_workers("/none".into(), dir, Some(&dir.path().join("added")))
}

fn describe(script: &str) -> Problem {
    let dir = PrivateDir::new().unwrap();
    host(&dir, script).describe("sh").unwrap_err()
}

fn say(line: &str) -> String {
    format!("read command; printf '%s\n' '{line}'; ")
}

/// A worker that has opened, and then goes on with `script`.
fn opened(host: &Host) -> Worker {
    let mut worker = host.spawn("sh", &Settings::default()).unwrap();
    let nowhere = Endpoint::File { path: "x".into() };
    assert_eq!(worker.open(open("x", &nowhere, &[])).unwrap(), 5);
    worker
}

fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn a_worker_that_keeps_the_contract_is_heard() {
    let dir = PrivateDir::new().unwrap();
    let script = say(DESCRIBED) + &say(r#"{"event":"closed"}"#);
    let host = host(&dir, &script);
    assert_eq!(host.describe("sh").unwrap().runtime, "sh");
    // Known now: the worker is not asked again, so its script may be gone.
    fs::remove_file(dir.path().join("added/sh/worker.sh")).unwrap();
    assert_eq!(host.describe("sh").unwrap().runtime, "sh");
}

#[test]
fn garbage_is_shown_with_the_log() {
    let problem = describe("echo trouble ahead >&2; echo 'PHP Warning:  oops'; sleep 600");
    assert_eq!(problem.kind, Kind::Failed);
    assert!(problem.what.contains("`PHP Warning:  oops`"), "{problem}");
    assert_eq!(problem.place.as_deref(), Some("the worker of `sh`"));
    assert_eq!(problem.log.as_deref(), Some("trouble ahead"));
}

#[test]
fn bytes_that_are_no_text_are_garbage_too() {
    let problem = describe(r"printf '\377\376\000\n'; sleep 600");
    assert!(
        problem.what.starts_with("it said what is not an event"),
        "{problem}"
    );
}

#[test]
fn a_hang_names_its_deadline_and_ends_the_worker() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir, &(say(OPENED) + "echo stuck >&2; sleep 600"));
    let mut worker = opened(&host);
    worker.go().unwrap();
    let start = Instant::now();
    let problem = worker.done(SHORT, &GOES_ON).unwrap_err();
    assert!(start.elapsed() >= SHORT);
    assert_eq!(problem.what, "it did not say `done` within 0.3 s");
    assert_eq!(problem.log.as_deref(), Some("stuck"));
    assert!(is_gone(worker.pid()));
}

#[test]
fn a_death_tells_how_and_when() {
    let dir = PrivateDir::new().unwrap();
    let mut worker = opened(&host(
        &dir,
        &(say(OPENED) + "echo out of memory >&2; kill -9 $$"),
    ));
    worker.go().unwrap();
    let problem = worker.done(LONG, &GOES_ON).unwrap_err();
    assert_eq!(problem.kind, Kind::Failed);
    assert_eq!(
        problem.what,
        "it was ended by signal 9 before it said `done`"
    );
    assert_eq!(problem.log.as_deref(), Some("out of memory"));
}

#[test]
fn an_early_exit_tells_its_code_whether_or_not_it_was_written_to() {
    let problem = describe("exit 7");
    assert_eq!(
        problem.what,
        "it ended with exit code 7 before it said `described`"
    );
    let problem = describe("exec 0<&-; sleep 0.2; exit 0");
    assert_eq!(
        problem.what,
        "it ended with exit code 0 before it said `described`"
    );
}

#[test]
fn an_output_that_is_closed_does_not_wait_for_the_end() {
    let problem = describe("exec >&-; sleep 600");
    assert_eq!(
        problem.what,
        "it closed its output before it said `described`"
    );
}

#[test]
fn an_endless_line_is_cut() {
    let problem = describe("while :; do printf '%01000d' 0; done");
    assert!(
        problem
            .what
            .starts_with("it said a line of over 1 MiB: `0000"),
        "{problem}"
    );
    assert!(problem.to_string().len() < 1000);
}

#[test]
fn a_worker_that_talks_without_end_is_held_up_and_ended() {
    let problem = describe("while :; do echo '{\"event\":\"ready\"}'; done");
    assert_eq!(
        problem.what,
        "it answered `{\"event\":\"ready\"}` where `described` was due"
    );
}

#[test]
fn another_version_of_the_contract_is_named() {
    let problem = describe(&say(&DESCRIBED.replace("\"contract\":1", "\"contract\":2")));
    assert_eq!(
        problem.what,
        "it speaks version 2 of the worker contract, and this Roundtrip version 1"
    );
}

#[test]
fn an_error_event_is_the_problem() {
    let error = r#"{"event":"error","kind":"connect","message":"refused\nby the server"}"#;
    let problem = describe(&(say(error) + "echo why >&2; exit 1"));
    assert_eq!(problem.kind, Kind::Failed);
    assert_eq!(problem.what, r"refused\nby the server");
    assert_eq!(problem.log.as_deref(), Some("why"));
}

#[test]
fn time_that_runs_backwards_is_refused() {
    let dir = PrivateDir::new().unwrap();
    let done =
        r#"{"event":"done","started_ns":9,"ended_ns":8,"user_ns":0,"sys_ns":0,"outcomes":{}}"#;
    let mut worker = opened(&host(&dir, &(say(OPENED) + &say(done))));
    worker.go().unwrap();
    let problem = worker.done(LONG, &GOES_ON).unwrap_err();
    assert_eq!(
        problem.what,
        "it says that the loop ended before it started"
    );
}

#[test]
fn a_bad_end_is_no_good_end() {
    let dir = PrivateDir::new().unwrap();
    let closed = say(r#"{"event":"closed"}"#);
    let worker = opened(&host(&dir, &(say(OPENED) + &closed + "exit 3")));
    let problem = worker.close().unwrap_err();
    assert_eq!(
        problem.what,
        "it ended with exit code 3 after it had closed"
    );
    let stays = host(&dir, &(say(OPENED) + &closed + "sleep 600")).patience(SHORT);
    let problem = opened(&stays).close().unwrap_err();
    assert_eq!(problem.what, "it did not exit within 0.3 s of `closed`");
}

#[test]
fn a_dropped_or_killed_worker_is_gone() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir, &(say(OPENED) + "sleep 600"));
    let mut worker = opened(&host);
    let pid = worker.pid();
    worker.kill();
    worker.go().unwrap();
    let problem = worker.done(LONG, &GOES_ON).unwrap_err();
    assert_eq!(
        problem.what,
        "it was ended by signal 9 before it said `done`"
    );
    let other = opened(&host);
    let other_pid = other.pid();
    drop((worker, other));
    assert!(is_gone(pid) && is_gone(other_pid));
}

#[test]
fn a_program_that_is_missing_is_told_with_its_command() {
    let dir = PrivateDir::new().unwrap();
    let folder = dir.path().join("added/cobol");
    fs::create_dir_all(&folder).unwrap();
    let manifest =
        "program = \"no-such-program\"\nargs = []\ninstall = \"apt-get install gnucobol\"\n";
    fs::write(folder.join("worker.toml"), manifest).unwrap();
    let problem = with(&dir).unwrap().describe("cobol").unwrap_err();
    assert_eq!(problem.kind, Kind::Missing);
    assert_eq!(
        problem.what,
        "the program `no-such-program` is not installed"
    );
    assert_eq!(
        problem.next_step.as_deref(),
        Some("apt-get install gnucobol")
    );
}

#[test]
fn a_bad_manifest_is_told_with_its_place() {
    let dir = PrivateDir::new().unwrap();
    let folder = dir.path().join("added/sh");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("worker.toml"), "program = \"sh\"\nargz = []\n").unwrap();
    let problem = with(&dir).unwrap_err();
    assert_eq!(problem.kind, Kind::Usage);
    assert!(problem.what.contains("argz"), "{problem}");
    assert!(problem.place.unwrap().ends_with("added/sh/worker.toml"));
    let nowhere = dir.path().join("nowhere");
    let problem = Host::with_workers("/none".into(), &dir, Some(&nowhere)).unwrap_err();
    assert_eq!(problem.kind, Kind::Usage);
}

/// Runs itself again with the variable set, because a variable belongs to the whole process.
#[test]
fn the_variable_adds_languages() {
    let dir = PrivateDir::new().unwrap();
    if std::env::var_os(WORKERS_VARIABLE).is_some() {
        let host = Host::new("/none".into(), &dir).unwrap();
        let names: Vec<&str> = host.languages().map(|(name, _)| name).collect();
        assert_eq!(names, ["native", "php", "sh"]);
        return;
    }
    host(&dir, "exit 1");
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_variable_adds_languages"])
        .env(WORKERS_VARIABLE, dir.path().join("added"))
        .output()
        .unwrap();
    assert!(again.status.success(), "{again:?}");
    assert!(String::from_utf8_lossy(&again.stdout).contains("1 passed"));
}
