//! What redis-server 7.0.15 was sent and what it said, in `vectors/resp/` (taken by the script
//! there).

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{same_at_every_split, vector, vectors};
use roundtrip_wire::resp::{
    NullForm, Redirect, Reply, Request, Shards, SlotRange, SlotRanges, hash_slot, write_command,
};
use roundtrip_wire::{Limits, Parsed};

fn read(name: &str) -> Vec<u8> {
    vector(&format!("resp/{name}"))
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

fn requests(bytes: &[u8]) -> Vec<Request<'_>> {
    let mut rest = bytes;
    let mut requests = Vec::new();
    while let Parsed::Complete(request, length) = Request::parse(rest, &Limits::default()) {
        requests.push(request);
        rest = &rest[length..];
    }
    requests
}

fn items<'a>(reply: &Reply<'a>) -> Vec<Reply<'a>> {
    reply.items().unwrap().collect()
}

fn bulk(text: &str) -> Reply<'_> {
    Reply::Bulk(text.as_bytes())
}

#[test]
fn every_reply_is_understood_and_written_as_redis_wrote_it() {
    let names = vectors("resp", ".reply");
    assert_eq!(names.len(), 18);
    for name in names {
        let bytes = read(&name);
        assert!(!bytes.is_empty(), "{name}");
        let mut written = Vec::new();
        replies(&bytes)
            .iter()
            .for_each(|reply| reply.write(&mut written));
        assert_eq!(
            String::from_utf8_lossy(&written),
            String::from_utf8_lossy(&bytes),
            "{name}"
        );
        same_at_every_split(&bytes, |part| {
            Reply::parse(part, &Limits::default()).map(|reply| format!("{reply:?}"))
        })
        .unwrap();
    }
}

#[test]
fn requests_are_taken_and_refused_as_redis_takes_and_refuses_them() {
    for name in vectors("resp", ".request") {
        let bytes = read(&name);
        let all = requests(&bytes);
        if name.starts_with("bad_") {
            assert!(
                matches!(Request::parse(&bytes, &Limits::default()), Parsed::Bad(_)),
                "{name}"
            );
        } else if name == "typed.request" {
            // The empty line is a request too, and is not answered.
            let lengths: Vec<_> = all.iter().map(Request::len).collect();
            assert_eq!(lengths, [3, 2, 0, 1]);
            assert_eq!(replies(&read("typed.reply")).len(), 3);
        } else {
            let mut written = Vec::new();
            for request in all {
                let words: Vec<&[u8]> = request.iter().collect();
                write_command(&mut written, &words);
            }
            assert_eq!(written, bytes, "{name}");
        }
    }
}

#[test]
fn one_reply_answers_one_request() {
    for name in [
        "strings",
        "numbers",
        "structures",
        "errors",
        "transaction",
        "protocol2",
        "keyslots",
    ] {
        let (asked, said) = (
            read(&format!("{name}.request")),
            read(&format!("{name}.reply")),
        );
        assert_eq!(requests(&asked).len(), replies(&said).len(), "{name}");
    }
}

#[test]
fn strings_and_numbers_are_told_apart_from_nothing_and_errors() {
    let bytes = read("strings.reply");
    let all = replies(&bytes);
    assert_eq!(
        all[..3],
        [
            Reply::Simple(b"OK"),
            bulk("one"),
            Reply::Null(NullForm::Bulk)
        ]
    );
    assert_eq!(all[4], bulk("a\r\nb"));
    assert_eq!(
        items(&all[5]),
        [bulk("one"), Reply::Null(NullForm::Bulk), bulk("a\r\nb")]
    );
    assert_eq!(all[8], bulk(""));
    let bytes = read("numbers.reply");
    let all = replies(&bytes);
    assert_eq!(
        all[1..4],
        [Reply::Integer(42), Reply::Integer(-8), Reply::Integer(1)]
    );
    assert!(
        all[4]
            .error()
            .unwrap()
            .starts_with(b"ERR value is not an integer")
    );
    let bytes = read("errors.reply");
    assert!(replies(&bytes).iter().all(|reply| reply.error().is_some()));
}

#[test]
fn a_transaction_is_answered_with_the_answers_of_its_commands() {
    let bytes = read("transaction.reply");
    let all = replies(&bytes);
    assert_eq!(all[..2], [Reply::Simple(b"OK"), Reply::Simple(b"QUEUED")]);
    let done = items(&all[5]);
    assert_eq!(done[..2], [Reply::Simple(b"OK"), Reply::Integer(2)]);
    assert!(done[2].error().unwrap().starts_with(b"WRONGTYPE"));
    assert_eq!(done[3], bulk("2"));
    assert!(all[8].error().unwrap().starts_with(b"EXECABORT"));
    let bytes = read("watched.reply");
    assert_eq!(replies(&bytes).last(), Some(&Reply::Null(NullForm::Array)));
}

