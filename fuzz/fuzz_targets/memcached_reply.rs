//! What a memcached says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundtrip_fuzz::check;
use roundtrip_wire::memcached::Reply;
use roundtrip_wire::{Limits, Parsed};

fuzz_target!(|bytes: &[u8]| {
    check(bytes, |part, limits| {
        Reply::parse(part, limits).map(|message| format!("{message:?}"))
    });
    let limits = Limits::default();
    if let Parsed::Complete(message, _) = Reply::parse(bytes, &limits) {
        let mut again = Vec::new();
        message.write(&mut again);
        assert_eq!(
            Reply::parse(&again, &limits),
            Parsed::Complete(message, again.len())
        );
    }
});
