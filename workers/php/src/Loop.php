<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Closure;

/**
 * The timed loop of a phase: its text compiled, run, and what it measured.
 */
final class Loop
{
    private readonly Closure $loop;
    private readonly ?Fills $filled;

    /** @var list<int> the start of the loop, then the end of each turn */
    private array $at;

    private Tally $tally;
    private int $userNs = 0;
    private int $sysNs = 0;

    public function __construct(
        private readonly Opened $opened,
        private readonly Operations $operations,
        private readonly Turn $turn,
        private readonly int $ttl,
        bool $inLoop,
        private readonly ?Journal $journal,
        bool $prepares,
    ) {
        $client = $opened->client;
        $batch = $turn->isBatch && $client instanceof Pipelines ? $client->batch() : null;
        $calls = self::calls($client, $ttl);
        $this->filled = $prepares && $client instanceof Fills ? $client : null;
        if ($this->filled !== null) {
            $calls['set'] = $this->filled->fill();
        }
        $script = new Script($turn, $calls, $batch, $inLoop, $journal !== null);
        $this->loop = eval($script->text(array_keys($operations->counts())));
    }

    public function run(): void
    {
        $operations = $this->operations;
        $this->tally = new Tally($this->opened->client, $operations, $this->turn->keys);
        [$this->at, $before, $after, $misses] = ($this->loop)(
            $this->opened->library,
            $this->ttl,
            $operations->keys,
            $operations->values,
            $operations->expected,
            $operations->ops,
            $operations->count,
            $this->turn->records,
            $operations->lists,
            $this->tally,
            $this->journal,
        );
        $this->tally->missed($misses);
        $this->filled?->filled();
        $this->userNs = self::ns($after, 'ru_utime') - self::ns($before, 'ru_utime');
        $this->sysNs = self::ns($after, 'ru_stime') - self::ns($before, 'ru_stime');
    }

    /** @return array<string, Call> by op */
    private static function calls(Client $client, int $ttl): array
    {
        return $client->calls($ttl > 0);
    }

    /** The ops of a client, with those that are made of others. @return list<string> */
    public static function ops(Client $client): array
    {
        $calls = $client->calls(false);
        $made = isset($calls['get'], $calls['set']) ? ['read_modify_write', 'mix'] : [];
        return [...array_keys($calls), ...$made];
    }

    /** One call of an op, outside of any loop: `fn (string $key, mixed $value): mixed`. */
    public static function once(Opened $opened, string $op, int $ttl): Closure
    {
        $client = $opened->library;
        $calls = self::calls($opened->client, $ttl);
        $script = new Script(new Turn($op, 1, 1, false, 0), $calls, null, false, false);
        // $client and $ttl are in the text.
        return eval("return function (\$key, \$value) use (\$client, \$ttl) { return {$script->once($op)}; };");
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
        ] + array_filter(['complaint' => $this->tally->complaint()], is_string(...));
    }

    /** Writes the latencies; says how many. Every op of a batch took as long as the batch. */
    public function write(string $path): int
    {
        $file = fopen($path, 'wb');
        $count = intdiv($this->operations->count, $this->turn->keys);
        for ($i = 0; $i < $count; $i += 8192) {
            $chunk = [];
            for ($j = $i, $end = min($i + 8192, $count); $j < $end; $j++) {
                $turn = intdiv($j, $this->turn->ops);
                $chunk[] = $this->at[$turn + 1] - $this->at[$turn];
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
