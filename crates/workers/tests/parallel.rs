//! Several workers at once, which is how a concurrency above one is made.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{GOES_ON, LONG, Memcached, host, open, outcomes, phase, published};
use roundtrip_model::Op;
use roundtrip_process::{PrivateDir, Settings};
use std::fs;

#[test]
fn workers_share_a_phase_part_by_part() {
    let dir = PrivateDir::new().unwrap();
    let host = host(&dir);
    let server = Memcached::tcp();
    let mut workers = Vec::new();
    for part in 0..3 {
        let folder = dir.path().join(part.to_string());
        fs::create_dir(&folder).unwrap();
        let mut stream = published(1000);
        stream.part = (part, 3);
        let mut worker = host.spawn("php", &Settings::default()).unwrap();
        worker
            .open(open("memcached", &server.endpoint, &[]))
            .unwrap();
        worker.ready(phase(Op::Set, &stream, &folder)).unwrap();
        workers.push((worker, stream.len()));
    }
    for (worker, _) in &mut workers {
        worker.go().unwrap();
    }
    for (mut worker, count) in workers {
        let done = worker.done(LONG, &GOES_ON).unwrap();
        assert_eq!(outcomes(&done), [("stored", count)]);
        assert_eq!(worker.written().unwrap().0, count);
        worker.close().unwrap();
    }
    assert_eq!(server.counter("curr_items"), 1000);
}
