#!/usr/bin/env python3
"""The instrument beside a bare C loop and other load generators: client CPU an operation and
operations a second, in every cell of pattern and store, through Roundtrip itself.

    python3 bench/instrument/measure.py ROUNDTRIP FOLDER [memcached] [redis] [floor]

ROUNDTRIP is the release binary. FOLDER gets one JSON report a cell, `cells.csv` (a line a trial) and
`table.md`. Every cell is one `roundtrip compare`: fresh servers and clients each trial, variants in
random order within a block, the server pinned to one processor and the client to another (and to the
same one where the cell says so), 10,000 keys of 32 bytes, values of 100, all hits, witnessed.
"""

import csv
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
METRICS = ("client_cpu_ns_per_op", "server_cpu_ns_per_op", "ops_per_s")

# Name, connections, depth, operations a trial, placement.
CELLS = [
    ("1 connection", 1, 1, 20_000, "split"),
    ("1 connection, same core", 1, 1, 60_000, "shared"),
    ("50 connections", 50, 1, 100_000, "split"),
    ("50 x pipeline 16", 50, 16, 160_000, "split"),
    ("1 x pipeline 100", 1, 100, 160_000, "split"),
]
# A server that answers a pipeline in one go is done in a tenth of the time.
FASTER_IN_PIPELINES = {"redis": 4, "floor": 4, "memcached": 1}


def variants(store, op, connections, depth, placement):
    """The bare loop first: it is the baseline."""
    options = f"connections={connections}&depth={depth}"
    found = [f"rivals/bare?{options}"]
    if connections == 1:
        found.append(f"native?{options}")
    else:
        found += [f"native?{options}&io={io}" for io in ("io_uring", "epoll")]
    if store == "redis" and op == "get" and placement == "split":
        found.append(f"rivals/redis-benchmark?{options}")
    return found


def run(binary, folder, store, op, cell):
    name, connections, depth, count, placement = cell
    if depth > 1:
        count *= FASTER_IN_PIPELINES[store]
    command = [binary, "compare", *variants(store, op, connections, depth, placement)]
    command += ["--store", store, "--op", op, "--count", str(count), "--keys", "10000"]
    command += ["--placement", placement, "--blocks", "10", "--budget", "30s", "--seed", "20261121"]
    command += ["--format", "json"]
    environment = {**os.environ, "ROUNDTRIP_WORKERS": os.path.join(HERE, "..")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    file = f"{store}-{op}-{connections}x{depth}-{placement}.json"
    with open(os.path.join(folder, file), "wb") as out:
        out.write(done.stdout)
    return json.loads(done.stdout)


def figures(report):
    """`{variant: {metric: [a figure a valid trial]}}`."""
    found = {}
    for trial in report["trials"]:
        if trial["validity"]["state"] != "valid":
            continue
        for phase in trial["phases"]:
            ops, wall = phase["ops"], phase["wall_ns"]
            row = found.setdefault(trial["variant"], {metric: [] for metric in METRICS})
            row["client_cpu_ns_per_op"].append((phase["user_ns"] + phase["sys_ns"]) / ops)
            row["ops_per_s"].append(ops * 1e9 / wall)
            if phase.get("server_cpu_ns") is not None:
                row["server_cpu_ns_per_op"].append(phase["server_cpu_ns"] / ops)
    return found


def main():
    binary, folder, *stores = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    rows, lines = [], []
    for store in stores or ["memcached", "redis"]:
        for op in ("get", "set") if store == "redis" else ("get",):
            lines.append(f"\n`{op}` on {store}\n")
            lines.append("| cell | variant | client CPU, us/op | over bare | server CPU, us/op | ops/s | over the best | trials |")
            lines.append("|---|---|---|---|---|---|---|---|")
            for cell in CELLS:
                found = figures(run(binary, folder, store, op, cell))
                middle = {
                    variant: {m: statistics.median(v) if v else None for m, v in row.items()}
                    for variant, row in found.items()
                }
                bare = next(m for v, m in middle.items() if v.startswith("rivals/bare") and "control" not in v)
                best = max(m["ops_per_s"] for m in middle.values())
                for variant, m in sorted(middle.items()):
                    server = m["server_cpu_ns_per_op"]
                    lines.append(
                        f"| {cell[0]} | `{variant}` | {m['client_cpu_ns_per_op'] / 1e3:.3f} "
                        f"| {m['client_cpu_ns_per_op'] / bare['client_cpu_ns_per_op']:.3f} "
                        f"| {'-' if server is None else f'{server / 1e3:.3f}'} | {m['ops_per_s']:,.0f} "
                        f"| {m['ops_per_s'] / best:.3f} | {len(found[variant]['ops_per_s'])} |"
                    )
                    print(lines[-1], flush=True)
                for variant, row in found.items():
                    for i in range(len(row["ops_per_s"])):
                        values = [row[m][i] if i < len(row[m]) else "" for m in METRICS]
                        rows.append([store, op, cell[0], variant, i, *values])
    with open(os.path.join(folder, "cells.csv"), "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["store", "op", "cell", "variant", "trial", *METRICS])
        writer.writerows(rows)
    with open(os.path.join(folder, "table.md"), "w") as out:
        out.write("\n".join(lines).lstrip() + "\n")


if __name__ == "__main__":
    main()
