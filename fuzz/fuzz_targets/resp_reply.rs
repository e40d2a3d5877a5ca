//! Replies of Redis, the check that goes on where it stopped, and what is read out of them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use roundtrip_fuzz::check;
use roundtrip_wire::resp::{Redirect, Reply, Scan, Shards, SlotRanges};
use roundtrip_wire::{Limits, Parsed};

fuzz_target!(|bytes: &[u8]| {
    check(bytes, |part, limits| {
        Reply::parse(part, limits).map(|reply| format!("{reply:?}"))
    });

    let limits = Limits::default();
    let whole = Reply::parse(bytes, &limits);
    let mut scan = Scan::default();
    let mut answer = Parsed::NeedMore;
    for end in 0..=bytes.len() {
        answer = scan.resume(&bytes[..end], &limits);
        if answer != Parsed::NeedMore {
            break;
        }
    }
    assert_eq!(answer, whole.map(|_| ()));

    if let Parsed::Complete(reply, _) = whole {
        assert_eq!(count(&reply), reply.items().map_or(0, |items| items.len()));
        let mut again = Vec::new();
        reply.write(&mut again);
        assert_eq!(
            Reply::parse(&again, &limits),
            Parsed::Complete(reply, again.len())
        );
        if let Some(ranges) = SlotRanges::check(&reply) {
            assert_eq!(ranges.iter().count(), count(&reply));
        }
        if let Some(shards) = Shards::check(&reply) {
            assert_eq!(shards.iter().count(), count(&reply));
        }
        if let Some(redirect) = reply.error().and_then(Redirect::parse) {
            assert!(redirect.slot < roundtrip_wire::resp::SLOTS);
        }
    }
});

/// Goes over all parts, and over theirs.
fn count(reply: &Reply<'_>) -> usize {
    let parts = reply.items().into_iter().flatten();
    parts.map(|part| (count(&part), 1).1).sum()
}
