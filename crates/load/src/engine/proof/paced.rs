//! Response times: what a server's stall, or its want of capacity, does to ops that have their
//! moments; and what the lateness of the generator is and is not.

use super::simulated::{LOOK_NS, postponed};
use super::*;
use proptest::prelude::*;

const STALL: Option<(u64, u64)> = Some((100 * MS, S));
/// Ops of a rate of 10,000 a second for 10 seconds.
const COUNT: u64 = 100_000;
const FIXED: Asked = Asked::Fixed { per_s: 10_000.0 };

fn takes_50_us(_: u64) -> u64 {
    50 * US
}

fn stalling() -> Server {
    Server {
        stall: STALL,
        ..server(takes_50_us)
    }
}

/// The true response times where ops wait for the one before them: each starts at its moment, or
/// when the one before it has ended.
fn one_by_one(moments_ns: &[u64], takes_ns: u64, stall: Option<(u64, u64)>) -> Vec<u64> {
    let mut free_ns = 0;
    let response = |moment_ns: &u64| {
        free_ns = postponed(free_ns.max(*moment_ns) + takes_ns, stall);
        free_ns - moment_ns
    };
    moments_ns.iter().map(response).collect()
}

fn paced(pace: Asked, count: u64, connections: usize, depth: usize) -> Load {
    Load {
        pace,
        ..load(count, connections, depth)
    }
}

/// 10% of all ops fall into a stall and wait for its end: from 0 to 100 ms, each as likely as any
/// other. So 1% wait longer than 90 ms, whatever else there is.
#[test]
fn a_stall_is_in_the_response_times_of_a_fixed_rate() {
    // Enough places for every op that comes during a stall, in any shape.
    for (connections, depth) in [(1, 2000), (50, 40), (2000, 1)] {
        let load = paced(FIXED, COUNT, connections, depth);
        let record = run(&load, stalling());
        assert_eq!(record.response.count(), COUNT);
        let response = record.response.to_histogram();
        let p99_ns = response.quantile(0.99).unwrap();
        // Behind the stall, what waits on one connection is answered one after another, and what
        // came last was last to wait: a drain of at most 1,000 ops of 50 us.
        let drain_ns = 1000 / connections as u64 * 50 * US;
        assert!(
            (90 * MS - MS..=90 * MS + MS + drain_ns).contains(&p99_ns),
            "{connections} connections: {p99_ns} ns"
        );
        assert_eq!(record.late.quantile_ns(1.0), 0, "nothing was late");
    }
    // With a connection for each op in flight nothing waits for anything but the stall: exact.
    let record = run(&paced(FIXED, COUNT, 2000, 1), stalling());
    let moments_ns = moments(&FIXED, COUNT);
    let truth: Vec<u64> = moments_ns
        .iter()
        .map(|ns| postponed(ns + 50 * US, STALL) - ns)
        .collect();
    let response = record.response.to_histogram();
    assert!(response.buckets().eq(histogram(&truth).buckets()));
    assert_is(response.quantile(0.99), 90 * MS, "p99 behind a stall");
    assert_is(response.quantile(0.5), 50 * US, "p50 beside a stall");
}

/// Where ops have to wait for a place, the wait is in the response time all the same, and the
/// stall's queue is drained in it.
#[test]
fn a_stall_is_in_the_response_times_of_one_place_in_flight() {
    let record = run(&paced(FIXED, COUNT, 1, 1), stalling());
    let truth = one_by_one(&moments(&FIXED, COUNT), 50 * US, STALL);
    let (response, service) = (
        record.response.to_histogram(),
        record.service.to_histogram(),
    );
    assert!(response.buckets().eq(histogram(&truth).buckets()));
    // A queue of 1,000 is drained twice as fast as it fills, so twice as many wait, from the
    // stall's 100 ms down to nothing: of 2,000 a second, 100 wait for more than 95 ms.
    assert_is(
        response.quantile(0.99),
        95 * MS,
        "p99 behind a stall and its drain",
    );
    // The times from the sending alone do not show it: one op a second is in flight.
    assert_is(service.quantile(0.99), 50 * US, "p99 of the service time");
    assert_eq!(record.late.quantile_ns(1.0), 0, "the places were taken");
}

/// The closed loop waits with the server, and asks nothing while it is away: one op a stall.
#[test]
fn a_closed_loop_does_not_show_a_stall() {
    let record = run(&load(COUNT, 1, 1), stalling());
    let service = record.service.to_histogram();
    for q in [0.5, 0.9, 0.99, 0.999] {
        assert_is(
            service.quantile(q),
            50 * US,
            "a quantile of the closed loop",
        );
    }
    // 18,000 ops fit into what a stall leaves of a second.
    let stalled: u64 = service
        .buckets()
        .filter(|(ns, _)| *ns > MS)
        .map(|(_, count)| count)
        .sum();
    assert_eq!(stalled, (COUNT - 1) / 18_000);
}

