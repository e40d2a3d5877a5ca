use super::*;

/// `CLUSTER SLOTS` of nodes: first slot, last slot, host, port.
fn told(ranges: &[(u16, u16, &str, u16)]) -> Vec<u8> {
    let mut text = format!("*{}\r\n", ranges.len());
    for (first, last, host, port) in ranges {
        text += &format!("*3\r\n:{first}\r\n:{last}\r\n*2\r\n");
        text += &format!("${}\r\n{host}\r\n:{port}\r\n", host.len());
    }
    text.into_bytes()
}

fn map(ranges: &[(u16, u16, &str, u16)]) -> Result<Map, String> {
    let bytes = told(ranges);
    let Parsed::Complete(reply, _) = Reply::parse(&bytes, &Limits::default()) else {
        panic!("it is a reply");
    };
    Map::of(&reply, "127.0.0.1")
}

fn cluster() -> Cluster {
    let task = Task {
        add: 0,
        ttl_s: 0,
        prepare: false,
    };
    let halves = [(0, 8191, "127.0.0.1", 1), (8192, 16383, "", 2)];
    Cluster::new(task, map(&halves).unwrap())
}

#[test]
fn every_slot_has_its_node_and_a_hole_is_refused() {
    let map = cluster().map;
    assert_eq!(map.nodes.len(), 2);
    assert_eq!((map.slots[8191], map.slots[8192]), (0, 1));
    let hole = super::tests::map(&[(0, 99, "a", 1), (101, 16383, "b", 1)]);
    assert_eq!(hole.unwrap_err(), "no node has slot 100");
}

#[test]
fn moved_is_remembered_and_ask_is_not() {
    let mut cluster = cluster();
    let to = |node, asking| Redirect { node, asking };
    let ask = b"-ASK 5 127.0.0.1:2\r\n";
    let answer = cluster.redirect(ask);
    assert_eq!(answer, Some(Answer::Elsewhere(to(1, true), ask.len())));
    assert_eq!(cluster.map.slots[5], 0);
    let moved = b"-MOVED 5 :2\r\n";
    let answer = cluster.redirect(moved);
    assert_eq!(answer, Some(Answer::Elsewhere(to(1, false), moved.len())));
    assert_eq!(cluster.map.slots[5], 1);
    // A node that nobody knows is one that there is not.
    let unknown = b"-MOVED 5 127.0.0.1:3\r\n";
    let answer = cluster.redirect(unknown);
    assert_eq!(
        answer,
        Some(Answer::Elsewhere(to(u16::MAX, false), unknown.len()))
    );
    assert_eq!(cluster.map.slots[5], 1);
    assert_eq!(cluster.redirect(b"-ERR no\r\n"), None);
    assert_eq!(cluster.redirect(b"-MOVED 5 "), Some(Answer::NeedMore));
}
