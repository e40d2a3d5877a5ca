<?php

declare(strict_types=1);

use Roundtrip\Worker\About;
use Roundtrip\Worker\Client;
use Roundtrip\Worker\Failure;

/** The extension `memcache`, which speaks to memcached itself. */
return new class () implements Client {
    private Memcache $memcache;
    /** @var array{string, int} */
    private array $server;

    public function about(): About
    {
        return new About('memcache', 'apt-get install php-memcache', ['memcached', 'floor']);
    }

    public function version(): string
    {
        return phpversion('memcache');
    }

    public function options(): array
    {
        // It has no other serializer than PHP's own, and no say over TCP_NODELAY.
        return [
            'serializer' => ['php'],
            'protocol' => ['ascii', 'binary'],
            'compression' => ['true', 'false'],
            'persistent' => ['true', 'false'],
        ];
    }

    public function open(?string $unix, string $host, int $port, array $options): object
    {
        ini_set('memcache.protocol', $options['protocol'] ?? 'ascii');
        if (($options['compression'] ?? 'true') === 'false') {
            ini_set('memcache.compress_threshold', '0');
        }
        $this->memcache = new Memcache();
        $connect = ($options['persistent'] ?? 'false') === 'true' ? 'pconnect' : 'connect';
        $this->server = $unix === null ? [$host, $port] : ["unix://{$unix}", 0];
        // The reason is in a notice, which is thrown.
        if (!$this->memcache->$connect(...$this->server) || $this->memcache->getVersion() === false) {
            throw new Failure('connect', 'the server does not answer');
        }
        return $this->memcache;
    }

    public function calls(): array
    {
        return [
            'get' => '$client->get($key)',
            'set' => '$client->set($key, $value, 0, $ttl)',
            'insert' => '$client->add($key, $value, 0, $ttl)',
            'delete' => '$client->delete($key)',
            'incr' => '$client->increment($key) !== false',
        ];
    }

    public function whyFalse(): string
    {
        // The first failure raises a notice, which is thrown; those that follow are silent.
        $isDown = $this->memcache->getServerStatus(...$this->server) === 0;
        return $isDown ? 'server_is_down' : Client::ABSENT_OR_FALSE;
    }

    public function close(): void
    {
        $this->memcache->close();
    }
};
