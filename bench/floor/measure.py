#!/usr/bin/env python3
"""What an operation costs the floor, memcached and Redis: server CPU, the client elsewhere.

    bench/floor/measure.py [--repeats 5] [--only memcached|resp] [--floor PATH] [--options ...]

Wants two cores, memcached, redis-server, gcc, and `cargo build --release -p roundtrip` done.
10,000 keys of 32 bytes, values of 100, all hits, the server on core 0 and the client on core 1,
servers interleaved within each repeat. CPU time is the kernel's own account of the server's
threads (/proc/PID/task/*/schedstat), which counts nanoseconds. Prints a table in markdown.
"""

import argparse
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
CELLS = [("1 connection", 1, 1, 60_000), ("50 connections", 50, 1, 200_000),
         ("50 x pipeline 16", 50, 16, 800_000), ("1 x pipeline 100", 1, 100, 800_000)]
BASE_PORT = 24_100


def servers(floor, options):
    user = ["-u", "nobody"] if os.geteuid() == 0 else []
    listen = lambda port: [floor, "floor", "--listen", f"127.0.0.1:{port}", *options]
    return {
        "memcached": [
            ("memcached", lambda port: ["memcached", "-t", "1", "-l", "127.0.0.1", "-U", "0",
                                        "-p", str(port), *user]),
            ("floor", listen)],
        "resp": [
            ("Redis", lambda port: ["redis-server", "--bind", "127.0.0.1", "--port", str(port),
                                    "--save", "", "--appendonly", "no"]),
            ("floor", listen)],
    }


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


def measure(protocol, contenders, program, repeats):
    children = []
    try:
        for at, (name, command) in enumerate(contenders):
            port = BASE_PORT + at + (10 if protocol == "resp" else 0)
            child = subprocess.Popen(["taskset", "-c", "0", *command(port)],
                                     stdout=subprocess.DEVNULL, cwd=tempfile.gettempdir())
            children.append((name, child, port))
            loaded(program, protocol, port)
        print(f"\n| {protocol}, us of server CPU an operation | "
              + " | ".join(name for name, _, _ in children) + " | ratio | a second |")
        print("|---|" + "---|" * (len(children) + 2))
        for cell, connections, depth, count in CELLS:
            cost = {name: [] for name, _, _ in children}
            rate = {name: [] for name, _, _ in children}
            for _ in range(repeats):
                for name, child, port in children:
                    before = cpu_ns(child.pid)
                    said = drive(program, protocol, port, "get", KEYS, connections, depth, count)
                    cost[name].append((cpu_ns(child.pid) - before) / count / 1000)
                    rate[name].append(float(said))
            middle = {name: statistics.median(all_) for name, all_ in cost.items()}
            first, last = children[0][0], children[-1][0]
            ratio = statistics.median(a / b for a, b in zip(cost[first], cost[last]))
            rates = ", ".join(f"{statistics.median(r):,.0f}" for r in rate.values())
            print(f"| {cell} | " + " | ".join(f"{m:.3f}" for m in middle.values())
                  + f" | {ratio:.2f} | {rates} |", flush=True)
    finally:
        for _, child, _ in children:
            child.terminate()
            child.wait()


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("--repeats", type=int, default=5)
    parse.add_argument("--only", choices=["memcached", "resp"])
    parse.add_argument("--floor", default=str(ROOT / "target/release/roundtrip"))
    parse.add_argument("--options", nargs="*", default=[])
    asked = parse.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        program = f"{directory}/drive"
        subprocess.run(["gcc", "-O2", "-o", program, HERE / "drive.c"], check=True)
        print("load before:", Path("/proc/loadavg").read_text().strip())
        for protocol, contenders in servers(asked.floor, asked.options).items():
            if asked.only in (None, protocol):
                measure(protocol, contenders, program, asked.repeats)
        print("\nload after:", Path("/proc/loadavg").read_text().strip())


if __name__ == "__main__":
    main()
