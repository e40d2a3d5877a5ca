<?php

declare(strict_types=1);

use Roundtrip\Worker\{About, Call, Fills, Place, Sql};

/** The extension `mysqli`: prepared statements in the binary protocol. */
return new class () implements Fills {
    private ?Sql $sql = null;

    public function about(): About
    {
        return new About('mysqli', 'apt-get install php-mysql', ['mysql', 'mariadb'], givesText: true);
    }

    public function version(): string
    {
        return phpversion('mysqli') . ' (' . mysqli_get_client_info() . ')';
    }

    public function options(): array
    {
        return ['table' => ['demo_test', 'numbers', 'columns'], 'persistent' => ['true', 'false']];
    }

    public function open(Place $place, array $options): object
    {
        $at = $place->endpoint;
        $db = mysqli_init();
        if ($at->ca !== null) {
            $db->ssl_set(null, null, $at->ca, null, null);
        }
        $host = $at->unix === null ? $at->host : 'localhost';
        $db->real_connect(
            (($options['persistent'] ?? '') === 'true' ? 'p:' : '') . $host,
            $place->user,
            $place->password,
            $place->database,
            $at->port,
            $at->unix,
            $at->ca === null ? 0 : MYSQLI_CLIENT_SSL,
        );
        return $this->sql = new Sql($db, $options['table'] ?? 'demo_test');
    }

    public function calls(bool $expires): array
    {
        return Sql::calls($this->sql, $expires, [
            'get' => '($client->get->execute([$key]) ? $client->get->get_result()->fetch_row() : null)',
            'delete' => '($client->delete->execute([$key]) ? $client->delete->affected_rows : 0)',
            'incr' => '($client->incr->execute([$key]) ? $client->incr->affected_rows : 0)',
            'join' => '($client->join->execute([$key]) ? $client->join->get_result()->fetch_row() : null)',
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
        $this->sql->db->close();
    }
};
