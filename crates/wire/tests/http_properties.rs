//! What must hold for any HTTP message and any bytes.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{same_at_every_split, took_and_skip};
use proptest::collection::vec;
use proptest::prelude::*;
use roundtrip_wire::http::{
    Body, BodyReader, Piece, Request, Response, Version, header_is_valid, write_chunk,
    write_last_chunk, write_request, write_response, write_response_head,
};
use roundtrip_wire::{Because, Limits, Parsed};

const SMALL: Limits = Limits {
    key_bytes: 5,
    value_bytes: 5,
    line_bytes: 24,
    message_bytes: 60,
    parts: 2,
    depth: 1,
};

type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

fn headers() -> impl Strategy<Value = Pairs> {
    let header = (
        "x-[a-z0-9-]{1,12}",
        "([!-~\u{e0}-\u{ff}]([ -~\t]{0,20}[!-~])?)?",
    );
    vec(
        header.prop_map(|(name, value)| (name.into_bytes(), value.into_bytes())),
        0..6,
    )
}

fn slices(headers: &Pairs) -> Vec<(&[u8], &[u8])> {
    headers
        .iter()
        .map(|(n, v)| (n.as_slice(), v.as_slice()))
        .collect()
}

/// All that a body says when its bytes come in pieces of these lengths; and how many it took.
fn read_body(
    body: Body,
    bytes: &[u8],
    lengths: &[usize],
    limits: &Limits,
) -> (Vec<u8>, Result<Option<usize>, Because>, usize) {
    let mut reader = BodyReader::new(body);
    let (mut data, mut taken, mut there) = (Vec::new(), 0, 0);
    let mut lengths = lengths.iter().cycle();
    loop {
        match reader.next(&bytes[taken..there], limits) {
            Parsed::Complete(Piece::Data(piece), took) => {
                data.extend_from_slice(piece);
                taken += took;
            }
            Parsed::Complete(Piece::End(trailers), took) => {
                let trailers = trailers.map_or(0, |trailers| trailers.iter().count());
                return (data, Ok(Some(trailers)), taken + took);
            }
            Parsed::NeedMore if there == bytes.len() => return (data, Ok(None), taken),
            Parsed::NeedMore => there = bytes.len().min(there + lengths.next().unwrap()),
            Parsed::Bad(bad) => return (data, Err(bad.because), taken),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn requests_are_read_back_as_written(
        headers in headers(),
        target in "/[!-~]{0,30}",
        method in "[A-Z]{1,9}",
        body in proptest::option::of(vec(any::<u8>(), 0..50)),
    ) {
        let limits = Limits::default();
        let mut listed = vec![(b"host".to_vec(), b"127.0.0.1".to_vec())];
        listed.extend(headers);
        let mut bytes = Vec::new();
        let wanted = slices(&listed);
        write_request(&mut bytes, method.as_bytes(), target.as_bytes(), &wanted, body.as_deref());
        same_at_every_split(&bytes, |part| {
            Request::parse(part, &limits).map(|request| format!("{request:?}"))
        })?;
        let Parsed::Complete(request, head) = Request::parse(&bytes, &limits) else {
            return Err(TestCaseError::fail("not read"));
        };
        prop_assert_eq!(request.method, method.as_bytes());
        prop_assert_eq!(request.target, target.as_bytes());
        prop_assert!(request.keep_alive);
        let read: Vec<_> = request.headers.iter().take(wanted.len()).collect();
        prop_assert_eq!(read, wanted);
        prop_assert_eq!(&bytes[head..], body.clone().unwrap_or_default());
        prop_assert_eq!(
            request.body,
            body.map_or(Body::None, |body| Body::Length(body.len() as u64))
        );
    }

    #[test]
    fn a_response_is_read_back_whole_however_it_comes(
        headers in headers(),
        status in 200u16..204,
        chunks in vec(vec(any::<u8>(), 0..40), 0..5),
        in_chunks: bool,
        lengths in vec(1usize..30, 1..6),
        after in vec(any::<u8>(), 0..10),
    ) {
        let limits = Limits::default();
        let whole = chunks.concat();
        let mut bytes = Vec::new();
        if in_chunks {
            write_response_head(&mut bytes, status, b"Fine", &slices(&headers));
            chunks.iter().for_each(|chunk| write_chunk(&mut bytes, chunk));
            write_last_chunk(&mut bytes);
        } else {
            write_response(&mut bytes, status, b"Fine", &slices(&headers), &whole);
        }
        let length = bytes.len();
        bytes.extend_from_slice(&after);
        same_at_every_split(&bytes, |part| {
            Response::parse(part, false, &limits).map(|response| format!("{response:?}"))
        })?;
        let Parsed::Complete(response, head) = Response::parse(&bytes, false, &limits) else {
            return Err(TestCaseError::fail("not read"));
        };
        prop_assert_eq!(response.status, status);
        prop_assert_eq!(response.reason, b"Fine");
        let (data, end, took) = read_body(response.body, &bytes[head..], &lengths, &limits);
        prop_assert_eq!(data, whole);
        prop_assert_eq!(end, Ok(Some(0)));
        prop_assert_eq!(head + took, length);
    }
}

fn nearly_protocol() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "GET / HTTP/1.1\r\n",
            "POST /a HTTP/1.0\r\n",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.0 404\r\n",
            "HTTP/1.1 204 x\r\n",
            "Host: a\r\n",
            "Content-Length: 3\r\n",
            "content-length:5\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "Connection: keep-alive\r\n",
            "\r\n",
            "\n",
            "\r",
            " ",
            "\t",
            ":",
            "x",
            "HTTP/1.1",
            "a: b\r\n",
            " b\r\n",
            "GET",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        vec(any::<u8>(), 0..3),
    ];
    vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

fn nearly_chunks() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(vec![
        "3\r\nabc\r\n",
        "0\r\n",
        "\r\n",
        "A;x=1\r\n0123456789\r\n",
        "1 ;y\r\nz\r\n",
        "1 \r\n",
        "g\r\n",
        "ffffffffffffffff\r\n",
        "10000000000000000\r\n",
        "x: y\r\n",
        "5\r\nab",
        "\n",
        "-1\r\n",
    ]);
    vec(piece, 0..6).prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn garbage_gives_one_answer_however_it_arrives(bytes in nearly_protocol()) {
        for limits in [SMALL, Limits::default()] {
            same_at_every_split(&bytes, |part| {
                Request::parse(part, &limits).map(|request| format!("{request:?}"))
            })?;
            same_at_every_split(&bytes, |part| {
                Response::parse(part, false, &limits).map(|response| format!("{response:?}"))
            })?;
            for answer in [
                took_and_skip(Request::parse(&bytes, &limits)),
                took_and_skip(Response::parse(&bytes, true, &limits)),
            ] {
                prop_assert!(answer.0.is_none_or(|n| (1..=bytes.len()).contains(&n)));
                prop_assert_eq!(answer.1, None);
            }
        }
    }

    #[test]
    fn chunks_give_one_body_however_they_arrive(
        bytes in nearly_chunks(),
        lengths in vec(1usize..9, 1..5),
    ) {
        for limits in [SMALL, Limits::default()] {
            let at_once = read_body(Body::Chunked, &bytes, &[bytes.len().max(1)], &limits);
            let in_pieces = read_body(Body::Chunked, &bytes, &lengths, &limits);
            prop_assert_eq!(&at_once.0, &in_pieces.0);
            prop_assert_eq!(at_once.1, in_pieces.1);
        }
    }
}

