//! The letter of the messages, written by hand: what other languages are written against.
#![allow(clippy::unwrap_used, clippy::panic)] // Helpers of tests fail as tests do.

mod common;

use common::{open, phase, published};
use roundtrip_model::Op;
use roundtrip_model::contract::{
    Check, CheckMode, Command, Done, Endpoint, Event, LatencyForm, Purpose, Target, VERSION,
};
use roundtrip_model::workload::Generate;
use serde_json::{Value, json};

fn said(command: &Command) -> Value {
    serde_json::to_value(command).unwrap()
}

fn heard(event: Value) -> Event {
    serde_json::from_value(event).unwrap()
}

#[test]
fn commands_are_what_the_contract_says() {
    assert_eq!(VERSION, 1);
    assert_eq!(said(&Command::Describe), json!({"cmd": "describe"}));
    assert_eq!(said(&Command::Go), json!({"cmd": "go"}));
    assert_eq!(said(&Command::Close), json!({"cmd": "close"}));

    let tcp = Endpoint::Tcp {
        host: "127.0.0.1".into(),
        port: 11211,
    };
    let mut command = open("memcached", &tcp, &[("serializer", "php")]);
    assert_eq!(
        said(&Command::Open(command.clone())),
        json!({"cmd": "open", "client": "memcached", "store": "memcached",
            "endpoint": {"tcp": {"host": "127.0.0.1", "port": 11211}},
            "options": {"serializer": "php"}})
    );
    command.endpoint = Endpoint::File { path: "/f".into() };
    command.cache = Some(("floor".into(), Endpoint::Unix { path: "/u".into() }));
    command.options.clear();
    assert_eq!(
        said(&Command::Open(command)),
        json!({"cmd": "open", "client": "memcached", "store": "memcached",
            "endpoint": {"file": {"path": "/f"}},
            "cache": ["floor", {"unix": {"path": "/u"}}], "options": {}})
    );

    let folder = tempfile::tempdir().unwrap();
    let mut command = phase(Op::ReadAside, &published(3), folder.path());
    command.stream = "/s".into();
    command.latencies = None;
    command.purpose = Purpose::Warmup;
    command.target = Target::Cache;
    command.generate = Generate::InLoop;
    assert_eq!(
        said(&Command::Phase(command)),
        json!({"cmd": "phase", "name": "read_aside", "op": "read_aside", "purpose": "warmup",
            "target": "cache", "count": 3, "stream": "/s", "ttl_s": 1800, "depth": 1,
            "generate": "in-loop"})
    );

    let check = Check {
        mode: CheckMode::Read,
        vectors: "/v".into(),
        prefix: "p".into(),
        classes: false,
    };
    assert_eq!(
        said(&Command::Check(check)),
        json!({"cmd": "check", "mode": "read", "vectors": "/v", "prefix": "p", "classes": false})
    );
}

#[test]
fn events_are_what_the_contract_says() {
    assert_eq!(heard(json!({"event": "ready"})), Event::Ready);
    assert_eq!(heard(json!({"event": "closed"})), Event::Closed);
    assert_eq!(
        heard(json!({"event": "opened", "connect_ns": 5})),
        Event::Opened { connect_ns: 5 }
    );
    assert_eq!(
        heard(json!({"event": "written", "latencies": 7})),
        Event::Written {
            latencies: 7,
            form: LatencyForm::Raw,
        }
    );
    let done = json!({"event": "done", "started_ns": 1, "ended_ns": 2, "user_ns": 3, "sys_ns": 4,
        "outcomes": {"hit": 5, "error:timeout": 6}, "max_rss_bytes": 8});
    assert_eq!(
        heard(done),
        Event::Done(Done {
            started_ns: 1,
            ended_ns: 2,
            user_ns: 3,
            sys_ns: 4,
            complaint: None,
            outcomes: [("hit".to_owned(), 5), ("error:timeout".to_owned(), 6)].into(),
            cache_outcomes: Default::default(),
            max_rss_bytes: Some(8),
            carried: None,
            gaps: Vec::new(),
            gap_totals: None,
            redirects: Default::default(),
            lateness: None,
        })
    );
    let described = json!({"event": "described", "contract": 1, "language": "php",
        "runtime": "PHP 8.2", "settings": {"xdebug": "off"},
        "clients": [{"name": "x", "available": false, "version": null, "reason": "r",
            "stores": ["memcached"], "ops": ["get", "incr"], "options": {"o": ["a", "b"]}}]});
    let Event::Described(described) = heard(described) else {
        panic!("not described");
    };
    assert_eq!(described.clients[0].ops, [Op::Get, Op::Incr]);
    let rows = json!({"event": "checked", "rows": [
        {"name": "int", "type": "int", "value": "100", "same": true},
        {"name": "null", "type": "bool", "value": "false", "same": false, "note": "n"}]});
    let Event::Checked { rows } = heard(rows) else {
        panic!("not checked");
    };
    assert_eq!(
        (rows[0].note.as_deref(), rows[1].note.as_deref()),
        (None, Some("n"))
    );
    let error = json!({"event": "error", "kind": "connect", "message": "m"});
    assert!(matches!(heard(error), Event::Error { .. }));
}

#[test]
fn every_vector_is_of_a_type_that_the_contract_names() {
    let workers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workers");
    let contract = std::fs::read_to_string(format!("{workers}/CONTRACT.md")).unwrap();
    let vectors = std::fs::read_to_string(format!("{workers}/vectors/values.json")).unwrap();
    let vectors: Vec<Value> = serde_json::from_str(&vectors).unwrap();
    let mut names = std::collections::HashSet::new();
    for vector in &vectors {
        assert_eq!(vector.as_object().unwrap().len(), 3, "{vector}");
        assert!(names.insert(vector["name"].as_str().unwrap()), "{vector}");
        let row = format!("| `{}` |", vector["type"].as_str().unwrap());
        assert!(contract.contains(&row), "{row} is not in CONTRACT.md");
    }
}
