//! Where a key of a cluster is.

#![allow(clippy::unwrap_used, clippy::panic)]

use roundtrip_wire::resp::{Redirect, Reply, Shards, SlotRanges, hash_slot};
use roundtrip_wire::{Limits, Parsed};

fn parse(bytes: &[u8]) -> Reply<'_> {
    match Reply::parse(bytes, &Limits::default()) {
        Parsed::Complete(reply, _) => reply,
        other => panic!("{other:?}"),
    }
}

#[test]
fn slots_are_those_of_the_specification() {
    for (key, slot) in [
        ("123456789", 0x31c3),
        ("foo", 12182),
        ("", 0),
        ("{foo}.bar", 12182),
        ("a{foo}b{bar}", 12182),
    ] {
        assert_eq!(hash_slot(key.as_bytes()), slot, "{key}");
    }
    // Empty braces, and braces that do not close, are part of the key.
    assert_ne!(hash_slot(b"{}foo"), hash_slot(b"foo"));
    assert_ne!(hash_slot(b"{foo"), hash_slot(b"foo"));
    assert_eq!(hash_slot(b"{{foo}"), hash_slot(b"{foo"));
}

#[test]
fn redirects_are_told_from_other_errors() {
    let redirect = |ask, slot, host, port| {
        Some(Redirect {
            ask,
            slot,
            host,
            port,
        })
    };
    for (error, expected) in [
        (
            "MOVED 3999 127.0.0.1:6381",
            redirect(false, 3999, "127.0.0.1", 6381),
        ),
        ("ASK 0 ::1:6381", redirect(true, 0, "::1", 6381)),
        ("MOVED 16383 :1", redirect(false, 16383, "", 1)),
        ("MOVED 1 ?:7000", redirect(false, 1, "", 7000)),
        ("MOVED 16384 127.0.0.1:1", None),
        ("MOVED 1 127.0.0.1:65536", None),
        ("MOVED 1 127.0.0.1", None),
        ("MOVED 1 127.0.0.1:1 more", None),
        ("MOVED", None),
        ("CLUSTERDOWN Hash slot not served", None),
        ("", None),
    ] {
        assert_eq!(Redirect::parse(error.as_bytes()), expected, "{error:?}");
    }
}

#[test]
fn the_map_of_slots_is_read_in_both_forms() {
    let slots = b"*1\r\n*4\r\n:0\r\n:5460\r\n*3\r\n$9\r\n127.0.0.1\r\n:7000\r\n$1\r\nx\r\n\
        *3\r\n$9\r\n127.0.0.1\r\n:7003\r\n$1\r\ny\r\n";
    let shards = b"*1\r\n%2\r\n+slots\r\n*2\r\n:0\r\n:5460\r\n+nodes\r\n*2\r\n\
        %3\r\n+role\r\n+replica\r\n+endpoint\r\n+x\r\n+port\r\n:1\r\n\
        %3\r\n+port\r\n:7000\r\n+endpoint\r\n$9\r\n127.0.0.1\r\n+role\r\n+master\r\n";
    let by_slots: Vec<_> = SlotRanges::check(&parse(slots)).unwrap().iter().collect();
    let by_shards: Vec<_> = Shards::check(&parse(shards)).unwrap().ranges().collect();
    assert_eq!(by_slots, by_shards);
    let range = by_slots[0];
    assert_eq!((range.first, range.last), (0, 5460));
    assert_eq!(
        (range.primary.host, range.primary.port),
        ("127.0.0.1", 7000)
    );
}

#[test]
fn a_map_with_one_wrong_range_is_refused() {
    for wrong in [
        "*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n+h\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n+h\r\n:1\r\n",
        "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n+h\r\n:99999\r\n",
        "*1\r\n*2\r\n:0\r\n:1\r\n",
        "*1\r\n:1\r\n",
        "+OK\r\n",
    ] {
        assert!(
            SlotRanges::check(&parse(wrong.as_bytes())).is_none(),
            "{wrong:?}"
        );
        assert!(
            Shards::check(&parse(wrong.as_bytes())).is_none(),
            "{wrong:?}"
        );
    }
}
