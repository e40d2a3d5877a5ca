//! What memcached 1.6.18 was sent and what it said, in `vectors/` (taken by `vectors/capture.sh`).

#![allow(clippy::unwrap_used, clippy::panic)]

use roundtrip_wire::memcached::{DumpedItem, Reply, Request};
use roundtrip_wire::{Limits, Parsed};
use std::path::PathBuf;

fn read(name: &str) -> Vec<u8> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    std::fs::read(directory.join(name)).unwrap()
}

fn names(ending: &str) -> Vec<String> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut names: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    names
}

fn replies(bytes: &[u8]) -> Vec<Reply<'_>> {
    let mut rest = bytes;
    let mut replies = Vec::new();
    while !rest.is_empty() {
        match Reply::parse(rest, &Limits::default()) {
            Parsed::Complete(reply, length) => {
                replies.push(reply);
                rest = &rest[length..];
            }
            other => panic!("{:?} gave {other:?}", String::from_utf8_lossy(rest)),
        }
    }
    replies
}

#[test]
fn every_reply_is_understood_and_written_as_memcached_wrote_it() {
    let names = names(".reply");
    assert_eq!(names.len(), 26);
    for name in names {
        let bytes = read(&name);
        let mut written = Vec::new();
        replies(&bytes)
            .iter()
            .for_each(|reply| reply.write(&mut written));
        assert_eq!(
            String::from_utf8_lossy(&written),
            String::from_utf8_lossy(&bytes),
            "{name}"
        );
    }
}

#[test]
fn every_request_that_memcached_took_is_understood_and_written_the_same() {
    for name in names(".request") {
        if ["bad_data.request", "unknown.request"].contains(&name.as_str()) {
            continue;
        }
        let bytes = read(&name);
        let mut rest = bytes.as_slice();
        let mut written = Vec::new();
        while !rest.is_empty() {
            let Parsed::Complete(request, length) = Request::parse(rest, &Limits::default()) else {
                panic!("{name}: {:?}", String::from_utf8_lossy(rest));
            };
            request.write(&mut written);
            rest = &rest[length..];
        }
        assert_eq!(written, bytes, "{name}");
    }
}

#[test]
fn values_come_with_flags_versions_and_line_ends_inside() {
    let bytes = read("get_many.reply");
    let value = |key, flags, value, cas| Reply::Value {
        key,
        flags,
        cas,
        value,
    };
    assert_eq!(
        replies(&bytes),
        [
            value(b"alpha", 5, b"one", None),
            value(b"beta", 0, b"", None),
            value(b"gamma", u32::MAX, b"a\r\nbc", None),
            Reply::End
        ]
    );
    let bytes = read("gets.reply");
    assert_eq!(replies(&bytes)[0], value(b"alpha", 5, b"one", Some(1)));
    assert_eq!(replies(&read("get_miss.reply")), [Reply::End]);
}

#[test]
fn the_outcomes_of_writes_are_told_apart() {
    for (name, expected) in [
        ("set", vec![Reply::Stored]),
        ("set_more", vec![Reply::Stored, Reply::Stored]),
        ("add_there", vec![Reply::NotStored]),
        ("replace_missing", vec![Reply::NotStored]),
        ("append", vec![Reply::Stored]),
        ("cas_old", vec![Reply::Exists]),
        ("cas_missing", vec![Reply::NotFound]),
        ("delete", vec![Reply::Deleted, Reply::NotFound]),
        ("touch", vec![Reply::Touched, Reply::NotFound]),
        (
            "number",
            vec![
                Reply::Stored,
                Reply::Number(42),
                Reply::Number(0),
                Reply::NotFound,
                Reply::ClientError(b"cannot increment or decrement non-numeric value"),
            ],
        ),
        ("unknown", vec![Reply::Error(b"")]),
        (
            "bad_data",
            vec![Reply::ClientError(b"bad data chunk"), Reply::Error(b"")],
        ),
        ("version", vec![Reply::Version(b"1.6.18")]),
    ] {
        assert_eq!(replies(&read(&format!("{name}.reply"))), expected, "{name}");
    }
}

#[test]
fn meta_replies_carry_what_was_asked_for() {
    let bytes = read("meta_get.reply");
    let all = replies(&bytes);
    let Reply::MetaValue { flags, value } = all[0] else {
        panic!("{all:?}");
    };
    assert_eq!(value, b"uno");
    assert_eq!(flags.argument(b'k'), Some(b"alpha".as_slice()));
    assert_eq!(flags.argument(b't'), Some(b"-1".as_slice()));
    assert_eq!(flags.argument(b'O'), Some(b"42".as_slice()));
    assert!(!flags.has(b'x'));
    assert_eq!(all[1], Reply::MetaMiss);
    assert!(matches!(all[2], Reply::MetaDone(_)));
    assert_eq!(all[3], Reply::MetaNoop);
    assert!(matches!(
        replies(&read("meta_set.reply"))[..],
        [
            Reply::MetaDone(_),
            Reply::MetaExists(_),
            Reply::MetaNotStored(_)
        ]
    ));
}

#[test]
fn a_dump_gives_each_key_as_it_is() {
    let bytes = read("metadump.reply");
    let all = replies(&bytes);
    assert_eq!(all.last(), Some(&Reply::End));
    let items: Vec<DumpedItem<'_>> = all[..all.len() - 1]
        .iter()
        .map(|reply| match reply {
            Reply::Dumped(item) => *item,
            other => panic!("{other:?}"),
        })
        .collect();
    let key = |item: &DumpedItem<'_>| {
        let mut key = Vec::new();
        item.key(&mut key).unwrap();
        key
    };
    assert!(items.iter().any(|item| key(item) == b"a b"));
    let alpha = items.iter().find(|item| key(item) == b"alpha").unwrap();
    assert_eq!(
        (alpha.expires, alpha.cas, alpha.fetched, alpha.class),
        (-1, 9, true, 1)
    );
}

#[test]
fn counters_are_read_by_name() {
    let bytes = read("stats.reply");
    let all = replies(&bytes);
    assert!(all.contains(&Reply::Stat {
        name: b"version",
        value: b"1.6.18"
    }));
    assert_eq!(all.last(), Some(&Reply::End));
}
