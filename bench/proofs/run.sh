#!/bin/sh
# Runs every proof of the method through the release binary, on the real floor server, and writes
# for each report.md and report.json into a folder of its own under the one given:
#
#     bench/proofs/run.sh runs/DATE-proofs
#
# The machine should have nothing else to do. The archive is private to this run. What must come out
# stands in each experiments/proof-*.toml and in docs/method.md; a run of which every trial is void
# (that is what proof-generator is for) ends with exit code 5 and is reported all the same.
set -eu

out=${1:?"say where the reports go: bench/proofs/run.sh FOLDER"}
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$root"
cargo build --release -p roundtrip
roundtrip=$root/target/release/roundtrip

ROUNDTRIP_HOME=$(mktemp -d)
export ROUNDTRIP_HOME
trap 'rm -rf "$ROUNDTRIP_HOME"' EXIT

: >"$out/exit-codes.txt"
for file in experiments/proof-*.toml; do
    name=$(basename "$file" .toml)
    mkdir -p "$out/$name"
    code=0
    "$roundtrip" run "$file" >"$out/$name/run.txt" 2>&1 || code=$?
    echo "$name $code" >>"$out/exit-codes.txt"
    for format in md json; do
        "$roundtrip" report last --format "$format" --output "$out/$name/report.$format"
    done
    echo "$name: exit code $code, $out/$name/report.md"
done
