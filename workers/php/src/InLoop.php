<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use ArrayAccess;
use LogicException;

/**
 * Keys and values that are made when the loop asks for them, as the published loop of study 1 made
 * them. They stand in the place of the arrays, so that there is one loop.
 */
abstract class InLoop implements ArrayAccess
{
    public function offsetExists(mixed $offset): bool
    {
        return true;
    }

    public function offsetSet(mixed $offset, mixed $value): void
    {
        throw new LogicException('read only');
    }

    public function offsetUnset(mixed $offset): void
    {
        throw new LogicException('read only');
    }
}

/** Key i is md5(i). */
final class Md5Keys extends InLoop
{
    public function offsetGet(mixed $offset): string
    {
        return md5((string) $offset);
    }
}

/** Value i is crc32(i). */
final class Crc32Values extends InLoop
{
    public function offsetGet(mixed $offset): int
    {
        return crc32((string) $offset);
    }
}
