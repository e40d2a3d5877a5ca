<?php

declare(strict_types=1);

use Roundtrip\Worker\{About, Call, Fills, Place, Sql};

/** The extension `pdo_mysql`: prepared by the server, or put together here and sent as text. */
return new class () implements Fills {
    private ?Sql $sql = null;

    public function about(): About
    {
        return new About('pdo_mysql', 'apt-get install php-mysql', ['mysql', 'mariadb'], givesText: true);
    }

    public function version(): string
    {
        return phpversion('pdo_mysql') . ' (PDO ' . phpversion('pdo') . ')';
    }

    public function options(): array
    {
        return [
            'prepare' => ['native', 'emulated'],
            'table' => ['demo_test', 'numbers', 'columns'],
            'persistent' => ['true', 'false'],
        ];
    }

    public function open(Place $place, array $options): object
    {
        $at = $place->endpoint;
        $where = $at->unix === null ? "host={$at->host};port={$at->port}" : "unix_socket={$at->unix}";
        $tls = [PDO::MYSQL_ATTR_SSL_CA => $at->ca, PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => true];
        $db = new PDO("mysql:{$where};dbname={$place->database};charset=utf8mb4", $place->user, $place->password, [
            PDO::ATTR_PERSISTENT => ($options['persistent'] ?? '') === 'true',
            // What is not asked for is as the library has it.
            PDO::ATTR_EMULATE_PREPARES => ($options['prepare'] ?? 'emulated') === 'emulated',
        ] + ($at->ca === null ? [] : $tls));
        return $this->sql = new Sql($db, $options['table'] ?? 'demo_test');
    }

    public function calls(bool $expires): array
    {
        return Sql::calls($this->sql, $expires, [
            'get' => '($client->get->execute([$key]) ? $client->get->fetch(\\PDO::FETCH_NUM) : null)',
            'delete' => '($client->delete->execute([$key]) ? $client->delete->rowCount() : 0)',
            'incr' => '($client->incr->execute([$key]) ? $client->incr->rowCount() : 0)',
            'join' => '($client->join->execute([$key]) ? $client->join->fetch(\\PDO::FETCH_NUM) : null)',
        ]);
    }

    public function fill(): Call
    {
        return new Call('$client->fill($key, $value, $ttl)');
    }

    public function filled(): void
    {
        $this->sql->commit();
    }

    public function whyFalse(): string
    {
        // Whatever fails is thrown.
        return self::ABSENT;
    }

    public function close(): void
    {
        $this->sql = null;
    }
};
