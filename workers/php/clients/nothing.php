<?php

declare(strict_types=1);

use Roundtrip\Worker\{About, Call, Client, Place};

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

    public function open(Place $place, array $options): object
    {
        return $this;
    }

    public function calls(bool $expires): array
    {
        $right = new Call('true');
        return ['get' => new Call('$value'), 'set' => $right, 'insert' => $right, 'delete' => $right, 'incr' => $right];
    }

    public function whyFalse(): string
    {
        return Client::ABSENT;
    }

    public function close(): void
    {
    }
};
