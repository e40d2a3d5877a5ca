<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use ErrorException;
use JsonException;
use Throwable;

/**
 * The conversation of CONTRACT.md: one command a line, one event a line.
 */
final class Worker
{
    private const CONTRACT = 1;
    private const MAX_LINE_BYTES = 1 << 20;

    /** @var array<string, Client> */
    private array $clients = [];
    private ?Opened $opened = null;
    private ?Loop $loop = null;
    private ?string $latencies = null;

    public function __construct(string $folder)
    {
        foreach (glob("{$folder}/*.php") ?: [] as $path) {
            $this->clients[basename($path, '.php')] = require $path;
        }
    }

    /** Serves until `close` or the end of the input; gives the exit code. */
    public function serve(): int
    {
        try {
            while (($line = fgets(STDIN, self::MAX_LINE_BYTES)) !== false) {
                $command = json_decode($line, true, 32, JSON_THROW_ON_ERROR);
                $this->obey($command);
                if ($command['cmd'] === 'close') {
                    break;
                }
            }
            return 0;
        } catch (Throwable $thrown) {
            fwrite(STDERR, "{$thrown}\n");
            $kind = match (true) {
                $thrown instanceof Failure => $thrown->kind,
                $thrown instanceof JsonException => 'protocol',
                // A warning: of a file, or of a library that connects.
                $thrown instanceof ErrorException => 'io',
                default => 'internal',
            };
            $this->say(['event' => 'error', 'kind' => $kind, 'message' => $thrown->getMessage()]);
            return 1;
        }
    }

    /** @param array<string, mixed> $command */
    private function obey(array $command): void
    {
        match ($command['cmd'] ?? null) {
            'describe' => $this->describe(),
            'open' => $this->open($command),
            'phase' => $this->phase($command),
            'go' => $this->go(),
            'check' => $this->check($command),
            'close' => $this->close(),
            default => throw new Failure('protocol', 'there is no such command'),
        };
    }

    private function describe(): void
    {
        $clients = [];
        foreach ($this->clients as $name => $client) {
            $about = $client->about();
            $clients[] = [
                'name' => $name,
                'available' => $about->isAvailable(),
                'version' => $about->isAvailable() ? $client->version() : null,
                'reason' => $about->isAvailable() ? null : $about->reason(),
                'stores' => $about->stores,
                'ops' => Loop::ops($client),
                // A depth is the host's to act on, but only where the client has one; it may be any.
                'options' => (object) (($about->isAvailable() ? $client->options() : [])
                    + ($client instanceof Pipelines ? ['depth' => []] : [])),
                'depth' => $client instanceof Pipelines ? Pipelines::MOST_DEPTH : 1,
                'journals' => true,
            ];
        }
        $this->say([
            'event' => 'described',
            'contract' => self::CONTRACT,
            'language' => 'php',
            'runtime' => 'PHP ' . PHP_VERSION,
            'settings' => (object) Settings::all(),
            'clients' => $clients,
        ]);
    }

    /** @param array<string, mixed> $command */
    private function open(array $command): void
    {
        $client = $this->clients[$command['client']]
            ?? throw new Failure('usage', "there is no client {$command['client']}");
        if (!$client->about()->isAvailable()) {
            throw new Failure('missing', $client->about()->reason());
        }
        if (isset($command['cache'])) {
            throw new Failure('usage', 'this worker reads through no cache');
        }
        $options = $command['options'] ?? [];
        foreach ($options as $name => $value) {
            $allowed = $client->options()[$name] ?? [];
            if (!in_array($value, $allowed, true)) {
                throw new Failure('usage', "the client does not take {$name}={$value}");
            }
        }
        if (isset($options['table']) && !in_array($command['store'], ['mysql', 'mariadb'], true)) {
            throw new Failure('usage', "only mysql and mariadb have tables, and {$command['store']} has none");
        }
        $place = Place::of($command, $client->about()->door);
        $start = hrtime(true);
        try {
            $library = $client->open($place, $options);
        } catch (Failure $failure) {
            throw $failure;
        } catch (Throwable $thrown) {
            throw new Failure('connect', $thrown->getMessage());
        }
        $took = hrtime(true) - $start;
        $this->opened = new Opened($client, $library, $options);
        $this->say(['event' => 'opened', 'connect_ns' => $took]);
    }

    /** @param array<string, mixed> $command */
    private function phase(array $command): void
    {
        $opened = $this->opened();
        $op = $command['op'];
        $depth = $command['depth'];
        if (!in_array($op, Loop::ops($opened->client), true)) {
            throw new Failure('usage', "the client does not do {$op}");
        }
        if ($depth > 1 && !$opened->client instanceof Pipelines) {
            throw new Failure('usage', 'the client sends one op at a time: depth must be 1');
        }
        $keys = $command['keys_per_op'] ?? 1;
        $turn = new Turn($op, $keys, $depth, $opened->isTransactional(), $command['add'] ?? 0);
        $isText = $opened->givesText();
        $operations = new Operations($turn, $command['stream'], $command['count'], $isText, $opened->keyPrefix());
        // A warm-up has keys of its own, and its figures are thrown away.
        $inLoop = $command['generate'] === 'in-loop' && $command['purpose'] === 'measure';
        if ($inLoop) {
            $operations->lists === [] || throw new Failure('usage', 'get_many takes generate=prepared alone');
            $operations->mustBeOfTheirIndex();
        }
        $journal = isset($command['journal']) ? new Journal($command['journal']) : null;
        $prepares = $command['purpose'] === 'prepare';
        $this->loop = new Loop($opened, $operations, $turn, $command['ttl_s'], $inLoop, $journal, $prepares);
        $this->latencies = $command['latencies'] ?? null;
        $this->say(['event' => 'ready']);
    }

    private function go(): void
    {
        $loop = $this->loop ?? throw new Failure('protocol', 'go without a phase');
        $this->loop = null;
        $loop->run();
        $this->say($loop->done());
        $written = $this->latencies === null ? 0 : $loop->write($this->latencies);
        $this->say(['event' => 'written', 'latencies' => $written]);
    }

    /** @param array<string, mixed> $command */
    private function check(array $command): void
    {
        $check = new Check($this->opened(), $command['prefix'], $command['classes'] || $command['mode'] === 'write');
        $rows = $check->run($command['mode'], $command['vectors']);
        $this->say(['event' => 'checked', 'rows' => $rows]);
    }

    private function close(): void
    {
        $this->opened?->client->close();
        $this->say(['event' => 'closed']);
    }

    private function opened(): Opened
    {
        return $this->opened ?? throw new Failure('protocol', 'no client is open');
    }

    /** @param array<string, mixed> $event */
    private function say(array $event): void
    {
        $flags = JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;
        fwrite(STDOUT, json_encode($event, $flags) . "\n");
    }
}
