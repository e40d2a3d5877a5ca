//! What memcached 1.6.18 was sent and what it said, in `vectors/` (taken by `vectors/capture.sh`).

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{vector, vectors};
use roundtrip_wire::memcached::{DumpedItem, MetaFlags, Reply, Request};
use roundtrip_wire::{Limits, Parsed};

fn read(name: &str) -> Vec<u8> {
    vector(name)
}

fn names(ending: &str) -> Vec<String> {
    vectors("", ending)
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
    assert_eq!(names.len(), 32);
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
        // Of the last two, one is never written and the other not read.
        let apart = ["bad_data", "unknown", "whole_server", "no_such_dump"];
        if apart.contains(&name.trim_end_matches(".request")) {
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
    assert_eq!(all[1], Reply::MetaMiss(MetaFlags::NONE));
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

#[test]
fn what_changes_a_server_as_a_whole_is_known_by_its_name() {
    let bytes = read("whole_server.request");
    let mut rest = bytes.as_slice();
    for expected in [
        ("verbosity", false),
        ("flush_all", false),
        ("verbosity", true),
    ] {
        let Parsed::Complete(request, length) = Request::parse(rest, &Limits::default()) else {
            panic!("{:?}", String::from_utf8_lossy(rest));
        };
        let Request::Administer {
            command, noreply, ..
        } = request
        else {
            panic!("{request:?}");
        };
        assert_eq!((command, noreply), (expected.0.as_bytes(), expected.1));
        rest = &rest[length..];
    }
    assert!(rest.is_empty());
}

#[test]
fn quiet_requests_are_answered_only_where_it_matters_and_by_their_marks() {
    let (asked, said) = (read("meta_quiet.request"), read("meta_quiet.reply"));
    let Parsed::Complete(Request::Meta { flags, .. }, _) =
        Request::parse(&asked, &Limits::default())
    else {
        panic!("not read");
    };
    assert!(flags.is_quiet() && !flags.is_base64());
    assert_eq!(flags.opaque(), Some(b"1".as_slice()));
    let marks: Vec<_> = replies(&said)
        .iter()
        .filter_map(|reply| match reply {
            Reply::MetaValue { flags, .. } | Reply::MetaNotFound(flags) => flags.opaque(),
            _ => None,
        })
        .collect();
    assert_eq!(marks, [b"2", b"3"]);
}

#[test]
fn a_key_in_base64_is_the_bytes_that_it_stands_for() {
    let bytes = read("meta_key.reply");
    let Reply::MetaValue { flags, .. } = replies(&bytes)[1] else {
        panic!("no value");
    };
    let mut key = Vec::new();
    assert_eq!(
        flags.read_key(flags.argument(b'k').unwrap(), &mut key),
        Some(())
    );
    assert_eq!(key, b"a\0b");
}
