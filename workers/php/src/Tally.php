<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Closure;
use Throwable;

/**
 * Counts outcomes. The loop comes here only with a reply that is not the one expected, and after
 * its end with the number of expected misses; all the others are what is left of the count.
 */
final class Tally
{
    private const RIGHT = ['get' => 'hit', 'get_many' => 'hit', 'join' => 'hit',
        'set' => 'stored', 'insert' => 'stored',
        'read_modify_write' => 'stored', 'delete' => 'done', 'incr' => 'done'];
    private const ABSENT = ['get' => 'miss', 'get_many' => 'miss', 'join' => 'miss',
        'read_modify_write' => 'not_found',
        'delete' => 'not_found', 'incr' => 'not_found'];
    /** In a mix only reads miss. */
    private const MISSES = 'get';

    /** @var array<string, int> */
    private array $odd = [];

    /** @var array<string, int> by op, those that are among the odd ones */
    private array $notRight = [];

    /** The turn that the last odd reply was of, by its first record; and why replies of it were false. */
    private int $turn = -1;
    private ?string $why = null;

    /** @var array<int, true> the records of that turn that are judged */
    private array $judged = [];

    /** How many ops failed; the last of them. */
    private int $failed = 0;
    private int $lastFailed = -1;

    /** Of these kinds are failures that no server told of. */
    private const UNTOLD = ['connection_lost', 'protocol_error', 'warning', 'exception'];
    private const LONGEST_COMPLAINT = 200;
    /** What the server said when it first refused an op. */
    private ?string $complaint = null;

    public function __construct(
        private readonly Client $client,
        private readonly Operations $operations,
        private readonly int $keysPerOp,
    ) {
    }

    /** A reply to record i, of the turn that starts with a record. */
    public function odd(int $i, mixed $reply, mixed $expected, int $turn): void
    {
        $this->enter($turn);
        $op = $this->operations->op($i);
        $outcome = $this->outcome($op, $reply);
        $this->judge($i, $outcome, fn (): string => 'got ' . Shown::value($reply) . ', expected '
            . (is_float($expected) ? 'a miss' : Shown::value($expected)));
    }

    /** What was not judged yet of records i to end - 1 has failed. */
    public function thrown(int $i, int $end, Throwable $thrown): void
    {
        $this->enter($i);
        $kind = Kind::of($thrown);
        $this->complain($kind, $thrown->getMessage());
        $outcome = "error:{$kind}";
        for ($j = $i; $j < $end; $j++) {
            if (!isset($this->judged[$j])) {
                $this->judge($j, $outcome, $thrown->getMessage(...));
            }
        }
    }

    /** How many of so many ops did not fail. */
    public function right(int $ops): int
    {
        return $ops - $this->failed;
    }

    /** In the server's own words; null where it refused nothing. */
    public function complaint(): ?string
    {
        return $this->complaint;
    }

    private function complain(string $kind, string $words): void
    {
        if ($this->complaint === null && !in_array($kind, self::UNTOLD, true)) {
            $this->complaint = substr(preg_replace('/[[:cntrl:]]+/', ' ', $words), 0, self::LONGEST_COMPLAINT);
        }
    }

    /** Why a reply is false, asked of the library. */
    private function askWhy(): string
    {
        $why = $this->client->whyFalse();
        if ($why instanceof Refusal) {
            $this->complain($why->kind, $why->words);
            return $why->kind;
        }
        return $why;
    }

    private function enter(int $turn): void
    {
        if ($turn !== $this->turn) {
            $this->turn = $turn;
            $this->why = null;
            $this->judged = [];
        }
    }

    private function judge(int $i, string $outcome, Closure $words): void
    {
        $this->judged[$i] = true;
        $op = intdiv($i, $this->keysPerOp);
        if (str_starts_with($outcome, 'error:') && $op !== $this->lastFailed) {
            $this->lastFailed = $op;
            ++$this->failed;
        }
        $this->count($this->operations->op($i), $outcome, $words);
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
        $why = $this->askWhy();
        // '': the last reply of all was a value, so the server answers.
        $answers = in_array($why, ['', Client::ABSENT, Client::ABSENT_OR_FALSE], true);
        $op = $this->operations->ops === [] ? $this->operations->op(0) : self::MISSES;
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
        $this->why ??= $this->askWhy();
        return match ($this->why) {
            // Of several keys the one that is not there fails nothing.
            '' => $op === 'get_many' ? self::ABSENT[$op] : 'wrong',
            Client::ABSENT, Client::ABSENT_OR_FALSE => self::ABSENT[$op] ?? 'error:not_stored',
            default => "error:{$this->why}",
        };
    }
}
