<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use mysqli;
use mysqli_stmt;
use PDO;
use PDOStatement;
use Throwable;

/**
 * A connection that speaks SQL, with the statement of each op prepared once, as an application keeps
 * them. The texts are those of the native client: all clients of a table do the same.
 */
final class Sql
{
    /** What an application binds and reads by number: its key, its value columns, its expiry. */
    private const TABLES = [
        'demo_test' => ['c1', ['c2'], ['c3', 'c4', 'c5']],
        'numbers' => ['id', ['value'], ['flags', 'cas', 'expiry']],
        'columns' => ['id', ['a', 'b', 'c'], ['flags', 'cas', 'expiry']],
    ];
    private const LABEL = 'INSERT INTO other (c1, label) VALUES (?, ?) ON DUPLICATE KEY UPDATE label = VALUES(label)';
    private const JOIN = 'SELECT d.c2, o.label FROM demo_test d JOIN other o ON o.c1 = d.c1 WHERE d.c1 = ?';
    private const LABEL_BYTES = 64;
    private const KEYS_OF_A_TRANSACTION = 10_000;
    private const NO_TABLE = 1146;
    private const KINDS = [
        1040 => 'too_many_connections',
        1203 => 'too_many_connections',
        1062 => 'not_stored',
        1021 => 'full',
        1114 => 'full',
        1205 => 'busy',
        1213 => 'busy',
        1053 => 'connection_lost',
        1927 => 'connection_lost',
        2006 => 'connection_lost',
        2013 => 'connection_lost',
        4031 => 'connection_lost',
    ];

    public readonly mysqli_stmt|PDOStatement $get;
    public readonly mysqli_stmt|PDOStatement $set;
    public readonly mysqli_stmt|PDOStatement $insert;
    public readonly mysqli_stmt|PDOStatement $delete;
    public readonly mysqli_stmt|PDOStatement $incr;
    /** Null where the server lacks the other table. */
    public readonly mysqli_stmt|PDOStatement|null $join;
    private readonly mysqli_stmt|PDOStatement|null $label;

    /** @var array<int, mysqli_stmt|PDOStatement> the reads of several keys, by how many */
    private array $many = [];
    private int $uncommitted = 0;
    private readonly string $columns;
    private readonly string $key;

    public function __construct(public readonly mysqli|PDO $db, public readonly string $table)
    {
        [$this->key, $values, [$flags, $cas, $expiry]] = self::TABLES[$table];
        $this->columns = implode(', ', $values);
        $marks = implode(', ', array_fill(0, count($values), '?'));
        $insert = "INSERT INTO `{$table}` ({$this->key}, {$this->columns}, {$flags}, {$cas}, {$expiry}) "
            . "VALUES (?, {$marks}, 0, 0, ?)";
        $changes = implode(', ', array_map(fn (string $c): string => "{$c} = VALUES({$c})", [...$values, $expiry]));
        $this->get = $db->prepare("SELECT {$this->columns} FROM `{$table}` WHERE {$this->key} = ?");
        $this->set = $db->prepare("{$insert} ON DUPLICATE KEY UPDATE {$changes}");
        $this->insert = $db->prepare($insert);
        $this->delete = $db->prepare("DELETE FROM `{$table}` WHERE {$this->key} = ?");
        $this->incr = $db->prepare("UPDATE `{$table}` SET {$values[0]} = CAST({$values[0]} AS UNSIGNED) + 1 WHERE {$this->key} = ?");
        [$this->join, $this->label] = $this->hasOther() ? [$db->prepare(self::JOIN), $db->prepare(self::LABEL)] : [null, null];
        // Emulated, a statement is not seen by the server before it is executed.
        $this->get->execute(['0']);
        $db instanceof mysqli ? $this->get->get_result()->free() : $this->get->closeCursor();
    }

