<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * The operations of a phase, decoded from the stream file before the clock starts.
 */
final class Operations
{
    private const HEADER_BYTES = 20;
    private const RECORD_BYTES = 7;
    private const CHUNK_BYTES = 1 << 20;
    private const INTEGER = 0x01;
    private const OP = 0x1e;
    private const EXPECT_MISS = 0x80;
    private const CHECKED = 100;

    /** Ops by their number in the kind of an operation, which stands above the lowest bit. */
    private const OPS = [
        1 => 'get',
        2 => 'set',
        3 => 'delete',
        4 => 'incr',
        5 => 'read_aside',
        6 => 'insert',
        7 => 'read_modify_write',
        8 => 'scan',
    ];

    /** What reads gives what was written before; what is left of a mix writes. */
    private const READS = ['get', 'get_many', 'join'];
    private const WRITES = ['set', 'insert', 'read_modify_write'];

    /** How many records there are: one for each key of each op. */
    public readonly int $count;

    /** @var list<string> */
    public array $keys = [];

    /** @var list<int|string> what is written, or what a read must give */
    public array $values = [];

    /**
     * What the call must return. NAN, the only float, where the key is not there: NAN is identical
     * to nothing, so the loop looks into the reply, and false is never a hit.
     *
     * @var list<int|string|bool|float>
     */
    public array $expected = [];

    /** @var list<string> the op of each, where the phase is a mix; else nothing */
    public array $ops = [];

    /** @var list<list<string>> the keys of each op that takes them in one call; else nothing */
    public array $lists = [];

    /**
     * @param int $count how many ops
     * @param bool $givesText numbers come back as text
     * @param string $keyPrefix goes before each key
     */
    public function __construct(
        private readonly Turn $turn,
        string $path,
        int $count,
        private readonly bool $givesText,
        private readonly string $keyPrefix,
    ) {
        $this->count = $count * $turn->keys;
        $file = fopen($path, 'rb');
        $buffer = (string) fread($file, self::HEADER_BYTES);
        if (strlen($buffer) !== self::HEADER_BYTES || !str_starts_with($buffer, "RTSTREAM\x01\0\0\0")) {
            throw new Failure('protocol', "not a stream file of version 1: {$path}");
        }
        $held = unpack('P', $buffer, 12)[1];
        if ($held !== $this->count) {
            throw new Failure('protocol', "the stream holds {$held} operations, not {$this->count}");
        }
        $this->decode($file, $path);
        fclose($file);
        if ($turn->op === 'get_many' && !$turn->isBatch) {
            $this->lists = array_chunk($this->keys, $turn->keys);
        }
    }

    /**
     * Makes sure that key i is md5(i) and value i crc32(i), because those are what a loop that
     * makes them itself will use: without a prefix on a user's store, for one.
     *
     * Only the first and the last are made here, because this work is in the figures of the whole
     * process. They tell: a prefix or another recipe shows in the first, and a miss or a key that
     * comes again shifts the last.
     */
    public function mustBeOfTheirIndex(): void
    {
        for ($i = 0, $first = min(self::CHECKED, $this->count); $i < $first; $i++) {
            $this->mustBeOfItsIndex($i);
        }
        if ($this->count > 0) {
            $this->mustBeOfItsIndex($this->count - 1);
        }
    }

    private function mustBeOfItsIndex(int $i): void
    {
        if ($this->keys[$i] !== md5((string) $i) || $this->values[$i] !== crc32((string) $i)) {
            throw new Failure('usage', "operation {$i} is not md5({$i}) with crc32({$i}), "
                . 'so it cannot be made inside the loop');
        }
    }

    /** @param resource $file */
    private function decode($file, string $path): void
    {
        $buffer = '';
        $at = 0;
        for ($i = 0; $i < $this->count; $i++) {
            $this->need(self::RECORD_BYTES, $file, $buffer, $at, $path);
            ['k' => $keyBytes, 'v' => $valueBytes, 'f' => $kind] = unpack('vk/Vv/Cf', $buffer, $at);
            $this->need(self::RECORD_BYTES + $keyBytes + $valueBytes, $file, $buffer, $at, $path);
            $at += self::RECORD_BYTES;
            $this->keys[] = $this->keyPrefix . substr($buffer, $at, $keyBytes);
            $value = substr($buffer, $at + $keyBytes, $valueBytes);
            $at += $keyBytes + $valueBytes;
            $this->add(($kind & self::INTEGER) !== 0 ? (int) $value : $value, $kind);
        }
    }

    private function add(int|string $value, int $kind): void
    {
        $op = $this->turn->op;
        if ($op === 'mix') {
            $op = self::OPS[($kind & self::OP) >> 1]
                ?? throw new Failure('protocol', 'an operation of a mix has no op');
            $this->ops[] = $op;
        }
        $read = $this->givesText ? (string) $value : $value;
        // The value of a read_modify_write is what is read: what it writes is made of that.
        $this->values[] = $op === 'read_modify_write' ? $read : $value;
        if (in_array($op, self::WRITES, true)) {
            $this->expected[] = true;
        } elseif (($kind & self::EXPECT_MISS) !== 0) {
            $this->expected[] = NAN;
        } else {
            $this->expected[] = in_array($op, self::READS, true) ? $read : true;
        }
    }

    /** The op of record i. */
    public function op(int $i): string
    {
        return $this->ops[$i] ?? $this->turn->op;
    }

    /** @return array<string, int> how many records each op has */
    public function counts(): array
    {
        return $this->ops === [] ? [$this->turn->op => $this->count] : array_count_values($this->ops);
    }

    /** @param resource $file */
    private function need(int $bytes, $file, string &$buffer, int &$at, string $path): void
    {
        if (strlen($buffer) - $at >= $bytes) {
            return;
        }
        $buffer = substr($buffer, $at);
        $at = 0;
        while (strlen($buffer) < $bytes) {
            $more = (string) fread($file, self::CHUNK_BYTES);
            if ($more === '') {
                throw new Failure('protocol', "the stream file is cut short: {$path}");
            }
            $buffer .= $more;
        }
    }
}
