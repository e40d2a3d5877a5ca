<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Throwable;

use function hrtime;

/**
 * The timed loop: one for every library and op.
 */
final class Loop
{
    /** @var list<int> the start of the loop, then the end of each operation */
    private array $at;

    private Tally $tally;
    private int $userNs = 0;
    private int $sysNs = 0;

    public function run(Client $client, Operations $operations, int $ttl): void
    {
        // Locals, because a property costs a lookup at each turn.
        $call = $client->call($operations->op, $ttl);
        $keys = $operations->keys;
        $values = $operations->values;
        $expected = $operations->expected;
        $count = $operations->count;
        $tally = new Tally($client, $operations);
        // Filled, so that the loop touches no fresh page and the array never grows.
        $at = array_fill(0, $count + 1, 0);
        $i = 0;
        $before = getrusage();
        $at[0] = hrtime(true);
        while ($i < $count) {
            // Entering `try` costs nothing, and the loop goes on after an exception.
            try {
                while ($i < $count) {
                    $reply = $call($keys[$i], $values[$i]);
                    if ($reply !== $expected[$i]) {
                        $tally->odd($reply, $expected[$i]);
                    }
                    $at[++$i] = hrtime(true);
                }
            } catch (Throwable $thrown) {
                $tally->thrown($thrown);
                $at[++$i] = hrtime(true);
            }
        }
        $after = getrusage();
        $this->at = $at;
        $this->tally = $tally;
        $this->userNs = self::ns($after, 'ru_utime') - self::ns($before, 'ru_utime');
        $this->sysNs = self::ns($after, 'ru_stime') - self::ns($before, 'ru_stime');
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
