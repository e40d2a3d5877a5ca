<?php

declare(strict_types=1);

use Roundtrip\Worker\{About, Batch, Call, Extension, Kind, PhpRedis, Pipelines, Place, Refusal};

/** The extension `redis`: its class Redis for one server, RedisArray for shards, RedisCluster for a cluster. */
return new class () implements Pipelines {
    private Redis|RedisArray|RedisCluster $redis;
    private bool $isTransaction = false;
    private bool $isPlain = true;

    public function about(): About
    {
        $stores = ['redis', 'redis-shards', 'redis-cluster', 'floor'];
        return new About('redis', 'apt-get install php-redis', $stores, givesText: true);
    }

    public function version(): string
    {
        return phpversion('redis');
    }

    public function options(): array
    {
        $built = fn (string $line): array => array_filter(explode(', ', Extension::info('redis', $line) ?? ''));
        return [
            'transaction' => ['true', 'false'],
            'persistent' => ['true', 'false'],
            'serializer' => ['none', ...$built('Available serializers')],
            'compression' => ['none', ...$built('Available compression')],
        ];
    }

    public function open(Place $place, array $options): object
    {
        $this->isTransaction = ($options['transaction'] ?? '') === 'true';
        $this->isPlain = ($options['serializer'] ?? 'none') === 'none';
        return $this->redis = PhpRedis::open($place, $options);
    }

    public function calls(bool $expires): array
    {
        return [
            'get' => new Call('$client->get($key)'),
            'get_many' => new Call('$client->mget($keys)', '$reply[$n] ?? false'),
            'set' => new Call($expires ? '$client->set($key, $value, $ttl)' : '$client->set($key, $value)'),
            'insert' => new Call('$client->set($key, $value, ' . ($expires ? "['nx', 'ex' => \$ttl])" : "['nx'])")),
            'delete' => new Call('$client->del($key)', '$reply === 1'),
            'incr' => new Call('$client->incrBy($key, 1)', 'is_int($reply)'),
        ];
    }

    public function batch(): Batch
    {
        $array = 'RedisArray sends what goes together to one host alone: take depth=1 and transaction=false';
        $cluster = 'RedisCluster has no pipeline, and no transaction of several keys that works: take depth=1';
        return match ([$this->redis::class, $this->isTransaction]) {
            [RedisArray::class, true], [RedisArray::class, false] => Batch::none($array),
            [RedisCluster::class, true] => new Batch('$client->multi()', '$batch->exec()', 1, $cluster),
            [RedisCluster::class, false] => Batch::none($cluster),
            [Redis::class, true] => new Batch('$client->pipeline()->multi()', '$batch->exec()->exec()[0] ?? []'),
            [Redis::class, false] => new Batch('$client->pipeline()', '$batch->exec()'),
        };
    }

    public function whyFalse(): string|Refusal
    {
        $error = PhpRedis::takeError($this->redis);
        $absent = $this->isPlain ? self::ABSENT : self::ABSENT_OR_FALSE;
        return $error === null ? $absent : new Refusal(Kind::told($error) ?? 'refused', $error);
    }

    public function close(): void
    {
        $this->redis->close();
    }
};
