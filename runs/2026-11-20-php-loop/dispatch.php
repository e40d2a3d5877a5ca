<?php

/**
 * Ways to put a call into one loop, in turns in one process: which of them is near enough to the
 * bare loop. Writes the median of the turns, in nanoseconds an operation, and of the ratios to
 * the bare loop of the same turn.
 *
 * php dispatch.php LIBRARY OP PORT OPS_A_TURN TURNS > rows of: library,op,way,ns_per_op,ratio
 */

declare(strict_types=1);

error_reporting(E_ALL & ~E_DEPRECATED);
[, $library, $op, $port, $count, $turns] = $argv;
[$port, $count, $turns] = [(int) $port, (int) $count, (int) $turns];

if ($library === 'memcache') {
    $m = new Memcache();
    $m->connect('127.0.0.1', $port);
    $set = '$m->set($keys[$i], $values[$i], 0, 1800)';
    $setClosure = fn (string $key, mixed $value): bool => $m->set($key, $value, 0, 1800);
    $rest = [0, 1800];
} else {
    $m = new Memcached();
    $m->addServer('127.0.0.1', $port);
    $set = '$m->set($keys[$i], $values[$i], 1800)';
    $setClosure = fn (string $key, mixed $value): bool => $m->set($key, $value, 1800);
    $rest = [1800];
}
for ($i = 0; $i < $count; $i++) {
    $keys[] = md5((string) $i);
    $values[] = crc32((string) $i);
    $setClosure($keys[$i], $values[$i]);
}
$isGet = $op === 'get';
$expected = $isGet ? $values : array_fill(0, $count, true);
$closure = $isGet ? fn (string $key): mixed => $m->get($key) : $setClosure;
$callable = $isGet ? $m->get(...) : $m->set(...);
$text = $isGet ? '$m->get($keys[$i])' : $set;

$bare = fn (string $call): string => '$start = hrtime(true);'
    . " for (\$i = 0; \$i < \$count; \$i++) { {$call}; } return hrtime(true) - \$start;";
$timed = fn (string $call): string => '$at = array_fill(0, $count + 1, 0); $odd = 0; $i = 0; $at[0] = hrtime(true);'
    . " while (\$i < \$count) { \$reply = {$call}; if (\$reply !== \$expected[\$i]) { \$odd++; }"
    . ' $at[++$i] = hrtime(true); } return $at[$count] - $at[0];';
$texts = [
    'bare' => $bare($text),
    'bare again' => $bare($text),
    'call in the text' => $timed($text),
    'first-class callable' => $timed($isGet ? '$callable($keys[$i])' : '$callable($keys[$i], $values[$i], ...$rest)'),
    'closure' => $timed('$closure($keys[$i], $values[$i])'),
];
$ways = [];
foreach ($texts as $name => $text) {
    $ways[$name] = eval('return function () use ($m, $keys, $values, $expected, $count, $closure, $callable, $rest)'
        . ": int { {$text} };");
}
$took = [];
$order = array_keys($ways);
foreach ($ways as $way) {
    $way();
}
for ($turn = 0; $turn < $turns; $turn++) {
    shuffle($order);
    foreach ($order as $name) {
        $took[$name][$turn] = $ways[$name]();
    }
}
$median = function (array $numbers): float {
    sort($numbers);
    return $numbers[intdiv(count($numbers), 2)];
};
foreach ($took as $name => $ns) {
    $ratios = array_map(fn (int $a, int $b): float => $a / $b, $ns, $took['bare']);
    printf("%s,%s,%s,%.0f,%.4f\n", $library, $op, $name, $median($ns) / $count, $median($ratios));
}
