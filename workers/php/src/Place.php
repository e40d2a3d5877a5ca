<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use SensitiveParameter;

/**
 * What a client connects to: a store, and who the client is to it.
 */
final class Place
{
    /**
     * @param string $store the kind of store
     * @param non-empty-list<Endpoint> $nodes every server of it; most stores have one
     */
    private function __construct(
        public readonly string $store,
        public readonly Endpoint $endpoint,
        public readonly array $nodes,
        public readonly string $user,
        #[SensitiveParameter]
        public readonly string $password,
        public readonly string $database,
    ) {
    }

    /**
     * @param array<string, mixed> $open the command as the contract has it
     * @param string|null $door the protocol that the client speaks, where it is not the store's usual one
     */
    public static function of(#[SensitiveParameter] array $open, ?string $door): self
    {
        $told = $open['doors'][$door] ?? null;
        $endpoint = Endpoint::of($told ?? $open['endpoint']);
        $nodes = $told === null ? array_map(Endpoint::of(...), $open['nodes'] ?? []) : [];
        $login = $open['login'] ?? [];
        return new self(
            $open['store'],
            $endpoint,
            $nodes ?: [$endpoint],
            $login['user'] ?? '',
            $login['password'] ?? '',
            $login['database'] ?? '',
        );
    }

    /** Of a library that reaches several servers by TCP alone. */
    public function mustBeTcp(string $what): void
    {
        $why = "{$what} reaches its nodes by TCP alone: take transport=tcp";
        foreach ($this->nodes as $node) {
            $node->isTcp() || throw new Failure('usage', $why);
        }
    }
}
