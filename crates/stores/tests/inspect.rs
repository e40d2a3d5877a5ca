//! A look into a real memcached.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Raw, Server, memcached, memcached_with};
use roundtrip_model::Kind;
use roundtrip_stores::inspect::{Window, display, dump, dump_json, stats};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::Duration;

/// Little memory, and no page for the classes of large items.
fn small() -> Server {
    memcached_with(|options| {
        options.memory_mb = 2;
        options.extra_args = ["-o", "no_slab_reassign,no_lru_maintainer"]
            .map(str::to_owned)
            .into();
    })
}

#[test]
fn the_slab_table_says_what_stats_items_and_slabs_say() {
    let server = small();
    let mut raw = server.raw();
    for i in 0..40_000 {
        raw.set(&format!("small{i}"), 0, 0, b"v");
    }
    (0..10).for_each(|i| raw.set(&format!("large{i}"), 0, 0, &[b'x'; 5000]));
    let table = display(&server.store.endpoint()).unwrap();
    let (items, slabs) = (raw.stats("items"), raw.stats("slabs"));
    assert_eq!(table.classes.len().to_string(), slabs["active_slabs"]);
    assert!(table.classes.len() >= 2, "{table:?}");
    for class in &table.classes {
        let n = class.class;
        let slab = |name: &str| slabs[&format!("{n}:{name}")].parse::<u64>().unwrap();
        let item = |name: &str| items[&format!("items:{n}:{name}")].parse::<u64>().ok();
        assert_eq!(class.item_size_bytes, slab("chunk_size"));
        assert_eq!(class.pages, slab("total_pages"));
        assert_eq!(class.full, slab("used_chunks") == slab("total_chunks"));
        assert_eq!(Some(class.count), item("number"));
        assert_eq!(class.evicted, item("evicted"));
        assert_eq!(class.evict_time_s, item("evicted_time"));
        assert_eq!(class.oom, item("outofmemory"));
        assert!(class.max_age_s.unwrap() <= item("age").unwrap());
    }
    assert!(
        table.classes[0].full && table.classes[0].evicted > Some(0),
        "{table:?}"
    );
    assert_eq!(
        table
            .classes
            .iter()
            .map(|class| class.count)
            .sum::<u64>()
            .to_string(),
        raw.stats("")["curr_items"]
    );
}

#[test]
fn statistics_mean_what_was_done() {
    let server = small();
    let mut raw = server.raw();
    let healthy = stats(&server.store.endpoint(), None).unwrap();
    assert_eq!(
        (healthy.findings.len(), healthy.meaning.hit_ratio),
        (0, None)
    );
    (0..40_000).for_each(|i| raw.set(&format!("k{i}"), 0, 0, b"v"));
    (0..500).for_each(|_| assert!(raw.get("k39999", "").is_some()));
    (0..1500).for_each(|_| assert!(raw.get("no", "").is_none()));
    let told = stats(&server.store.endpoint(), None).unwrap();
    assert_eq!(
        (told.meaning.gets, told.meaning.hit_ratio),
        (Some(2000), Some(0.25))
    );
    let told_by = |name: &str| told.statistics[name].parse::<u64>().ok();
    assert_eq!(told.meaning.items, told_by("curr_items"));
    assert_eq!(told.meaning.memory_limit_bytes, Some(2 << 20));
    assert_eq!(told.meaning.memory_used_bytes, told_by("bytes"));
    assert_eq!(told.meaning.connections, told_by("curr_connections"));
    assert_eq!(told.meaning.max_connections, Some(2048));
    assert_eq!(told.meaning.evictions, told_by("evictions"));
    assert!(told.meaning.evictions_per_s > Some(0.0));
    assert!(
        told.findings
            .iter()
            .any(|f| f.contains("before their time")),
        "{:?}",
        told.findings
    );
    assert!(
        told.findings
            .iter()
            .any(|f| f.starts_with("Only 25.0% of 2000 reads"))
    );
    assert_eq!(told.statistics["cmd_set"], "40000");

    // Over an interval in which nothing happened.
    let quiet = stats(&server.store.endpoint(), Some(Duration::from_millis(20))).unwrap();
    assert!(matches!(quiet.meaning.window, Window::Interval { seconds } if seconds >= 0.02));
    assert_eq!(
        (quiet.meaning.gets, quiet.meaning.evictions_per_s),
        (Some(0), Some(0.0))
    );
    serde_json::to_string(&quiet).unwrap();
}

