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
    private const RIGHT = ['get' => 'hit', 'set' => 'stored', 'delete' => 'done', 'incr' => 'done'];
    private const ABSENT = ['get' => 'miss', 'delete' => 'not_found', 'incr' => 'not_found'];

    /** @var array<string, int> */
    private array $odd = [];

    public function __construct(
        private readonly Client $client,
        private readonly Operations $operations,
    ) {
    }

    public function odd(mixed $reply, mixed $expected): void
    {
        $outcome = $this->outcome($reply);
        $this->count($outcome, fn (): string => 'got ' . Shown::value($reply) . ', expected '
            . (is_float($expected) ? 'a miss' : Shown::value($expected)));
    }

    public function thrown(Throwable $thrown): void
    {
        $kind = $thrown instanceof ErrorException ? 'warning' : 'exception';
        $this->count("error:{$kind}", fn (): string => $thrown->getMessage());
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
        $outcome = $answers ? self::ABSENT[$this->operations->op] : "error:{$why}";
        $this->count($outcome, fn (): string => "{$times} times false, expected a miss", $times);
    }

    /** @return array<string, int> */
    public function outcomes(): array
    {
        $right = $this->operations->count - array_sum($this->odd);
        $outcomes = $this->odd;
        if ($right > 0) {
            $outcomes[self::RIGHT[$this->operations->op]] = $right;
        }
        return $outcomes;
    }

    private function count(string $outcome, Closure $words, int $times = 1): void
    {
        // The first of each kind leaves a word in the log; a miss is nothing to talk of.
        if (!isset($this->odd[$outcome]) && !in_array($outcome, self::ABSENT, true)) {
            fwrite(STDERR, "{$this->operations->op}: {$outcome}: {$words()}\n");
        }
        $this->odd[$outcome] = ($this->odd[$outcome] ?? 0) + $times;
    }

    private function outcome(mixed $reply): string
    {
        if ($reply !== false) {
            return 'wrong';
        }
        return match ($why = $this->client->whyFalse()) {
            '' => 'wrong',
            Client::ABSENT, Client::ABSENT_OR_FALSE => self::ABSENT[$this->operations->op] ?? 'error:not_stored',
            default => "error:{$why}",
        };
    }
}
