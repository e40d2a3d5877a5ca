//! What must hold for any RESP message and any bytes.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{same_at_every_split, took_and_skip};
use proptest::collection::vec;
use proptest::prelude::*;
use roundtrip_wire::resp::{
    Aggregate, NullForm, Reply, Request, Scan, write_aggregate, write_command, write_get, write_set,
};
use roundtrip_wire::{BadWire, Because, Limits, Parsed};

/// A reply that owns its parts.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Simple(Vec<u8>),
    Error(Vec<u8>),
    Integer(i64),
    Bulk(Vec<u8>),
    Null(NullForm),
    Double(String),
    Boolean(bool),
    BigNumber(String),
    Verbatim([u8; 3], Vec<u8>),
    BlobError(Vec<u8>),
    Parts(Aggregate, Vec<Owned>),
}

impl Owned {
    fn of(reply: &Reply<'_>) -> Owned {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let kind = match *reply {
            Reply::Simple(text) => return Owned::Simple(text.to_vec()),
            Reply::Error(text) => return Owned::Error(text.to_vec()),
            Reply::Integer(number) => return Owned::Integer(number),
            Reply::Bulk(value) => return Owned::Bulk(value.to_vec()),
            Reply::Null(form) => return Owned::Null(form),
            Reply::Double(number) => return Owned::Double(text(number)),
            Reply::Boolean(yes) => return Owned::Boolean(yes),
            Reply::BigNumber(number) => return Owned::BigNumber(text(number)),
            Reply::Verbatim { format, text } => return Owned::Verbatim(*format, text.to_vec()),
            Reply::BlobError(text) => return Owned::BlobError(text.to_vec()),
            Reply::Array(_) => Aggregate::Array,
            Reply::Map(_) => Aggregate::Map,
            Reply::Set(_) => Aggregate::Set,
            Reply::Attribute(_) => Aggregate::Attribute,
            Reply::Push(_) => Aggregate::Push,
        };
        let parts: Vec<_> = reply
            .items()
            .unwrap()
            .map(|part| Owned::of(&part))
            .collect();
        assert_eq!(parts.len(), reply.items().unwrap().len());
        Owned::Parts(kind, parts)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let reply = match self {
            Owned::Simple(text) => Reply::Simple(text),
            Owned::Error(text) => Reply::Error(text),
            Owned::Integer(number) => Reply::Integer(*number),
            Owned::Bulk(value) => Reply::Bulk(value),
            Owned::Null(form) => Reply::Null(*form),
            Owned::Double(number) => Reply::Double(number.as_bytes()),
            Owned::Boolean(yes) => Reply::Boolean(*yes),
            Owned::BigNumber(number) => Reply::BigNumber(number.as_bytes()),
            Owned::Verbatim(format, text) => Reply::Verbatim { format, text },
            Owned::BlobError(text) => Reply::BlobError(text),
            Owned::Parts(kind, parts) => {
                let in_pairs = matches!(kind, Aggregate::Map | Aggregate::Attribute);
                write_aggregate(out, *kind, parts.len() / if in_pairs { 2 } else { 1 });
                return parts.iter().for_each(|part| part.write(out));
            }
        };
        reply.write(out);
    }
}

fn scalar() -> impl Strategy<Value = Owned> {
    let line = || {
        vec(
            any::<u8>().prop_filter("line end", |b| *b != b'\r' && *b != b'\n'),
            0..20,
        )
    };
    let blob = || vec(any::<u8>(), 0..60);
    prop_oneof![
        line().prop_map(Owned::Simple),
        line().prop_map(Owned::Error),
        any::<i64>().prop_map(Owned::Integer),
        blob().prop_map(Owned::Bulk),
        prop_oneof![
            Just(NullForm::Bulk),
            Just(NullForm::Array),
            Just(NullForm::Any)
        ]
        .prop_map(Owned::Null),
        any::<f64>()
            .prop_filter("nan", |n| !n.is_nan())
            .prop_map(|n| Owned::Double(format!("{n:?}"))),
        any::<bool>().prop_map(Owned::Boolean),
        "[+-]?[0-9]{1,40}".prop_map(Owned::BigNumber),
        (any::<[u8; 3]>(), blob()).prop_map(|(format, text)| Owned::Verbatim(format, text)),
        blob().prop_map(Owned::BlobError),
    ]
}

fn reply() -> impl Strategy<Value = Owned> {
    scalar().prop_recursive(4, 40, 6, |part| {
        let kind = prop_oneof![
            Just(Aggregate::Array),
            Just(Aggregate::Map),
            Just(Aggregate::Set),
            Just(Aggregate::Push)
        ];
        (kind, vec(part, 0..6)).prop_map(|(kind, mut parts)| {
            if kind == Aggregate::Map && parts.len() % 2 == 1 {
                parts.pop();
            }
            Owned::Parts(kind, parts)
        })
    })
}

