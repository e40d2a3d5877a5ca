<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * The call of an op, as PHP text.
 */
final class Call
{
    /**
     * @param string $text the call as an application writes it, over `$client` (what open() gave),
     *     `$key`, `$value` and `$ttl`; of `get_many` over `$keys`
     * @param string $reply what is made of `$reply`, which stands there once: of `get` the value, of
     *     all others true; what is not there, or failed, is false. Of `get_many` the value of key
     *     number `$n`, which is `$key`
     */
    public function __construct(public readonly string $text, public readonly string $reply = '$reply')
    {
    }

    /** Of what the library cannot do on the store that was opened. */
    public static function none(string $reason): self
    {
        return new self('', $reason);
    }

    public function must(): self
    {
        return $this->text === '' ? throw new Failure('usage', $this->reply) : $this;
    }
}
