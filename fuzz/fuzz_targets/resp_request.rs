//! Commands to Redis.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundtrip_fuzz::{check, check_again};
use roundtrip_wire::resp::{Request, write_command};
use roundtrip_wire::{Limits, Parsed};

fn owned(request: Request<'_>) -> Vec<Vec<u8>> {
    let arguments: Vec<_> = request.iter().map(<[u8]>::to_vec).collect();
    assert_eq!(arguments.len(), request.len());
    arguments
}

fuzz_target!(|bytes: &[u8]| {
    let parse = |part: &[u8], limits: &Limits| Request::parse(part, limits).map(owned);
    check(bytes, parse);
    let limits = Limits::default();
    if let Parsed::Complete(arguments, _) = parse(bytes, &limits) {
        let slices: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        check_again(
            &arguments,
            |out| write_command(out, &slices),
            |again| parse(again, &limits),
        );
    }
});
