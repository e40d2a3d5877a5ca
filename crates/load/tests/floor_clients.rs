//! The floor as a server of RESP: what Redis says it says too, and real clients work against it.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_process::{NOBODY, Owned, Settings, free_port, is_root};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A real Redis, which dies with this value.
struct Redis {
    _child: Owned,
    address: String,
}

impl Redis {
    fn start() -> Redis {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            let port = free_port().unwrap().to_string();
            let mut command = Command::new("redis-server");
            command
                .args([
                    "--bind",
                    "127.0.0.1",
                    "--port",
                    &port,
                    "--save",
                    "",
                    "--dir",
                    "/",
                ])
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            let settings = Settings {
                cpus: None,
                run_as: is_root().then_some(NOBODY),
            };
            let mut child = Owned::spawn(&mut command, &settings).expect("apt-get install redis");
            let address = format!("127.0.0.1:{port}");
            while child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(20) {
                if TcpStream::connect(&address).is_ok() {
                    return Redis {
                        _child: child,
                        address,
                    };
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        panic!("redis-server does not start");
    }
}

fn redis_cli(address: &str, arguments: &[&str], script: &str) -> String {
    let (host, port) = address.rsplit_once(':').unwrap();
    let mut child = Command::new("redis-cli")
        .args(["-h", host, "-p", port])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("apt-get install redis-tools");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `INFO` as names and values.
fn info(address: &str, section: &str) -> BTreeMap<String, String> {
    redis_cli(address, &["INFO", section], "")
        .lines()
        .filter_map(|line| line.trim_end().split_once(':'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn it_says_what_redis_says_to_the_same_commands() {
    let script = include_str!("data/redis-commands.txt");
    for protocol in [&[][..], &["-3"]] {
        let (redis, floor) = (Redis::start(), floor());
        let expected = redis_cli(&redis.address, protocol, script);
        let said = redis_cli(&floor, protocol, script);
        assert!(expected.lines().count() >= script.lines().count());
        assert_eq!(said, expected);
        let (real, own) = (info(&redis.address, "stats"), info(&floor, "stats"));
        for counter in ["keyspace_hits", "keyspace_misses"] {
            assert_eq!(own[counter], real[counter], "{counter}");
        }
        let calls = |stats: BTreeMap<String, String>| -> BTreeMap<String, String> {
            let calls = |value: String| value.split(',').next().unwrap().to_owned();
            stats
                .into_iter()
                .map(|(name, value)| (name, calls(value)))
                .collect()
        };
        let real = calls(info(&redis.address, "commandstats"));
        let own = calls(info(&floor, "commandstats"));
        for command in [
            "get", "set", "incr", "mget", "mset", "del", "exists", "exec",
        ] {
            let name = format!("cmdstat_{command}");
            assert_eq!(own[&name], real[&name], "{name}");
        }
    }
}

#[test]
fn nothing_empties_or_ends_it() {
    let floor = floor();
    let said = redis_cli(
        &floor,
        &[],
        "SET a 1\nFLUSHALL\nFLUSHDB ASYNC\nSHUTDOWN NOSAVE\nGET a\n",
    );
    let lines: Vec<_> = said.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!((lines[0], lines.last()), ("OK", Some(&"1")));
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.starts_with("ERR the floor"))
            .count(),
        3
    );
}

#[test]
fn redis_benchmark_runs_on_it() {
    let floor = floor();
    let (host, port) = floor.rsplit_once(':').unwrap();
    let output = Command::new("redis-benchmark")
        .args([
            "-h",
            host,
            "-p",
            port,
            "-n",
            "1000",
            "-q",
            "-t",
            "get,set,incr,mset",
        ])
        .output()
        .expect("apt-get install redis-tools");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let stats = info(&floor, "commandstats");
    for command in ["get", "set", "incr", "mset"] {
        assert_eq!(
            stats[&format!("cmdstat_{command}")],
            "calls=1000,failed_calls=0"
        );
        assert!(
            said.contains(&format!("{}:", command.to_uppercase())) || command == "mset",
            "{said}"
        );
    }
}

/// What phpredis gets from a server, as JSON.
fn phpredis(address: &str) -> String {
    let (host, port) = address.rsplit_once(':').unwrap();
    let script = r#"
        $r = new Redis; $r->connect('HOST', PORT) || exit(1);
        $seen = [$r->ping(), $r->get('nobody'), $r->set('text', 'string'), $r->get('text')];
        $r->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_PHP);
        $seen[] = $r->set('list', [1, 2, 3], ['nx', 'ex' => 100]);
        $seen[] = $r->set('list', [], ['nx']);
        $seen[] = $r->get('list');
        $r->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_NONE);
        $seen[] = [$r->incr('n'), $r->incrBy('n', 41), $r->decr('n'), $r->decrBy('n', 2)];
        $seen[] = $r->mset(['a' => '1', 'b' => str_repeat('x', 100000)]);
        $seen[] = array_map(fn($v) => is_string($v) ? strlen($v) : $v, $r->mget(['a', 'nobody', 'b']));
        $seen[] = [$r->setex('e', 100, 'v'), $r->ttl('e'), $r->expire('a', 50), $r->ttl('a')];
        $seen[] = $r->pipeline()->set('p', 1)->get('p')->incr('p')->exec();
        $seen[] = $r->multi()->set('m', 1)->incr('m')->get('nobody')->exec();
        $r->watch('m'); $other = new Redis; $other->connect('HOST', PORT); $other->set('m', 9);
        $seen[] = $r->multi()->set('m', 2)->exec();
        $seen[] = [$r->get('m'), $r->del('m', 'nobody'), $r->exists('m'), $r->strlen('text')];
        $seen[] = [$r->append('text', 's'), $r->getSet('text', 'new'), $r->setnx('text', 1)];
        $seen[] = [$r->type('text'), $r->dbSize(), $r->select(0), $r->unlink('text')];
        $keys = $r->scan($it); sort($keys); $seen[] = $keys;
        $seen[] = [$r->rawCommand('NOPE', 'x'), $r->getLastError()];
        echo json_encode($seen);"#
        .replace("HOST", host)
        .replace("PORT", port);
    let output = Command::new("php").args(["-r", &script]).output();
    let output = output.expect("apt-get install php-cli php-redis");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.starts_with('['),
        "{said}{log}"
    );
    said
}

#[test]
fn phpredis_gets_from_it_what_it_gets_from_redis() {
    let (redis, floor) = (Redis::start(), floor());
    assert_eq!(phpredis(&floor), phpredis(&redis.address));
    assert_eq!(
        info(&floor, "commandstats")["cmdstat_mset"],
        "calls=1,failed_calls=0"
    );
}

fn exchange(address: &str, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    reply
}

#[test]
fn commands_for_real_clients_of_memcached_are_answered_as_memcached_does() {
    let (memcached, floor) = (Memcached::start(), floor());
    for request in [
        &b"set a 3 0 1\r\nx\r\ngat 100 a nobody\r\ngats 0 nobody\r\nmg a t\r\n"[..],
        b"ms YiBj 1 b k\r\nx\r\nmg YiBj b v k\r\nmg YiBj b v\r\nmg YiBj v\r\nmd YiBj b k\r\nmg ? b v\r\n",
        b"ms bjE= 1 b\r\n5\r\nma bjE= b v\r\nma bjE= b k D7 v\r\n",
        b"me nobody\r\nmn\r\n",
    ] {
        let request = [request, b"quit\r\n"].concat();
        assert_eq!(
            String::from_utf8_lossy(&exchange(&floor, &request)),
            String::from_utf8_lossy(&exchange(&memcached.address, &request)),
        );
    }
    let said = exchange(
        &floor,
        b"set a 3 0 1\r\nx\r\nme a\r\nflush_all\r\nget a\r\nquit\r\n",
    );
    let said = String::from_utf8_lossy(&said);
    assert!(
        said.starts_with("STORED\r\nME a exp=-1 la=0 cas="),
        "{said}"
    );
    assert!(
        said.ends_with("ERROR\r\nVALUE a 3 1\r\nx\r\nEND\r\n"),
        "{said}"
    );
}

#[test]
fn a_slow_reader_takes_the_time_that_its_rate_says() {
    let address = floor_with(|options| options.slow_read = Some(2000));
    let start = Instant::now();
    let request = [&b"set a 0 0 400\r\n"[..], &[b'x'; 400], b"\r\nquit\r\n"].concat();
    assert_eq!(exchange(&address, &request), b"STORED\r\n");
    // All but what the last read brought has had to wait for its share of a second.
    assert!(
        start.elapsed() >= Duration::from_millis(190),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn what_was_done_wrong_is_told_in_both_protocols() {
    let address = floor_with(|options| {
        options.delay = Some("100us".parse().unwrap());
        options.double = Some(2);
    });
    let said = exchange(
        &address,
        b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\nQUIT\r\n",
    );
    assert_eq!(said, b"+OK\r\n$1\r\n1\r\n$1\r\n1\r\n+OK\r\n");
    let stats = info(&address, "stats");
    assert_eq!(
        (stats["doubled"].as_str(), stats["delayed"].as_str()),
        ("1", "2")
    );
    assert_eq!(
        (counter(&address, "doubled"), counter(&address, "delayed")),
        (1, 2)
    );
    let error_ns: u64 = stats["delay_error_max_ns"].parse().unwrap();
    assert_eq!(counter(&address, "delay_error_max_ns"), error_ns);
    assert!(error_ns > 0);
}

#[test]
fn delays_of_many_connections_do_not_add_up() {
    let address = floor_with(|options| options.delay = Some("100ms".parse().unwrap()));
    let start = Instant::now();
    let mut streams: Vec<_> = (0..50)
        .map(|_| TcpStream::connect(&address).unwrap())
        .collect();
    for stream in &mut streams {
        stream.write_all(b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n").unwrap();
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0; 5]).unwrap();
    }
    // One after another they would take five seconds.
    assert!(start.elapsed() < Duration::from_secs(4));
    assert!(start.elapsed() >= Duration::from_millis(100));
}

#[test]
fn both_protocols_are_counted_under_the_same_names() {
    let address = floor();
    let said = exchange(
        &address,
        b"SET a 1\r\nMSET b 2 c 3\r\nGET a\r\nMGET a b none\r\nINCR a\r\nINCRBY new 5\r\n\
          DECR b\r\nAPPEND c x\r\nDEL a b none\r\nEXISTS c\r\nQUIT\r\n",
    );
    assert!(said.starts_with(b"+OK\r\n+OK\r\n$1\r\n1\r\n*3\r\n"));
    for (name, count) in [
        ("cmd_set", 4),
        ("cmd_get", 4),
        ("get_hits", 3),
        ("get_misses", 1),
        ("incr_hits", 1),
        ("incr_misses", 1),
        ("decr_hits", 1),
        ("delete_hits", 2),
        ("delete_misses", 1),
        ("curr_items", 2),
    ] {
        assert_eq!(counter(&address, name), count, "{name}");
    }
}

/// A pipeline of reads with hits and misses, with other commands and refusals between them.
fn mixed(get: impl Fn(&str) -> String, other: &str) -> String {
    let reads = |n: usize| {
        let word = if n.is_multiple_of(3) { "none" } else { "there" };
        get(word) + if n.is_multiple_of(41) { other } else { "" }
    };
    (0..200).map(reads).collect()
}

#[test]
fn requests_that_come_together_are_answered_as_those_that_come_alone() {
    let long = "k".repeat(251);
    let memcached = mixed(
        |key| format!("get {key}\r\n"),
        &format!("get there none there\r\nget {long}\r\ngets none\r\n"),
    );
    let resp = mixed(
        |key| format!("*2\r\n$3\r\nGET\r\n${}\r\n{key}\r\n", key.len()),
        "GET there\r\n*2\r\n$3\r\nget\r\n$4\r\nnone\r\n*1\r\n$4\r\nPING\r\n",
    );
    let three = format!("HELLO 3\r\n{resp}");
    for (set, pipeline, end) in [
        ("set there 0 0 5\r\nvalue\r\n", &memcached, "quit\r\n"),
        ("SET there value\r\n", &resp, "QUIT\r\n"),
        ("SET there value\r\n", &three, "QUIT\r\n"),
    ] {
        let address = floor();
        let whole = [set, pipeline, end].concat();
        let together = exchange(&address, whole.as_bytes());
        // With faults that never come there is no short way, and every request goes its own.
        let slow = floor_with(|options| options.double = Some(u64::MAX));
        let alone = exchange(&slow, whole.as_bytes());
        assert_eq!(
            String::from_utf8_lossy(&together),
            String::from_utf8_lossy(&alone)
        );
        let counts =
            |address| ["cmd_get", "get_hits", "get_misses"].map(|name| counter(address, name));
        assert_eq!(counts(&address), counts(&slow), "{end}");
    }
}
