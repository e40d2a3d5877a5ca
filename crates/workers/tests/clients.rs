//! Every client file that there is: adding one adds it to these tests.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{Memcached, host, open};
use roundtrip_model::contract::{Check, CheckMode, Endpoint};
use roundtrip_model::{Kind, Op, Path};
use roundtrip_process::{PrivateDir, Settings};
use std::fs;

/// `(language, file stem, text)` of every `workers/LANG/clients/LIBRARY.EXT`.
fn files() -> Vec<(String, String, String)> {
    let workers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workers");
    let mut files = Vec::new();
    for language in fs::read_dir(workers).unwrap().flatten() {
        for file in fs::read_dir(language.path().join("clients"))
            .into_iter()
            .flatten()
        {
            let path = file.unwrap().path();
            files.push((
                language.file_name().to_str().unwrap().to_owned(),
                path.file_stem().unwrap().to_str().unwrap().to_owned(),
                fs::read_to_string(path).unwrap(),
            ));
        }
    }
    files
}

#[test]
fn a_library_costs_one_small_file() {
    let files = files();
    assert!(files.len() >= 3);
    for (language, library, text) in files {
        let lines = text.lines().count();
        assert!(lines < 80, "{language}/{library} has {lines} lines");
    }
}

#[test]
fn every_client_describes_itself() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    for (language, library, _) in files() {
        let described = host.describe(&language).unwrap();
        let known = described.clients.iter().find(|c| c.name == library);
        let client = known.unwrap_or_else(|| panic!("{language}/{library} is not described"));
        assert!(client.ops.contains(&Op::Get), "{library}");
        assert_eq!(client.version.is_some(), client.available, "{library}");
        assert_eq!(client.reason.is_none(), client.available, "{library}");
    }
}

#[test]
fn every_client_of_memcached_gives_text_back() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    for (language, library, _) in files() {
        let Ok(client) = host.client(&format!("{language}/{library}")) else {
            continue; // Not installed: its own tests say so.
        };
        if !client.stores.iter().any(|store| store == "memcached") {
            continue;
        }
        let mut rows = Vec::new();
        for mode in [CheckMode::Write, CheckMode::Read] {
            let mut worker = host.spawn(&language, &Settings::default()).unwrap();
            worker.open(open(&library, &server.endpoint, &[])).unwrap();
            let check = Check {
                mode,
                vectors: host.vectors().display().to_string(),
                prefix: format!("{language}-{library}-"),
                classes: true,
            };
            rows = worker.check(check).unwrap();
            worker.close().unwrap();
        }
        let texts = [
            "text",
            "empty_text",
            "utf8_text",
            "binary",
            "large_text",
            "number_as_text",
        ];
        for text in texts {
            let row = rows.iter().find(|row| row.name == text).unwrap();
            assert!(row.same, "{language}/{library}: {row:?}");
        }
    }
}

#[test]
fn a_client_that_does_nothing_needs_no_store() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let mut worker = host.spawn("php", &Settings::default()).unwrap();
    let nowhere = Endpoint::File {
        path: "/dev/null".into(),
    };
    worker.open(open("nothing", &nowhere, &[])).unwrap();
    for (op, expected) in [
        (Op::Get, "hit"),
        (Op::Set, "stored"),
        (Op::Delete, "done"),
        (Op::Incr, "done"),
        (Op::Insert, "stored"),
        (Op::ReadModifyWrite, "stored"),
    ] {
        let stream = common::published(1000);
        let done = common::run(&mut worker, common::phase(op, &stream, dir.path()));
        assert_eq!(common::outcomes(&done), [(expected, 1000)]);
    }
    worker.close().unwrap();
}

#[test]
fn a_mistyped_name_is_answered_with_the_nearest() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let next = |name: &str| {
        let problem = host.client(name).unwrap_err();
        assert_eq!(problem.kind, Kind::Usage, "{problem}");
        problem.next_step.unwrap()
    };
    assert_eq!(
        next("php/memcachd"),
        "did you mean `php/memcached`? Known: php/memcache, php/memcached, \
         php/mysqli, php/nothing, php/pdo, php/phpredis, php/predis"
    );
    assert_eq!(
        next("phhp/memcached"),
        "did you mean `php`? Known: native, php"
    );
    assert_eq!(next("cobol/vsam"), "known: native, php");
    assert!(next("php").starts_with("known: php/memcache"));
}

#[test]
fn a_path_is_held_against_what_its_client_can_do() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let fits = |text: &str, ops: &[Op]| {
        let path: Path = text.parse().unwrap();
        host.client_for(&path, ops)
            .map_err(|p| (p.what, p.next_step.unwrap()))
    };
    let all = "php/memcached@memcached?serializer=igbinary&tcp_nodelay=true&transport=unix&depth=1";
    assert!(fits(all, &[Op::Get, Op::Set]).is_ok());
    let (what, next) = fits("php/memcache@memcached?serialiser=php", &[]).unwrap_err();
    assert_eq!(what, "there is no option `serialiser`");
    assert!(next.starts_with("did you mean `serializer`?"), "{next}");
    let (what, next) = fits("php/memcached@memcached?serializer=ibinary", &[]).unwrap_err();
    assert_eq!(what, "there is no value of `serializer` `ibinary`");
    assert!(next.starts_with("did you mean `igbinary`?"), "{next}");
    let (what, next) = fits("php/memcached@sqlite", &[]).unwrap_err();
    assert_eq!(what, "`php/memcached` does not reach the store `sqlite`");
    assert_eq!(next, "known: memcached, memcached-shards, mysql, floor");
    let (what, _) = fits("php/memcached@memcached", &[Op::ReadAside]).unwrap_err();
    assert_eq!(what, "`php/memcached` has no op `read_aside`");
}

#[test]
fn native_is_roundtrips_own_executable() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let (_, native) = host
        .languages()
        .find(|(name, _)| *name == "native")
        .unwrap();
    assert_eq!(native.program, "/no/roundtrip/here");
    assert_eq!(native.args, ["worker"]);
    assert_eq!(host.client("native").unwrap_err().kind, Kind::Missing);
}
