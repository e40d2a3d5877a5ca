//! What must hold for any message and any bytes.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{same_at_every_split, took_and_skip};
use proptest::collection::vec;
use proptest::prelude::*;
use roundtrip_wire::memcached::{
    DumpedItem, GetReply, Keys, MetaFlags, MetaVerb, Reply, Request, StoreVerb, push_base64,
    push_escaped, read_base64,
};
use roundtrip_wire::{Limits, Parsed};

/// Owned parts that a message borrows from.
#[derive(Clone, Debug)]
struct Parts {
    key: Vec<u8>,
    keys: Vec<u8>,
    flags: Vec<u8>,
    value: Vec<u8>,
    text: Vec<u8>,
    n: u64,
    m: i64,
    small: u32,
    yes: bool,
}

fn parts() -> impl Strategy<Value = Parts> {
    let key = || vec(prop_oneof![0x21u8..0x7f, 0x80u8..=0xff], 1..=250);
    let flag = ("[a-zA-Z]", "[!-~]{0,12}").prop_map(|(letter, argument)| letter + &argument);
    (
        key(),
        vec(key(), 1..5),
        vec(flag, 0..5),
        vec(any::<u8>(), 0..2000),
        "([!-~]([ -~]{0,30}[!-~])?)?",
        any::<u64>(),
        any::<i64>(),
        any::<u32>(),
        any::<bool>(),
    )
        .prop_map(|(key, keys, flags, value, text, n, m, small, yes)| Parts {
            key,
            keys: keys.join(&b' '),
            flags: flags.join(" ").into_bytes(),
            value,
            text: text.into_bytes(),
            n,
            m,
            small,
            yes,
        })
}

impl Parts {
    fn requests(&self) -> Vec<Request<'_>> {
        let limits = Limits::default();
        let flags = MetaFlags::listed(&self.flags).unwrap();
        let (key, noreply) = (self.key.as_slice(), self.yes);
        let meta = |verb, value| Request::Meta {
            verb,
            key,
            flags,
            value,
        };
        let store = |verb| Request::Store {
            verb,
            key,
            flags: self.small,
            expires: self.m,
            value: &self.value,
            noreply,
        };
        vec![
            Request::Get {
                keys: Keys::listed(&self.keys, &limits).unwrap(),
                cas: self.yes,
            },
            store(StoreVerb::Set),
            store(StoreVerb::Add),
            store(StoreVerb::Replace),
            store(StoreVerb::Append),
            store(StoreVerb::Prepend),
            store(StoreVerb::Cas(self.n)),
            Request::Delete { key, noreply },
            Request::Arithmetic {
                decrement: self.yes,
                key,
                delta: self.n,
                noreply,
            },
            Request::Touch {
                key,
                expires: self.m,
                noreply,
            },
            Request::GetAndTouch {
                expires: self.m,
                keys: Keys::listed(&self.keys, &limits).unwrap(),
                cas: self.yes,
            },
            meta(MetaVerb::Debug, None),
            meta(MetaVerb::Get, None),
            meta(MetaVerb::Set, Some(self.value.as_slice())),
            meta(MetaVerb::Delete, None),
            meta(MetaVerb::Arithmetic, None),
            Request::MetaNoop,
            Request::Stats(Some(self.text.as_slice()).filter(|text| !text.is_empty())),
            Request::Version,
            Request::Metadump,
            Request::Quit,
        ]
    }

    fn replies<'a>(&'a self, escaped_key: &'a [u8]) -> Vec<Reply<'a>> {
        let flags = MetaFlags::listed(&self.flags).unwrap();
        let (key, value, text) = (
            self.key.as_slice(),
            self.value.as_slice(),
            self.text.as_slice(),
        );
        vec![
            Reply::Value {
                key,
                flags: self.small,
                cas: self.yes.then_some(self.n),
                value,
            },
            Reply::End,
            Reply::Stored,
            Reply::NotStored,
            Reply::Exists,
            Reply::NotFound,
            Reply::Deleted,
            Reply::Touched,
            Reply::Ok,
            Reply::Reset,
            Reply::Number(self.n),
            Reply::Stat {
                name: key,
                value: text,
            },
            Reply::Version(text),
            Reply::Busy(text),
            Reply::BadClass(text),
            Reply::MetaDebug { key, facts: text },
            Reply::Error(text),
            Reply::ClientError(text),
            Reply::ServerError(text),
            Reply::MetaDone(flags),
            Reply::MetaValue { flags, value },
            Reply::MetaMiss(MetaFlags::NONE),
            Reply::MetaNotFound(flags),
            Reply::MetaNotStored(flags),
            Reply::MetaExists(flags),
            Reply::MetaNoop,
            Reply::Dumped(DumpedItem {
                escaped_key,
                expires: self.m,
                last_access: self.n,
                cas: self.n / 2,
                fetched: self.yes,
                class: self.n / 3,
                bytes: self.n / 5,
            }),
        ]
    }
}

/// Owned, so that answers of different buffers can be compared.
fn answer_to_get(bytes: &[u8], limits: &Limits) -> Parsed<String> {
    GetReply::parse(bytes, b"k", limits).map(|reply| format!("{reply:?}"))
}

/// What two replies say together, by the parser of single ones.
fn two_replies(bytes: &[u8], limits: &Limits) -> Parsed<String> {
    let show = |reply: GetReply<'_>| format!("{reply:?}");
    let (first, taken) = match Reply::parse(bytes, limits) {
        Parsed::Complete(first, taken) => (first, taken),
        other => return other.map(|_| String::new()),
    };
    let Reply::Value {
        key: b"k",
        flags,
        cas,
        value,
    } = first
    else {
        return Parsed::Complete(
            show(match first {
                Reply::End => GetReply::Miss,
                other => GetReply::Other(other),
            }),
            taken,
        );
    };
    match Reply::parse(&bytes[taken..], limits) {
        Parsed::Complete(Reply::End, end) => {
            Parsed::Complete(show(GetReply::Hit { flags, cas, value }), taken + end)
        }
        Parsed::NeedMore => Parsed::NeedMore,
        _ => Parsed::Complete(show(GetReply::Other(first)), taken),
    }
}