/// Bytes that look like the protocol more often than noise does.
fn nearly_protocol() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "*2\r\n",
            "*1\r\n",
            "*0\r\n",
            "*-1\r\n",
            "%1\r\n",
            "~2\r\n",
            "|1\r\n",
            ">2\r\n",
            "$3\r\nGET\r\n",
            "$1\r\nk\r\n",
            "$-1\r\n",
            "$0\r\n\r\n",
            "$",
            "*",
            "_\r\n",
            "#t\r\n",
            ",1.5\r\n",
            "(12\r\n",
            "=5\r\ntxt:a\r\n",
            "!1\r\ne\r\n",
            "+OK\r\n",
            "-ERR x\r\n",
            ":12\r\n",
            ":-5\r\n",
            "$?\r\n",
            "\r\n",
            "\n",
            "PING",
            " ",
            "9",
            "99999999999999999999",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn small_limits() -> Limits {
    Limits {
        key_bytes: 5,
        value_bytes: 4,
        line_bytes: 10,
        message_bytes: 40,
        parts: 3,
        depth: 2,
    }
}

fn owned_request(request: Request<'_>) -> Vec<Vec<u8>> {
    let arguments: Vec<_> = request.iter().map(<[u8]>::to_vec).collect();
    assert_eq!(arguments.len(), request.len());
    arguments
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn replies_are_read_back_as_written(reply in reply(), after in vec(any::<u8>(), 0..20)) {
        let mut bytes = Vec::new();
        reply.write(&mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&after);
        let limits = Limits::default();
        let parsed = Reply::parse(&bytes, &limits);
        let Parsed::Complete(read, took) = parsed else {
            return Err(TestCaseError::fail(format!("{parsed:?}")));
        };
        prop_assert_eq!(took, length);
        prop_assert_eq!(Owned::of(&read), reply);
        let mut again = Vec::new();
        read.write(&mut again);
        prop_assert_eq!(&again, &bytes[..length]);
    }

    #[test]
    fn replies_may_arrive_in_pieces(reply in reply(), cuts in vec(0usize..400, 0..6)) {
        let limits = Limits::default();
        let mut bytes = Vec::new();
        reply.write(&mut bytes);
        same_at_every_split(&bytes, |part| Reply::parse(part, &limits).map(|r| Owned::of(&r)))?;
        // A check that goes on where it stopped says the same.
        let mut scan = Scan::default();
        let mut cuts: Vec<_> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
        cuts.sort();
        for cut in cuts {
            prop_assert_eq!(scan.resume(&bytes[..cut], &limits), Parsed::NeedMore);
        }
        prop_assert_eq!(scan.resume(&bytes, &limits), Parsed::Complete((), bytes.len()));
    }

    #[test]
    fn requests_are_read_back_as_written(
        arguments in vec(vec(any::<u8>(), 0..50), 0..8),
        after in vec(any::<u8>(), 0..20),
    ) {
        let limits = Limits::default();
        let slices: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let mut bytes = Vec::new();
        write_command(&mut bytes, &slices);
        same_at_every_split(&bytes, |part| Request::parse(part, &limits).map(owned_request))?;
        let length = bytes.len();
        bytes.extend_from_slice(&after);
        prop_assert_eq!(
            Request::parse(&bytes, &limits).map(owned_request),
            Parsed::Complete(arguments, length)
        );
    }

    #[test]
    fn the_short_ways_of_writing_write_the_same(key: Vec<u8>, value: Vec<u8>) {
        let (mut long, mut short) = (Vec::new(), Vec::new());
        write_command(&mut long, &[b"GET", &key]);
        write_get(&mut short, &key);
        prop_assert_eq!(&long, &short);
        write_command(&mut long, &[b"SET", &key, &value]);
        write_set(&mut short, &key, &value);
        prop_assert_eq!(&long, &short);
    }

    #[test]
    fn typed_words_are_arguments(words in vec("[a-zA-Z0-9:{}-]{1,9}", 1..5), blanks in "[ \t]{1,3}") {
        for end in ["\r\n", "\n"] {
            let bytes = format!("{}{end}", words.join(&blanks)).into_bytes();
            let read = Request::parse(&bytes, &Limits::default()).map(owned_request);
            let words = words.iter().map(|word| word.clone().into_bytes()).collect();
            prop_assert_eq!(read, Parsed::Complete(words, bytes.len()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn garbage_gives_one_answer_however_it_arrives(bytes in nearly_protocol()) {
        for limits in [small_limits(), Limits::default()] {
            same_at_every_split(&bytes, |part| Request::parse(part, &limits).map(owned_request))?;
            same_at_every_split(&bytes, |part| {
                Reply::parse(part, &limits).map(|reply| format!("{reply:?}"))
            })?;
            let mut scan = Scan::default();
            let mut answer = Parsed::NeedMore;
            for end in 0..=bytes.len() {
                answer = scan.resume(&bytes[..end], &limits);
                if answer != Parsed::NeedMore {
                    break;
                }
            }
            prop_assert_eq!(answer, Reply::parse(&bytes, &limits).map(|_| ()));
        }
    }

    #[test]
    fn what_is_read_is_written_back(bytes in nearly_protocol()) {
        if let Parsed::Complete(reply, _) = Reply::parse(&bytes, &Limits::default()) {
            let mut again = Vec::new();
            reply.write(&mut again);
            prop_assert_eq!(
                Reply::parse(&again, &Limits::default()),
                Parsed::Complete(reply, again.len())
            );
        }
    }

    #[test]
    fn garbage_is_never_longer_than_it_is(bytes in nearly_protocol()) {
        let limits = small_limits();
        for (took, skip) in [
            took_and_skip(Request::parse(&bytes, &limits)),
            took_and_skip(Reply::parse(&bytes, &limits)),
        ] {
            prop_assert!(took.is_none_or(|n| (1..=bytes.len()).contains(&n)));
            prop_assert_eq!(skip, None);
        }
    }
}

fn refused(bytes: &str) -> Because {
    match Reply::parse(bytes.as_bytes(), &small_limits()) {
        Parsed::Bad(BadWire { because, .. }) => because,
        other => panic!("{bytes:?} gave {other:?}"),
    }
}

#[test]
fn each_limit_and_each_wrong_form_of_a_reply_has_its_reason() {
    use Because::*;
    for (bytes, because) in [
        ("$5\r\n", ValueTooLong),
        ("$-2\r\n", Number),
        ("$\r\n", Number),
        ("$00000000000000000000001\r\n", Number),
        (":9223372036854775808\r\n", Number),
        (":+-1\r\n", Number),
        ("$1\r\nab\r\n", ValueEnd),
        ("+12345678901\r\n", LineTooLong),
        ("+1234567890123", LineTooLong),
        ("+a\nb\r\n", LineEnd),
        ("+a\rb\r\n", LineEnd),
        ("*4\r\n", TooManyParts),
        ("%2\r\n", TooManyParts),
        ("%-1\r\n", Number),
        ("*1\r\n*1\r\n*1\r\n", TooDeep),
        (
            "*3\r\n+1234567890\r\n+1234567890\r\n+1234567890\r\n",
            TooLong,
        ),
        ("*2\r\n$1\r\na\r\n?", UnknownWord),
        ("$?\r\n", Streamed),
        ("*?\r\n", Streamed),
        ("#x\r\n", Form),
        ("_x\r\n", Form),
        (",1.x\r\n", Number),
        (",\r\n", Number),
        ("(1.5\r\n", Number),
        ("=3\r\ntxt\r\n", Form),
        ("!-1\r\n", Number),
        ("hello\r\n", UnknownWord),
    ] {
        assert_eq!(refused(bytes), because, "{bytes:?}");
    }
}

#[test]
fn each_limit_and_each_wrong_form_of_a_request_has_its_reason() {
    use Because::*;
    for (bytes, because) in [
        ("*4\r\n", TooManyParts),
        ("*1\r\n$5\r\n", ValueTooLong),
        ("*1\r\n:1\r\n", Form),
        ("*1\r\n$-1\r\n", Number),
        ("*x\r\n", Number),
        ("*1\r\n$1\r\nab\r\n", ValueEnd),
        ("SET a \"b\"\n", Form),
        ("a b c d\n", TooManyParts),
        ("12345678901\n", LineTooLong),
    ] {
        match Request::parse(bytes.as_bytes(), &small_limits()) {
            Parsed::Bad(BadWire { because: found, .. }) => assert_eq!(found, because, "{bytes:?}"),
            other => panic!("{bytes:?} gave {other:?}"),
        }
    }
}

#[test]
fn a_request_knows_its_name_and_its_arguments() {
    let bytes = b"*3\r\n$3\r\nsEt\r\n$1\r\nk\r\n$2\r\n\r\n\r\n";
    let Parsed::Complete(request, 28) = Request::parse(bytes, &Limits::default()) else {
        panic!("not read");
    };
    assert!(request.is(b"SET") && !request.is(b"GET") && !request.is_empty());
    assert_eq!(request.name(), b"sEt");
    assert_eq!(request.argument(2), Some(b"\r\n".as_slice()));
    assert_eq!(request.argument(3), None);
}

#[test]
fn an_attribute_says_something_about_a_part_and_is_none() {
    let bytes = b"*2\r\n|1\r\n+ttl\r\n:3600\r\n$1\r\na\r\n:2\r\n";
    let Parsed::Complete(reply, length) = Reply::parse(bytes, &Limits::default()) else {
        panic!("not read");
    };
    assert_eq!(length, bytes.len());
    let parts: Vec<_> = reply.items().unwrap().collect();
    assert_eq!(parts, [Reply::Bulk(b"a"), Reply::Integer(2)]);
}
