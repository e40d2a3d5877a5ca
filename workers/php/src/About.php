<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * What there is to say of a library whether it is installed or not.
 */
final class About
{
    /**
     * @param string|null $extension the PHP extension; null where none is needed
     * @param string $install the one command that installs it
     * @param list<string> $stores the stores that it reaches
     */
    public function __construct(
        public readonly ?string $extension,
        public readonly string $install,
        public readonly array $stores,
    ) {
    }

    public function isAvailable(): bool
    {
        return $this->extension === null || extension_loaded($this->extension);
    }

    public function reason(): string
    {
        return "the PHP extension {$this->extension} is not loaded; install it with: {$this->install}";
    }
}
