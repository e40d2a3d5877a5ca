use super::*;
use crate::floor::options::FloorOptions;

fn service_with(ask: impl FnOnce(&mut FloorOptions)) -> Service {
    let mut options = FloorOptions::new("127.0.0.1:0".parse().unwrap());
    ask(&mut options);
    Service::new(&options, "none")
}

/// What is said to these pieces, taken as it comes.
fn said<'a>(service: &mut Service, pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut conversation = Conversation::default();
    let mut said = Vec::new();
    for piece in pieces {
        conversation.receive(piece, service);
        loop {
            said.extend_from_slice(conversation.unsent());
            conversation.was_sent(conversation.unsent().len());
            if !conversation.is_full() {
                break;
            }
            conversation.go_on(service);
        }
    }
    said
}

const MEMCACHED: &[u8] =
    b"set a 5 0 3\r\none\r\nget a\r\nget nobody\r\nget a a nobody\r\ngets a\r\n\
    mg a v k f\r\nms YiBj 1 b k\r\nx\r\nmg YiBj b v k\r\nbogus\r\nget a\nincr a 1\r\nget a\r\n\
    set n 0 0 1 noreply\r\n7\r\nincr n 5\r\ngat 0 n\r\ndelete n\r\nget n\r\nmn\r\n";

const RESP: &[u8] = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$3\r\none\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n\
    *2\r\n$3\r\nGET\r\n$6\r\nnobody\r\n*2\r\n$3\r\nget\r\n$1\r\na\r\n*3\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n\
    *1\r\n$5\r\nMULTI\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nEXEC\r\nPING\r\n\r\n*0\r\n\
    *2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n*2\r\n$3\r\nGET\r\n$6\r\nnobody\r\n*1\r\n$3\r\nFOO\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n";

#[test]
fn any_split_of_what_is_asked_has_the_same_answers() {
    for script in [MEMCACHED, RESP] {
        for garble in [None, Some(3)] {
            let fresh = || service_with(|options| options.garble = garble);
            let whole = said(&mut fresh(), [script].into_iter());
            assert!(whole.len() > 200);
            for at in 1..script.len() {
                let (first, second) = script.split_at(at);
                let split = said(&mut fresh(), [first, second].into_iter());
                assert_eq!(
                    String::from_utf8_lossy(&split),
                    String::from_utf8_lossy(&whole),
                    "split at {at}"
                );
            }
            assert_eq!(said(&mut fresh(), script.chunks(1)), whole);
        }
    }
}

#[test]
fn the_quick_way_says_what_the_slow_way_says() {
    for script in [MEMCACHED, RESP] {
        let quick = said(&mut service_with(|_| {}), [script].into_iter());
        let mut slow = service_with(|_| {});
        slow.is_plain = false;
        assert_eq!(said(&mut slow, [script].into_iter()), quick);
        let counters = |service: &Service| service.counters;
        let mut plain = service_with(|_| {});
        said(&mut plain, [script].into_iter());
        assert_eq!(
            format!("{:?}", counters(&plain)),
            format!("{:?}", counters(&slow))
        );
    }
}

