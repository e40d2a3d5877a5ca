<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * A client that is connected: the file of its library, the library's own object, and what was
 * asked for.
 */
final class Opened
{
    private const PLUGINS_OWN = 'demo_test';

    /** @param array<string, string> $options */
    public function __construct(
        public readonly Client $client,
        public readonly object $library,
        private readonly array $options,
    ) {
    }

    public function isTransactional(): bool
    {
        return ($this->options['transaction'] ?? 'false') === 'true';
    }

    /** Whether numbers come back as text. */
    public function givesText(): bool
    {
        return $this->client->about()->givesText && ($this->options['serializer'] ?? 'none') === 'none';
    }

    /** What goes before each key: MySQL's plugin takes the table from there. */
    public function keyPrefix(): string
    {
        $table = $this->options['table'] ?? self::PLUGINS_OWN;
        return $this->client->about()->door === null || $table === self::PLUGINS_OWN ? '' : "@@{$table}.";
    }
}
