"""Other load generators behind the worker contract (workers/CONTRACT.md), as the language `rivals`.

`bare` is bare.c, compiled when it is first asked for; the others are the real programs, where they are
installed. Each phase is one run of the program. What it used is known from the operating system,
what it did from the program or, where it tells nothing, from what it was told to do: the server's
counters then bear witness. A program that keeps no latency of each operation gives none.

There is no loop in this language, so there is no client `nothing`, and no fidelity to check.
"""

import json
import os
import resource
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Keys of the programs that make their own: 20 bytes and 12 digits, as long as Roundtrip's.
PREFIX = "a" * 20
STREAM_HEADER = struct.Struct("<8sIQ")
STREAM_RECORD = struct.Struct("<HIB")
EXPECT_MISS = 0x80
PROTOCOLS = {"memcached": "memcached", "floor": "memcached", "redis": "resp"}
BATCH = 500


class Failure(Exception):
    """What ends the conversation: a kind of the contract, and a sentence."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def number(text, name):
    if not str(text).isdigit() or not 1 <= int(text) <= 1_000_000:
        raise Failure("usage", f"{name} `{text}` is not a number from 1 to 1000000")
    return int(text)


def stream_facts(path):
    """Of a stream file: how many operations, how many keys differ, how long the first value is."""
    with open(path, "rb") as file:
        data = file.read()
    magic, version, count = STREAM_HEADER.unpack_from(data)
    if magic != b"RTSTREAM" or version != 1 or count == 0:
        raise Failure("usage", f"{path} is no stream of operations")
    keys, at, first_value = set(), STREAM_HEADER.size, None
    for _ in range(count):
        key_bytes, value_bytes, kind = STREAM_RECORD.unpack_from(data, at)
        if kind & EXPECT_MISS:
            raise Failure("usage", "this program makes its own keys, and all of them hit: ask for hit_ratio = 1")
        at += STREAM_RECORD.size
        keys.add(data[at:at + key_bytes])
        at += key_bytes + value_bytes
        first_value = value_bytes if first_value is None else first_value
    return count, len(keys), first_value


class Opened:
    """What `open` said."""

    def __init__(self, command):
        endpoint = command["endpoint"]
        if "tcp" not in endpoint:
            raise Failure("usage", "rivals are reached by tcp alone")
        self.host, self.port = endpoint["tcp"]["host"], endpoint["tcp"]["port"]
        self.protocol = PROTOCOLS[command["store"]]
        asked = command.get("options", {}).get("connections", command.get("connections", 1))
        self.connections = number(asked, "connections")


class Bare:
    name = "bare"
    stores = ["memcached", "floor", "redis"]

    def __init__(self):
        self.child = None

    def program(self):
        """The compiled loop. Kept under a name that tells its source, in a directory of this user's."""
        source = os.path.join(HERE, "bare.c")
        compiler = shutil.which("cc")
        if compiler is None:
            raise Failure("missing", "there is no C compiler; install it with: apt-get install gcc")
        cache = os.path.join(tempfile.gettempdir(), f"roundtrip-rivals-{os.getuid()}")
        os.makedirs(cache, mode=0o700, exist_ok=True)
        if os.stat(cache).st_uid != os.getuid():
            raise Failure("internal", f"{cache} is somebody else's")
        binary = os.path.join(cache, f"bare-{os.stat(source).st_mtime_ns}")
        if not os.path.exists(binary):
            made = f"{binary}-{os.getpid()}"
            built = subprocess.run([compiler, "-O2", "-o", made, source], capture_output=True, text=True)
            if built.returncode != 0:
                raise Failure("internal", f"bare.c does not compile: {built.stderr.strip()[:300]}")
            os.rename(made, binary)
        return binary

    def version(self):
        self.program()
        told = subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout.splitlines()
        return f"compiled by {told[0]}" if told else "compiled"

    def ready(self, opened, phase):
        words = [self.program(), opened.protocol, phase["op"], opened.host, str(opened.port),
                 str(opened.connections), str(phase["depth"]), str(phase["count"]), phase["stream"],
                 phase.get("latencies") or "-", "wait"]
        self.child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            raise Failure("io", "bare did not get ready: its last words are in the log")

    def go(self, phase):
        out, _ = self.child.communicate("\n")
        if self.child.returncode != 0:
            raise Failure("io", "bare failed: its last words are in the log")
        told = json.loads(out)
        done = {name: told[name] for name in ("started_ns", "ended_ns", "user_ns", "sys_ns")}
        counted = [("stored", told["ops"])] if phase["op"] == "set" else \
            [("hit", told["hits"]), ("miss", told["ops"] - told["hits"])]
        done["outcomes"] = {name: count for name, count in counted if count}
        return done, told["ops"] if phase.get("latencies") else 0


