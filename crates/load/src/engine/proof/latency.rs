//! Service times: what the loop records of a known delay is that delay.

use super::*;

const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

fn constant(_: u64) -> u64 {
    200 * US
}

/// 1% of requests, by number.
fn two_valued(number: u64) -> u64 {
    match number % 100 {
        99 => 5 * MS,
        _ => 100 * US,
    }
}

/// The true service times of a closed loop: each connection sends as many as it has places and
/// waits for them all, and they take their times one after another.
fn closed(load: &Load, takes_ns: fn(u64) -> u64) -> Vec<u64> {
    let each = load.count / load.connections as u64;
    let numbers: Vec<u64> = (0..each).collect();
    let mut one = Vec::new();
    for batch in numbers.chunks(load.depth) {
        let mut since_ns = 0;
        for number in batch {
            since_ns += takes_ns(*number);
            one.push(since_ns);
        }
    }
    one.repeat(load.connections)
}

fn prove(takes_ns: fn(u64) -> u64, piece_bytes: Option<usize>) {
    for speech in [Speech::Memcached, Speech::Resp] {
        for (connections, depth) in [(1, 1), (1, 16), (50, 1), (50, 16)] {
            // As many for each connection as make whole batches.
            let load = load(16_000, connections, depth);
            let server = Server {
                speech,
                piece_bytes,
                ..server(takes_ns)
            };
            let record = run(&load, server);
            let truth = closed(&load, takes_ns);
            let measured = record.service.to_histogram();
            let what = format!("{speech:?}, {connections} connections of depth {depth}");
            assert_eq!(record.tally.by_name()["hit"], load.count, "{what}");
            for q in QUANTILES {
                let what = format!("{what}: quantile {q}");
                assert_is(measured.quantile(q), true_quantile(&truth, q), &what);
            }
            assert!(measured.buckets().eq(histogram(&truth).buckets()), "{what}");
            assert_eq!(record.response.count(), 0, "a closed loop has none");
        }
    }
}

#[test]
fn a_constant_delay_is_measured_as_it_is() {
    prove(constant, None);
    // The known answers themselves: without a pipeline every op takes the delay, and in one of 16
    // as many delays as its place in it.
    let depth_1 = closed(&load(16_000, 1, 1), constant);
    assert!(depth_1.iter().all(|ns| *ns == 200 * US));
    let depth_16 = closed(&load(16_000, 1, 16), constant);
    assert_eq!(true_quantile(&depth_16, 0.5), 8 * 200 * US);
    assert_eq!(true_quantile(&depth_16, 0.99), 16 * 200 * US);
}

#[test]
fn a_delay_of_two_values_is_measured_as_it_is() {
    prove(two_valued, None);
    // One in a hundred: the slow ones begin right behind p99.
    let truth = closed(&load(16_000, 1, 1), two_valued);
    let quantiles = QUANTILES.map(|q| true_quantile(&truth, q));
    assert_eq!(quantiles, [100 * US, 100 * US, 100 * US, 5 * MS]);
}

#[test]
fn a_reply_that_comes_in_pieces_is_timed_to_its_last_byte() {
    prove(two_valued, Some(7));
}
