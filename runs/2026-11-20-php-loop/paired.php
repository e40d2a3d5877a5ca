<?php

/**
 * Both loops in one process, in turns on connections to one server, so that what differs from
 * process to process (the heap, the connection, the neighbours) falls out of the ratio.
 *
 * php paired.php LIBRARY OP PORT OPS_A_TURN TURNS > rows of: bare_ns,worker_ns,inverted
 */

declare(strict_types=1);

namespace Roundtrip\Worker;

use Memcache;
use Memcached;

$source = __DIR__ . '/../../workers/php';
foreach (['About', 'Client', 'Failure', 'Extension', 'Opened', 'Operations', 'Shown', 'Tally', 'Loop'] as $name) {
    require "{$source}/src/{$name}.php";
}
error_reporting(E_ALL & ~E_DEPRECATED);
[, $library, $op, $port, $count, $turns] = $argv;
[$port, $count, $turns] = [(int) $port, (int) $count, (int) $turns];

$stream = 'RTSTREAM' . pack('VP', 1, $count);
for ($i = 0; $i < $count; $i++) {
    $value = (string) crc32((string) $i);
    $stream .= pack('vVC', 32, strlen($value), 1) . md5((string) $i) . $value;
}
$path = tempnam(sys_get_temp_dir(), 'stream');
file_put_contents($path, $stream);
$operations = new Operations($op, $path, $count);
$writes = new Operations('set', $path, $count);
unlink($path);

$client = require "{$source}/clients/{$library}.php";
$opened = new Opened($client, $client->open(null, '127.0.0.1', $port, []));
(new Loop())->run($opened, $writes, 1800, false);

if ($library === 'memcache') {
    $m = new Memcache();
    $m->connect('127.0.0.1', $port);
} else {
    $m = new Memcached();
    $m->addServer('127.0.0.1', $port);
}
$keys = [];
$values = [];
for ($i = 0; $i < $count; $i++) {
    $keys[] = md5((string) $i);
    $values[] = crc32((string) $i);
}

$bare = match ($op . ' ' . $library) {
    'get memcache', 'get memcached' => function () use ($m, $keys, $count): int {
        $start = hrtime(true);
        for ($i = 0; $i < $count; $i++) {
            $m->get($keys[$i]);
        }
        return hrtime(true) - $start;
    },
    'set memcache' => function () use ($m, $keys, $values, $count): int {
        $start = hrtime(true);
        for ($i = 0; $i < $count; $i++) {
            $m->set($keys[$i], $values[$i], 0, 1800);
        }
        return hrtime(true) - $start;
    },
    'set memcached' => function () use ($m, $keys, $values, $count): int {
        $start = hrtime(true);
        for ($i = 0; $i < $count; $i++) {
            $m->set($keys[$i], $values[$i], 1800);
        }
        return hrtime(true) - $start;
    },
};
$worker = function () use ($opened, $operations, $op, $count): int {
    $loop = new Loop();
    $loop->run($opened, $operations, 1800, false);
    $done = $loop->done();
    if ((array) $done['outcomes'] !== [['get' => 'hit', 'set' => 'stored'][$op] => $count]) {
        exit("not all replies are right\n");
    }
    return $done['ended_ns'] - $done['started_ns'];
};

$bare();
$worker();
for ($turn = 0; $turn < $turns; $turn++) {
    if ($turn % 2 === 0) {
        [$a, $b] = [$bare(), $worker()];
    } else {
        [$b, $a] = [$worker(), $bare()];
    }
    echo "{$a},{$b},", $turn % 2, "\n";
}
