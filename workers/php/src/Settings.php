<?php

declare(strict_types=1);

namespace Roundtrip\Worker;

/**
 * Settings of PHP and of its extensions that can change a result.
 */
final class Settings
{
    private const PHP = ['opcache.enable_cli', 'opcache.jit', 'zend.assertions', 'memory_limit'];
    private const EXTENSIONS = ['memcache', 'memcached', 'redis', 'igbinary', 'msgpack'];

    /** @return array<string, string> */
    public static function all(): array
    {
        $settings = ['xdebug' => extension_loaded('xdebug') ? 'on' : 'off'];
        foreach (self::PHP as $name) {
            $value = ini_get($name);
            // An extension that is not loaded has no settings.
            if ($value !== false) {
                $settings[$name] = $value;
            }
        }
        foreach (self::EXTENSIONS as $extension) {
            $known = extension_loaded($extension) ? ini_get_all($extension, false) : [];
            foreach ($known as $name => $value) {
                // Sessions are kept by none of the ops, and may hold a password, as what is for a login does.
                if (!str_contains($name, 'sess') && !str_contains($name, 'auth')) {
                    $settings[$name] = (string) $value;
                }
            }
        }
        return $settings;
    }
}
