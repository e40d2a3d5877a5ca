<?php

declare(strict_types=1);

use Roundtrip\Worker\{About, Call, Client, Extension, Failure, Place};

/** The extension `memcached`, over libmemcached; of several servers it takes the key's hash modulo their number. */
return new class () implements Client {
    private Memcached $memcached;

    public function about(): About
    {
        $stores = ['memcached', 'memcached-shards', 'mysql', 'floor'];
        return new About('memcached', 'apt-get install php-memcached', $stores, door: 'memcached');
    }

    public function version(): string
    {
        $library = Extension::info('memcached', 'libmemcached library version');
        return phpversion('memcached') . " (libmemcached {$library})";
    }

    public function options(): array
    {
        $built = fn (string $serializer): bool => constant('Memcached::HAVE_' . strtoupper($serializer));
        return [
            'serializer' => ['php', ...array_filter(['json', 'igbinary', 'msgpack'], $built)],
            'protocol' => ['ascii', 'binary'],
            'table' => ['demo_test', 'numbers', 'columns'],
        ] + array_fill_keys(['compression', 'persistent', 'tcp_nodelay'], ['true', 'false']);
    }

    public function open(Place $place, array $options): object
    {
        $this->memcached = new Memcached(($options['persistent'] ?? '') === 'true' ? 'roundtrip' : null);
        // What is not asked for stays as the library has it.
        foreach (array_diff_key($options, ['persistent' => true, 'table' => true]) as $name => $value) {
            $this->memcached->setOption(...match ($name) {
                'serializer' => [Memcached::OPT_SERIALIZER, constant('Memcached::SERIALIZER_' . strtoupper($value))],
                'protocol' => [Memcached::OPT_BINARY_PROTOCOL, $value === 'binary'],
                'compression' => [Memcached::OPT_COMPRESSION, $value === 'true'],
                'tcp_nodelay' => [Memcached::OPT_TCP_NODELAY, $value === 'true'],
            });
        }
        foreach ($place->nodes as $node) {
            $this->memcached->addServer($node->unix ?? $node->host, $node->port);
        }
        // It connects only when it has something to ask.
        $answers = $this->memcached->getVersion() && $this->memcached->getResultCode() === Memcached::RES_SUCCESS;
        $answers || throw new Failure('connect', $this->memcached->getLastErrorMessage());
        return $this->memcached;
    }

    public function calls(bool $expires): array
    {
        return [
            'get' => new Call('$client->get($key)'),
            'get_many' => new Call('$client->getMulti($keys)', '$reply[$key] ?? false'),
            'set' => new Call('$client->set($key, $value, $ttl)'),
            'insert' => new Call('$client->add($key, $value, $ttl)'),
            'delete' => new Call('$client->delete($key)'),
            'incr' => new Call('$client->increment($key)', '$reply !== false'),
        ];
    }

    public function whyFalse(): string
    {
        return match ($this->memcached->getResultCode()) {
            Memcached::RES_SUCCESS => $this->memcached->getLastErrorCode() === 0 ? '' : 'some_errors',
            Memcached::RES_NOTFOUND => Client::ABSENT,
            default => strtolower(strtr($this->memcached->getResultMessage(), ' ', '_')),
        };
    }

    public function close(): void
    {
        $this->memcached->quit();
    }
};