    /**
     * The calls of the ops that are the same for both libraries, and of those that are not.
     *
     * @param array<string, string> $own texts of `get`, `delete`, `incr`, `join` by what the library calls them
     *
     * @return array<string, Call>
     */
    public static function calls(?self $opened, bool $expires, array $own): array
    {
        $isSplit = $opened?->table === 'columns';
        $expiry = $expires ? 'time() + $ttl' : '0';
        $values = $isSplit ? "...array_pad(explode('|', \$value, 3), 3, null)" : '$value';
        $row = $isSplit ? '\\Roundtrip\\Worker\\Sql::put($reply)' : '$reply[0] ?? false';
        $calls = [
            'get' => new Call($own['get'], $row),
            'get_many' => new Call('$client->many($keys)', '$reply[$key] ?? false'),
            'set' => new Call("\$client->set->execute([\$key, {$values}, {$expiry}])"),
            'insert' => new Call("\$client->insert->execute([\$key, {$values}, {$expiry}])"),
            'delete' => new Call($own['delete'], '$reply > 0'),
            'incr' => new Call($own['incr'], '$reply > 0'),
            'join' => new Call($own['join'], '\\Roundtrip\\Worker\\Sql::joined($reply, $key)'),
        ];
        if ($opened !== null && ($opened->join === null || $opened->table !== 'demo_test')) {
            $calls['join'] = Call::none('only `demo_test` is joined with the table `other`, which must be there');
        }
        return $calls;
    }

    /** Reads several keys. @param list<string> $keys @return array<string, string> values by key */
    public function many(array $keys): array
    {
        $statement = $this->many[count($keys)] ??= $this->db->prepare("SELECT {$this->key}, {$this->columns} FROM `{$this->table}` "
            . "WHERE {$this->key} IN (" . implode(', ', array_fill(0, count($keys), '?')) . ')');
        $statement->execute($keys);
        $rows = $statement instanceof mysqli_stmt
            ? $statement->get_result()->fetch_all()
            : $statement->fetchAll(PDO::FETCH_NUM);
        $values = [];
        foreach ($rows as $row) {
            $values[$row[0]] = $this->table === 'columns' ? self::put(array_slice($row, 1)) : $row[1];
        }
        return $values;
    }

    /** Sets a key of a preparation, in a large transaction; and its row in the other table. */
    public function fill(string $key, int|string $value, int $ttl): bool
    {
        if ($this->uncommitted === 0) {
            $this->db instanceof mysqli ? $this->db->begin_transaction() : $this->db->beginTransaction();
        }
        $values = $this->table === 'columns' ? array_pad(explode('|', (string) $value, 3), 3, null) : [$value];
        $this->set->execute([$key, ...$values, $ttl > 0 ? time() + $ttl : 0]);
        if ($this->table === 'demo_test') {
            $this->label?->execute([$key, substr($key, 0, self::LABEL_BYTES)]);
        }
        if (++$this->uncommitted === self::KEYS_OF_A_TRANSACTION) {
            $this->commit();
        }
        return true;
    }

    public function commit(): void
    {
        if ($this->uncommitted > 0) {
            $this->db->commit();
            $this->uncommitted = 0;
        }
    }

    /** The value of several columns. @param array<?string>|false|null $row */
    public static function put(array|false|null $row): string|false
    {
        return $row ? implode('|', array_filter($row, is_string(...))) : false;
    }

    /** The value of a row whose label is its key's; null where the label is another. @param array<?string>|false|null $row */
    public static function joined(array|false|null $row, string $key): string|false|null
    {
        return match (true) {
            !$row => false,
            $row[1] === substr($key, 0, self::LABEL_BYTES) => $row[0],
            default => null,
        };
    }

    /** The kind of a server's error; null of anything else. */
    public static function kind(Throwable $thrown): ?string
    {
        $isSql = $thrown instanceof \mysqli_sql_exception || $thrown instanceof \PDOException;
        return $isSql ? self::KINDS[self::code($thrown)] ?? 'database' : null;
    }

    private function hasOther(): bool
    {
        try {
            $this->db->query('SELECT 1 FROM other LIMIT 0');
            return true;
        } catch (\mysqli_sql_exception|\PDOException $thrown) {
            return self::code($thrown) === self::NO_TABLE ? false : throw $thrown;
        }
    }

    private static function code(Throwable $thrown): int
    {
        return (int) ($thrown->errorInfo[1] ?? $thrown->getCode());
    }
}
