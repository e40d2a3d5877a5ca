//! What the HTTP servers of Node.js 20 and of PHP 8.2 were sent and what they said, in
//! `vectors/http/` (taken by the script there).

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{same_at_every_split, vector, vectors};
use roundtrip_wire::http::{Body, BodyReader, Piece, Request, Response};
use roundtrip_wire::{Limits, Parsed};

/// A body that was read: itself, the headers behind it, and how many bytes it took.
fn body(body: Body, bytes: &[u8]) -> (String, Vec<(String, String)>, usize) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut reader = BodyReader::new(body);
    let (mut data, mut taken) = (Vec::new(), 0);
    loop {
        match reader.next(&bytes[taken..], &Limits::default()) {
            Parsed::Complete(Piece::Data(piece), took) => {
                data.extend_from_slice(piece);
                taken += took;
            }
            Parsed::Complete(Piece::End(trailers), took) => {
                let trailers = trailers.iter().flat_map(|trailers| trailers.iter());
                let trailers = trailers
                    .map(|(name, value)| (text(name), text(value)))
                    .collect();
                return (text(&data), trailers, taken + took);
            }
            Parsed::NeedMore if body == Body::UntilClose => return (text(&data), vec![], taken),
            other => panic!("{other:?}"),
        }
    }
}

/// The responses on a connection: status, body, and whether the connection goes on.
fn responses(name: &str) -> Vec<(u16, String, bool)> {
    let bytes = vector(&format!("http/{name}.reply"));
    let to_head = name == "head";
    let mut rest = bytes.as_slice();
    let mut all = Vec::new();
    while !rest.is_empty() {
        let parsed = Response::parse(rest, to_head, &Limits::default());
        let Parsed::Complete(response, head) = parsed else {
            panic!(
                "{name}: {:?} gave {parsed:?}",
                String::from_utf8_lossy(rest)
            );
        };
        let (text, _, took) = body(response.body, &rest[head..]);
        all.push((response.status, text, response.keep_alive));
        rest = &rest[head + took..];
    }
    all
}

#[test]
fn every_response_is_read_to_its_end() {
    let ok = |text: &str, kept| (200, text.to_owned(), kept);
    let empty = |status, kept| (status, String::new(), kept);
    for (name, expected) in [
        ("get", vec![ok("GET /a?b=c ", true)]),
        ("head", vec![empty(200, true)]),
        ("post", vec![ok("POST /p hello", true)]),
        ("post_chunks", vec![ok("POST /p hello", true)]),
        ("old", vec![ok("GET /old ", false)]),
        ("old_kept", vec![ok("GET /old ", true)]),
        ("php_until_close", vec![ok("hello", false)]),
        (
            "pipeline",
            vec![
                ok("GET /1 ", true),
                empty(204, true),
                empty(304, true),
                ok("GET /2 ", false),
            ],
        ),
        ("bad_no_host", vec![empty(400, false)]),
        ("bad_two_lengths", vec![empty(400, false)]),
        ("bad_version", vec![empty(400, false)]),
    ] {
        assert_eq!(responses(name), expected, "{name}");
    }
    assert_eq!(vectors("http", ".reply").len(), 12);
}

#[test]
fn chunks_are_joined_and_what_follows_them_is_read() {
    let bytes = vector("http/chunks.reply");
    let Parsed::Complete(response, head) = Response::parse(&bytes, false, &Limits::default())
    else {
        panic!("not read");
    };
    assert_eq!(response.headers.get(b"TRAILER"), Some(b"X-Sum".as_slice()));
    let (text, trailers, took) = body(response.body, &bytes[head..]);
    assert_eq!(text, format!("onetwo\r\n{}", "x".repeat(300)));
    assert_eq!(trailers, [("X-Sum".to_owned(), "5".to_owned())]);
    assert_eq!(head + took, bytes.len());
}

#[test]
fn requests_are_taken_and_refused_as_the_server_took_and_refused_them() {
    for name in vectors("http", ".request") {
        let bytes = vector(&format!("http/{name}"));
        let parse = |part: &[u8]| {
            Request::parse(part, &Limits::default()).map(|request| format!("{request:?}"))
        };
        same_at_every_split(&bytes, parse).unwrap();
        let is_bad = matches!(parse(&bytes), Parsed::Bad(_));
        assert_eq!(is_bad, name.starts_with("bad_"), "{name}");
    }
    let bytes = vector("http/post_chunks.request");
    let Parsed::Complete(request, head) = Request::parse(&bytes, &Limits::default()) else {
        panic!("not read");
    };
    assert_eq!(
        (request.method, request.target),
        (b"POST".as_slice(), b"/p".as_slice())
    );
    assert_eq!(body(request.body, &bytes[head..]).0, "hello");
}
