<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Closure;

/**
 * The timed loop: one for every library and op.
 *
 * It is a text into which the call is put, as Python's timeit does it, because PHP inlines
 * nothing: behind a closure the same loop costs up to 1% of a round trip more
 * (runs/2026-11-20-php-loop). So what is timed is the call that an application writes.
 */
final class Loop
{
    private const TEXT = <<<'PHP'
        return static function (
            object $client,
            int $ttl,
            array $keys,
            array $values,
            array $expected,
            array $ops,
            int $count,
            \Roundtrip\Worker\Tally $tally,
        ): array {
            // Filled, so that the loop touches no fresh page and the array never grows.
            $at = array_fill(0, $count + 1, 0);
            $i = 0;
            $misses = 0;
            $before = getrusage();
            $at[0] = hrtime(true);
            while ($i < $count) {
                // Entering `try` costs nothing, and the loop goes on after an exception.
                try {
                    while ($i < $count) {
                        $reply = {call};
                        if ($reply !== $expected[$i]) {
                            // A float is NAN: a miss is due, and must cost what a hit costs.
                            if ($reply === false && is_float($expected[$i])) {
                                ++$misses;
                            } else {
                                $tally->odd($i, $reply, $expected[$i]);
                            }
                        }
                        $at[++$i] = hrtime(true);
                    }
                } catch (\Throwable $thrown) {
                    $tally->thrown($i, $thrown);
                    $at[++$i] = hrtime(true);
                }
            }
            return [$at, $before, getrusage(), $misses];
        };
        PHP;

    private const PREPARED = ['$key' => '$keys[$i]', '$value' => '$values[$i]'];
    private const IN_LOOP = ['$key' => 'md5((string) $i)', '$value' => 'crc32((string) $i)'];

    /** @var list<int> the start of the loop, then the end of each operation */
    private array $at;

    private Tally $tally;
    private int $userNs = 0;
    private int $sysNs = 0;

    public function run(Opened $opened, Operations $operations, int $ttl, bool $inLoop): void
    {
        $call = strtr(self::call($opened->client, $operations), $inLoop ? self::IN_LOOP : self::PREPARED);
        $loop = eval(str_replace('{call}', $call, self::TEXT));
        $this->tally = new Tally($opened->client, $operations);
        [$this->at, $before, $after, $misses] = $loop(
            $opened->library,
            $ttl,
            $operations->keys,
            $operations->values,
            $operations->expected,
            $operations->ops,
            $operations->count,
            $this->tally,
        );
        $this->tally->missed($misses);
        $this->userNs = self::ns($after, 'ru_utime') - self::ns($before, 'ru_utime');
        $this->sysNs = self::ns($after, 'ru_stime') - self::ns($before, 'ru_stime');
    }

    /** The call of a phase; of a mix, the calls of its ops and which of them it is. */
    private static function call(Client $client, Operations $operations): string
    {
        $calls = self::calls($client);
        if ($operations->op !== 'mix') {
            return $calls[$operations->op];
        }
        $arms = '';
        foreach (array_keys($operations->counts()) as $op) {
            $call = $calls[$op] ?? throw new Failure('usage', "the client does not do {$op}");
            $arms .= "'{$op}' => {$call}, ";
        }
        return "match (\$ops[\$i]) { {$arms}}";
    }

    /**
     * The calls of a client, and those that are made of others: what is read is written back, unless
     * it is not what it must be.
     *
     * @return array<string, string> by op
     */
    public static function calls(Client $client): array
    {
        $calls = $client->calls();
        if (isset($calls['get'], $calls['set'])) {
            $calls['read_modify_write'] = "((\$read = {$calls['get']}) === \$value ? {$calls['set']} : \$read)";
        }
        return $calls;
    }

    /** One call of an op, outside of any loop: `fn (string $key, mixed $value): mixed`. */
    public static function once(Opened $opened, string $op, int $ttl): Closure
    {
        $client = $opened->library;
        // $client and $ttl are in the text.
        return eval('return function ($key, $value) use ($client, $ttl) { return '
            . self::calls($opened->client)[$op] . '; };');
    }

    /** @return array<string, mixed> the `done` event */
    public function done(): array
    {
        return [
            'event' => 'done',
            'started_ns' => $this->at[0],
            'ended_ns' => $this->at[array_key_last($this->at)],
            'user_ns' => $this->userNs,
            'sys_ns' => $this->sysNs,
            'outcomes' => (object) $this->tally->outcomes(),
            // Kilobytes, except on macOS.
            'max_rss_bytes' => getrusage()['ru_maxrss'] * (PHP_OS_FAMILY === 'Darwin' ? 1 : 1024),
        ];
    }

    /** Writes the latencies; says how many. */
    public function write(string $path): int
    {
        $file = fopen($path, 'wb');
        $count = count($this->at) - 1;
        for ($i = 0; $i < $count; $i += 8192) {
            $chunk = [];
            for ($j = $i, $end = min($i + 8192, $count); $j < $end; $j++) {
                $chunk[] = $this->at[$j + 1] - $this->at[$j];
            }
            $bytes = pack('P*', ...$chunk);
            if (fwrite($file, $bytes) !== strlen($bytes)) {
                throw new Failure('io', "the latencies cannot be written: {$path}");
            }
        }
        fclose($file);
        return $count;
    }

    /** @param array<string, int> $usage */
    private static function ns(array $usage, string $which): int
    {
        return ($usage["{$which}.tv_sec"] * 1_000_000 + $usage["{$which}.tv_usec"]) * 1000;
    }
}