#[test]
fn writes_refused_for_want_of_memory_are_found() {
    let server = memcached_with(|options| {
        options.memory_mb = 2;
        options.extra_args = vec!["-M".to_owned()];
    });
    let mut raw = server.raw();
    let full = (0..100_000).any(|i| {
        raw.send(format!("set k{i} 0 0 1\r\nv\r\n").as_bytes());
        raw.line().starts_with("SERVER_ERROR out of memory")
    });
    assert!(full);
    let told = stats(&server.store.endpoint(), None).unwrap();
    let oom = told
        .findings
        .iter()
        .filter(|f| f.contains("had no memory for"));
    assert_eq!(oom.count(), 1, "{:?}", told.findings);
}

/// The commands of a dump, each with its value.
fn commands(dumped: &[u8]) -> BTreeSet<&[u8]> {
    let mut rest = dumped;
    let mut commands = BTreeSet::new();
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let head = std::str::from_utf8(&rest[..end]).unwrap().trim_end();
        let mut words = head.split(' ');
        let bytes = match words.next().unwrap() {
            "add" => words.nth(3),
            "ms" => words.nth(1),
            other => panic!("{other}"),
        };
        let (command, after) =
            rest.split_at(end + 1 + bytes.unwrap().parse::<usize>().unwrap() + 2);
        assert!(commands.insert(command), "{head} stands twice");
        rest = after;
    }
    assert!(rest.is_empty());
    commands
}

#[test]
fn a_dump_loaded_into_another_server_gives_the_same_items() {
    let (first, second) = (memcached(), memcached());
    let mut raw = first.raw();
    raw.set("binary", 0, 0, b"a\r\nEND\r\n\0\xff");
    raw.set("empty", 4_294_967_295, 1000, b"");
    raw.set("100%&=\"<k\u{e9}y>", 7, 0, "h\u{e9}".as_bytes());
    raw.set(&"k".repeat(250), 1, 2_500_000, &vec![b'x'; 1_000_000]);
    // A key with blanks and line ends, which only the meta commands carry: "a b\r\n".
    raw.send(b"ms YSBiDQo= 2 b T500 F9\r\nhi\r\n");
    assert_eq!(raw.line(), "HD");

    let mut dumped = Vec::new();
    let summary = dump(&first.store.endpoint(), &mut dumped).unwrap();
    assert_eq!((summary.items, summary.vanished), (5, 0));
    assert_eq!(summary.value_bytes, 10 + 3 + 1_000_000 + 2);
    let mut again = Vec::new();
    dump(&first.store.endpoint(), &mut again).unwrap();
    // The order is that of use, which the server's own upkeep changes.
    assert!(commands(&dumped) == commands(&again), "two dumps differ");

    let mut other = second.raw();
    let mut answers = BTreeSet::new();
    for command in commands(&dumped) {
        other.send(command);
        answers.insert(other.line());
    }
    assert_eq!(
        answers,
        BTreeSet::from(["HD".to_owned(), "STORED".to_owned()])
    );
    let long = "k".repeat(250);
    for (key, b) in [
        ("binary", ""),
        ("empty", ""),
        ("100%&=\"<k\u{e9}y>", ""),
        (long.as_str(), ""),
        ("YSBiDQo=", "b"),
    ] {
        let (was, is) = (raw.get(key, b).unwrap(), other.get(key, b).unwrap());
        assert!(was.0 == is.0 && was.2 == is.2, "{key}");
        assert_eq!(was.1 < 0, is.1 < 0, "{key}");
        assert!(was.1.abs_diff(is.1) <= 2, "{key}: {} and {}", was.1, is.1);
    }
    assert_eq!(second.raw().stats("")["curr_items"], "5");
}