#[test]
fn the_third_version_has_kinds_of_its_own() {
    let bytes = read("hello3.reply");
    let all = replies(&bytes);
    let Reply::Map(hello) = all[0] else {
        panic!("{:?}", all[0]);
    };
    assert_eq!(hello.named(b"proto"), Some(Reply::Integer(3)));
    assert_eq!(all[1], Reply::Null(NullForm::Any));
    let Reply::Map(hash) = all[2] else {
        panic!("{:?}", all[2]);
    };
    assert_eq!(hash.named(b"g"), Some(bulk("2")));
    assert_eq!(all[3].items().map(|set| set.len()), Some(1));
    assert!(matches!(all[3], Reply::Set(_)));
    assert_eq!(
        items(&items(&all[4])[0]),
        [bulk("m"), Reply::Double(b"1.5")]
    );
    assert_eq!(
        (all[5].number(), all[7].number()),
        (Some(1.5), Some(f64::INFINITY))
    );
    assert_eq!(all[9], Reply::Null(NullForm::Any));
    let Reply::Push(news) = all[10] else {
        panic!("{:?}", all[10]);
    };
    assert_eq!(news.iter().next(), Some(bulk("subscribe")));
}

#[test]
fn each_kind_that_redis_can_show_is_that_kind() {
    let bytes = read("protocol3.reply");
    let all = replies(&bytes);
    // What an attribute or a push stands before follows it.
    let kinds: Vec<String> = all[1..]
        .iter()
        .map(|reply| {
            let shown = format!("{reply:?}");
            shown.split(['(', ' ', '{']).next().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "Bulk",
            "Integer",
            "Double",
            "Null",
            "Array",
            "Set",
            "Map",
            "Attribute",
            "Bulk",
            "Push",
            "Bulk",
            "Verbatim",
            "Boolean",
            "Boolean",
            "BigNumber"
        ]
    );
    let verbatim = all[12];
    assert!(
        matches!(verbatim, Reply::Verbatim { format: b"txt", .. }),
        "{verbatim:?}"
    );
    let Reply::Map(map) = all[7] else {
        panic!("{:?}", all[7]);
    };
    assert_eq!(map.pairs().count(), 3);
}

#[test]
fn a_cluster_says_where_to_look() {
    let bytes = read("cluster.reply");
    let all = replies(&bytes);
    let to = |reply: &Reply<'_>| {
        let redirect = Redirect::parse(reply.error()?)?;
        Some((redirect.ask, redirect.slot, redirect.port))
    };
    assert_eq!(to(&all[0]), Some((false, hash_slot(b"foo"), 17003)));
    assert_eq!(to(&all[1]), Some((true, hash_slot(b"bar"), 17003)));
    assert!(
        all[2..4]
            .iter()
            .all(|reply| reply.error().is_some() && to(reply).is_none())
    );
    assert_eq!(all[5], bulk("here"));
}

#[test]
fn a_slot_is_the_one_that_redis_says() {
    let (asked, said) = (read("keyslots.request"), read("keyslots.reply"));
    for (request, reply) in requests(&asked).iter().zip(replies(&said)) {
        let key = request.argument(2).unwrap();
        assert_eq!(reply, Reply::Integer(hash_slot(key).into()), "{key:?}");
    }
}

#[test]
fn the_map_of_slots_is_the_same_in_each_form() {
    let in_order = |mut ranges: Vec<SlotRange<'_>>| {
        ranges.sort_by_key(|range| range.first);
        let shown = ranges
            .iter()
            .map(|r| (r.first, r.last, r.primary.host.to_owned(), r.primary.port));
        shown.collect::<Vec<_>>()
    };
    let bytes = read("cluster_slots.reply");
    let by_slots = in_order(
        SlotRanges::check(&replies(&bytes)[0])
            .unwrap()
            .iter()
            .collect(),
    );
    let host = || "127.0.0.1".to_owned();
    let expected = [
        (1, 12181, host(), 17002),
        (12182, 12182, host(), 17003),
        (12183, 16383, host(), 17002),
    ];
    assert_eq!(by_slots, expected);
    for name in ["cluster_shards.reply", "cluster_shards3.reply"] {
        let bytes = read(name);
        let shards = Shards::check(replies(&bytes).last().unwrap()).unwrap();
        assert_eq!(in_order(shards.ranges().collect()), expected, "{name}");
    }
    let bytes = read("cluster_down.reply");
    let nowhere = SlotRanges::check(&replies(&bytes)[1]).unwrap();
    assert_eq!(nowhere.iter().count(), 0);
}