fn refused_request(bytes: &str) -> Because {
    match Request::parse(bytes.as_bytes(), &SMALL) {
        Parsed::Bad(bad) => bad.because,
        other => panic!("{bytes:?} gave {other:?}"),
    }
}

#[test]
fn what_two_readers_could_understand_differently_is_refused() {
    use Because::*;
    for (headers, because) in [
        ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", Form),
        ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", Form),
        ("Content-Length: 3\r\nContent-Length: 3\r\n", Form),
        ("Content-Length: 3, 3\r\n", Number),
        ("Content-Length: +3\r\n", Number),
        ("Content-Length: \r\n", Number),
        ("Content-Length: 0x3\r\n", Number),
        ("Transfer-Encoding: gzip, chunked\r\n", Form),
        ("Transfer-Encoding: xchunked\r\n", Form),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            Form,
        ),
        ("X: a\r\n b\r\n", Form),
        ("X: a\r\n\tb\r\n", Form),
        (" X: a\r\n", Form),
        ("X : a\r\n", Form),
        ("X\r\n", Form),
        (": a\r\n", Form),
        ("X: a\0b\r\n", Form),
        ("X: a\n", LineEnd),
        ("X: a\rb\r\n", LineEnd),
        ("Host: other\r\n", Form),
    ] {
        let bytes = format!("POST / HTTP/1.1\r\nHost: a\r\n{headers}\r\n");
        match Request::parse(bytes.as_bytes(), &Limits::default()) {
            Parsed::Bad(bad) => assert_eq!(bad.because, because, "{headers:?}"),
            other => panic!("{headers:?} gave {other:?}"),
        }
    }
}

