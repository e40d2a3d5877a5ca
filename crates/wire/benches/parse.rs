//! What the hot messages cost: the answer to one read and one write, and their requests.

#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use roundtrip_wire::Limits;
use roundtrip_wire::memcached::{self, GetReply};
use roundtrip_wire::resp::{self, write_command, write_get, write_set};
use std::hint::black_box;

const KEY: &[u8] = b"c4ca4238a0b923820dcc509a6f75849b";

fn memcached(c: &mut Criterion) {
    let limits = Limits::default();
    let mut group = c.benchmark_group("memcached");
    for length in [100, 10_000] {
        let value = vec![b'v'; length];
        let head = format!("VALUE {} 0 {length}\r\n", String::from_utf8_lossy(KEY));
        let hit = [head.as_bytes(), &value, b"\r\nEND\r\n"].concat();
        group.bench_function(BenchmarkId::new("get reply in one go", length), |b| {
            b.iter(|| black_box(GetReply::parse(black_box(&hit), black_box(KEY), &limits)));
        });
        group.bench_function(BenchmarkId::new("get reply, value then end", length), |b| {
            b.iter(|| {
                let reply = memcached::Reply::parse(black_box(&hit), &limits);
                black_box(memcached::Reply::parse(&hit[hit.len() - 5..], &limits));
                black_box(reply)
            });
        });
    }
    group.bench_function("get request", |b| {
        let request = [b"get ", KEY, b"\r\n"].concat();
        b.iter(|| black_box(memcached::Request::parse(black_box(&request), &limits)));
    });
    group.finish();
}

fn redis(c: &mut Criterion) {
    let limits = Limits::default();
    let mut group = c.benchmark_group("resp");
    let bulk = [b"$100\r\n", [b'v'; 100].as_slice(), b"\r\n"].concat();
    let replies: [(&str, &[u8]); 4] = [
        ("bulk", &bulk),
        ("ok", b"+OK\r\n"),
        ("integer", b":12345\r\n"),
        ("null", b"$-1\r\n"),
    ];
    for (name, bytes) in replies {
        group.bench_function(BenchmarkId::new("reply", name), |b| {
            b.iter(|| black_box(resp::Reply::parse(black_box(bytes), &limits)));
        });
    }
    let mut request = Vec::new();
    write_get(&mut request, KEY);
    group.bench_function("get request", |b| {
        b.iter(|| black_box(resp::Request::parse(black_box(&request), &limits)));
    });
    let mut out = Vec::with_capacity(4096);
    group.bench_function("write GET", |b| {
        b.iter(|| {
            out.clear();
            write_get(&mut out, black_box(KEY));
        });
    });
    group.bench_function("write GET as any command", |b| {
        b.iter(|| {
            out.clear();
            write_command(&mut out, black_box(&[b"GET", KEY]));
        });
    });
    group.bench_function("write SET", |b| {
        b.iter(|| {
            out.clear();
            write_set(&mut out, black_box(KEY), black_box(&[b'v'; 100]));
        });
    });
    group.finish();
}

criterion_group!(benches, memcached, redis);
criterion_main!(benches);
