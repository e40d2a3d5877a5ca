//! What a memcached is sent.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundtrip_fuzz::check;
use roundtrip_wire::memcached::Request;
use roundtrip_wire::{Limits, Parsed};

fuzz_target!(|bytes: &[u8]| {
    check(bytes, |part, limits| {
        Request::parse(part, limits).map(|message| format!("{message:?}"))
    });
    let limits = Limits::default();
    if let Parsed::Complete(message, _) = Request::parse(bytes, &limits) {
        let mut again = Vec::new();
        message.write(&mut again);
        // What changes a server as a whole is read and never written.
        if let Request::Administer { .. } = message {
            return assert!(again.is_empty());
        }
        assert_eq!(
            Request::parse(&again, &limits),
            Parsed::Complete(message, again.len())
        );
    }
});
