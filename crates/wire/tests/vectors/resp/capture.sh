#!/usr/bin/env bash
# Captures the vectors of this directory from redis-server (7.0.15 when they were taken): starts
# one alone and two as a cluster on loopback ports, in a directory that is removed, and ends them.
# Each NAME.request is what was sent, NAME.reply what came back.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
alone=${1:-17001} first=${2:-17002} second=${3:-17003}
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$work"' EXIT
start() { # PORT ARGUMENT...
    local port=$1
    shift
    mkdir "$work/$port"
    redis-server --bind 127.0.0.1 --port "$port" --dir "$work/$port" --save "" "$@" >"$work/$port/log" &
    pids+=($!)
    until redis-cli -p "$port" PING >/dev/null 2>&1; do sleep 0.05; done
}
command() { # WORD...: as an array of strings
    printf '*%d\r\n' $#
    local word
    for word; do printf '$%d\r\n%s\r\n' ${#word} "$word"; done
}
begin() { name=$1 port=$2; : >"$here/$name.request"; }
say() { command "$@" >>"$here/$name.request"; }
take() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    cat "$here/$name.request" >&3
    timeout 0.5 cat <&3 >"$here/$name.reply" || true
    exec 3>&-
}

start "$alone" --enable-debug-command yes
begin strings "$alone"
say SET alpha one; say GET alpha; say GET nobody; say SET beta $'a\r\nb' EX 1800; say GET beta
say MGET alpha nobody beta; say DEL beta nobody; say SET empty ''; say GET empty; say PING; say ECHO hi
take
begin numbers "$alone"
say SET n 41; say INCR n; say DECRBY n 50; say INCR fresh; say INCR alpha; say TTL nobody; say STRLEN alpha
take
begin structures "$alone"
say RPUSH list a b c; say LRANGE list 0 -1; say HSET hash f 1 g 2; say HGETALL hash; say SADD set x
say SMEMBERS set; say ZADD zset 1.5 m 2 n; say ZRANGE zset 0 -1 WITHSCORES; say ZSCORE zset m
say BLPOP nothing 0.01; say LRANGE nobody 0 -1; say SCAN 0 COUNT 1000; say COMMAND INFO get
take
begin errors "$alone"
say BOGUS; say GET; say LPUSH alpha x; say EVAL 'return redis.error_reply("MINE because")' 0; say SET a b XX NX
take
begin transaction "$alone"
say MULTI; say SET t 1; say INCR t; say LPUSH t x; say GET t; say EXEC
say MULTI; say BOGUS; say EXEC; say MULTI; say DISCARD; say EXEC
take
begin watched "$alone"
say WATCH w; say SET w 1; say MULTI; say GET w; say EXEC
take
begin bad_array "$alone"
printf '*1\r\n:5\r\n' >>"$here/bad_array.request"
take
begin bad_length "$alone"
printf '*1\r\n$-5\r\n' >>"$here/bad_length.request"
take
begin typed "$alone"
printf 'SET typed yes\r\nGET   typed\n\r\nPING\r\n' >>"$here/typed.request"
take
begin hello3 "$alone"
say HELLO 3; say GET nobody; say HGETALL hash; say SMEMBERS set; say ZRANGE zset 0 -1 WITHSCORES
say ZSCORE zset m; say ZADD zset inf top; say ZSCORE zset top; say CONFIG GET maxmemory; say BLPOP nothing 0.01
say SUBSCRIBE news; say UNSUBSCRIBE news
take
begin protocol3 "$alone"
say HELLO 3
for kind in string integer double null array set map attrib push verbatim true false bignum; do
    say DEBUG PROTOCOL $kind
done
take
begin protocol2 "$alone"
for kind in string integer double null array set map verbatim true false bignum; do
    say DEBUG PROTOCOL $kind
done
take

start "$first" --cluster-enabled yes --cluster-require-full-coverage no
start "$second" --cluster-enabled yes --cluster-require-full-coverage no
begin cluster_down "$first"
say GET foo; say CLUSTER SLOTS
take
begin keyslots "$first"
for key in '' foo '{foo}.bar' 'a{foo}b{bar}' '{}foo' '{foo' '{{foo}' 123456789 $'\xff\x01'; do
    say CLUSTER KEYSLOT "$key"
done
take
# The slot 12182 (foo) to the second, the slot 0 to nobody, all others to the first.
redis-cli -p "$first" CLUSTER ADDSLOTSRANGE 1 12181 12183 16383 >/dev/null
redis-cli -p "$second" CLUSTER ADDSLOTS 12182 >/dev/null
redis-cli -p "$second" CLUSTER SET-CONFIG-EPOCH 2 >/dev/null
redis-cli -p "$first" CLUSTER MEET 127.0.0.1 "$second" >/dev/null
until redis-cli -p "$first" GET foo 2>&1 | grep -q MOVED; do sleep 0.1; done
other=$(redis-cli -p "$second" CLUSTER MYID)
redis-cli -p "$first" CLUSTER SETSLOT 5061 MIGRATING "$other" >/dev/null
begin cluster "$first"
say GET foo; say GET bar; say GET ''; say MGET foo bar; say SET other here; say GET other
take
begin cluster_slots "$first"
say CLUSTER SLOTS
take
begin cluster_shards "$first"
say CLUSTER SHARDS
take
begin cluster_shards3 "$first"
say HELLO 3; say CLUSTER SHARDS
take
