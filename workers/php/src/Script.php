<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * The text of the timed loop: one for every library and op.
 *
 * It is a text into which the call is put, as Python's timeit does it, because PHP inlines
 * nothing: behind a closure the same loop costs up to 1% of a round trip more
 * (runs/2026-11-20-php-loop). So what is timed is the call that an application writes. For the same
 * reason a phase has only the statements that it needs: those of batches, of several keys and of the
 * journal are not in the text of a phase of plain ops.
 */
final class Script
{
    private const LOOP = <<<'PHP'
        return static function (
            object $client,
            int $ttl,
            array $keys,
            array $values,
            array $expected,
            array $ops,
            int $count,
            int $records,
            array $lists,
            \Roundtrip\Worker\Tally $tally,
            ?\Roundtrip\Worker\Journal $journal,
        ): array {
            // Filled, so that the loop touches no fresh page and the array never grows.
            $at = array_fill(0, intdiv($count + $records - 1, $records) + 1, 0);
            $i = 0;
            $turn = 0;
            $misses = 0;
            $before = getrusage();
            $at[0] = hrtime(true);
            while ($i < $count) {
                // Entering `try` costs nothing, and the loop goes on after an exception.
                try {
                    while ($i < $count) {
                        {first}
                        {body}
                        {last}
                        {tick}
                    }
                } catch (\Throwable $thrown) {
                    $tally->thrown($i, {end}, $thrown);
                    {tick}
                }
            }
            return [$at, $before, getrusage(), $misses];
        };
        PHP;

    /** One reply, of record `{j}`. */
    private const COMPARE = <<<'PHP'
        if ($reply !== {due}) {
            // A float is NAN: a miss is due, and must cost what a hit costs.
            if ($reply === false && is_float({due})) {
                ++$misses;
            } else {
                $tally->odd({j}, $reply, {due}, $i);
            }
        }
        PHP;

    private const ONE = '$reply = {call}; {after}';

    private const EACH = '{each} { $reply = {call}; {after} }';

    private const TOGETHER = <<<'PHP'
        $batch = {begin};
        {each} {
            {add};
        }
        $replies = {send};
        $n = 0;
        {each} {
            $reply = {reply};
            ++$n;
            {after}
        }
        PHP;

    private const MANY = <<<'PHP'
        $replies = {call};
        $n = 0;
        {each} {
            $reply = {reply};
            ++$n;
            {after}
        }
        PHP;

    /** Every record of a turn, and of those the ones whose read was right. */
    private const ALL = 'for ($j = $i; $j < $end; ++$j)';
    private const READ = 'foreach ($read as $j => $number)';

    private const TO_END = '$end = min($i + $records, $count);';
    private const KEEP = ' else { $read[{j}] = $reply; }';

    private readonly bool $isOne;

    /** @param array<string, Call> $calls */
    public function __construct(
        private readonly Turn $turn,
        private readonly array $calls,
        private readonly ?Batch $batch,
        private readonly bool $inLoop,
        private readonly bool $keepsJournal,
    ) {
        $this->isOne = !$turn->isBatch && $turn->op !== 'get_many' && $turn->keys === 1;
        $batch?->mustHold($turn->records);
    }

    /**
     * The text of a phase.
     *
     * @param list<string> $ops those of a mix
     */
    public function text(array $ops): string
    {
        if ($this->turn->op === 'mix' && $this->turn->isBatch && in_array('read_modify_write', $ops, true)) {
            throw new Failure('usage', 'in a mix a read_modify_write is not sent ahead: depth must be 1');
        }
        [$ended, $end, $tick] = $this->isOne
            ? ['$i + 1', '$i + 1', '$at[++$i] = hrtime(true);']
            : ["intdiv(\$end, {$this->turn->keys})", '$end', '$at[++$turn] = hrtime(true); $i = $end;'];
        $parts = [
            '{first}' => ($this->isOne ? '' : self::TO_END) . ($this->keepsJournal ? "\$journal->sent({$ended});" : ''),
            '{body}' => $this->body($ops),
            '{last}' => $this->keepsJournal ? "\$journal->acknowledged(\$tally->right({$ended}));" : '',
            '{tick}' => $tick,
            '{end}' => $end,
        ];
        return strtr(self::LOOP, $parts);
    }

