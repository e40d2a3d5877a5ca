<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * How far a loop is, in a file that outlives it: two numbers of 64 bits, each overwritten in place.
 * PHP keeps nothing of what is written to a plain file in a buffer of its own.
 */
final class Journal
{
    /** @var resource */
    private $file;

    public function __construct(string $path)
    {
        $this->file = fopen($path, 'cb');
        stream_set_write_buffer($this->file, 0);
        $this->put(0, 0);
        $this->put(8, 0);
    }

    /** So many ops are handed to the library. */
    public function sent(int $ops): void
    {
        $this->put(0, $ops);
    }

    /** So many of them have come back and were acknowledged. */
    public function acknowledged(int $ops): void
    {
        $this->put(8, $ops);
    }

    private function put(int $at, int $number): void
    {
        if (fseek($this->file, $at) !== 0 || fwrite($this->file, pack('P', $number)) !== 8) {
            throw new Failure('io', 'the journal cannot be written');
        }
    }
}
