<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * How ops are sent together, as PHP text. What is between begin and end are the calls of the ops,
 * with `$batch`, which begin gave, in the place of `$client`.
 */
final class Batch
{
    /**
     * @param string $begin over `$client`
     * @param string $end over `$batch`: gives the replies in order
     * @param int $most how many ops it may have
     * @param string $reason why not more
     */
    public function __construct(
        public readonly string $begin,
        public readonly string $end,
        private readonly int $most = PHP_INT_MAX,
        private readonly string $reason = '',
    ) {
    }

    /** Of a library that sends one op at a time. */
    public static function none(string $reason): self
    {
        return new self('', '', 0, $reason);
    }

    public function mustHold(int $ops): void
    {
        $ops <= $this->most || throw new Failure('usage', $this->reason);
    }
}
