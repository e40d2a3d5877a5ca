#!/usr/bin/env python3
"""The PHP worker's timed loop against a bare PHP script of the same loop.

Starts memcached servers of its own on free loopback ports and pins them and every client to one
core. What it started, it ends. Three measurements, each written to its CSV:

- processes.csv: bare.php and the worker in pairs (AB, BA, AB, ...), each in a fresh process;
- turns.csv: both loops in one process, in turns (paired.php);
- dispatch.csv: ways to put a call into one loop (dispatch.php), medians.

    python3 bench.py [--count 30000] [--pairs 40] [--turns 600] [--cpu 0] [--nice 0]
    python3 bench.py --summary
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
TURN_OPS = 1000
ROUNDS = 3
LIBRARIES = ("memcache", "memcached")
FIELDS = ["library", "op", "pair", "first", "loop", "ops", "wall_ns", "user_ns", "sys_ns"]


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


def script(run, name, given):
    return subprocess.run(run + ["php", str(HERE / name)] + given, check=True, capture_output=True,
                          text=True).stdout.splitlines()


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
                    port = servers[library][1]
                    order = ["bare", "worker"] if pair % 2 == 0 else ["worker", "bare"]
                    for name in order:
                        row = LOOPS[name](run, library, op, args, port, streams)
                        row.update(library=library, op=op, pair=pair, first=order[0], loop=name,
                                   ops=args.count)
                        rows.append(row)
            with open(HERE / "turns.csv", "w") as turns, open(HERE / "dispatch.csv", "w") as ways:
                turns.write("library,op,round,bare_ns,worker_ns,worker_first\n")
                ways.write("library,op,way,ns_per_op,ratio_to_bare\n")
                for number in range(ROUNDS):
                    shuffle.shuffle(plan)
                    for library, op in plan:
                        given = [library, op, str(servers[library][1]), str(TURN_OPS)]
                        rows_of = script(run, "paired.php", given + [str(args.turns // ROUNDS)])
                        turns.writelines(f"{library},{op},{number},{row}\n" for row in rows_of)
                for library, op in sorted(plan):
                    given = [library, op, str(servers[library][1]), str(TURN_OPS)]
                    ways.writelines(f"{row}\n" for row in script(run, "dispatch.php", given + [str(args.turns)]))
    finally:
        for server, _ in servers.values():
            server.send_signal(signal.SIGTERM)
            server.wait(10)
    with open(HERE / "processes.csv", "w", newline="") as f:
        table = csv.DictWriter(f, FIELDS)
        table.writeheader()
        table.writerows(rows)


def line(library, op, bare_ns, worker_ns):
    """Medians, and the median of the ratios within pairs with an interval from order statistics."""
    ratios = sorted(b / a for a, b in zip(bare_ns, worker_ns))
    n, reach = len(ratios), 0.98 * len(ratios) ** 0.5
    low, high = ratios[max(0, round(n / 2 - reach) - 1)], ratios[min(n - 1, round(n / 2 + reach))]
    print(f"| {library} | {op} | {n} | {statistics.median(bare_ns) / 1000:.3f} | "
          f"{statistics.median(worker_ns) / 1000:.3f} | {statistics.median(ratios):.4f} | {low:.4f}-{high:.4f} |")


def read(name):
    with open(HERE / name, newline="") as f:
        return list(csv.DictReader(f))


def summary():
    head = "| library | op | pairs | bare, us an op | worker, us an op | ratio | 95% interval |\n|---|---|---|---|---|---|---|"
    combinations = [(library, op) for library in LIBRARIES for op in ("get", "set")]
    trials = read("processes.csv")
    for title, column in (("wall", ["wall_ns"]), ("CPU of the client", ["user_ns", "sys_ns"])):
        print(f"\nFresh processes, {title}:\n\n{head}")
        for key in combinations:
            of = {name: [sum(int(r[c]) for c in column) / int(r["ops"]) for r in trials
                         if (r["library"], r["op"], r["loop"]) == (*key, name)] for name in LOOPS}
            line(*key, of["bare"], of["worker"])
    turns = read("turns.csv")
    print(f"\nIn turns in one process, wall:\n\n{head}")
    for key in combinations:
        mine = [r for r in turns if (r["library"], r["op"]) == key]
        line(*key, *([int(r[c]) / TURN_OPS for r in mine] for c in ("bare_ns", "worker_ns")))
    print("\n| library | op | way | ns an op | ratio to bare |\n|---|---|---|---|---|")
    for r in read("dispatch.csv"):
        print(f"| {r['library']} | {r['op']} | {r['way']} | {r['ns_per_op']} | {r['ratio_to_bare']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=30000)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--cpu", type=int, default=0)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--turns", type=int, default=600)
    parser.add_argument("--summary", action="store_true")
    args = parser.parse_args()
    if not args.summary:
        measure(args)
    summary()


if __name__ == "__main__":
    main()
