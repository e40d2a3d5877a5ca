//! What becomes of values of every type in the PHP libraries, against a real memcached.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{Memcached, host, opened};
use roundtrip_model::contract::{Check, CheckMode, CheckRow, Endpoint};
use roundtrip_process::PrivateDir;
use roundtrip_workers::Host;

fn checked(
    host: &Host,
    at: &Endpoint,
    client: &str,
    serializer: &str,
    classes: bool,
) -> Vec<CheckRow> {
    let mut rows = Vec::new();
    for mode in [CheckMode::Write, CheckMode::Read] {
        let mut worker = opened(host, client, at, &[("serializer", serializer)]);
        rows = worker
            .check(Check {
                mode,
                vectors: host.vectors().display().to_string(),
                prefix: format!("{client}-{serializer}-"),
                classes,
            })
            .unwrap();
        if mode == CheckMode::Write {
            assert!(rows.iter().all(|row| row.same), "{rows:?}");
        }
        worker.close().unwrap();
    }
    rows
}

fn changed(rows: &[CheckRow]) -> Vec<&str> {
    let changed = rows.iter().filter(|row| !row.same);
    changed.map(|row| row.name.as_str()).collect()
}

fn row<'a>(rows: &'a [CheckRow], name: &str) -> &'a CheckRow {
    rows.iter().find(|row| row.name == name).unwrap()
}

#[test]
fn what_each_serializer_changes_is_found() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    let at = &server.endpoint;
    let rows = checked(&host, at, "memcache", "php", true);
    assert_eq!(rows.len(), 23);
    assert_eq!(changed(&rows), ["null"]);
    let note = Some("this library gives false for a miss too".to_owned());
    assert_eq!(row(&rows, "false").note, note);
    for serializer in ["php", "igbinary", "msgpack"] {
        let rows = checked(&host, at, "memcached", serializer, true);
        assert_eq!(changed(&rows), [""; 0], "{serializer}");
        assert_eq!(row(&rows, "false").note, None);
        assert_eq!(row(&rows, "nan").value, "NAN");
    }
    let rows = checked(&host, at, "memcached", "json", true);
    assert_eq!(changed(&rows), ["map", "nested", "object"]);
    assert_eq!(row(&rows, "map").type_name, "stdClass");
}

#[test]
fn an_object_comes_back_only_to_a_reader_with_its_class() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    for (client, also) in [("memcache", vec!["null"]), ("memcached", vec![])] {
        let rows = checked(&host, &server.endpoint, client, "php", false);
        let object = row(&rows, "object");
        assert_eq!(object.type_name, "__PHP_Incomplete_Class");
        assert_eq!(
            object.note.as_deref(),
            Some("the reader does not declare the class RoundtripPoint")
        );
        assert_eq!(changed(&rows), [also, vec!["object"]].concat());
    }
}
