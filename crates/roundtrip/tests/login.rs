//! A store of the user's own that asks who is there.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_process::{Owned, PrivateDir, Settings, free_port};
use std::net::TcpStream;
use std::process::{Command, Stdio};

const VARIABLE: &str = "ROUNDTRIP_REDIS_PASSWORD";

/// A Redis, perhaps with a password; on another port, where somebody took the first one before.
fn redis(password: &str) -> (Owned, PrivateDir, u16) {
    for _ in 0..10 {
        let (private, port) = (PrivateDir::new().unwrap(), free_port().unwrap());
        let mut command = Command::new("redis-server");
        command
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--requirepass", password, "--dir"])
            .arg(private.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let mut process = Owned::spawn(&mut command, &Settings::default()).unwrap();
        let serves = soon("the server", || {
            let ended = process.try_wait().unwrap().is_some();
            let serves = TcpStream::connect(("127.0.0.1", port)).is_ok();
            (ended || serves).then_some(!ended)
        });
        if serves {
            return (process, private, port);
        }
    }
    panic!("no redis-server could be started");
}

fn compared(port: u16, password: Option<&str>) -> (Home, Ran) {
    let home = Home::new();
    let store = format!("redis=redis://127.0.0.1:{port}");
    let args = ["compare", "native", "php/phpredis", "--store", &store];
    let rest = ["--op", "get", "--count", "200", "--blocks", "2"];
    let mut command = home.command(&[&args[..], &rest[..]].concat());
    command.env_remove(VARIABLE);
    if let Some(password) = password {
        command.env(VARIABLE, password);
    }
    let ran = Ran::of(command.output().unwrap());
    (home, ran)
}

fn keys(port: u16, password: &str) -> String {
    let mut command = Command::new("redis-cli");
    command.args(["-p", &port.to_string(), "dbsize"]);
    if !password.is_empty() {
        command.env("REDISCLI_AUTH", password);
    }
    let said = command.output().unwrap().stdout;
    String::from_utf8(said).unwrap().trim().to_owned()
}

fn all_are_valid(home: &Home, ran: &Ran) {
    let result = home.good(&["report", "--format", "json"]);
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    let trials = result["trials"].as_array().unwrap();
    assert!(trials.len() >= 4, "{ran:?}");
    for trial in trials {
        assert_eq!(trial["validity"]["state"], "valid", "{trial}");
    }
    assert!(!result.to_string().contains("opensesame"));
}

#[test]
fn clients_of_a_redis_with_a_password_log_in() {
    let (_redis, _dir, port) = redis("opensesame");
    let (home, ran) = compared(port, Some("opensesame"));
    all_are_valid(&home, &ran);
    compared(port, None)
        .1
        .refused(7, &["wants a password", VARIABLE]);
    let (_, wrong) = compared(port, Some("guess"));
    wrong.refused(7, &["does not take the password", VARIABLE]);
    assert!(!wrong.err.contains("guess"));
    assert_eq!(keys(port, "opensesame"), "0");
}

#[test]
fn a_redis_that_asks_for_nothing_is_told_nothing() {
    let (_redis, _dir, port) = redis("");
    let (home, ran) = compared(port, Some("opensesame"));
    all_are_valid(&home, &ran);
    assert_eq!(keys(port, ""), "0");
}
