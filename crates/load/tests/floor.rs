//! The floor as a server: what memcached says it says too, real clients work against it, and it
//! is late by exactly what was asked.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::*;
use roundtrip_load::{FloorOptions, Listen, run_floor};
use roundtrip_model::{Kind, Op};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Sends bytes and gives what comes back until the server has no more to say.
fn exchange(address: &str, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request).unwrap();
    // The floor answers all that came before it, and hangs up.
    stream.write_all(b"quit\r\n").unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    reply
}

#[test]
fn it_says_what_memcached_said_to_the_same_requests() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../wire/tests/vectors");
    let script = std::fs::read_to_string(directory.join("capture.sh")).unwrap();
    let names = script
        .lines()
        .filter_map(|line| line.strip_prefix("take "))
        .filter_map(|line| line.split(' ').next());
    let address = floor();
    let mut compared = 0;
    for name in names {
        // What is the server's own: its version and counters, sizes in its memory. After a bad value it hangs up.
        let own = ["version", "stats", "stats_slabs", "metadump", "bad_data"];
        if own.contains(&name) {
            continue;
        }
        let request = std::fs::read(directory.join(format!("{name}.request"))).unwrap();
        let expected = std::fs::read(directory.join(format!("{name}.reply"))).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&exchange(&address, &request)),
            String::from_utf8_lossy(&expected),
            "{name}"
        );
        compared += 1;
    }
    assert_eq!(compared, 21);
}

#[test]
fn what_it_does_not_do_it_refuses() {
    let address = floor();
    for (request, reply) in [
        ("flush_all\r\n", "ERROR\r\n"),
        ("mg a N30\r\n", "CLIENT_ERROR invalid flag\r\n"),
        (
            "ms a 1 Tx\r\nx\r\n",
            "CLIENT_ERROR bad token in command line format\r\n",
        ),
        (
            "set a 0 0 2000000\r\n",
            "SERVER_ERROR object too large for cache\r\n",
        ),
        ("set a 0 0 1\r\nxyz\r\n", "CLIENT_ERROR bad data chunk\r\n"),
        (
            "set a 0 0 1 noreply\r\nx\r\nget a\r\n",
            "VALUE a 0 1\r\nx\r\nEND\r\n",
        ),
    ] {
        let said = exchange(&address, request.as_bytes());
        assert_eq!(String::from_utf8_lossy(&said), reply, "{request:?}");
    }
}

#[test]
fn quiet_meta_commands_say_only_what_matters() {
    let address = floor();
    let said = exchange(
        &address,
        b"ms a 1 q\r\nx\r\nmg b v q\r\nmg a v q k\r\nmd a q\r\nmd a q\r\nmn\r\n",
    );
    assert_eq!(String::from_utf8_lossy(&said), "VA 1 ka\r\nx\r\nMN\r\n");
}

#[test]
fn a_dump_lists_every_item() {
    let address = floor();
    let said = exchange(
        &address,
        b"set a%b 0 0 3\r\nxyz\r\nlru_crawler metadump all\r\n",
    );
    let said = String::from_utf8(said).unwrap();
    assert!(said.starts_with("STORED\r\nkey=a%25b exp=-1 la="), "{said}");
    assert!(said.ends_with(" fetch=no cls=1 size=62\nEND\r\n"), "{said}");
}

#[test]
fn a_client_that_takes_no_replies_does_not_stop_the_others() {
    let address = floor();
    exchange(&address, &set_of(1 << 20));
    let mut greedy = TcpStream::connect(&address).unwrap();
    greedy.set_nonblocking(true).unwrap();
    // Until nothing more goes in: the floor stopped reading.
    while greedy.write(b"get big\r\n").is_ok() {}
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 100, 1.0);
    let done = run(&open("floor", tcp(&address)), &[set]);
    assert_eq!(done[0].outcomes, counts(&[("stored", 100)]));
}

/// How many latencies took so long or longer.
fn as_long_as(latencies: &roundtrip_model::Histogram, least_ns: u64) -> u64 {
    let buckets = latencies.buckets().filter(|(ns, _)| *ns >= least_ns);
    buckets.map(|(_, count)| count).sum()
}

fn set_of(bytes: usize) -> Vec<u8> {
    let mut request = format!("set big 0 0 {bytes}\r\n").into_bytes();
    request.resize(request.len() + bytes, b'x');
    request.extend_from_slice(b"\r\n");
    request
}

#[test]
fn no_reply_comes_before_its_delay() {
    let address = floor_with(|options| options.delay = Some("two:200us,3ms,1%".parse().unwrap()));
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 300, 1.0);
    run(&open("floor", tcp(&address)), std::slice::from_ref(&set));
    let latencies = histogram(&latencies(&set).service);
    assert_eq!(as_long_as(&latencies, 200_000), 300);
    assert!(as_long_as(&latencies, 3_000_000) >= 3);
}

#[test]
fn a_pipeline_waits_for_each_delay_in_turn_and_counters_for_none() {
    let address = floor_with(|options| options.delay = Some("1ms".parse().unwrap()));
    let mut phases = Phases::new();
    let mut set = phases.phase(Op::Set, 20, 1.0);
    set.depth = 10;
    run(&open("floor", tcp(&address)), std::slice::from_ref(&set));
    let latencies = histogram(&latencies(&set).service);
    for turn in 1..=10 {
        // In each of the two batches the reply of this turn and all behind it.
        let least = 2 * (11 - turn);
        assert!(as_long_as(&latencies, turn * 1_000_000) >= least);
    }
    assert_eq!(counter(&address, "cmd_set"), 20);
}

