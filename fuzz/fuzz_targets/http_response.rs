//! Heads of HTTP responses.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundtrip_fuzz::check;
use roundtrip_wire::http::Response;

fuzz_target!(|bytes: &[u8]| {
    check(bytes, |part, limits| {
        Response::parse(part, false, limits).map(|head| {
            for (name, value) in head.headers.iter() {
                assert!(!name.is_empty() && !value.contains(&b'\n'));
            }
            format!("{head:?}")
        })
    });
});
