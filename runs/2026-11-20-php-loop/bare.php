<?php

/**
 * The bare loop that the worker's is held against: the call, and nothing else, between two
 * readings of the clock. It shares no line with the worker.
 *
 * php bare.php LIBRARY OP PORT COUNT
 */

declare(strict_types=1);

error_reporting(E_ALL & ~E_DEPRECATED);
[, $library, $op, $port, $count] = $argv;
$count = (int) $count;
const WARMUP = 2000;

$keys = [];
$values = [];
for ($i = 0; $i < $count; $i++) {
    $keys[] = md5((string) $i);
    $values[] = crc32((string) $i);
}

if ($library === 'memcache') {
    $m = new Memcache();
    $m->connect('127.0.0.1', (int) $port);
} else {
    $m = new Memcached();
    $m->addServer('127.0.0.1', (int) $port);
}
$m->getVersion();

$right = 0;
for ($i = 0; $i < WARMUP; $i++) {
    $right += (int) ($m->get($keys[$i]) === $values[$i]);
}
if ($op === 'get' && $right !== WARMUP) {
    exit("the keys are not there\n");
}

if ($op === 'get') {
    $before = getrusage();
    $start = hrtime(true);
    for ($i = 0; $i < $count; $i++) {
        $m->get($keys[$i]);
    }
    $end = hrtime(true);
} elseif ($library === 'memcache') {
    $before = getrusage();
    $start = hrtime(true);
    for ($i = 0; $i < $count; $i++) {
        $m->set($keys[$i], $values[$i], 0, 1800);
    }
    $end = hrtime(true);
} else {
    $before = getrusage();
    $start = hrtime(true);
    for ($i = 0; $i < $count; $i++) {
        $m->set($keys[$i], $values[$i], 1800);
    }
    $end = hrtime(true);
}
$after = getrusage();

$ns = fn (array $u, string $which): int => ($u["$which.tv_sec"] * 1_000_000 + $u["$which.tv_usec"]) * 1000;
echo json_encode([
    'wall_ns' => $end - $start,
    'user_ns' => $ns($after, 'ru_utime') - $ns($before, 'ru_utime'),
    'sys_ns' => $ns($after, 'ru_stime') - $ns($before, 'ru_stime'),
]), "\n";