class Program:
    """A program that makes its own keys and tells nothing of a single operation."""

    def __init__(self, name, install, stores, key, words):
        self.name, self.install, self.stores, self.key, self.words = name, install, stores, key, words
        self.command = self.prepared = None

    def version(self):
        if shutil.which(self.name) is None:
            raise Failure("missing", f"{self.name} is not installed; install it with: {self.install}")
        told = subprocess.run([self.name, "--version"], capture_output=True, text=True).stdout
        return told.splitlines()[0] if told else "unknown"

    def ready(self, opened, phase):
        count, keys, value_bytes = stream_facts(phase["stream"])
        self.command = self.prepared = None
        if phase["purpose"] == "prepare":
            self.prepared = (opened, keys, value_bytes)
        else:
            self.command = [self.name] + self.words(opened, phase, keys, value_bytes)

    def go(self, phase):
        started = time.monotonic_ns()
        used = resource.getrusage(resource.RUSAGE_SELF)
        if self.command is None:
            store_keys(self.key, *self.prepared)
            after = resource.getrusage(resource.RUSAGE_SELF)
            user, system = after.ru_utime - used.ru_utime, after.ru_stime - used.ru_stime
        else:
            child = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                raise Failure("io", f"{self.name} ended with {child.returncode}")
            user, system = usage.ru_utime, usage.ru_stime
        outcome = "stored" if phase["op"] == "set" else "hit"
        return {"started_ns": started, "ended_ns": time.monotonic_ns(), "user_ns": int(user * 1e9),
                "sys_ns": int(system * 1e9), "outcomes": {outcome: phase["count"]}}, 0


def store_keys(key, opened, keys, value_bytes):
    """Brings keys 0.. into place, some hundreds at a time; every answer is looked at."""
    value = "x" * value_bytes
    resp = opened.protocol == "resp"
    answer = b"+OK\r\n" if resp else b"STORED\r\n"
    with socket.create_connection((opened.host, opened.port), timeout=30) as connection:
        for first in range(0, keys, BATCH):
            batch = range(first, min(first + BATCH, keys))
            text = "".join(
                f"*3\r\n$3\r\nSET\r\n${len(key(i))}\r\n{key(i)}\r\n${value_bytes}\r\n{value}\r\n" if resp
                else f"set {key(i)} 0 0 {value_bytes}\r\n{value}\r\n" for i in batch)
            connection.sendall(text.encode())
            awaited, came = answer * len(batch), b""
            while len(came) < len(awaited):
                piece = connection.recv(1 << 16)
                came += piece
                if not piece or not awaited.startswith(came):
                    raise Failure("protocol", f"a key was not stored: {came[-100:]!r}")


def redis_benchmark(opened, phase, keys, value_bytes):
    # A warm-up is in no figure, and need not have the depth of what it warms up for.
    depth = phase["depth"] if phase["purpose"] == "measure" else 1
    if phase["count"] % depth:
        raise Failure("usage", f"redis-benchmark sends whole pipelines: make the count a multiple of {depth}")
    op = ["SET", PREFIX + "__rand_int__", "x" * value_bytes] if phase["op"] == "set" else \
        ["GET", PREFIX + "__rand_int__"]
    return ["-h", opened.host, "-p", str(opened.port), "-c", str(opened.connections), "-P", str(depth),
            "-n", str(phase["count"]), "-d", str(value_bytes), "-r", str(keys), "-q"] + op


