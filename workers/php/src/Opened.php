<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * A client that is connected: the file of its library, and the library's own object.
 */
final class Opened
{
    public function __construct(
        public readonly Client $client,
        public readonly object $library,
    ) {
    }
}
