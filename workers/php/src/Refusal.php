<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Stringable;

/**
 * A reply of false that stands for an error of the server: its kind, and the server's own words.
 */
final class Refusal implements Stringable
{
    public function __construct(public readonly string $kind, public readonly string $words)
    {
    }

    public function __toString(): string
    {
        return $this->kind;
    }
}
