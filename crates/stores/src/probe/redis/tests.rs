use super::*;
use proptest::prelude::*;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

/// A server that answers the requests of one connection with these, one after the other.
fn serve(answers: Vec<Vec<u8>>) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        for answer in answers {
            let mut request = [0; 4096];
            if socket.read(&mut request).unwrap_or(0) == 0 || socket.write_all(&answer).is_err() {
                return;
            }
        }
    });
    Endpoint::Tcp {
        host: "127.0.0.1".to_owned(),
        port,
    }
}

fn bulk(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into_bytes()
}

fn probe_of(answers: Vec<Vec<u8>>) -> RedisProbe {
    RedisProbe::new(&serve(answers), Duration::from_secs(60))
}

#[test]
fn info_becomes_counters() {
    let text = "# Server\r\nredis_version:7.0.15\r\nuptime_in_seconds:5\r\n\r\n# Stats\r\n\
        keyspace_hits:7\r\nkeyspace_misses:2\r\n# Commandstats\r\n\
        cmdstat_get:calls=9,usec=11,usec_per_call=1.22,rejected_calls=0,failed_calls=0\r\n\
        cmdstat_config|get:calls=3,usec=1\r\ncmdstat_setex:calls=2\r\n\
        cmdstat_del:calls=1\r\ncmdstat_unlink:calls=2\r\n\
        # Keyspace\r\ndb0:keys=4,expires=0,avg_ttl=0\r\ndb11:keys=1,expires=1\r\n";
    let counters = Info::parse(text).counters();
    for (name, count) in [
        ("keyspace_hits", 7),
        ("keyspace_reads", 9),
        ("calls_get", 9),
        ("calls_config_get", 3),
        ("calls_set", 0),
        ("writes", 2),
        ("arithmetic", 0),
        ("removals", 3),
        ("calls_exec", 0),
        ("keys", 5),
        ("uptime_in_seconds", 5),
    ] {
        assert_eq!(counters.get(name), Some(&count), "{name}");
    }
    assert!(!counters.contains_key("redis_version"));
    // What was not told is not known.
    assert!(!Info::parse("").counters().contains_key("keyspace_reads"));
}

#[test]
fn what_is_not_redis_is_said_to_be_so() {
    let problem = probe_of(vec![b"ERROR\r\n".to_vec()])
        .identify()
        .unwrap_err();
    assert!(
        problem.what.contains("redis answered `INFO` with `ERROR`"),
        "{problem}"
    );
    let problem = probe_of(vec![]).identify().unwrap_err();
    assert!(
        problem.what.contains("closed") || problem.what.contains("broke"),
        "{problem}"
    );
}

#[test]
fn a_server_that_takes_its_place_is_called_by_its_own_version() {
    let info = bulk("redis_version:7.2.4\r\nvalkey_version:8.1.0\r\nprocess_id:5\r\n");
    let identity = probe_of(vec![info.clone(), info]).identify().unwrap();
    assert_eq!(identity.version, "valkey-server 8.1.0");
    assert_eq!(identity.pid, Some(5));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]
    #[test]
    fn garbage_is_a_problem_and_no_panic(answer in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = probe_of(vec![answer]).counters();
    }

    #[test]
    fn no_info_makes_it_panic(text: String, lines in "([a-z0-9_:=,#|.]{0,30}\r\n){0,9}") {
        let _ = Info::parse(&text).counters();
        let _ = Info::parse(&lines).counters();
    }
}
