<?php

declare(strict_types=1);

use Predis\Client as Predis;
use Roundtrip\Worker\{About, Batch, Call, Endpoint, Failure, Pipelines, Place};

/** Predis, in PHP itself; it spreads keys over several servers by a hash ring of its own. */
return new class () implements Pipelines {
    private Predis $predis;
    private bool $isOne = true;
    private bool $isTransaction = false;

    public function about(): About
    {
        $stores = ['redis', 'redis-shards', 'redis-cluster', 'floor'];
        return new About('Predis/autoload.php', 'apt-get install php-nrk-predis', $stores, givesText: true);
    }

    public function version(): string
    {
        return Predis::VERSION;
    }

    public function options(): array
    {
        return array_fill_keys(['transaction', 'persistent', 'tcp_nodelay'], ['true', 'false']);
    }

    public function open(Place $place, array $options): object
    {
        $place->user === '' || throw new Failure('usage', 'Predis logs in with a password alone, and as no user');
        $this->isTransaction = ($options['transaction'] ?? '') === 'true';
        unset($options['transaction']);
        $own = $options + ($place->password === '' ? [] : ['password' => $place->password]);
        $nodes = array_map(fn (Endpoint $at): array => $own + $at->parts(), $place->nodes);
        $this->isOne = count($nodes) === 1;
        $cluster = $place->store === 'redis-cluster' ? ['cluster' => 'redis'] : [];
        $this->predis = new Predis($this->isOne ? $nodes[0] : $nodes, ['parameters' => $own] + $cluster);
        // Which node has which slots is asked for here, and not at the first key of each.
        $this->isOne ? $this->predis->ping() : $this->predis->getConnection()->{$cluster ? 'askSlotsMap' : 'connect'}();
        return $this->predis;
    }

    public function calls(bool $expires): array
    {
        $ttl = $expires ? ", 'EX', \$ttl" : '';
        $many = new Call('$client->mget($keys)', '$reply[$n] ?? false');
        $none = Call::none('Predis sends no MGET to several nodes: take a depth of keys_per_op, which pipelines them');
        return [
            'get' => new Call('$client->get($key)', '$reply ?? false'),
            'get_many' => $this->isOne ? $many : $none,
            'set' => new Call("\$client->set(\$key, \$value{$ttl})", "\$reply == 'OK'"),
            'insert' => new Call("\$client->set(\$key, \$value{$ttl}, 'NX')", "\$reply == 'OK'"),
            'delete' => new Call('$client->del($key)', '$reply === 1'),
            'incr' => new Call('$client->incrby($key, 1)', 'is_int($reply)'),
        ];
    }

    public function batch(): Batch
    {
        return match (true) {
            !$this->isTransaction => new Batch('$client->pipeline()', '$batch->execute()'),
            $this->isOne => new Batch("\$client->pipeline(['atomic' => true])", '$batch->execute()'),
            default => Batch::none('Predis has no transaction over several nodes: take transaction=false'),
        };
    }

    public function whyFalse(): string
    {
        return self::ABSENT; // A failure is thrown.
    }

    public function close(): void
    {
        $this->predis->disconnect();
    }
};
