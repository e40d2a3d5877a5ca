//! What the codec costs an operation: writing a request and parsing a reply, as the client does,
//! and the other way round, as the floor does.

#![allow(missing_docs)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use roundtrip_wire::Limits;
use roundtrip_wire::memcached::{Keys, Reply, Request, StoreVerb};
use std::hint::black_box;

const KEY: &[u8] = b"c4ca4238a0b923820dcc509a6f75849b";
const VALUE: &[u8] = b"2212294583";

fn requests() -> [(&'static str, Request<'static>); 2] {
    let get = Request::Get {
        keys: Keys::one(KEY),
        cas: false,
    };
    let set = Request::Store {
        verb: StoreVerb::Set,
        key: KEY,
        flags: 0,
        expires: 1800,
        value: VALUE,
        noreply: false,
    };
    [("get", get), ("set", set)]
}

fn replies() -> [(&'static str, Reply<'static>); 3] {
    let value = Reply::Value {
        key: KEY,
        flags: 0,
        cas: None,
        value: VALUE,
    };
    [
        ("value", value),
        ("stored", Reply::Stored),
        ("end", Reply::End),
    ]
}

fn codec(c: &mut Criterion) {
    let limits = Limits::default();
    let mut group = c.benchmark_group("codec");
    group.throughput(Throughput::Elements(1));
    let mut out = Vec::with_capacity(4096);
    for (name, request) in requests() {
        group.bench_function(format!("write request {name}"), |b| {
            b.iter(|| {
                out.clear();
                black_box(request).write(&mut out);
            });
        });
        out.clear();
        request.write(&mut out);
        group.bench_function(format!("parse request {name}"), |b| {
            b.iter(|| black_box(Request::parse(black_box(&out), &limits)));
        });
    }
    for (name, reply) in replies() {
        group.bench_function(format!("write reply {name}"), |b| {
            b.iter(|| {
                out.clear();
                black_box(reply).write(&mut out);
            });
        });
        out.clear();
        reply.write(&mut out);
        group.bench_function(format!("parse reply {name}"), |b| {
            b.iter(|| black_box(Reply::parse(black_box(&out), &limits)));
        });
    }
    group.finish();
}

criterion_group!(benches, codec);
criterion_main!(benches);
