<?php

declare(strict_types=1);

/**
 * The class of the object vectors. It is in no namespace, because its name is a vector's. A
 * reader that is not to know it does not load this file.
 */
final class RoundtripPoint
{
    public function __construct(public int $x, public int $y)
    {
    }
}
