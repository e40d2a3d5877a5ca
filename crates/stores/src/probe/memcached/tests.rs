use super::*;
use crate::probe::Probe;
use proptest::prelude::*;
use roundtrip_model::Kind;
use roundtrip_model::record::Counters;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// A server that answers each connection with the next of these, and then holds or closes it.
fn serve(answers: Vec<Vec<u8>>, hold: bool) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut held = Vec::new();
        for answer in answers {
            let (mut socket, _) = listener.accept().unwrap();
            let mut request = [0; 512];
            let _ = socket.read(&mut request).unwrap();
            let _ = socket.write_all(&answer);
            if hold {
                held.push(socket);
            }
        }
        // Held until the test's process ends.
        if hold {
            thread::park();
        }
    });
    Endpoint::Tcp {
        host: "127.0.0.1".to_owned(),
        port,
    }
}

fn version_of(answer: &[u8], hold: bool) -> Result<String> {
    let endpoint = serve(vec![answer.to_vec()], hold);
    Connection::open(&endpoint, Duration::from_millis(200))?.version()
}

#[test]
fn a_server_that_hangs_is_a_problem_and_not_a_wait() {
    let problem = version_of(b"", true).unwrap_err();
    assert_eq!(problem.what, "memcached did not answer within 0.2 s");
    assert_eq!(
        version_of(b"VERSION 1", true).unwrap_err().what,
        problem.what
    );
}

#[test]
fn what_is_not_memcached_is_said_to_be_so() {
    let problem = version_of(b"HTTP/1.1 400 Bad Request\r\n", true).unwrap_err();
    assert!(
        problem.what.contains("with `HTTP/1.1 400 Bad Request`"),
        "{problem}"
    );
    assert!(
        version_of(b"VERSION 1.6.18", false)
            .unwrap_err()
            .what
            .contains("closed")
    );
    let endless = version_of(&vec![b'x'; 100_000], true).unwrap_err();
    assert!(
        endless.what.contains("a line that does not end"),
        "{endless}"
    );
}

#[test]
fn stats_without_an_end_are_limited() {
    let line = b"STAT a 1\r\n";
    let endpoint = serve(vec![line.repeat(MAX_STATS + 1)], true);
    let problem = Connection::open(&endpoint, Duration::from_secs(60))
        .unwrap()
        .stats("")
        .unwrap_err();
    assert!(problem.what.contains("does not stop"), "{problem}");
}

#[test]
fn a_value_is_taken_by_its_length_and_checked_at_its_end() {
    let value = |answer: &[u8]| {
        let endpoint = serve(vec![answer.to_vec()], false);
        let mut connection = Connection::open(&endpoint, Duration::from_secs(60)).unwrap();
        connection.send(b"mg k v\r\n").unwrap();
        connection.reply("mg", |reply| match reply {
            Reply::MetaValue { value, .. } => Some(value.to_vec()),
            _ => None,
        })
    };
    assert_eq!(value(b"VA 4\r\na\r\nb\r\nEND\r\n").unwrap(), b"a\r\nb");
    assert_eq!(value(b"VA 0\r\n\r\n").unwrap(), b"");
    assert!(value(b"VA 3\r\nabcd\r\n").is_err());
    assert!(value(b"VA 3\r\nabc").is_err());
    assert!(value(b"VA 1073741825\r\n").is_err());
}

#[test]
fn a_connection_that_the_server_closed_is_made_anew() {
    let answer = |n: u32| format!("STAT n {n}\r\nSTAT text x\r\nEND\r\n").into_bytes();
    let endpoint = serve(vec![answer(1), answer(2)], false);
    let mut probe = MemcachedProbe::new(&endpoint, Duration::from_secs(60));
    assert_eq!(
        probe.counters().unwrap(),
        Counters::from([("n".to_owned(), 1)])
    );
    assert_eq!(
        probe.counters().unwrap(),
        Counters::from([("n".to_owned(), 2)])
    );
}

#[test]
fn a_key_that_could_carry_a_command_is_not_sent() {
    let endpoint = serve(vec![vec![]], true);
    let mut probe = MemcachedProbe::new(&endpoint, Duration::from_secs(60));
    for key in [&b"a\r\nflush_all"[..], b"a b", b"", &[b'k'; 251]] {
        let problem = probe.delete(&mut [key.to_vec()].into_iter()).unwrap_err();
        assert_eq!(problem.kind, Kind::Internal);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn garbage_is_a_problem_and_no_panic(answer in prop::collection::vec(any::<u8>(), 0..300)) {
        let endpoint = serve(vec![answer], false);
        let mut connection = Connection::open(&endpoint, Duration::from_secs(60)).unwrap();
        prop_assert!(connection.stats("").is_err());
    }
}
