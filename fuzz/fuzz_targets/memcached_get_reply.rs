//! The answer to a `get` of one key, which is read in one go where it looks as usual: it must say
//! what its replies say one by one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundtrip_fuzz::check;
use roundtrip_wire::memcached::{GetReply, Reply};
use roundtrip_wire::{Limits, Parsed};

fuzz_target!(|bytes: &[u8]| {
    // The key that the captured answers are about, so that the fuzzer finds its way.
    let key = b"alpha";
    check(bytes, |part, limits| {
        GetReply::parse(part, key, limits).map(|reply| format!("{reply:?}"))
    });
    let limits = Limits::default();
    let first = Reply::parse(bytes, &limits);
    match (GetReply::parse(bytes, key, &limits), first) {
        (Parsed::Complete(GetReply::Miss, took), Parsed::Complete(reply, taken)) => {
            assert_eq!((reply, taken), (Reply::End, took));
        }
        (Parsed::Complete(GetReply::Other(reply), took), first) => {
            assert_eq!(first, Parsed::Complete(reply, took));
        }
        (
            Parsed::Complete(GetReply::Hit { flags, cas, value }, took),
            Parsed::Complete(reply, taken),
        ) => {
            assert_eq!(
                reply,
                Reply::Value {
                    key,
                    flags,
                    cas,
                    value
                }
            );
            assert_eq!(
                Reply::parse(&bytes[taken..], &limits),
                Parsed::Complete(Reply::End, took - taken)
            );
        }
        (Parsed::Bad(bad), first) => assert_eq!(first, Parsed::Bad(bad)),
        (Parsed::NeedMore, Parsed::NeedMore | Parsed::Complete(Reply::Value { .. }, _)) => {}
        other => panic!("{other:?}"),
    }
});