/// Bytes that look like the protocol more often than noise does.
fn nearly_protocol() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "get ",
            "set ",
            "cas ",
            "delete ",
            "incr ",
            "gat 1 ",
            "me ",
            "ME k ",
            "flush_all ",
            "touch ",
            "ms ",
            "mg ",
            "VALUE ",
            "VA ",
            "STAT ",
            "key=a ",
            "exp=1 ",
            "HD ",
            "k ",
            "0 ",
            "1 ",
            "-1 ",
            "noreply",
            "\r\n",
            "\n",
            "x",
            "99999999999999999999 ",
            "%",
            "END",
            "lru_crawler metadump all",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
        vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn nearly_answer_to_get() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(vec![
        "VALUE k 0 3\r\nabc\r\n",
        "VALUE k 7 0\r\n\r\n",
        "VALUE k 0 3 99\r\nabc\r\n",
        "VALUE k  0 3\r\n",
        "VALUE k 0 9\r\n123456789\r\n",
        "VALUE k 4294967296 1\r\n",
        "VALUE k 00000000000000000000 01\r\nx\r\n",
        "VALUE kk 0 1\r\nx\r\n",
        "VALUE ",
        "k 0 1",
        "END\r\n",
        "END\n",
        "ENX",
        "\r\n",
        "ERROR\r\n",
        "x",
    ]);
    vec(piece, 0..5).prop_map(|pieces| pieces.concat().into_bytes())
}

fn small_limits() -> Limits {
    Limits {
        key_bytes: 5,
        value_bytes: 8,
        line_bytes: 40,
        ..Limits::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn requests_are_read_back_as_written(parts in parts(), after in vec(any::<u8>(), 0..20)) {
        let limits = Limits::default();
        for request in parts.requests() {
            let mut bytes = Vec::new();
            request.write(&mut bytes);
            let length = bytes.len();
            bytes.extend_from_slice(&after);
            prop_assert_eq!(Request::parse(&bytes, &limits), Parsed::Complete(request, length));
        }
    }

    #[test]
    fn replies_are_read_back_as_written(parts in parts(), after in vec(any::<u8>(), 0..20)) {
        let limits = Limits::default();
        let mut escaped = Vec::new();
        push_escaped(&mut escaped, &parts.key);
        for reply in parts.replies(&escaped) {
            let mut bytes = Vec::new();
            reply.write(&mut bytes);
            let length = bytes.len();
            bytes.extend_from_slice(&after);
            prop_assert_eq!(Reply::parse(&bytes, &limits), Parsed::Complete(reply, length));
        }
    }

    #[test]
    fn a_dumped_key_is_the_key(key in vec(any::<u8>(), 0..250)) {
        let mut escaped_key = Vec::new();
        push_escaped(&mut escaped_key, &key);
        let item = DumpedItem {
            escaped_key: &escaped_key, expires: 0, last_access: 0, cas: 0, fetched: false, class: 0, bytes: 0,
        };
        let mut read = Vec::new();
        prop_assert_eq!(item.key(&mut read), Some(()));
        prop_assert_eq!(read, key);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn messages_may_arrive_in_pieces(parts in parts()) {
        let limits = Limits::default();
        let mut escaped = Vec::new();
        push_escaped(&mut escaped, &parts.key);
        for request in parts.requests() {
            let mut bytes = Vec::new();
            request.write(&mut bytes);
            same_at_every_split(&bytes, |part| Request::parse(part, &limits).map(|_| ()))?;
        }
        for reply in parts.replies(&escaped) {
            let mut bytes = Vec::new();
            reply.write(&mut bytes);
            same_at_every_split(&bytes, |part| Reply::parse(part, &limits).map(|_| ()))?;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn garbage_gives_one_answer_however_it_arrives(bytes in nearly_protocol()) {
        for limits in [small_limits(), Limits::default()] {
            same_at_every_split(&bytes, |part| Request::parse(part, &limits).map(|r| format!("{r:?}")))?;
            same_at_every_split(&bytes, |part| Reply::parse(part, &limits).map(|r| format!("{r:?}")))?;
        }
    }

    #[test]
    fn the_answer_to_a_get_is_what_its_replies_say(bytes in nearly_answer_to_get()) {
        for limits in [small_limits(), Limits::default()] {
            prop_assert_eq!(answer_to_get(&bytes, &limits), two_replies(&bytes, &limits));
            same_at_every_split(&bytes, |part| answer_to_get(part, &limits))?;
        }
    }

    #[test]
    fn base64_is_read_back_as_written(bytes: Vec<u8>, text in "[A-Za-z0-9+/=]{0,12}") {
        let (mut written, mut read) = (Vec::new(), Vec::new());
        push_base64(&mut written, &bytes);
        prop_assert_eq!(read_base64(&mut read, &written), Some(()));
        prop_assert_eq!(&read, &bytes);
        // What is read has one way of being written.
        let (mut read, mut again) = (Vec::new(), Vec::new());
        if read_base64(&mut read, text.as_bytes()).is_some() {
            push_base64(&mut again, &read);
            prop_assert_eq!(again, text.as_bytes());
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
            prop_assert!(skip.is_none_or(|n| (1..=bytes.len()).contains(&n)));
        }
    }
}
