#!/usr/bin/env python3
"""What an operation costs memcached or Redis, the floor, and the least that the kernel allows.

    bench/floor/measure.py [--repeats 5] [--only memcached|resp] [--floor PATH] [--csv FILE]

Wants two cores, memcached, redis-server, gcc, and `cargo build --release -p roundtrip` done.
10,000 keys of 32 bytes, values of 100, all hits, the server on core 0 and the client on core 1,
servers interleaved within each repeat. CPU time is the kernel's own account of the server's
threads (/proc/PID/task/*/schedstat), which counts nanoseconds. `least.c` answers without looking
at what was asked. Prints a table in markdown: medians, and medians of the ratios within a repeat.
"""

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KEYS = 10_000
CELLS = [("1 connection", 1, 1, 20_000), ("50 connections", 50, 1, 100_000),
         ("50 x pipeline 16", 50, 16, 400_000), ("1 x pipeline 100", 1, 100, 400_000)]
BASE_PORT = 24_100
RATIOS = [("rival", "epoll"), ("rival", "io_uring"), ("epoll", "io_uring"), ("rival", "least"),
          ("io_uring", "least")]


def servers(floor, least):
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    rivals = {
        "memcached": lambda port: ["memcached", "-t", "1", "-l", "127.0.0.1", "-U", "0",
                                   "-p", str(port), *user],
        "resp": lambda port: ["redis-server", "--bind", "127.0.0.1", "--port", str(port),
                              "--save", "", "--appendonly", "no"],
    }

    def floor_over(io):
        return lambda port: [floor, "floor", "--listen", f"127.0.0.1:{port}", "--io", io]

    return {protocol: {"rival": rival, "epoll": floor_over("epoll"),
                       "io_uring": floor_over("io_uring"),
                       "least": lambda port, protocol=protocol: [least, protocol, str(port)]}
            for protocol, rival in rivals.items()}


def cpu_ns(pid):
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in Path(f"/proc/{pid}/task").iterdir())


def drive(program, *arguments):
    command = ["taskset", "-c", "1", program, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def loaded(program, protocol, port):
    for _ in range(100):
        try:
            drive(program, protocol, port, "load", KEYS)
            return
        except subprocess.CalledProcessError:
            time.sleep(0.05)
    sys.exit(f"nothing answers on port {port}")


def measure(protocol, contenders, program, repeats, raw):
    children = {}
    try:
        for at, (name, command) in enumerate(contenders.items()):
            port = BASE_PORT + at + (10 if protocol == "resp" else 0)
            child = subprocess.Popen(["taskset", "-c", "0", *command(port)],
                                     stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir())
            children[name] = (child, port)
            loaded(program, protocol, port)
        heads = [f"{protocol}, us of server CPU an operation", *children,
                 *(f"{one} / {other}" for one, other in RATIOS)]
        print(f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
        for cell, connections, depth, count in CELLS:
            cost = {name: [] for name in children}
            for repeat in range(repeats):
                for name, (child, port) in children.items():
                    before = cpu_ns(child.pid)
                    rate = drive(program, protocol, port, "get", KEYS, connections, depth, count)
                    cost[name].append((cpu_ns(child.pid) - before) / count / 1000)
                    raw.append([protocol, cell, repeat, name, f"{cost[name][-1]:.4f}",
                                rate.strip(), Path("/proc/loadavg").read_text().split()[0]])
            middles = [f"{statistics.median(all_):.3f}" for all_ in cost.values()]
            ratios = [statistics.median(a / b for a, b in zip(cost[one], cost[other]))
                      for one, other in RATIOS]
            print("|", " | ".join([cell, *middles, *(f"{ratio:.2f}" for ratio in ratios)]), "|",
                  flush=True)
    finally:
        for child, _ in children.values():
            child.terminate()
            child.wait()


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--repeats", type=int, default=5)
    parse.add_argument("--only", choices=["memcached", "resp"])
    parse.add_argument("--floor", default=str(ROOT / "target/release/roundtrip"))
    parse.add_argument("--csv", type=Path)
    asked = parse.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        program, least = f"{directory}/drive", f"{directory}/least"
        for built in (program, least):
            source = HERE / f"{Path(built).name}.c"
            subprocess.run(["gcc", "-O2", "-o", built, source], check=True)
        print("load before:", Path("/proc/loadavg").read_text().strip())
        raw = []
        for protocol, contenders in servers(asked.floor, least).items():
            if asked.only in (None, protocol):
                measure(protocol, contenders, program, asked.repeats, raw)
        print("\nload after:", Path("/proc/loadavg").read_text().strip())
        if asked.csv:
            with asked.csv.open("w", newline="") as file:
                table = csv.writer(file, lineterminator="\n")
                table.writerow(["protocol", "cell", "repeat", "server", "cpu_us_per_op",
                                "ops_per_s", "load_1m"])
                table.writerows(raw)


if __name__ == "__main__":
    main()
