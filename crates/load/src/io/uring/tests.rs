//! Against real servers. A kernel that has no `io_uring` has nothing to test, and says why.

use super::Uring;
use super::slot::{Request, Tag};
use crate::io::trial::{self, Server};

fn with_ring(
    connections: usize,
    start: fn() -> Server,
    tries: impl FnOnce(&mut Uring, &dyn Fn() -> Server),
) {
    match Uring::new(connections) {
        Ok(mut ring) => tries(&mut ring, &start),
        Err(why) => assert!(why.contains("io_uring"), "{why}"),
    }
}

#[test]
fn it_carries_many_connections() {
    with_ring(100, Server::memcached, trial::carries_many);
}

#[test]
fn more_connections_than_were_foreseen_only_share_its_buffers() {
    with_ring(1, Server::memcached, trial::carries_many);
}

#[test]
fn it_carries_what_no_buffer_holds() {
    with_ring(4, Server::redis, trial::carries_large);
}

#[test]
fn a_server_that_dies_is_told_once_a_connection() {
    with_ring(20, Server::redis, trial::tells_of_loss);
}

#[test]
fn what_completes_of_a_socket_that_was_replaced_is_nobodys() {
    with_ring(1, Server::redis, trial::forgets_what_was_replaced);
}

#[test]
fn a_reply_that_is_not_understood_ends_its_connection() {
    with_ring(1, Server::redis, trial::gives_up_what_is_not_understood);
}

#[test]
fn it_goes_from_thread_to_thread() {
    with_ring(5, Server::memcached, trial::goes_from_thread_to_thread);
}

#[test]
fn a_wait_ends_at_its_moment() {
    with_ring(2, Server::redis, trial::returns_at_its_moment);
}

#[test]
fn a_tag_survives_its_packing() {
    for (slot, life) in [(0, 0), (9_999, 77), (u32::MAX, (1 << 30) - 1)] {
        for request in [
            Request::Receive,
            Request::Send,
            Request::Continue,
            Request::Tick,
        ] {
            let tag = Tag {
                slot,
                life,
                request,
            };
            assert_eq!(Tag::unpack(tag.pack()), tag);
        }
    }
}
