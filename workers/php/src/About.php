<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * What there is to say of a library whether it is installed or not.
 */
final class About
{
    /**
     * @param string|null $needs the PHP extension, or the file of a library in PHP, as on the
     *     include path; null where nothing is needed
     * @param string $install the one command that installs it
     * @param list<string> $stores the stores that it reaches
     * @param bool $givesText numbers come back as text, unless a serializer keeps what they are
     * @param string|null $door the protocol that it speaks, where a store has a door for it
     */
    public function __construct(
        public readonly ?string $needs,
        public readonly string $install,
        public readonly array $stores,
        public readonly bool $givesText = false,
        public readonly ?string $door = null,
    ) {
    }

    /** Whether it is here; a library in PHP is then loaded. */
    public function isAvailable(): bool
    {
        return match (true) {
            $this->needs === null => true,
            $this->isLibrary() => stream_resolve_include_path($this->needs) !== false
                && (bool) require_once $this->needs,
            default => extension_loaded($this->needs),
        };
    }

    public function reason(): string
    {
        return ($this->isLibrary()
            ? "the PHP library {$this->needs} is not on the include path"
            : "the PHP extension {$this->needs} is not loaded") . "; install it with: {$this->install}";
    }

    private function isLibrary(): bool
    {
        return str_ends_with((string) $this->needs, '.php');
    }
}
