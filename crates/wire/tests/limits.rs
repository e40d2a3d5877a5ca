//! Each limit and each kind of bad message, with what a reader can go on with.

#![allow(clippy::unwrap_used, clippy::panic)]

use roundtrip_wire::memcached::{DumpedItem, Reply, Request, key_is_valid};
use roundtrip_wire::{BadWire, Because, Limits, Parsed};

const LIMITS: Limits = Limits {
    key_bytes: 4,
    value_bytes: 3,
    line_bytes: 30,
    message_bytes: 100,
    parts: 4,
    depth: 2,
};

fn refused_request(bytes: &str) -> (Because, Option<usize>) {
    match Request::parse(bytes.as_bytes(), &LIMITS) {
        Parsed::Bad(BadWire { because, skip }) => (because, skip),
        other => panic!("{bytes:?} gave {other:?}"),
    }
}

fn refused_reply(bytes: &str) -> (Because, Option<usize>) {
    match Reply::parse(bytes.as_bytes(), &LIMITS) {
        Parsed::Bad(BadWire { because, skip }) => (because, skip),
        other => panic!("{bytes:?} gave {other:?}"),
    }
}

#[test]
fn a_bad_line_is_left_out_and_a_bad_write_ends_the_stream() {
    use Because::*;
    for (bytes, because, skip) in [
        ("bogus\r\nget a\r\n", UnknownWord, Some(7)),
        ("\r\n", UnknownWord, Some(2)),
        ("get\r\n", Form, Some(5)),
        ("get abcde\r\n", KeyTooLong, Some(11)),
        ("get a\tb\r\n", KeyByte, Some(9)),
        ("delete a 1\r\n", Form, Some(12)),
        ("incr a x\r\n", Number, Some(10)),
        ("touch a\r\n", Form, Some(9)),
        ("lru_crawler tocrawl 5\r\n", Form, Some(23)),
        ("mg a 1\r\n", Form, Some(8)),
        ("set abcde 0 0 1\r\nx\r\n", KeyTooLong, None),
        ("set a 0 0 4\r\n", ValueTooLong, None),
        ("set a 0 0 99999999999999999999\r\n", Number, None),
        ("set a 0 0 1\r\nxy\r\n", ValueEnd, None),
        ("set a -1 0 1\r\nx\r\n", Number, None),
        ("set a 0 0 1 yes\r\n", Form, None),
        ("ms a 4\r\n", ValueTooLong, None),
        ("ms a S1\r\n", Number, None),
    ] {
        assert_eq!(refused_request(bytes), (because, skip), "{bytes:?}");
    }
}

#[test]
fn what_changes_a_server_as_a_whole_is_read_and_never_written() {
    for (bytes, name, rest, quiet) in [
        ("flush_all\r\n", "flush_all", "", false),
        ("flush_all 0 noreply\r\n", "flush_all", "0 noreply", true),
        ("verbosity 2\r\n", "verbosity", "2", false),
        ("cache_memlimit 64\r\n", "cache_memlimit", "64", false),
    ] {
        let Parsed::Complete(request, _) = Request::parse(bytes.as_bytes(), &LIMITS) else {
            panic!("{bytes:?} was not read");
        };
        let expected = Request::Administer {
            command: name.as_bytes(),
            arguments: rest.as_bytes(),
            noreply: quiet,
        };
        assert_eq!(request, expected);
        let mut out = Vec::new();
        request.write(&mut out);
        assert!(out.is_empty(), "{out:?}");
    }
    assert_eq!(refused_request("shutdown\r\n").0, Because::UnknownWord);
}

#[test]
fn bad_replies_are_told_apart() {
    use Because::*;
    for (bytes, because, skip) in [
        ("HELLO\r\n", UnknownWord, Some(7)),
        ("STORED x\r\n", Form, Some(10)),
        ("12x\r\n", Number, Some(5)),
        ("VALUE abcde 0 1\r\nx\r\n", KeyTooLong, None),
        ("VALUE a 0 4\r\n", ValueTooLong, None),
        ("VALUE a 0\r\n", Form, None),
        ("VALUE a 0 1 2 3\r\n", Form, None),
        ("VALUE a 0 1\r\nxy\r\n", ValueEnd, None),
        ("VA 9\r\n", ValueTooLong, None),
        ("STAT\r\n", Form, Some(6)),
        ("key=abc exp=-1\n", Form, Some(15)),
        ("key=a exp=z la=1\n", Number, Some(17)),
    ] {
        assert_eq!(refused_reply(bytes), (because, skip), "{bytes:?}");
    }
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let line = |spaces: usize| format!("get a{}\r\n", " ".repeat(spaces));
    assert!(matches!(
        Request::parse(line(25).as_bytes(), &LIMITS),
        Parsed::Complete(_, 32)
    ));
    assert_eq!(refused_request(&line(26)), (Because::LineTooLong, None));
    // Also when its end has not come yet.
    assert_eq!(
        refused_request(&" ".repeat(32)),
        (Because::LineTooLong, None)
    );
}

#[test]
fn a_key_that_would_be_two_requests_is_not_valid() {
    for bad in ["", "a b", "a\r\nflush_all", "a\0", &"x".repeat(251)] {
        assert!(!key_is_valid(bad.as_bytes()), "{bad:?}");
    }
    assert!(key_is_valid("schlüssel".as_bytes()));
    assert!(key_is_valid("x".repeat(250).as_bytes()));
}

#[test]
fn broken_escapes_of_a_dumped_key_are_noticed() {
    for (escaped_key, read) in [("a%20b", Some(())), ("a%2", None), ("%zz", None)] {
        let item = DumpedItem {
            escaped_key: escaped_key.as_bytes(),
            expires: -1,
            last_access: 0,
            cas: 0,
            fetched: false,
            class: 1,
            bytes: 50,
        };
        assert_eq!(item.key(&mut Vec::new()), read, "{escaped_key}");
    }
}
