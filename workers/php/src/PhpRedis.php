<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use Redis;
use RedisArray;
use RedisCluster;

/**
 * The three ways in which the extension `redis` connects.
 */
final class PhpRedis
{
    private const PATIENCE_S = 5.0;

    /** @param array<string, string> $options */
    public static function open(Place $place, array $options): Redis|RedisArray|RedisCluster
    {
        $persistent = ($options['persistent'] ?? 'false') === 'true';
        $redis = match (true) {
            $place->store === 'redis-cluster' => self::cluster($place, $persistent),
            count($place->nodes) > 1 => self::shards($place, $persistent),
            default => self::one($place, $persistent),
        };
        foreach (['serializer', 'compression'] as $name) {
            if (($options[$name] ?? 'none') !== 'none') {
                $value = constant('Redis::' . strtoupper("{$name}_{$options[$name]}"));
                $redis->setOption(constant('Redis::OPT_' . strtoupper($name)), $value);
            }
        }
        return $redis;
    }

    /** The last error that the server told, which is then forgotten; null where there is none. */
    public static function takeError(Redis|RedisArray|RedisCluster $redis): ?string
    {
        $error = null;
        $nodes = $redis instanceof RedisArray ? array_map($redis->_instance(...), $redis->_hosts()) : [$redis];
        foreach ($nodes as $one) {
            $error ??= $one->getLastError();
            $one->clearLastError();
        }
        return $error;
    }

    private static function one(Place $place, bool $persistent): Redis
    {
        $at = $place->endpoint;
        $redis = new Redis();
        [$host, $context] = $at->ca === null
            ? [$at->unix ?? $at->host, []]
            : ["tls://{$at->host}", ['stream' => $at->tls()]];
        $connect = $persistent ? 'pconnect' : 'connect';
        $redis->$connect($host, $at->port, self::PATIENCE_S, null, 0, 0, $context);
        if ($place->password !== '') {
            $redis->auth(self::login($place));
        }
        $redis->ping();
        // Who waits long is told by the host.
        $redis->setOption(Redis::OPT_READ_TIMEOUT, -1);
        return $redis;
    }

    private static function shards(Place $place, bool $persistent): RedisArray
    {
        $place->mustBeTcp('RedisArray');
        $login = $place->password === '' ? [] : ['auth' => self::login($place)];
        $settings = ['connect_timeout' => self::PATIENCE_S, 'pconnect' => $persistent] + $login;
        $redis = new RedisArray(array_map(strval(...), $place->nodes), $settings);
        if (in_array(false, $redis->ping() ?: [false], true)) {
            throw new Failure('connect', 'cannot connect: a node does not answer');
        }
        return $redis;
    }

    private static function cluster(Place $place, bool $persistent): RedisCluster
    {
        $place->mustBeTcp('RedisCluster');
        $login = $place->password === '' ? null : self::login($place);
        return new RedisCluster(null, array_map(strval(...), $place->nodes), self::PATIENCE_S, 0, $persistent, $login);
    }

    /** @return string|array{string, string} */
    private static function login(Place $place): string|array
    {
        return $place->user === '' ? $place->password : [$place->user, $place->password];
    }
}
