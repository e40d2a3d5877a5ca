<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * Values in PHP's own notation, on one line and shortened.
 */
final class Shown
{
    private const MAX_CHARACTERS = 40;
    private const MAX_ITEMS = 4;

    public static function value(mixed $value, int $depth = 3): string
    {
        return match (true) {
            is_string($value) => self::text($value),
            is_array($value) => '[' . self::items($value, $depth) . ']',
            is_object($value) => get_class($value) . ' {' . self::items((array) $value, $depth) . '}',
            is_null($value) => 'null',
            default => var_export($value, true),
        };
    }

    /** @param array<mixed> $items */
    private static function items(array $items, int $depth): string
    {
        if ($depth === 0) {
            return '...';
        }
        $shown = [];
        foreach (array_slice($items, 0, self::MAX_ITEMS, true) as $key => $item) {
            $name = array_is_list($items) ? '' : self::value($key) . ' => ';
            $shown[] = $name . self::value($item, $depth - 1);
        }
        return implode(', ', $shown) . (count($items) > self::MAX_ITEMS ? ', ...' : '');
    }

    private static function text(string $text): string
    {
        // Whole characters only: half of one is not UTF-8.
        $characters = '/^(?:[^\x00-\x1F\x7F-\xFF]|[\xC2-\xF4][\x80-\xBF]{1,3}){1,' . self::MAX_CHARACTERS . '}/';
        if ($text === '' || (preg_match('//u', $text) === 1 && preg_match($characters, $text, $start) === 1)) {
            $start = $start[0] ?? '';
            $words = "'" . addcslashes($start, "'\\") . "'";
        } else {
            $start = substr($text, 0, 10);
            $words = '"' . addcslashes($start, "\0..\37\"\\\177..\377") . '"';
        }
        return $start === $text ? $words : "{$words}... (" . strlen($text) . ' bytes)';
    }
}
