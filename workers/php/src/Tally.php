<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Closure;
use ErrorException;
use Throwable;

/**
 * Counts outcomes. The loop comes here only with a reply that is not the one expected; all the
 * others are what is left of the count.
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

    private function count(string $outcome, Closure $words): void
    {
        // The first of each kind leaves a word in the log; a miss is nothing to talk of.
        if (!isset($this->odd[$outcome]) && !in_array($outcome, self::ABSENT, true)) {
            fwrite(STDERR, "{$this->operations->op}: {$outcome}: {$words()}\n");
        }
        $this->odd[$outcome] = ($this->odd[$outcome] ?? 0) + 1;
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