#[test]
fn each_limit_and_each_wrong_form_has_its_reason() {
    use Because::*;
    for (bytes, because) in [
        ("GET / HTTP/1.1\r\n\r\n", Form),
        ("GET / HTTP/2.0\r\n", UnknownWord),
        ("GET  / HTTP/1.1\r\n", UnknownWord),
        ("GET /\r\n", Form),
        ("\r\n", Form),
        ("G@T / HTTP/1.1\r\n", Form),
        ("GET /01234567890 HTTP/1.1\r\n", LineTooLong),
        ("GET / HTTP/1.1\r\nHost:a\r\nB:c\r\nD:e\r\n", TooManyParts),
        (
            "GET /123456789 HTTP/1.1\r\nHost:0123456789012345\r\nB:01234567890\r\n",
            TooLong,
        ),
    ] {
        assert_eq!(refused_request(bytes), because, "{bytes:?}");
    }
}

#[test]
fn the_body_is_what_the_method_the_status_and_the_headers_say() {
    let cases: [(&str, bool, Body, bool); 9] = [
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
            false,
            Body::Length(3),
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
            true,
            Body::None,
            true,
        ),
        ("HTTP/1.1 204 No Content\r\n\r\n", false, Body::None, true),
        (
            "HTTP/1.1 304 x\r\nContent-Length: 3\r\n\r\n",
            false,
            Body::None,
            true,
        ),
        ("HTTP/1.1 200 OK\r\n\r\n", false, Body::UntilClose, false),
        (
            "HTTP/1.1 200\r\nTRANSFER-encoding: Chunked\r\n\r\n",
            false,
            Body::Chunked,
            true,
        ),
        (
            "HTTP/1.1 200 \r\nContent-Length: 0\r\nConnection: a, Close\r\n\r\n",
            false,
            Body::Length(0),
            false,
        ),
        (
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
            false,
            Body::Length(1),
            false,
        ),
        (
            "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n",
            false,
            Body::Length(1),
            true,
        ),
    ];
    for (bytes, to_head, body, keep_alive) in cases {
        let parsed = Response::parse(bytes.as_bytes(), to_head, &Limits::default());
        let Parsed::Complete(response, length) = parsed else {
            panic!("{bytes:?} gave {parsed:?}");
        };
        assert_eq!(length, bytes.len());
        assert_eq!(
            (response.body, response.keep_alive),
            (body, keep_alive),
            "{bytes:?}"
        );
        let is_11 = bytes.starts_with("HTTP/1.1");
        assert_eq!(response.version == Version::Http11, is_11);
    }
}

#[test]
fn a_header_that_would_be_two_or_would_tell_a_length_is_not_valid() {
    assert!(header_is_valid(b"x-a", b"b c"));
    for (name, value) in [
        ("x\r\ny", "b"),
        ("x", "b\r\ny: z"),
        ("", "b"),
        ("x y", "b"),
        ("Content-Length", "5"),
        ("transfer-encoding", "chunked"),
    ] {
        assert!(
            !header_is_valid(name.as_bytes(), value.as_bytes()),
            "{name:?}: {value:?}"
        );
    }
}