#[test]
fn a_stall_is_in_the_response_times_of_a_poisson_process() {
    let per_s = 10_000.0;
    let asked = Asked::Poisson { per_s };
    let record = run(&paced(asked.clone(), COUNT, 2000, 1), stalling());
    let response = record.response.to_histogram();
    assert_eq!(response.count(), COUNT);
    // The moments of a Poisson process are independent: how many of them wait longer than 90 ms
    // is binomial, with a share of 1%. Its standard deviation, over the density of the waits
    // there (0.1 in 100 ms), is that of the p99: 0.31 ms. 3.3 of them, and the time of a look.
    let deviation_ns = (0.01 * 0.99 / COUNT as f64).sqrt() / 0.1 * (100 * MS) as f64;
    let p99_ns = response.quantile(0.99).unwrap();
    let off_ns = p99_ns.abs_diff(90 * MS + 50 * US) as f64;
    assert!(
        off_ns < 3.3 * deviation_ns + LOOK_NS as f64,
        "{p99_ns} ns, deviation {deviation_ns} ns"
    );
    // And against the very moments: each op starts at its own, or at the look behind it.
    let truth: Vec<u64> = moments(&asked, COUNT)
        .iter()
        .map(|ns| postponed(ns + 50 * US, STALL) - ns)
        .collect();
    for q in [0.9, 0.99, 0.999] {
        let off_ns = response
            .quantile(q)
            .unwrap()
            .abs_diff(true_quantile(&truth, q));
        assert!(
            off_ns <= LOOK_NS + p99_ns / 1000,
            "quantile {q}: {off_ns} ns"
        );
    }
    assert!(record.latest_ns <= LOOK_NS, "{} ns late", record.latest_ns);
}

/// A server that does 1,000 ops a second is asked for 2,000: the queue grows for as long as it is
/// asked. No op is left out, each is counted from its moment, and none of it is the generator's
/// fault.
#[test]
fn a_server_beyond_its_capacity_answers_later_and_later_and_nothing_is_skipped() {
    let asked = Asked::Fixed { per_s: 2_000.0 };
    for (count, connections, depth) in [(5_000, 1, 1), (20_000, 1, 1), (20_000, 4, 4)] {
        let server = Server {
            queue: Queue::Server,
            ..server(|_| MS)
        };
        let record = run(&paced(asked.clone(), count, connections, depth), server);
        let response = record.response.to_histogram();
        assert_eq!(record.tally.by_name()["hit"], count);
        assert_eq!((response.count(), record.service.count()), (count, count));
        let truth = one_by_one(&moments(&asked, count), MS, None);
        assert!(
            response.buckets().eq(histogram(&truth).buckets()),
            "{connections} connections of depth {depth}"
        );
        // Op i ends after i + 1 ms, and was to start at i / 2 ms: it grows without a bound.
        assert_is(
            response.max(),
            count * MS / 2 + MS / 2,
            "the last op's response time",
        );
        let service_ns = MS * (connections * depth) as u64;
        assert_is(
            record.service.to_histogram().max(),
            service_ns,
            "the longest service time",
        );
        assert_eq!(
            record.latest_ns, 0,
            "every place was taken: the server's fault"
        );
    }
}

/// A generator whose sending costs more than the time between two moments, with places to spare:
/// its lateness is told, and grows. The same one with time enough is not late.
#[test]
fn a_generator_that_cannot_keep_its_rate_is_late() {
    let late = |send_cost_ns: u64| {
        let load = Load {
            send_cost_ns,
            ..paced(FIXED, 2_000, 50, 100)
        };
        let record = run(&load, server(takes_50_us));
        assert_eq!(record.response.count(), 2_000, "still nothing is skipped");
        record.lateness()
    };
    // The last op is to start after 200 ms, and what is sent takes 400 ms to send.
    let overloaded = late(200 * US);
    assert!(overloaded.max_ns > 50 * MS, "{overloaded:?}");
    assert!(overloaded.mean_ns > 20 * MS, "{overloaded:?}");
    assert!(overloaded.p99_ns > 50 * MS, "{overloaded:?}");
    let fit = late(10 * US);
    assert!(fit.max_ns <= LOOK_NS, "{fit:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever the rate, the server and the places: every op has one response time, and no
    /// response time is shorter than the service time behind it.
    #[test]
    fn every_moment_is_kept(
        per_s in 100.0f64..50_000.0,
        poisson: bool,
        connections in 1usize..20,
        depth in 1usize..10,
        one_server: bool,
    ) {
        let pace = match poisson {
            true => Asked::Poisson { per_s },
            false => Asked::Fixed { per_s },
        };
        let queue = if one_server { Queue::Server } else { Queue::Connection };
        let server = Server { queue, stall: STALL, ..server(takes_50_us) };
        let count = 2_000;
        let record = run(&paced(pace.clone(), count, connections, depth), server);
        prop_assert_eq!(record.response.count(), count);
        prop_assert_eq!(record.service.count(), count);
        prop_assert!(record.latest_ns <= LOOK_NS);
        let (response, service) =
            (record.response.to_histogram(), record.service.to_histogram());
        for q in [0.1, 0.5, 0.9, 0.99] {
            prop_assert!(response.quantile(q) >= service.quantile(q));
        }
        if connections * depth == 1 {
            let truth = one_by_one(&moments(&pace, count), 50 * US, STALL);
            let off = response.max().unwrap().abs_diff(*truth.iter().max().unwrap());
            prop_assert!(off <= response.max().unwrap() / 1000 + LOOK_NS);
        }
    }
}
