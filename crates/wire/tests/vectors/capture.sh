#!/usr/bin/env bash
# Captures the vectors of this directory from a memcached that listens on a loopback port given as
# the first argument. Each NAME.request is what was sent, NAME.reply what came back.
set -eu
port=$1
here=$(dirname "$0")
take() { # NAME REQUEST (with the escapes of printf)
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf "$2" >"$here/$1.request"
    cat "$here/$1.request" >&3
    timeout 0.3 cat <&3 >"$here/$1.reply" || true
    exec 3>&-
}
take set 'set alpha 5 0 3\r\none\r\n'
take get_hit 'get alpha\r\n'
take get_miss 'get nobody\r\n'
take set_more 'set beta 0 1800 0\r\n\r\nset gamma 4294967295 0 5\r\na\r\nbc\r\n'
take get_many 'get alpha nobody beta gamma\r\n'
take gets 'gets alpha gamma\r\n'
take add_there 'add alpha 0 0 1\r\nx\r\n'
take replace_missing 'replace nobody 0 0 1\r\nx\r\n'
take append 'append alpha 0 0 2\r\n+2\r\n'
take prepend 'prepend alpha 0 0 2\r\n0+\r\n'
take cas_old 'cas alpha 5 0 3 1\r\nuno\r\n'
take cas_missing 'cas nobody 0 0 1 1\r\nx\r\n'
take number 'set n 0 0 2\r\n41\r\nincr n 1\r\ndecr n 50\r\nincr nobody 1\r\nincr alpha 1\r\n'
take delete 'delete gamma\r\ndelete gamma\r\n'
take touch 'touch alpha 60\r\ntouch nobody 60\r\n'
take version 'version\r\n'
take unknown 'bogus\r\n'
take bad_data 'set alpha 0 0 3\r\nfour\r\n'
take meta_set 'ms alpha 3 T0 F7\r\nuno\r\nms alpha 3 C1\r\ndos\r\nms nobody 1 MR\r\nx\r\n'
take meta_get 'mg alpha v f k t s c O42\r\nmg nobody v\r\nmg alpha\r\nmn\r\n'
take meta_delete 'md nobody O1\r\nmd beta\r\n'
take meta_number 'ms n 1 T0\r\n7\r\nma n v\r\nma n MD D2 v\r\nma nobody\r\n'
take meta_set_binary 'ms YSBi 1 b\r\nx\r\n'
take metadump 'lru_crawler metadump all\r\n'
take stats 'stats\r\n'
take stats_slabs 'stats slabs\r\n'
# What the floor does not do, so that it is not held against it.
also() { take "$@"; }
also gat 'set gat 3 0 2\r\nhi\r\ngat 60 gat nobody\r\ngats 60 gat\r\n'
also meta_debug 'me gat\r\nme nobody\r\n'
also meta_quiet 'mg nobody v q O1\r\nmg gat v q k O2\r\nmd nobody q O3\r\nms gat 2 q\r\nok\r\nmn\r\n'
also meta_key 'ms YQBi 1 b\r\nx\r\nmg YQBi b k v\r\n'
also whole_server 'verbosity 0\r\nflush_all\r\nverbosity 0 noreply\r\n'
also no_such_dump 'lru_crawler metadump 999\r\n'