#[test]
fn nobody_is_answered_in_a_stall() {
    // Answers go out in one millisecond of each fifty: whoever asks one by one for a while must
    // have waited for most of it at least once, unless each of these fits between two stalls.
    let address = floor_with(|options| options.stall = Some("49ms/50ms".parse().unwrap()));
    let mut phases = Phases::new();
    let set = phases.phase(Op::Set, 2000, 1.0);
    let done = run(&open("floor", tcp(&address)), std::slice::from_ref(&set));
    let loop_ns = done[0].ended_ns - done[0].started_ns;
    let longest_ns = histogram(&latencies(&set).service).max().unwrap();
    assert!(loop_ns < 1_000_000 || longest_ns > 1_000_000);
    assert_eq!(done[0].outcomes, counts(&[("stored", 2000)]));
}

#[test]
fn it_says_where_it_listens_and_listens_on_this_machine_only() {
    let options = FloorOptions::new("127.0.0.1:0".parse().unwrap());
    let (said, hears) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        run_floor(options, |floor| {
            said.send(floor.address().to_owned()).unwrap()
        })
        .unwrap();
    });
    let address = hears.recv().unwrap();
    assert_eq!(counter(&address, "curr_connections"), 1);

    let everywhere: Listen = "0.0.0.0:0".parse().unwrap();
    let problem = run_floor(FloorOptions::new(everywhere), |_| {}).unwrap_err();
    assert_eq!(problem.kind, Kind::Refused);
    let taken: Listen = address.parse().unwrap();
    let problem = run_floor(FloorOptions::new(taken), |_| {}).unwrap_err();
    assert_eq!((problem.kind, problem.place), (Kind::Failed, Some(address)));
}

#[test]
fn connections_beyond_the_limit_are_closed() {
    let address = floor_with(|options| options.connections = 1);
    let mut first = TcpStream::connect(&address).unwrap();
    first.write_all(b"mn\r\n").unwrap();
    first.read_exact(&mut [0; 4]).unwrap();
    let mut second = TcpStream::connect(&address).unwrap();
    assert_eq!(second.read(&mut [0; 1]).unwrap_or(0), 0);
    first.write_all(b"mn\r\n").unwrap();
    first.read_exact(&mut [0; 4]).unwrap();
}

#[test]
fn garbage_ends_its_own_connection_at_most() {
    let address = floor();
    let payloads = [
        b"\x80\x00\x00\x03\x00\x00\x00\x00".repeat(100),
        b"\0\r\n\n\n \r\nget \r\nset\r\n".to_vec(),
        b"set a 0 0 18446744073709551615\r\n".to_vec(),
        b"ma a D18446744073709551616\r\nms a 1 C-1\r\nx\r\n".to_vec(),
        // A line without an end, longer than any may be.
        vec![b'x'; 3 << 20],
    ];
    for payload in payloads {
        let mut stream = TcpStream::connect(&address).unwrap();
        // It may hang up in the middle of this.
        let _ = stream.write_all(&payload);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    // Counters are read on the only connection that is left.
    assert_eq!(counter(&address, "curr_connections"), 1);
    assert_eq!(counter(&address, "total_connections"), 5 + 2);
}

/// What a PHP library gets from a server, as JSON.
fn php(setup: &str, get_many: &str, address: &str) -> String {
    let (host, port) = address.rsplit_once(':').unwrap();
    let script = format!(
        r#"{setup}
        $seen = [];
        $seen[] = $c->get('nobody');
        $seen[] = {set}('text', 'string');
        $seen[] = {set}('number', 41);
        $seen[] = {set}('list', [1, 2, 3]);
        $seen[] = {set}('long', str_repeat('x', 100000));
        $seen[] = $c->get('text');
        $seen[] = $c->get('number');
        $seen[] = $c->get('list');
        $seen[] = strlen($c->get('long'));
        $seen[] = $c->increment('number');
        $seen[] = $c->increment('number', 8);
        $seen[] = $c->decrement('number', 5);
        $seen[] = $c->increment('nobody');
        $many = {get_many}(['text', 'nobody', 'number']);
        ksort($many);
        $seen[] = $many;
        $seen[] = $c->delete('text');
        $seen[] = $c->delete('text');
        $seen[] = $c->get('text');
        echo json_encode($seen);"#,
        setup = setup.replace("HOST", host).replace("PORT", port),
        set = "$set",
    );
    let output = Command::new("php").args(["-r", &script]).output();
    let output = output.expect("apt-get install php-cli php-memcache php-memcached");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && said.starts_with('['),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

#[test]
fn real_clients_get_from_it_what_they_get_from_memcached() {
    let memcached = Memcached::start();
    for (library, setup, get_many) in [
        (
            "memcache",
            "$c = new Memcache; $c->connect('HOST', PORT) || exit(1);
             $set = fn($k, $v) => $c->set($k, $v, 0, 1800);",
            "$c->get",
        ),
        (
            "memcached",
            "$c = new Memcached; $c->addServer('HOST', PORT);
             $set = fn($k, $v) => $c->set($k, $v, 1800);",
            "$c->getMulti",
        ),
    ] {
        let address = floor();
        let from_floor = php(setup, get_many, &address);
        let from_memcached = php(setup, get_many, &memcached.address);
        assert_eq!(from_floor, from_memcached, "{library}");
        assert!(
            from_floor.contains(r#""string",41,[1,2,3],100000,42,50,45,false,{"number":45,"text":"string"},true,false,false]"#),
            "{library}: {from_floor}"
        );
        assert_eq!(counter(&address, "cmd_set"), 4);
        assert_eq!(counter(&address, "delete_misses"), 1);
        assert_eq!(counter(&address, "incr_hits"), 2);
    }
}
