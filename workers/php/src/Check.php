<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use RoundtripPoint;
use Throwable;

/**
 * The fidelity vectors: sets each, or gets each and compares it with what was written.
 */
final class Check
{
    public function __construct(
        private readonly Opened $opened,
        private readonly string $prefix,
        private readonly bool $classes,
    ) {
        if ($classes) {
            require_once __DIR__ . '/RoundtripPoint.php';
        }
    }

    /** @return list<array<string, mixed>> */
    public function run(string $mode, string $path): array
    {
        $vectors = json_decode((string) file_get_contents($path), true, 32, JSON_THROW_ON_ERROR);
        $call = Loop::once($this->opened, $mode === 'write' ? 'set' : 'get', 600);
        $rows = [];
        foreach ($vectors as $vector) {
            $key = $this->prefix . $vector['name'];
            try {
                $rows[] = $mode === 'write'
                    ? $this->write($call, $key, $vector)
                    : $this->read($call, $key, $vector);
            } catch (Throwable $thrown) {
                $note = get_class($thrown) . ": {$thrown->getMessage()}";
                $rows[] = ['name' => $vector['name'], 'type' => '-', 'value' => '-', 'same' => false, 'note' => $note];
            }
        }
        return $rows;
    }

    /** @param array{name: string, type: string, value: mixed} $vector */
    private function write(callable $call, string $key, array $vector): array
    {
        $value = $this->value($vector);
        $stored = $call($key, $value);
        $note = $stored ? $this->note($vector) : "not stored: {$this->opened->client->whyFalse()}";
        return $this->row($vector, $value, $stored, $note);
    }

    /** @param array{name: string, type: string, value: mixed} $vector */
    private function read(callable $call, string $key, array $vector): array
    {
        $back = $call($key, null);
        if ($vector['type'] === 'object' && !$this->classes) {
            $note = 'the reader does not declare the class ' . $vector['value']['class'];
            return $this->row($vector, $back, false, $note);
        }
        $note = $this->note($vector);
        if ($back === false) {
            $why = $this->opened->client->whyFalse();
            $note = match ($why) {
                '' => $note,
                Client::ABSENT => 'not found',
                Client::ABSENT_OR_FALSE => 'this library gives false for a miss too',
                default => "not read: {$why}",
            };
        }
        return $this->row($vector, $back, self::same($this->value($vector), $back), $note);
    }

    /** @param array{name: string, type: string, value: mixed} $vector */
    private function value(array $vector): mixed
    {
        $value = $vector['value'];
        return match ($vector['type']) {
            // Beyond 64 bits there is no integer, and the conversion does not give the text back.
            'int' => (string) (int) $value === $value ? (int) $value : $value,
            'float' => ['NaN' => NAN, 'Infinity' => INF][$value] ?? (float) $value,
            'binary' => base64_decode($value, true),
            'repeated_text' => str_repeat($value['text'], $value['times']),
            'object' => new RoundtripPoint(...$value['fields']),
            'bool', 'null', 'text', 'list', 'map' => $value,
        };
    }

    private function note(array $vector): ?string
    {
        return $vector['type'] === 'int' && is_string($this->value($vector))
            ? 'PHP has no integer beyond 64 bits: written as text'
            : null;
    }

    private function row(array $vector, mixed $value, bool $same, ?string $note): array
    {
        $row = ['name' => $vector['name'], 'type' => get_debug_type($value), 'value' => Shown::value($value)];
        return $row + ['same' => $same] + array_filter(['note' => $note]);
    }

    /** Value and type, down to the last item; NaN is the same as NaN. */
    private static function same(mixed $a, mixed $b): bool
    {
        if (is_float($a) && is_float($b) && is_nan($a)) {
            return is_nan($b);
        }
        if (is_object($a) && is_object($b)) {
            return get_class($a) === get_class($b) && self::same((array) $a, (array) $b);
        }
        if (!is_array($a) || !is_array($b)) {
            return $a === $b;
        }
        return array_keys($a) === array_keys($b)
            && !in_array(false, array_map(self::same(...), $a, $b), true);
    }
}
