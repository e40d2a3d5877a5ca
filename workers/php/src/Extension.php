<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

use ReflectionExtension;

/**
 * What an extension tells only to phpinfo().
 */
final class Extension
{
    /** The value of a line of the extension's phpinfo(). */
    public static function info(string $extension, string $line): ?string
    {
        ob_start();
        (new ReflectionExtension($extension))->info();
        $info = (string) ob_get_clean();
        return preg_match('/^' . preg_quote($line, '/') . ' => (.*)$/m', $info, $found) === 1
            ? $found[1]
            : null;
    }
}