    /** The call of one op, outside of any loop. */
    public function once(string $op): string
    {
        return $this->inline($op);
    }

    /** @param list<string> $ops */
    private function body(array $ops): string
    {
        $op = $this->turn->op;
        if ($op === 'get_many' && !$this->turn->isBatch) {
            return $this->many();
        }
        if ($this->isOne) {
            $call = $this->of($op, $ops, $this->inline(...));
            return $this->put(self::ONE, ['{call}' => $call, '{after}' => self::COMPARE], '$i');
        }
        if ($op !== 'read_modify_write') {
            return $this->several($op === 'get_many' ? 'get' : $op, $ops, self::ALL, self::COMPARE, '$expected[{j}]');
        }
        return '$read = [];'
            . $this->several('get', [], self::ALL, self::COMPARE . self::KEEP, '$values[{j}]')
            . $this->several('set', [], self::READ, self::COMPARE, '$expected[{j}]', $this->sum('$number'));
    }

    /** Several ops of one kind: one by one, or together. @param list<string> $ops */
    private function several(
        string $op,
        array $ops,
        string $each,
        string $after,
        string $due,
        string $value = '$values[{j}]',
    ): string {
        $add = fn (string $op): string => strtr($this->call($op)->text, ['$client' => '$batch']);
        $reply = fn (string $op): string => strtr($this->call($op)->reply, ['$reply' => '($replies[$n] ?? false)']);
        return $this->put($this->turn->isBatch ? self::TOGETHER : self::EACH, [
            '{each}' => $each,
            '{begin}' => (string) $this->batch?->begin,
            '{add}' => $this->of($op, $ops, $add),
            '{send}' => (string) $this->batch?->end,
            '{reply}' => $this->of($op, $ops, $reply),
            '{call}' => $this->of($op, $ops, $this->inline(...)),
            '{after}' => $after,
        ], '$j', $due, $value);
    }

    private function many(): string
    {
        $call = $this->call('get_many');
        return $this->put(self::MANY, [
            '{each}' => self::ALL,
            '{call}' => strtr($call->text, ['$keys' => '$lists[$turn]']),
            '{reply}' => strtr($call->reply, ['$reply' => '$replies']),
            '{after}' => self::COMPARE,
        ], '$j');
    }

    /**
     * Puts parts into a text, and into those the record that they are of.
     *
     * @param array<string, string> $parts
     */
    private function put(
        string $text,
        array $parts,
        string $j,
        string $due = '$expected[{j}]',
        string $value = '$values[{j}]',
    ): string {
        $made = ['$key' => 'md5((string) {j})', '$value' => 'crc32((string) {j})'];
        $given = $this->inLoop ? $made : ['$key' => '$keys[{j}]', '$value' => $value];
        $given += ['$keys' => '$keys', '$values' => '$values'];
        // Only a call names a key and a value of its own.
        foreach (['{call}', '{add}', '{reply}'] as $part) {
            $parts[$part] = strtr($parts[$part] ?? '', $given);
        }
        return strtr(strtr(strtr($text, $parts), ['{due}' => $due]), ['{j}' => $j]);
    }

    /** The part of an op; of a mix, the parts of its ops and which of them it is. */
    private function of(string $op, array $ops, callable $part): string
    {
        if ($op !== 'mix') {
            return $part($op);
        }
        $arms = array_map(fn (string $op): string => "'{$op}' => {$part($op)}", $ops);
        return 'match ($ops[{j}]) { ' . implode(', ', $arms) . ' }';
    }

    /**
     * The call of an op with what is made of its reply. What is read is written back, unless it is not
     * what it must be.
     */
    private function inline(string $op): string
    {
        if ($op === 'read_modify_write') {
            $set = strtr($this->inline('set'), ['$value' => $this->sum('$read')]);
            return "((\$read = {$this->inline('get')}) === \$value ? {$set} : \$read)";
        }
        $call = $this->call($op);
        return strtr($call->reply, ['$reply' => $call->text]);
    }

    /** What is written of a number that was read. */
    private function sum(string $number): string
    {
        return $this->turn->add === 0 ? $number : "({$number} + {$this->turn->add})";
    }

    private function call(string $op): Call
    {
        $call = $this->calls[$op] ?? throw new Failure('usage', "the client does not do {$op}");
        return $call->must();
    }
}