#[test]
fn what_one_protocol_wrote_the_other_reads() {
    let mut service = service_with(|_| {});
    said(&mut service, [&b"set a 5 0 3\r\none\r\n"[..]].into_iter());
    let read = said(
        &mut service,
        [&b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n"[..]].into_iter(),
    );
    assert_eq!(read, b"$3\r\none\r\n");
    said(
        &mut service,
        [&b"*3\r\n$6\r\nAPPEND\r\n$1\r\na\r\n$1\r\n!\r\n"[..]].into_iter(),
    );
    let read = said(&mut service, [&b"get a\r\n"[..]].into_iter());
    assert_eq!(read, b"VALUE a 5 4\r\none!\r\nEND\r\n");
    // A key of two words is none that memcached's protocol can name.
    said(
        &mut service,
        [&b"*3\r\n$3\r\nSET\r\n$3\r\na b\r\n$1\r\nx\r\n"[..]].into_iter(),
    );
    let read = said(&mut service, [&b"get a b\r\n"[..]].into_iter());
    assert_eq!(read, b"VALUE a 5 4\r\none!\r\nEND\r\n");
}

#[test]
fn memory_stays_bounded_whatever_a_client_sends() {
    let mut service = service_with(|_| {});
    let value = [&b"$16777216\r\n"[..], &vec![b'x'; 16 << 20], b"\r\n"].concat();
    let too_long = [&b"*100\r\n"[..], &value.repeat(5)].concat();
    // Too long a line and too long a message end the conversation; too many unread answers end
    // the reading.
    for garbage in [vec![b'x'; 2 << 20], too_long, b"PING\r\n".repeat(1 << 20)] {
        let mut conversation = Conversation::default();
        for piece in garbage.chunks(64 << 10) {
            if conversation.closing || !conversation.wants_input() {
                break;
            }
            conversation.receive(piece, &mut service);
        }
        assert!(conversation.closing || !conversation.wants_input());
        assert!(conversation.input.len() <= resp::LIMITS.message_bytes + (128 << 10));
        assert!(conversation.output.len() <= UNSENT_LIMIT + 64);
    }
}

#[test]
fn a_reply_that_would_fill_the_memory_is_not_given() {
    let mut service = service_with(|_| {});
    let value = vec![b'x'; 1 << 20];
    let set = [&b"set a 0 0 1048576\r\n"[..], &value, b"\r\n"].concat();
    said(&mut service, [&set[..]].into_iter());
    let many = [&b"get"[..], &b" a".repeat(1000), b"\r\n"].concat();
    let mget = [
        &b"*1001\r\n$4\r\nMGET\r\n"[..],
        &b"$1\r\na\r\n".repeat(1000),
    ]
    .concat();
    for request in [many, mget] {
        let mut conversation = Conversation::default();
        conversation.receive(&request, &mut service);
        assert!(conversation.is_over());
    }
}

#[test]
fn every_fault_is_done_as_often_as_its_count_says() {
    let gets = b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n".repeat(10);
    let set = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$3\r\none\r\n";
    let good = b"$3\r\none\r\n";

    let mut service = service_with(|options| options.garble = Some(5));
    said(&mut service, [&set[..]].into_iter());
    let garbled = said(&mut service, [&gets[..]].into_iter());
    let bad: Vec<_> = garbled
        .chunks(good.len())
        .map(|reply| reply != good)
        .collect();
    assert_eq!(
        bad,
        [4, 9].iter().fold(vec![false; 10], |mut bad, at| {
            bad[*at] = true;
            bad
        })
    );
    assert_eq!(service.faults.done.garbled, 2);

    let mut service = service_with(|options| options.double = Some(4));
    said(&mut service, [&set[..]].into_iter());
    let doubled = said(&mut service, [&gets[..]].into_iter());
    // With the one before them these are requests 2 to 11, of which 4 and 8 are doubled.
    assert_eq!(doubled, good.repeat(12));
    assert_eq!(service.faults.done.doubled, 2);

    let mut service = service_with(|options| options.drop = Some(4));
    said(&mut service, [&set[..]].into_iter());
    let dropped = said(&mut service, [&gets[..]].into_iter());
    assert_eq!(dropped, good.repeat(2));
    assert_eq!(service.faults.done.dropped, 1);
}

#[test]
fn requests_that_wait_have_their_turns_one_after_another() {
    let mut service = service_with(|options| options.delay = Some("1s".parse().unwrap()));
    let mut conversation = Conversation::default();
    conversation.receive(b"get a\r\nget a\r\n", &mut service);
    let first_ns = conversation.due_ns().unwrap();
    // What comes later does not push back what waits.
    conversation.receive(b"get a\r\nversion\r\n", &mut service);
    assert_eq!(conversation.due_ns(), Some(first_ns));
    assert!(conversation.unsent().is_empty());
    assert_eq!(first_ns, conversation.arrived_ns + 1_000_000_000);
}
