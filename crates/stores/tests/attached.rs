//! The safety rules for a store that somebody else runs, with a real memcached.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{memcached, memcached_with, runs, unix};
use roundtrip_model::Kind;
use roundtrip_stores::attach;
use std::net::TcpListener;

#[test]
fn an_attached_store_is_counted_and_left_as_it_was() {
    let mut server = memcached();
    let mut raw = server.raw();
    (0..3).for_each(|i| raw.set(&format!("theirs{i}"), 0, 0, b"v"));
    let mut store = attach(&server.url(), false).unwrap();
    assert!(store.is_attached());
    assert_eq!(store.foreign_items(), Some(3));
    assert_eq!(store.endpoint(), server.store.endpoint());
    assert_eq!(store.version(), server.store.version());
    assert_eq!(store.settings(), server.store.settings());
    assert_eq!((store.cpu_ns(), store.pids()), (None, vec![]));
    assert_eq!(store.counters().unwrap()["curr_items"], 3);
    assert!(store.is_alive().is_none());
    store.stop().unwrap();
    assert!(runs(server.store.pids()[0]));
    assert_eq!(server.store.counters().unwrap()["curr_items"], 3);
}

#[test]
fn only_the_keys_that_are_named_are_deleted() {
    let server = memcached();
    let mut raw = server.raw();
    (0..10).for_each(|i| raw.set(&format!("theirs{i}"), 0, 0, b"v"));
    (0..3000).for_each(|i| raw.set(&format!("ours:{i}"), 0, 60, b"v"));
    let mut store = attach(&server.url(), false).unwrap();
    // A third of them was never written.
    let ours = (0..4500).map(|i| format!("ours:{i}").into_bytes());
    assert_eq!(store.delete_keys(ours).unwrap(), 3000);
    assert_eq!(store.delete_keys(std::iter::empty()).unwrap(), 0);
    let counters = store.counters().unwrap();
    assert_eq!(counters["curr_items"], 10);
    assert_eq!(
        (counters["delete_hits"], counters["delete_misses"]),
        (3000, 1500)
    );
    assert!((0..10).all(|i| raw.get(&format!("theirs{i}"), "").is_some()));
    assert_eq!(raw.stats("")["cmd_flush"], "0");
}

#[test]
fn a_unix_socket_can_be_attached_to() {
    let server = memcached_with(unix);
    let store = attach(&server.url(), false).unwrap();
    assert_eq!(store.foreign_items(), Some(0));
    let gone = attach("memcached:///no/such.sock", false).err().unwrap();
    assert_eq!(gone.kind, Kind::Missing);
}

#[test]
fn an_address_where_nobody_listens_is_said_to_be_so() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let problem = attach(&format!("memcached://{address}"), false)
        .err()
        .unwrap();
    assert_eq!(problem.kind, Kind::Missing);
    assert_eq!(problem.place.unwrap(), address.to_string());
}

#[test]
fn a_remote_address_is_refused_before_anything_is_sent() {
    let problem = attach("memcached://192.0.2.1:11211", false).err().unwrap();
    assert_eq!(problem.kind, Kind::Refused);
}
