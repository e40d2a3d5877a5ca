//! What a server does wrong is found: in the outcome of the very op, or in its connection.

use super::*;
use roundtrip_model::contract::Endpoint;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::time::Duration;

const COUNT: u64 = 1_000;

/// Runs ops against a server that does one thing wrong; gives the outcomes and how often a
/// connection was lost.
fn outcomes(
    speech: Speech,
    op: Op,
    depth: usize,
    fate: fn(u64) -> Fate,
) -> (BTreeMap<String, u64>, usize, u64) {
    // Where a lost connection is made anew: the bytes themselves never get there.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mender = Mender {
        hello: None,
        endpoints: vec![Endpoint::Tcp {
            host: "127.0.0.1".to_owned(),
            port: listener.local_addr().unwrap().port(),
        }],
        link: crate::io::LinkOptions { tcp_nodelay: true },
        patience: Duration::from_secs(10),
        seed: 7,
    };
    let load = Load {
        op,
        mender: Some(mender),
        ..load(COUNT, 1, depth)
    };
    let server = Server {
        speech,
        fate,
        ..server(|_| 100 * US)
    };
    let (record, counted) = run_part(&load, server, 0, 1);
    (
        record.tally.by_name(),
        record.gaps.totals().count as usize,
        counted,
    )
}

fn only_500(number: u64, fate: Fate) -> Fate {
    match number {
        500 => fate,
        _ => Fate::Honest,
    }
}

fn each(check: impl Fn(Speech, Op, usize, &str)) {
    for speech in [Speech::Memcached, Speech::Resp] {
        for op in [Op::Get, Op::Set] {
            for depth in [1, 16] {
                check(speech, op, depth, &format!("{speech:?} {op:?} {depth}"));
            }
        }
    }
}

fn well(op: Op) -> &'static str {
    match op {
        Op::Get => "hit",
        _ => "stored",
    }
}

/// How many ops end with the connection when request 500 is the one that fails: it, and those
/// behind it in its batch.
fn of_batch(depth: usize) -> u64 {
    let depth = depth as u64;
    depth - 500 % depth
}

#[test]
fn an_honest_server_has_nothing_found() {
    each(|speech, op, depth, what| {
        let (by_name, gaps, counted) = outcomes(speech, op, depth, |_| Fate::Honest);
        assert_eq!(by_name, [(well(op).to_owned(), COUNT)].into(), "{what}");
        assert_eq!((gaps, counted), (0, COUNT), "{what}");
    });
}

/// A reply that never comes: alone, its op ends by the time limit. With others behind it, their
/// replies are taken for answers to what they do not answer: reads are wrong, and at the end of
/// the batch one answer is missing. In no case do all ops end well.
#[test]
fn a_dropped_reply_is_found() {
    each(|speech, op, depth, what| {
        let (by_name, gaps, _) = outcomes(speech, op, depth, |n| only_500(n, Fate::Drop));
        let failed = COUNT - by_name[well(op)];
        assert!(failed >= 1, "{what}: {by_name:?}");
        assert_eq!(by_name.values().sum::<u64>(), COUNT, "{what}: {by_name:?}");
        assert_eq!(gaps, 1, "{what}: the connection is given up");
        if depth == 1 {
            assert_eq!(by_name["error:timeout"], 1, "{what}: {by_name:?}");
        }
    });
}

/// A connection that is closed ends all that is in flight on it, and is made anew.
#[test]
fn a_closed_connection_is_found() {
    each(|speech, op, depth, what| {
        let (by_name, gaps, _) = outcomes(speech, op, depth, |n| only_500(n, Fate::HangUp));
        let expected = [
            (well(op).to_owned(), COUNT - of_batch(depth)),
            ("error:connection".to_owned(), of_batch(depth)),
        ];
        assert_eq!(by_name, expected.into(), "{what}");
        assert_eq!(gaps, 1, "{what}");
    });
}

/// A reply that comes twice: alone, the second answers nothing. With others behind it, it is taken
/// for the next op's, where a read finds another key or value; replies that carry neither are all
/// alike, and the one that is left over when all have ended gives it away.
#[test]
fn a_doubled_reply_is_found() {
    each(|speech, op, depth, what| {
        let (by_name, _, counted) = outcomes(speech, op, depth, |n| only_500(n, Fate::Double));
        let failures: u64 = by_name
            .iter()
            .filter(|(name, _)| name.as_str() != well(op))
            .map(|(_, count)| count)
            .sum();
        assert!(failures >= 1, "{what}: {by_name:?}");
        assert_eq!(
            counted, COUNT,
            "{what}: each op is one request all the same"
        );
        if depth == 1 || op == Op::Set {
            assert_eq!(by_name["error:surplus_reply"], 1, "{what}: {by_name:?}");
            assert_eq!(by_name[well(op)], COUNT, "{what}: {by_name:?}");
        }
    });
}

#[test]
fn a_garbled_reply_is_found() {
    each(|speech, op, depth, what| {
        let (by_name, gaps, _) = outcomes(speech, op, depth, |n| only_500(n, Fate::Garble));
        match op {
            // The connection is still understood; the value is another.
            Op::Get => {
                assert_eq!(by_name["wrong"], 1, "{what}");
                assert_eq!((by_name["hit"], gaps), (COUNT - 1, 0), "{what}");
            }
            // `STORED` and `OK` with another letter are no answers: the connection is given up.
            _ => {
                assert_eq!(
                    by_name["error:protocol"],
                    of_batch(depth),
                    "{what}: {by_name:?}"
                );
                assert_eq!(gaps, 1, "{what}");
            }
        }
    });
}
