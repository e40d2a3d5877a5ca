<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * A library that brings data into place in another way than by plain sets, because that would take
 * too long.
 */
interface Fills extends Client
{
    /** The call in the place of `set`. */
    public function fill(): Call;

    /** After the last of them: everything is in place, or an exception says why not. */
    public function filled(): void;
}
