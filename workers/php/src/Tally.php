<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Closure;
use ErrorException;
use Throwable;

/**
 * Counts outcomes. The loop comes here only with a reply that is not the one expected, and after
 * its end with the number of expected misses; all the others are what is left of the count.
 */
final class Tally
{
    private const RIGHT = ['get' => 'hit', 'set' => 'stored', 'insert' => 'stored', 'read_modify_write' => 'stored',
        'delete' => 'done', 'incr' => 'done'];
    private const ABSENT = ['get' => 'miss', 'read_modify_write' => 'not_found', 'delete' => 'not_found',
        'incr' => 'not_found'];
    /** In a mix only reads miss. */
    private const MISSES = 'get';

    /** @var array<string, int> */
    private array $odd = [];

    /** @var array<string, int> by op, those that are among the odd ones */
    private array $notRight = [];

    public function __construct(
        private readonly Client $client,
        private readonly Operations $operations,
    ) {
    }

    public function odd(int $i, mixed $reply, mixed $expected): void
    {
        $op = $this->operations->op($i);
        $outcome = $this->outcome($op, $reply);
        $this->count($op, $outcome, fn (): string => 'got ' . Shown::value($reply) . ', expected '
            . (is_float($expected) ? 'a miss' : Shown::value($expected)));
    }

    public function thrown(int $i, Throwable $thrown): void
    {
        $kind = $thrown instanceof ErrorException ? 'warning' : 'exception';
        $this->count($this->operations->op($i), "error:{$kind}", fn (): string => $thrown->getMessage());
    }

    /**
     * The replies of false where a miss was due. The loop only counts them, so the library is
     * asked once, after it: if its last reply was a failure, none of them is taken for a miss.
     */
    public function missed(int $times): void
    {
        if ($times === 0) {
            return;
        }
        $why = $this->client->whyFalse();
        // '': the last reply of all was a value, so the server answers.
        $answers = in_array($why, ['', Client::ABSENT, Client::ABSENT_OR_FALSE], true);
        $op = $this->operations->op === 'mix' ? self::MISSES : $this->operations->op;
        $outcome = $answers ? self::ABSENT[$op] : "error:{$why}";
        $this->count($op, $outcome, fn (): string => "{$times} times false, expected a miss", $times);
    }

    /** @return array<string, int> */
    public function outcomes(): array
    {
        $outcomes = $this->odd;
        foreach ($this->operations->counts() as $op => $count) {
            $right = $count - ($this->notRight[$op] ?? 0);
            if ($right > 0) {
                $outcomes[self::RIGHT[$op]] = ($outcomes[self::RIGHT[$op]] ?? 0) + $right;
            }
        }
        return $outcomes;
    }

    private function count(string $op, string $outcome, Closure $words, int $times = 1): void
    {
        // The first of each kind leaves a word in the log; a miss is nothing to talk of.
        if (!isset($this->odd[$outcome]) && !in_array($outcome, self::ABSENT, true)) {
            fwrite(STDERR, "{$op}: {$outcome}: {$words()}\n");
        }
        $this->odd[$outcome] = ($this->odd[$outcome] ?? 0) + $times;
        $this->notRight[$op] = ($this->notRight[$op] ?? 0) + $times;
    }

    private function outcome(string $op, mixed $reply): string
    {
        if ($reply !== false) {
            return 'wrong';
        }
        return match ($why = $this->client->whyFalse()) {
            '' => 'wrong',
            Client::ABSENT, Client::ABSENT_OR_FALSE => self::ABSENT[$op] ?? 'error:not_stored',
            default => "error:{$why}",
        };
    }
}
