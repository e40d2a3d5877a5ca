<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * One library. A file in clients/ returns one of these, and that is all that a library needs.
 */
interface Client
{
    public const ABSENT = 'absent';
    public const ABSENT_OR_FALSE = 'absent_or_false';

    /** What there is to say of the library whether it is installed or not. */
    public function about(): About;

    /** The library's version, read at run time. Asked only when the extension is loaded. */
    public function version(): string;

    /**
     * Options and the values each may take. Asked only when the extension is loaded.
     *
     * @return array<string, list<string>>
     */
    public function options(): array;

    /**
     * Connects, waits for a first answer, and gives the library's own object.
     *
     * @param string|null $unix the path of a unix socket, in the place of host and port
     * @param array<string, string> $options checked against options()
     *
     * @throws Failure
     */
    public function open(?string $unix, string $host, int $port, array $options): object;

    /**
     * The call of an op as PHP text, as an application writes it, over `$client` (what open()
     * gave), `$key`, `$value` and `$ttl`. `get` is the value, everything else true; what is not
     * there, or failed, is false. Loop says why it is text.
     *
     * @return array<string, string> by op
     */
    public function calls(): array;

    /**
     * Why the last reply was false: '' when false is the value itself, ABSENT when the key is
     * not there, ABSENT_OR_FALSE when the library cannot tell, else the kind of the error.
     */
    public function whyFalse(): string;

    /** Disconnects. */
    public function close(): void;
}
