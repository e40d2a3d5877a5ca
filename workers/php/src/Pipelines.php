<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * A library that can send ops before the reply to the first is awaited.
 */
interface Pipelines extends Client
{
    /** More would only wait in the library. */
    public const MOST_DEPTH = 1_000_000;

    /** How ops are sent together on what was opened. */
    public function batch(): Batch;
}
