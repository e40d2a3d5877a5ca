<?php

declare(strict_types=1);

use Roundtrip\Worker\About;
use Roundtrip\Worker\Client;
use Roundtrip\Worker\Extension;
use Roundtrip\Worker\Failure;

/** The extension `memcached`, over libmemcached. */
return new class () implements Client {
    private Memcached $memcached;

    public function about(): About
    {
        return new About('memcached', 'apt-get install php-memcached', ['memcached', 'floor']);
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
            'compression' => ['true', 'false'],
            'persistent' => ['true', 'false'],
            'tcp_nodelay' => ['true', 'false'],
        ];
    }

    public function open(?string $unix, string $host, int $port, array $options): object
    {
        $this->memcached = new Memcached(($options['persistent'] ?? '') === 'true' ? 'roundtrip' : null);
        // What is not asked for stays as the library has it.
        foreach (array_diff_key($options, ['persistent' => true]) as $name => $value) {
            $this->memcached->setOption(...match ($name) {
                'serializer' => [Memcached::OPT_SERIALIZER, constant('Memcached::SERIALIZER_' . strtoupper($value))],
                'protocol' => [Memcached::OPT_BINARY_PROTOCOL, $value === 'binary'],
                'compression' => [Memcached::OPT_COMPRESSION, $value === 'true'],
                'tcp_nodelay' => [Memcached::OPT_TCP_NODELAY, $value === 'true'],
            });
        }
        $this->memcached->addServer($unix ?? $host, $unix === null ? $port : 0);
        // It connects only when it has something to ask.
        $this->memcached->getVersion() || throw new Failure('connect', $this->memcached->getLastErrorMessage());
        return $this->memcached;
    }

    public function calls(): array
    {
        return [
            'get' => '$client->get($key)',
            'set' => '$client->set($key, $value, $ttl)',
            'insert' => '$client->add($key, $value, $ttl)',
            'delete' => '$client->delete($key)',
            'incr' => '$client->increment($key) !== false',
        ];
    }

    public function whyFalse(): string
    {
        return match ($this->memcached->getResultCode()) {
            Memcached::RES_SUCCESS => '',
            Memcached::RES_NOTFOUND => Client::ABSENT,
            default => strtolower(strtr($this->memcached->getResultMessage(), ' ', '_')),
        };
    }

    public function close(): void
    {
        $this->memcached->quit();
    }
};
