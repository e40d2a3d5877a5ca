<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use RuntimeException;

/**
 * A failure that the host is told of as an `error` event; the kinds are in CONTRACT.md.
 */
final class Failure extends RuntimeException
{
    public function __construct(public readonly string $kind, string $message)
    {
        parent::__construct($message);
    }
}
