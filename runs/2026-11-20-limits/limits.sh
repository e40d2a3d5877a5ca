#!/usr/bin/env bash
# The memory of the host with a million operations a phase, and the time of a report.
# Usage: limits.sh PATH-OF-ROUNDTRIP
set -euo pipefail
roundtrip=$1
ROUNDTRIP_HOME=$(mktemp -d)
export ROUNDTRIP_HOME
trap 'rm -rf "$ROUNDTRIP_HOME"' EXIT
"$roundtrip" run php-memcached --count 1000000 --placement shared --blocks 2 --budget 20m --quiet \
  >/dev/null &
host=$!
peak=0
while kill -0 "$host" 2>/dev/null; do
  now=$(awk '/^VmHWM/ { print $2 }' "/proc/$host/status" 2>/dev/null || true)
  if [ -n "$now" ] && [ "$now" -gt "$peak" ]; then peak=$now; fi
  sleep 0.5
done
wait "$host"
echo "host, largest resident set: $peak KiB"
for format in terminal html json; do
  start=$(date +%s%N)
  "$roundtrip" report last --format "$format" >/dev/null
  echo "report, $format: $((($(date +%s%N) - start) / 1000000)) ms"
done
