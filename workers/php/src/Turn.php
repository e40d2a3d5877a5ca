<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * What a loop does between two readings of the clock: one op, or a batch of them, or one op of
 * several keys.
 */
final class Turn
{
    /** How many records of the stream it takes. */
    public readonly int $records;
    /** How many ops that is. */
    public readonly int $ops;
    /** Whether commands are sent together. */
    public readonly bool $isBatch;

    /**
     * @param int $keys how many keys each op has
     * @param int $add what a read_modify_write adds
     */
    public function __construct(
        public readonly string $op,
        public readonly int $keys,
        public readonly int $depth,
        public readonly bool $isTransaction,
        public readonly int $add,
    ) {
        if ($depth > 1 && $depth < $keys) {
            throw new Failure('usage', "the keys of one op travel one by one or together: depth must be 1 or {$keys} "
                . 'and more');
        }
        $this->isBatch = $depth > 1 || $isTransaction;
        // What reads and then writes awaits its own reads, so no op is sent ahead of it.
        $this->ops = $this->takesKeys() ? 1 : $depth;
        $this->records = $this->takesKeys() ? $keys : $depth;
        if ($keys > 1 && !$this->takesKeys()) {
            throw new Failure('usage', "an op {$op} has one key");
        }
    }

    public function takesKeys(): bool
    {
        return $this->op === 'get_many' || $this->op === 'read_modify_write';
    }
}
