#!/usr/bin/env python3
"""The PHP worker's timed loop against a bare PHP script of the same loop.

Starts memcached servers of its own on free loopback ports, pins them and every client to one core,
interleaves the two loops in pairs (AB, BA, AB, ...), each in a fresh process after a warm-up, and
writes every trial to results.csv. What it started, it ends.

    python3 bench.py [--count 30000] [--pairs 40] [--cpu 0] [--out results.csv] [--nice -10]
    python3 bench.py --summary results.csv
"""
import argparse
import csv
import hashlib
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import struct
import subprocess
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
WORKER = HERE.parent.parent / "workers" / "php" / "worker.php"
WARMUP = 2000
LIBRARIES = ("memcache", "memcached")
FIELDS = ["library", "op", "pair", "first", "loop", "ops", "wall_ns", "user_ns", "sys_ns", "server_ns"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_memcached(cpu, nice):
    port = free_port()
    command = ["taskset", "-c", str(cpu), "nice", "-n", str(nice),
               "memcached", "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-m", "256"]
    if os.geteuid() == 0:
        command += ["-u", "nobody"]
    server = subprocess.Popen(command)
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server, port
        except OSError:
            time.sleep(0.02)
    raise SystemExit("memcached does not answer")


def write_stream(path, count):
    with open(path, "wb") as f:
        f.write(b"RTSTREAM" + struct.pack("<IQ", 1, count))
        for i in range(count):
            text = str(i).encode()
            key, value = hashlib.md5(text).hexdigest().encode(), str(zlib.crc32(text)).encode()
            f.write(struct.pack("<HIB", len(key), len(value), 1) + key + value)


def server_cpu_ns(pid):
    """CPU time of all threads: the first number of schedstat is nanoseconds on a core."""
    tasks = pathlib.Path(f"/proc/{pid}/task")
    return sum(int((t / "schedstat").read_text().split()[0]) for t in tasks.iterdir())


def bare(run, library, op, args, port, _streams):
    out = subprocess.run(run + ["php", str(HERE / "bare.php"), library, op, str(port), str(args.count)],
                         check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def worker(run, library, op, args, port, streams):
    process = subprocess.Popen(run + ["php", str(WORKER)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, bufsize=1)

    def ask(command, answers=1):
        process.stdin.write(json.dumps(command) + "\n")
        events = [json.loads(process.stdout.readline()) for _ in range(answers)]
        if events[0]["event"] == "error":
            raise SystemExit(events[0]["message"])
        return events[0]

    def phase(purpose, stream, count):
        ask({"cmd": "phase", "name": op, "op": op, "purpose": purpose, "target": "store",
             "count": count, "stream": stream, "latencies": streams["latencies"], "ttl_s": 1800,
             "depth": 1, "generate": "prepared"})
        return ask({"cmd": "go"}, 2)

    ask({"cmd": "open", "client": library, "store": "memcached",
         "endpoint": {"tcp": {"host": "127.0.0.1", "port": port}}, "options": {}})
    phase("warmup", streams["warmup"], WARMUP)
    done = phase("measure", streams["measure"], args.count)
    ask({"cmd": "close"})
    process.wait(10)
    right = {"get": "hit", "set": "stored"}[op]
    assert done["outcomes"] == {right: args.count}, done["outcomes"]
    return {"wall_ns": done["ended_ns"] - done["started_ns"],
            "user_ns": done["user_ns"], "sys_ns": done["sys_ns"]}


LOOPS = {"bare": bare, "worker": worker}


def measure(args):
    # One server a library: they mark integers in different ways and cannot read each other's.
    servers = {}
    rows = []
    try:
        for library in LIBRARIES:
            servers[library] = start_memcached(args.cpu, args.nice)
        with tempfile.TemporaryDirectory() as folder:
            streams = {name: os.path.join(folder, name) for name in ("warmup", "measure", "latencies")}
            write_stream(streams["warmup"], WARMUP)
            write_stream(streams["measure"], args.count)
            run = ["taskset", "-c", str(args.cpu), "nice", "-n", str(args.nice)]
            for library in LIBRARIES:
                # Not counted: so that the keys are there.
                worker(run, library, "set", args, servers[library][1], streams)
            plan = [(library, op) for library in LIBRARIES for op in ("get", "set")]
            shuffle = random.Random(1)
            for pair in range(args.pairs):
                shuffle.shuffle(plan)
                for library, op in plan:
                    server, port = servers[library]
                    order = ["bare", "worker"] if pair % 2 == 0 else ["worker", "bare"]
                    for name in order:
                        before = server_cpu_ns(server.pid)
                        row = LOOPS[name](run, library, op, args, port, streams)
                        row.update(library=library, op=op, pair=pair, first=order[0], loop=name,
                                   ops=args.count, server_ns=server_cpu_ns(server.pid) - before)
                        rows.append(row)
    finally:
        for server, _ in servers.values():
            server.send_signal(signal.SIGTERM)
            server.wait(10)
    with open(args.out, "w", newline="") as f:
        table = csv.DictWriter(f, FIELDS)
        table.writeheader()
        table.writerows(rows)


def summary(path):
    """Medians, and the median of the ratios within pairs, of wall time and of client CPU."""
    with open(path, newline="") as f:
        rows = list(csv.DictReader(f))
    print("| library | op | bare, us an op | worker, us an op | wall ratio | its quartiles | 95% interval |")
    print("|---|---|---|---|---|---|---|")
    for library, op in sorted({(r["library"], r["op"]) for r in rows}):
        of = {name: {r["pair"]: int(r["wall_ns"]) / int(r["ops"]) for r in rows
                     if (r["library"], r["op"], r["loop"]) == (library, op, name)} for name in LOOPS}
        ratios = sorted(of["worker"][p] / of["bare"][p] for p in of["bare"])
        n = len(ratios)
        low, _, high = statistics.quantiles(ratios, n=4)
        # Order statistics: the interval of the median that needs no distribution.
        reach = round(0.98 * n ** 0.5)
        ci = ratios[max(0, n // 2 - reach)], ratios[min(n - 1, n // 2 + reach)]
        medians = [statistics.median(of[name].values()) / 1000 for name in LOOPS]
        print(f"| {library} | {op} | {medians[0]:.3f} | {medians[1]:.3f} | "
              f"{statistics.median(ratios):.4f} | {low:.4f}-{high:.4f} | {ci[0]:.4f}-{ci[1]:.4f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=30000)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--out", default=str(HERE / "results.csv"))
    parser.add_argument("--summary", metavar="CSV")
    args = parser.parse_args()
    if not args.summary:
        measure(args)
    summary(args.summary or args.out)


if __name__ == "__main__":
    main()
