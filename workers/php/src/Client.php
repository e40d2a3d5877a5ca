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

    /** The library's version, read at run time. Asked only when it is available. */
    public function version(): string;

    /**
     * Options and the values each may take. Asked only when it is available.
     *
     * @return array<string, list<string>>
     */
    public function options(): array;

    /**
     * Connects, waits for a first answer, and gives the library's own object. Any other exception
     * than a Failure says why it cannot connect.
     *
     * @param array<string, string> $options checked against options()
     *
     * @throws Failure
     */
    public function open(Place $place, array $options): object;

    /**
     * The call of each op: before open() of all that the library can, after it on what was opened.
     *
     * @param bool $expires whether what is written has a time to live
     *
     * @return array<string, Call> by op
     */
    public function calls(bool $expires): array;

    /**
     * Why the last reply was false: '' when false is the value itself, ABSENT when the key is
     * not there, ABSENT_OR_FALSE when the library cannot tell, else the kind of the error. Of a
     * batch it is asked once. A client that has the server's own words gives them with the kind.
     */
    public function whyFalse(): string|Refusal;

    /** Disconnects. */
    public function close(): void;
}