def memtier(opened, phase, keys, value_bytes):
    each, rest = divmod(phase["count"], opened.connections)
    if rest:
        raise Failure("usage", "memtier_benchmark has equal parts: make the count a multiple of the connections")
    ratio, pattern = ("1:0", "P:P") if phase["op"] == "set" else ("0:1", "R:R")
    return ["-s", opened.host, "-p", str(opened.port), "--hide-histogram", "-t", "1",
            "-P", "redis" if opened.protocol == "resp" else "memcache_text", "-c", str(opened.connections),
            f"--pipeline={phase['depth']}", "-n", str(each), f"--ratio={ratio}", f"--key-pattern={pattern}",
            f"--key-prefix={PREFIX}", f"--key-minimum={10**11}", f"--key-maximum={10**11 + keys - 1}",
            "-d", str(value_bytes)]


CLIENTS = [
    Bare(),
    Program("redis-benchmark", "apt-get install redis-tools", ["redis"],
            lambda i: f"{PREFIX}{i:012}", redis_benchmark),
    Program("valkey-benchmark", "apt-get install valkey-tools", ["redis"],
            lambda i: f"{PREFIX}{i:012}", redis_benchmark),
    Program("memtier_benchmark", "apt-get install memtier-benchmark", ["memcached", "redis"],
            lambda i: f"{PREFIX}{10**11 + i}", memtier),
]


def describe():
    clients = []
    for client in CLIENTS:
        about = {"name": client.name, "available": True, "stores": client.stores, "ops": ["get", "set"],
                 "options": {"connections": [], "depth": []}, "connections": 100_000}
        try:
            about["version"] = client.version()
        except Failure as failure:
            about |= {"available": False, "reason": str(failure)}
        clients.append(about)
    return {"event": "described", "contract": 1, "language": "rivals",
            "runtime": f"Python {sys.version.split()[0]}", "clients": clients}


def opens(command):
    client = next((c for c in CLIENTS if c.name == command["client"]), None)
    if client is None or command["store"] not in client.stores:
        raise Failure("usage", f"`{command['client']}` on `{command['store']}` is not to be had")
    client.version()
    opened = Opened(command)
    started = time.monotonic_ns()
    try:
        socket.create_connection((opened.host, opened.port), timeout=5).close()
    except OSError as error:
        raise Failure("connect", f"{opened.host}:{opened.port}: {error}") from error
    return client, opened, time.monotonic_ns() - started


def say(event):
    print(json.dumps(event), flush=True)


def serve():
    client = opened = phase = None
    for line in sys.stdin:
        command = json.loads(line)
        match command["cmd"]:
            case "describe":
                say(describe())
            case "open":
                client, opened, took = opens(command)
                say({"event": "opened", "connect_ns": took})
            case "phase" if client:
                phase = command
                if phase.get("generate") == "in-loop" or phase.get("pace", "closed") != "closed":
                    raise Failure("usage", "rivals take their operations from the stream, as fast as they can")
                client.ready(opened, phase)
                say({"event": "ready"})
            case "go" if phase:
                done, latencies = client.go(phase)
                say({"event": "done"} | done)
                say({"event": "written", "latencies": latencies})
                phase = None
            case "close":
                say({"event": "closed"})
                return
            case other:
                raise Failure("usage", f"`{other}` cannot be done here")


if __name__ == "__main__":
    try:
        serve()
    except Failure as failure:
        say({"event": "error", "kind": failure.kind, "message": str(failure)})
        sys.exit(1)
    except (KeyError, ValueError, struct.error, OSError) as error:
        say({"event": "error", "kind": "internal", "message": f"{type(error).__name__}: {error}"})
        sys.exit(1)