#[test]
fn a_dump_as_json_lines_holds_what_is_there() {
    let server = memcached();
    let mut raw = server.raw();
    raw.set("text", 3, 0, b"a \"quoted\"\nline");
    raw.set("bytes", 0, 1000, &[0xff, 0xfe]);
    let mut lines = Vec::new();
    assert_eq!(
        dump_json(&server.store.endpoint(), &mut lines)
            .unwrap()
            .items,
        2
    );
    let mut items: Vec<serde_json::Value> = lines
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    items.sort_by_key(|item| item["key"].as_str().unwrap().to_owned());
    assert_eq!(items[0]["value_base64"], "//4=");
    assert!((900..=1000).contains(&items[0]["ttl_s"].as_u64().unwrap()));
    let text = serde_json::json!({"key": "text", "flags": 3, "ttl_s": null, "value": "a \"quoted\"\nline"});
    assert_eq!(items[1], text);
}

#[test]
fn ten_thousand_items_are_dumped_without_touching_them() {
    let server = memcached();
    let mut raw = server.raw();
    (0..10_000).for_each(|i| raw.set(&format!("key-{i}"), i, 0, format!("value {i}").as_bytes()));
    let mut dumped = Vec::new();
    let summary = dump(&server.store.endpoint(), &mut dumped).unwrap();
    assert_eq!((summary.items, summary.vanished), (10_000, 0));
    let expected: BTreeSet<String> = (0..10_000)
        .map(|i| {
            format!(
                "add key-{i} {i} 0 {}\r\nvalue {i}\r\n",
                format!("value {i}").len()
            )
        })
        .collect();
    let text = String::from_utf8(dumped).unwrap();
    let items: BTreeSet<String> = text
        .split("add ")
        .skip(1)
        .map(|item| format!("add {item}"))
        .collect();
    assert!(items == expected);
    assert_eq!(raw.ask("mg key-0 h"), "HD h0", "the dump made it look used");
}

#[test]
fn an_empty_server_gives_an_empty_dump() {
    let mut dumped = Vec::new();
    let summary = dump(&memcached().store.endpoint(), &mut dumped).unwrap();
    assert_eq!((summary.items, dumped.len()), (0, 0));
}

#[test]
fn items_that_vanish_on_the_way_are_counted() {
    /// Deletes everything when the first item is written.
    struct Flushing(Option<Raw>);
    impl Write for Flushing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if let Some(mut raw) = self.0.take() {
                assert_eq!(raw.ask("flush_all"), "OK");
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let server = memcached();
    let mut raw = server.raw();
    // More than one batch, and few enough to be listed before the first value is read.
    (0..1000).for_each(|i| raw.set(&format!("key-{i}"), 0, 0, b"v"));
    let summary = dump(&server.store.endpoint(), &mut Flushing(Some(raw))).unwrap();
    assert!(summary.items >= 1 && summary.vanished >= 1, "{summary:?}");
    assert_eq!(summary.items + summary.vanished, 1000);
}

#[test]
fn a_server_that_does_not_list_its_keys_says_what_is_needed() {
    let server = memcached_with(|options| options.extra_args = vec!["-X".to_owned()]);
    let problem = dump(&server.store.endpoint(), &mut io::sink()).unwrap_err();
    assert_eq!(problem.kind, Kind::Failed);
    assert!(problem.next_step.unwrap().contains("without -X"));
}

#[test]
fn a_full_disk_is_a_problem() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let server = memcached();
    server.raw().set("k", 0, 0, b"v");
    let problem = dump(&server.store.endpoint(), &mut Full).unwrap_err();
    assert!(
        problem.what.starts_with("the dump cannot be written"),
        "{problem}"
    );
}
