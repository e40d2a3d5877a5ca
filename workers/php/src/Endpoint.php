<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * Where one server is reached.
 */
final class Endpoint
{
    /**
     * @param string|null $unix the path of a unix socket, in the place of host and port
     * @param string|null $ca the certificate that signs the server's, where it speaks TLS
     */
    private function __construct(
        public readonly string $host,
        public readonly int $port,
        public readonly ?string $unix,
        public readonly ?string $ca,
    ) {
    }

    /** @param array<string, array<string, mixed>> $told as the contract has it */
    public static function of(array $told): self
    {
        $at = $told['tcp'] ?? $told['tls'] ?? [];
        return new self($at['host'] ?? '', $at['port'] ?? 0, $told['unix']['path'] ?? null, $at['ca'] ?? null);
    }

    public function isTcp(): bool
    {
        return $this->unix === null && $this->ca === null;
    }

    /** What TLS must find right: nothing is left unverified. @return array<string, mixed> */
    public function tls(): array
    {
        return ['cafile' => $this->ca, 'verify_peer' => true, 'verify_peer_name' => true];
    }

    /** The parts of an address, as libraries in PHP take them. @return array<string, mixed> */
    public function parts(): array
    {
        $tcp = ['host' => $this->host, 'port' => $this->port];
        return match (true) {
            $this->unix !== null => ['scheme' => 'unix', 'path' => $this->unix],
            $this->ca !== null => ['scheme' => 'tls', 'ssl' => $this->tls()] + $tcp,
            default => ['scheme' => 'tcp'] + $tcp,
        };
    }

    public function __toString(): string
    {
        return $this->unix ?? "{$this->host}:{$this->port}";
    }
}
