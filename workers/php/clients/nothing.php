<?php

declare(strict_types=1);

use Roundtrip\Worker\About;
use Roundtrip\Worker\Client;

/** Does nothing, at once and rightly: what the loop itself costs. */
return new class () implements Client {
    public function about(): About
    {
        // It reaches no store: where it is opened does not matter.
        return new About(null, '', []);
    }

    public function version(): string
    {
        return PHP_VERSION;
    }

    public function options(): array
    {
        return [];
    }

    public function open(?string $unix, string $host, int $port, array $options): object
    {
        return $this;
    }

    public function calls(): array
    {
        return ['get' => '$value', 'set' => 'true', 'insert' => 'true', 'delete' => 'true', 'incr' => 'true'];
    }

    public function whyFalse(): string
    {
        return Client::ABSENT;
    }

    public function close(): void
    {
    }
};
