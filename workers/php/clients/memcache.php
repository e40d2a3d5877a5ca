<?php

declare(strict_types=1);

use Roundtrip\Worker\{About, Call, Client, Failure, Place};

/** The extension `memcache`, which speaks to memcached itself; of several servers by `memcache.hash_strategy`. */
return new class () implements Client {
    private Memcache $memcache;
    /** @var list<array{string, int}> */
    private array $servers = [];

    public function about(): About
    {
        $stores = ['memcached', 'memcached-shards', 'mysql', 'floor'];
        return new About('memcache', 'apt-get install php-memcache', $stores, door: 'memcached');
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
            'table' => ['demo_test', 'numbers', 'columns'],
        ];
    }

    public function open(Place $place, array $options): object
    {
        ini_set('memcache.protocol', $options['protocol'] ?? 'ascii');
        if (($options['compression'] ?? 'true') === 'false') {
            ini_set('memcache.compress_threshold', '0');
        }
        $this->memcache = new Memcache();
        $connect = ($options['persistent'] ?? 'false') === 'true' ? 'pconnect' : 'connect';
        foreach ($place->nodes as $node) {
            $this->servers[] = $server = [$node->unix === null ? $node->host : "unix://{$node->unix}", $node->port];
            // The reason is in a notice, which is thrown. The second and those that follow join the first.
            if (!$this->memcache->$connect(...$server) || $this->memcache->getVersion() === false) {
                throw new Failure('connect', 'the server does not answer');
            }
        }
        return $this->memcache;
    }

    public function calls(bool $expires): array
    {
        return [
            'get' => new Call('$client->get($key)'),
            'get_many' => new Call('$client->get($keys)', '$reply[$key] ?? false'),
            'set' => new Call('$client->set($key, $value, 0, $ttl)'),
            'insert' => new Call('$client->add($key, $value, 0, $ttl)'),
            'delete' => new Call('$client->delete($key)'),
            'incr' => new Call('$client->increment($key)', '$reply !== false'),
        ];
    }

    public function whyFalse(): string
    {
        // The first failure raises a notice, which is thrown; those that follow are silent.
        $states = array_map(fn (array $server): int => $this->memcache->getServerStatus(...$server), $this->servers);
        return in_array(0, $states, true) ? 'server_is_down' : Client::ABSENT_OR_FALSE;
    }

    public function close(): void
    {
        $this->memcache->close();
    }
};
