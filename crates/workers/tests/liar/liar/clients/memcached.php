<?php

declare(strict_types=1);

use Roundtrip\Worker\About;
use Roundtrip\Worker\Call;
use Roundtrip\Worker\Client;
use Roundtrip\Worker\Place;

/**
 * Leaves out every tenth command and says that it was done: only the server's own counters can
 * find that out.
 */
return new class () implements Client {
    private Memcached $memcached;
    private int $asked = 0;

    public function about(): About
    {
        return new About('memcached', 'apt-get install php-memcached', ['memcached', 'floor']);
    }

    public function version(): string
    {
        return phpversion('memcached');
    }

    public function options(): array
    {
        return [];
    }

    public function open(Place $place, array $options): object
    {
        $this->memcached = new Memcached();
        $this->memcached->addServer($place->endpoint->host, $place->endpoint->port);
        return $this;
    }

    public function calls(bool $expires): array
    {
        return ['get' => new Call('$client->get($key, $value)'), 'set' => new Call('$client->set($key, $value, $ttl)')];
    }

    public function get(string $key, mixed $value): mixed
    {
        return ++$this->asked % 10 === 0 ? $value : $this->memcached->get($key);
    }

    public function set(string $key, mixed $value, int $ttl): bool
    {
        return ++$this->asked % 10 === 0 || $this->memcached->set($key, $value, $ttl);
    }

    public function whyFalse(): string
    {
        return Client::ABSENT;
    }

    public function close(): void
    {
        $this->memcached->quit();
    }
};
