<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use ErrorException;
use Throwable;

/**
 * The kind of an error, which its outcome is named after, from what a library says.
 */
final class Kind
{
    private const LOST = '/went away|connection (lost|closed|reset|refused)|broken pipe|failed with errno|'
        . 'no route|timed out|while (reading|writing)|communicate with any node|no connections (left|available)|'
        . 'read error on connection/i';
    /** Of phpredis, also where the connection ends in the middle of a reply. */
    private const NO_REPLY = '/^protocol error/i';
    /** What Redis says before its own words: `OOM command not allowed...`. */
    private const CODE = '/^([A-Z]{2,})\s+(.*)/s';
    /** So many of the words of an error that has no code of its own. */
    private const WORDS = 5;

    public static function of(Throwable $thrown): string
    {
        $kind = Sql::kind($thrown) ?? self::told($thrown->getMessage());
        return $kind ?? ($thrown instanceof ErrorException ? 'warning' : 'exception');
    }

    /** Null where the words say nothing that is known. */
    public static function told(string $message): ?string
    {
        return match (true) {
            preg_match(self::LOST, $message) === 1 => 'connection_lost',
            preg_match(self::NO_REPLY, $message) === 1 => 'protocol_error',
            preg_match(self::CODE, trim($message), $found) !== 1 => null,
            $found[1] !== 'ERR' => strtolower($found[1]),
            default => self::words($found[2]),
        };
    }

    private static function words(string $message): string
    {
        preg_match_all('/[a-z]+/', strtolower($message), $words);
        return implode('_', array_slice($words[0], 0, self::WORDS)) ?: 'err';
    }
}
